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
//! - [`Egt`](typed::Egt): changes of several entities of one partition as one; [`Store::transaction`](crate::Tables::transaction): of any partitions and
//!   tables; [`EntitySet`](derive@EntitySet): the kinds that share a table.
//! - [`Projection`](derive@Projection), [`Properties`](derive@Properties), [`KeyPart`](derive@KeyPart): some of the fields,
//!   fields that entities share, types of your own in keys.
//! - [`DynamicTable`]: entities of any shape, as [`DynamicEntity`]; [`Query`], [`Filter`] and [`Batch`].
//! - `asynchronous`, with the feature `async`: the same calls, awaited, by `Tables::to_async`.
//! - [`Tables`]: the handle that every store lends. The crates `table-postgres` and `table-azure` keep the same entities in a
//!   PostgreSQL database and in Azure Table storage.
//! - `queue`, with the feature of that name: durable messages, sent and completed in the transaction of a change.
//! - `access`, with the feature of that name: handles that can do no more than an access permits, and with `sas` the
//!   tokens that say it.
//! - `blob`, with the feature of that name: values of any size, by name and in fields, and logs.
//! - `odata`, with the feature of that name: entities as the Table service's JSON, and back.
//! - `metrics`, with the feature of that name: what a store has done, in numbers. With the feature `tracing` it tells what it
//!   does, by spans and events.
//! - [`Error`]: one type, with a [kind](ErrorKind) to match on and the service's own code for each.
//! - [`limits`]: the service's numbers, which hold here too.
//! - [`introspect`]: what a store says of itself, for tools without structs; [`schema`] draws designs.
//!
//! Here at the root stands what a program imports. What it meets as answers and arguments, and names in signatures at
//! most, stands by subject: [`typed`] has queries, columns and changes of entities, [`query`] how a query is answered,
//! [`store`] reports, statistics, iterators and encryption, [`model`] the errors of texts that are no value.

#![cfg_attr(docsrs, feature(doc_cfg))]

// For rustdoc alone: no build reads it, and `integration-tests` runs its programs.
#[cfg(all(doc, not(doctest), feature = "derive"))]
pub mod guide;

pub mod store {
    //! What handles of a store give, and what a store reports of itself.

    #[doc(inline)]
    pub use table_engine::{
        Batch, BulkFailure, BulkReport, Committed, DynamicTable, Page, Propagate, QueueStats, Row, RowView,
        Rows, Snapshot, SnapshotRows, Tables, TablesPage, Views, Visited,
    };
    #[cfg(feature = "encrypt")]
    #[doc(inline)]
    pub use table_engine::{EncryptingRows, EncryptingTable};
    #[cfg(feature = "lmdb")]
    #[doc(inline)]
    pub use table_lmdb::{
        BlobStats, CheckReport, Durability, Mark, OldestSnapshot, OpenOptions, Problem, ReclaimFailure,
        SnapshotInfo, SpaceStats, Store, StoreStats, TableStats,
    };
    #[cfg(all(feature = "encrypt", feature = "lmdb"))]
    #[doc(inline)]
    pub use table_lmdb::{Encryption, KeyInfo, Progress, SealedValues};
}

#[cfg(feature = "derive")]
pub use table_derive::{Entity, EntitySet, KeyPart, Projection, Properties};
#[cfg(feature = "access")]
#[doc(inline)]
pub use table_engine::access;
#[cfg(feature = "async")]
#[doc(inline)]
pub use table_engine::asynchronous;
#[cfg(feature = "blob")]
#[doc(inline)]
pub use table_engine::blob;
#[cfg(feature = "encrypt")]
#[doc(inline)]
pub use table_engine::crypt;
#[cfg(feature = "metrics")]
#[doc(inline)]
pub use table_engine::metrics;
#[cfg(feature = "odata")]
#[doc(inline)]
pub use table_engine::odata;
#[cfg(feature = "queue")]
#[doc(inline)]
pub use table_engine::queue;
#[doc(hidden)]
pub use table_engine::{__executor, __private};
#[doc(inline)]
pub use table_engine::{
    Batch, Continuation, Copied, DynamicEntity, DynamicTable, ETag, EdmType, Entity, EntitySet, Error,
    ErrorKind, Filter, IfMatch, IndexKey, Key, Partition, Patch, Projection, Query, Result, SetTable,
    Snapshot, Stored, Table, Tables, Ticks, Value, ValueRef, View, assert_layouts, error, introspect, limits,
    model, prefix, prop, query, schema, typed,
};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use table_lmdb::fuzzing;
#[cfg(feature = "lmdb")]
#[doc(inline)]
pub use table_lmdb::{Durability, OpenOptions, Store};
pub use uuid::Uuid;
