//! Azure Table storage's data model, queries and limits on an embedded LMDB store.

pub mod error;
pub mod limits;
mod model;
mod query;
mod store;

pub use error::{Error, ErrorKind, Result};
pub use model::{
    DynamicEntity, ETag, EdmType, IfMatch, ParseETagError, ParseTicksError, Ticks, TicksOutOfRange, Value, ValueRef,
};
pub use uuid::Uuid;
