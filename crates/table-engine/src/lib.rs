//! The engine of `table-core`: data model, schemas, queries, plans of changes and typed tables, over any store.
//!
//! Programs depend on `table-core`, which shows what is for them. What is hidden here is for the crates beside it, stores and
//! generated code, and may change in any release. A store implements the traits of `__executor`.

#![cfg_attr(docsrs, feature(doc_cfg))]

// So that what the derive generates works in unit tests.
#[cfg(test)]
extern crate self as table_core;

#[doc(hidden)]
#[path = "executors.rs"]
pub mod __executor;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(feature = "access")]
pub mod access;
#[cfg(feature = "async")]
pub mod asynchronous;
mod base64;
#[cfg(feature = "blob")]
pub mod blob;
#[doc(hidden)]
pub mod contents;
#[doc(hidden)]
pub mod copies;
#[cfg(feature = "encrypt")]
pub mod crypt;
pub mod error;
#[doc(hidden)]
pub mod executor;
#[doc(hidden)]
pub mod fields;
#[doc(hidden)]
pub mod handle;
#[doc(hidden)]
pub mod hash;
pub mod introspect;
#[cfg(feature = "json")]
mod json;
pub mod limits;
#[doc(hidden)]
pub mod messages;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod model;
#[cfg(feature = "odata")]
pub mod odata;
#[doc(hidden)]
pub mod outbox;
#[doc(hidden)]
pub mod plaintext;
#[doc(hidden)]
pub mod plan;
pub mod query;
#[cfg(feature = "queue")]
pub mod queue;
#[doc(hidden)]
pub mod row;
pub mod schema;
#[doc(hidden)]
pub mod sealing;
#[doc(hidden)]
pub mod sorted_map;
#[doc(hidden)]
pub mod sorting;
#[doc(hidden)]
pub mod telemetry;
pub mod typed;

pub use error::{Error, ErrorKind, Result};
pub use handle::batch::Batch;
pub use handle::bulk::{BulkFailure, BulkReport};
#[cfg(feature = "encrypt")]
pub use handle::encrypting::{EncryptingRows, EncryptingTable};
pub use handle::page::Page;
pub use handle::propagate::Propagate;
pub use handle::row::{Row, Visited};
pub use handle::rows::{Rows, SnapshotRows, Views};
pub use handle::snapshot::Snapshot;
pub use handle::table::DynamicTable;
pub use handle::tables::Tables;
pub use handle::tables_page::TablesPage;
pub use messages::QueueStats;
pub use model::{DynamicEntity, ETag, EdmType, IfMatch, Ticks, Value, ValueRef};
pub use plan::Committed;
pub use query::{Continuation, Filter, Query, prop};
pub use row::view::RowView;
pub use typed::{
    Copied, Entity, EntitySet, IndexKey, Key, Partition, Patch, Projection, SetTable, Stored, Table, View,
    prefix,
};
pub use uuid::Uuid;
