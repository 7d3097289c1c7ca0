//! The data model: values, times, keys and entities. Nothing here does I/O.

#[cfg(feature = "serde")]
pub(crate) mod as_text;
#[doc(hidden)]
pub mod body;
mod entity;
mod entity_keys;
mod etag;
pub(crate) mod key;
#[doc(hidden)]
pub mod names;
#[cfg(any(feature = "jiff", feature = "chrono"))]
mod other_times;
pub(crate) mod text;
pub(crate) mod ticks;
mod value;
pub(crate) mod words;

pub use entity::DynamicEntity;
#[doc(hidden)]
pub use entity::{keys_size, property_size, too_large};
#[doc(hidden)]
pub use entity_keys::EntityKeys;
pub use etag::{ETag, IfMatch, IntoIfMatch, ParseETagError};
pub use ticks::{ParseTicksError, Ticks, TicksOutOfRange};
pub use value::{EdmType, Value, ValueRef};

#[doc(hidden)]
pub use names::Name;
