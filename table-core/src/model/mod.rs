//! The data model: values, times, keys and entities. Nothing here does I/O.

#[cfg(feature = "serde")]
pub(crate) mod as_text;
pub(crate) mod body;
mod entity;
mod etag;
pub(crate) mod key;
pub(crate) mod names;
#[cfg(any(feature = "jiff", feature = "chrono"))]
mod other_times;
pub(crate) mod text;
pub(crate) mod ticks;
mod value;
pub(crate) mod words;

pub use entity::DynamicEntity;
pub(crate) use entity::{keys_size, property_size, too_large};
pub use etag::{ETag, IfMatch, IntoIfMatch, ParseETagError};
pub use ticks::{ParseTicksError, Ticks, TicksOutOfRange};
pub use value::{EdmType, Value, ValueRef};

pub(crate) use names::Name;
