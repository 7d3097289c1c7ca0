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
pub use query::{Continuation, Explain, Filter, KeyBounds, Property, Query, QueryClass, prop};
pub use uuid::Uuid;
pub use store::{
    Batch, BulkFailure, BulkReport, CheckReport, Durability, DynamicTable, OpenOptions, Page, Problem, RowView, Rows,
    Snapshot, SnapshotInfo, SnapshotRows, Store, StoreStats, TableStats, Views,
};
