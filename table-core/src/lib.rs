//! Azure Table storage's data model, queries and limits on an embedded LMDB store.

// So that what the derive generates works inside the crate too.
extern crate self as table_core;

pub mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod limits;
mod model;
mod plan;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod query;
pub mod schema;
mod store;
mod typed;

pub use error::{Error, ErrorKind, Result};
pub use model::{
    DynamicEntity, ETag, EdmType, IfMatch, ParseETagError, ParseTicksError, Ticks, TicksOutOfRange, Value, ValueRef,
};
pub use query::{Continuation, Explain, Filter, KeyBounds, Property, Query, QueryClass, prop};
pub use store::{
    Batch, BulkFailure, BulkReport, CheckReport, Durability, DynamicTable, OpenOptions, Page, Problem, RowView, Rows,
    Snapshot, SnapshotInfo, SnapshotRows, Store, StoreStats, TableStats, Views,
};
pub use typed::{Column, ColumnArg, Copied, Entity, IndexKey, Key, KeyArg, Lookup, Prefix, Stored, Table, prefix};
#[cfg(feature = "derive")]
pub use table_derive::{Entity, KeyPart};
pub use uuid::Uuid;
