//! Typed data in keyed tables: Azure Table storage's data model, rules and limits on an embedded LMDB store.
//!
//! A struct declares its keys, and the copies of it under other keys; the derive keeps them right.
//!
//! ```
//! use table_core::{Entity, Store};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! #[index(by_email, row = "email_{email}", unique)]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     last_name: String,
//!     email: String,
//! }
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("company.tables");
//! let store = Store::open(&path)?;
//! let staff = store.table::<Employee>()?;
//! staff.insert(&Employee {
//!     department: "Sales".into(),
//!     id: 1,
//!     last_name: "Jones".into(),
//!     email: "jones@contoso.com".into(),
//! })?;
//! let jones = staff.get(Employee::by_email("Sales", "jones@contoso.com"))?.unwrap();
//! assert_eq!(jones.last_name, "Jones");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to start:
//!
//! - The [`guide`]: a tutorial of ten minutes, and a chapter for each subject.
//! - [`Store`]: opening, creating and dropping tables, snapshots, statistics, checking, copying.
//! - [`Table`]: entities of one type; [`Entity`](derive@Entity) has the reference of all attributes.
//! - [`TableAt`](typed::TableAt), [`View`] and [`Projection`](trait@Projection): reads of several tables at one moment, of
//!   entities in place, and of some fields.
//! - [`Egt`](typed::Egt): changes of several entities of one partition as one; [`Store::transaction`]: of any partitions and
//!   tables; [`EntitySet`](derive@EntitySet): the kinds that share a table.
//! - [`Projection`](derive@Projection), [`Properties`](derive@Properties), [`KeyPart`](derive@KeyPart): some of the fields,
//!   fields that entities share, types of your own in keys.
//! - [`DynamicTable`]: entities of any shape, as [`DynamicEntity`]; [`Query`], [`Filter`] and [`Batch`].
//! - `queue`, with the feature of that name: durable messages, sent and completed in the transaction of a change.
//! - `blob`, with the feature of that name: values of any size, by name and in fields, and logs.
//! - [`Error`]: one type, with a [kind](ErrorKind) to match on and the service's own code for each.
//! - [`limits`]: the service's numbers, which hold here too.
//!
//! Here at the root stands what a program imports. What it meets as answers and arguments, and names in signatures at
//! most, stands by subject: [`typed`] has queries, columns and changes of entities, [`query`] how a query is answered,
//! [`store`] reports, statistics, iterators and encryption, [`model`] the errors of texts that are no value.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "lmdb"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "much of the seam is there for a store to use"
    )
)]

// Elsewhere promises would be broken without a word. Windows can neither lock nor flush a directory, and who may read a
// file of keys is not looked at; the layout of LMDB's pages, by which damage is found, is known for 64-bit
// little-endian machines alone; and 32 bits have no room for the map.
#[cfg(all(feature = "lmdb", not(all(unix, target_pointer_width = "64", target_endian = "little"))))]
compile_error!(
    "table-core needs a 64-bit little-endian Unix system, such as Linux or macOS on x86_64 or aarch64"
);

// So that what the derive generates works inside the crate too.
extern crate self as table_core;

#[doc(hidden)]
#[path = "executors.rs"]
pub mod __executor;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(feature = "blob")]
pub mod blob;
#[cfg_attr(not(feature = "blob"), allow(dead_code, reason = "who has no container asks nothing of one"))]
mod contents;
#[cfg(feature = "encrypt")]
pub mod crypt;
pub mod error;
mod executor;
mod fields;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
// For rustdoc alone: no build reads it, and `integration-tests` runs its programs.
#[cfg(all(doc, not(doctest), feature = "derive"))]
pub mod guide;
mod handle;
mod hash;
#[cfg(feature = "json")]
mod json;
pub mod limits;
#[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "who has no queue asks nothing of one"))]
mod messages;
pub mod model;
mod outbox;
mod plaintext;
mod plan;
pub mod query;
#[cfg(feature = "queue")]
pub mod queue;
mod row;
pub mod schema;
mod sealing;
mod sorted_map;
mod sorting;
#[cfg(feature = "lmdb")]
pub mod store;
#[cfg(not(feature = "lmdb"))]
pub mod store {
    //! The handles of a store. A build without the feature `lmdb` has none of its own.

    pub use crate::handle::batch::Batch;
    pub use crate::handle::bulk::{BulkFailure, BulkReport};
    pub use crate::handle::page::Page;
    pub use crate::handle::rows::{Rows, SnapshotRows, Views};
    pub use crate::handle::snapshot::Snapshot;
    pub use crate::handle::store::Store;
    pub use crate::handle::table::DynamicTable;
    pub use crate::messages::QueueStats;
    pub use crate::row::view::RowView;
}
pub mod typed;

pub use error::{Error, ErrorKind, Result};
pub use model::{DynamicEntity, ETag, EdmType, IfMatch, Ticks, Value, ValueRef};
pub use query::{Continuation, Filter, Query, prop};
pub use store::{Batch, DynamicTable, Snapshot, Store};
#[cfg(feature = "lmdb")]
pub use store::{Durability, OpenOptions};
#[cfg(feature = "derive")]
pub use table_derive::{Entity, EntitySet, KeyPart, Projection, Properties};
pub use typed::{
    Copied, Entity, EntitySet, IndexKey, Key, Partition, Patch, Projection, SetTable, Stored, Table, View,
    prefix,
};
pub use uuid::Uuid;
