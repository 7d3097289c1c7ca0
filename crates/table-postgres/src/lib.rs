//! The tables of `table-core` on PostgreSQL: the same structs, with their checks, copies and transactions, in a database that
//! several processes and machines share.
//!
//! ```no_run
//! use table_core::Entity;
//! use table_postgres::PostgresTables;
//!
//! #[derive(Entity)]
//! #[entity(table = "Company", kind = "employee")]
//! #[key(partition = "{department}", row = "empid_{id:06}")]
//! struct Employee {
//!     department: String,
//!     id: u32,
//!     name: String,
//! }
//!
//! let tables = PostgresTables::connect("postgres://app@localhost/app")?;
//! let staff = tables.table::<Employee>()?;
//! staff.insert(&Employee { department: "Sales".into(), id: 1, name: "Jones".into() })?;
//! assert_eq!(staff.get(Employee::key("Sales", 1))?.unwrap().name, "Jones");
//! # Ok::<(), table_core::Error>(())
//! ```
//!
//! Calls that are awaited are [`PostgresTables::to_async`](Tables::to_async)'s, on any executor; those that block may be made
//! beside them. The features `queue`, `blob` and `encrypt` are features of `table-core`, too: a program names them at both.

#![allow(clippy::format_push_string, reason = "what it costs is nothing beside a round trip to the server")]

mod adding;
mod attempt;
mod blobs;
mod body;
mod bounds;
mod builder;
mod catalog;
mod change;
mod clock;
mod commit;
mod connection;
mod copying;
mod cursor;
mod declare;
mod demand;
mod diagnosis;
mod driver;
mod dropping;
mod error;
mod failed;
mod given;
mod jobs;
mod key_columns;
mod keys;
mod kinds;
mod known;
mod later;
mod loader;
mod locks;
mod losses;
mod merge;
mod moment;
mod op;
mod options;
mod outbox;
mod param;
mod periods;
mod plain;
mod plan_kinds;
mod pool;
#[cfg(feature = "queue")]
mod queues;
mod reading;
mod records;
mod rename;
mod rewrite;
mod row_content;
mod sealing;
mod snapshot;
mod statement;
mod step;
mod store;
mod table;
#[cfg(feature = "tls")]
mod tls;
mod token;
mod transaction;
#[cfg(feature = "blob")]
mod unreferenced;
mod views;
mod walk;
mod work;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use table_engine::{Result, Tables};

#[cfg(feature = "blob")]
pub use self::blobs::BlobStats;
pub use self::options::PostgresOptions;
#[cfg(feature = "encrypt")]
pub use self::sealing::Encryption;
#[doc(hidden)]
pub use self::store::ABILITIES;
use self::store::PostgresStore;
#[cfg(feature = "encrypt")]
pub use table_engine::crypt::KeyInfo;

/// Tables of entities in a PostgreSQL database.
///
/// It lends [`Tables`], whose methods are called on it as if they were its own. It is cheap to clone, and may be shared between
/// threads; any number of processes may have the same store open.
#[derive(Clone)]
pub struct PostgresTables {
    tables: Tables,
    #[cfg_attr(
        not(any(feature = "blob", feature = "encrypt")),
        expect(dead_code, reason = "keys and figures are asked of it")
    )]
    store: Arc<PostgresStore>,
}

impl PostgresTables {
    /// Opens the store in the schema `tables` of a database, and makes it if there is none; see
    /// [`PostgresOptions::connect`] for the address.
    pub fn connect(address: &str) -> Result<Self> {
        PostgresOptions::new().connect(address)
    }

    /// Returns options, for a store that is opened other than with the defaults.
    pub fn options() -> PostgresOptions {
        PostgresOptions::new()
    }

    fn new(store: Arc<PostgresStore>) -> Self {
        Self { tables: Tables::new(store.clone()), store }
    }

    /// Returns the keys of this store, which seal and open its encrypted properties. An error if the store was opened without a
    /// [key provider](PostgresOptions::encryption).
    #[cfg(feature = "encrypt")]
    pub fn encryption(&self) -> Result<Encryption> {
        Encryption::new(&self.store).map_err(|error| error.attempted("use encrypted properties"))
    }
}

impl Deref for PostgresTables {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl fmt::Debug for PostgresTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTables").finish_non_exhaustive()
    }
}

/// The programs in the README, which are run as those of the documentation are.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
