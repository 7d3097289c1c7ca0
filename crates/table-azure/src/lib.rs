//! Tables of `table-core` on Azure Table storage, over its REST service: the same structs, the same calls.
//!
//! ```no_run
//! use table_azure::AzureTables;
//! use table_core::{Entity, Result};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! #[index(by_email, row = "email_{email}", unique)]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     email: String,
//! }
//!
//! # fn main() -> Result<()> {
//! let tables = AzureTables::connect("UseDevelopmentStorage=true")?;
//! let staff = tables.table::<Employee>()?;
//! staff.insert(&Employee { department: "Sales".into(), id: 1, email: "jun@contoso.com".into() })?;
//! // Two requests: the entity is read, then it and its copies change together.
//! staff.update(Employee::key("Sales", 1), |employee| employee.email = "j@contoso.com".into())?;
//! # Ok(())
//! # }
//! ```
//!
//! Calls that are awaited are [`AzureTables::to_async`](table_engine::Tables::to_async)'s, on any executor. Those that block may
//! be made on any thread; within a task they hold its executor's thread up.
//!
//! # What is there
//!
//! Entities, indexes and `unique` in the entity's partition, summaries, lists and `add` in the partition, batches, sets, pages,
//! streams, projections, series, wide entities, `move_to` within a partition, bulk loads, tables for periods, which are dropped one
//! after another, copies that follow later (`eventual`). A change is one request of the service, whole or not at all.
//!
//! Refused by the [ability](table_engine::ErrorKind::Unsupported)'s name, before anything is sent: changes of several
//! partitions, snapshots, queues, blobs, lists and copies of others' fields that follow later, and some [jobs](#jobs).
//!
//! # What an answer that is lost leaves
//!
//! A request that is not answered is sent again. So that it is then known whether the first was carried out, a row that a struct
//! declares has a property `TcCommit` with the names of the last twelve changes of it, which no read shows. Where it does not
//! tell, as after others have written the row twelve times, or put another in its place, the error is
//! [`OutcomeUnknown`](table_engine::ErrorKind::OutcomeUnknown). Rows that are written by their properties have no such property:
//! of those a change under a condition is unknown where its answer was lost and the condition does not hold any more, and one without a
//! condition may be carried out once more when it has been answered.
//! [`AzureOptions::without_tokens`] leaves the property out.
//!
//! A request that comes once more, late, when others have been answered, finds that its condition does not hold any more: so are
//! `update`, `replace` with an ETag, batches of those, and every change of an entity with indexes in its partition, but inserts. What
//! has no such condition may be carried out again: an `insert` behind a `delete` of the entity, and, of an entity without indexes,
//! `put`, `merge` and `delete` without an ETag.
//!
//! # Copies that follow later
//!
//! The change of an entity with `eventual` copies writes two rows more, with it or not at all: an entry, under the row key
//! `TcOutbox~` and the entity's, and its version, under `TcVersion~` and the entity's. They count to the 100 of a batch, and no
//! read shows them. A thread of the process then puts the copies, each unless a later one is there, and leaves a tombstone where
//! one is to be no more; then the entry goes. [`Tables::propagate`](table_engine::Tables::propagate) looks through every table,
//! for what was left by processes that have died, and for tombstones that are [older than they are
//! kept](AzureOptions::keep_tombstones).
//!
//! # Sealed properties
//!
//! With the feature `encrypt` and a [provider](AzureOptions::encryption) fields that are declared `#[encrypt]` are sealed before
//! they are sent. The provider wraps a root key, that the keys of scopes, all in the table `TcKeys`. Fields are looked up by tokens
//! (`blind`), and rows are signed that hold a copy of a sealed value, or whose kind says so: the digest is in the property
//! `TcDigest`, which no read shows.
//!
//! `AzureTables::encryption` rotates and destroys keys. Every process goes by what it has read of them for a lease, and sends nothing
//! afterwards that was sealed by it; what is to rely on a change of the keys waits for two leases first. A scope whose tokens keep
//! values unique is not rotated: while it has two keys, a writer has to demand that no row lies under the other's token, and the
//! service demands nothing of rows that are not there. A query by tokens that is still read a lease after it has begun may miss what
//! is sealed anew meanwhile, or give it twice. Who can write the table `TcKeys` can make values unreadable, and read none.
//!
//! # What is noted
//!
//! Layouts of kinds are noted in the table `TcLayouts` of the account, a row for each table: that is how a change of a struct is
//! noticed. A credential that does not reach it opens tables by [`AzureOptions::assume_layouts`]. Service records are kept in the
//! table `TcRecords`.
//!
//! # Jobs
//!
//! `rebuild`, `drop_index`, `migration`, `delete_where` and `delete_partition` run beside readers and writers, and what is begun by one
//! process goes on in another. Layouts and the states of indexes are read with a [lease](AzureOptions::lease), a minute if nothing else
//! is said: each process reads them again with its first call after that, and no request is sent again that relies on a lease which
//! has ended. Before a job goes by a new state it waits for two leases, so that every request has come that relies on the one before:
//! to make an index takes two such waits beside the time for its rows, and two more if it is read when it is made anew.
//!
//! ```no_run
//! # use table_azure::AzureTables;
//! # use table_core::{Entity, Result};
//! # #[derive(Entity)]
//! # #[entity(table = "Company", kind = "employee")]
//! # #[key(partition = "{department}", row = "empid_{id:06}")]
//! # #[index(by_email, row = "email_{email}", unique)]
//! # struct Employee { department: String, id: u32, email: String }
//! # fn main() -> Result<()> {
//! let tables = AzureTables::connect("UseDevelopmentStorage=true")?;
//! // The index was added to the struct when the table had entities.
//! let mut job = tables.table::<Employee>()?.rebuild()?;
//! while job.step()? {
//!     println!("{}", job.progress());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A step writes rows in requests of their own, several at a time, and then how far it is: one that is broken off is made again.
//! Rows that are converted get a new time. How many rows a table has the service does not tell, so that a job reads all keys for it.
//! A query that is still read two leases after it has begun may miss what is removed meanwhile. What is noted of a declaration that
//! only adds something takes hold at once in the process that notes it, and within a lease in others.
//!
//! `reencrypt` seals values anew, under the ETags of their entities, which get new ones.
//!
//! Refused are indexes in other partitions than their entities', also those that are `eventual`; lists and summaries of
//! entities that are there already; versions that move entities to other partitions; a kind that has any of those can't be
//! converted.
//!
//! # From the last to the first
//!
//! The service gives rows in the order of their keys. A query with `.rev()` is refused unless it says by `.buffered(n)` how many
//! rows it may hold: its whole range is read before it gives the first.
//!
//! # What must be there
//!
//! A change that demands that another row of its partition is there, in the version that was read, merges nothing into that row.
//! So the row has another ETag afterwards, and counts to the 100 of a batch.
//!
//! # Tried
//!
//! Against an emulator, and against this project's own server. Not against the service itself, nor against Cosmos DB, whose pages
//! are not in the order of their keys: a query that meets such a page is refused.

pub mod client;
mod runner;
mod store;
mod tables;

#[doc(hidden)]
pub use self::store::ABILITIES;
#[cfg(feature = "encrypt")]
pub use self::store::Encryption;
pub use self::tables::{AzureOptions, AzureTables};
#[cfg(feature = "encrypt")]
pub use table_engine::crypt::KeyInfo;

/// The program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
