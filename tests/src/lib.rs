//! What the integration tests share. This is its map.
//!
//! Every test: [`Scratch`] is a directory with a store, [`assert_sound`] checks it, [`executors`] runs a test on other
//! backends, [`opened`] opens their stores with keys and again, [`random`] has numbers that come again.
//!
//! Entities that tests of several modules use:
//!
//! | module | entities |
//! | --- | --- |
//! | [`company`] | an employee and a department, as simple as they go, and the set of both |
//! | [`bank`] | accounts, whose sum stays |
//! | [`derived`] | summaries, a list and copied fields, at once and later |
//! | [`elsewhere`] | copies in other partitions and tables |
//! | [`eventual`] | copies that follow |
//! | [`periods`] | a table for each day |
//! | [`blobbed`] | blobs: by name, in fields, sealed, in logs |
//! | [`queued`] | messages |
//! | [`listed`], [`rolls`] | index lists, and ones longer than a row |
//! | [`vault`] | sealed fields |
//! | [`staff`] | all indexes of one partition, written by many |
//! | [`releases`], [`rolling`] | an employee in releases that declare other indexes, and another field |
//! | [`versions`], [`migrated`] | an employee in two versions, without and with what is derived of it |
//! | [`strict`] | an entity under every lint |
//!
//! Processes: [`child`] starts and kills them, [`stops`] stops them between a read and a write, [`apart`] has several in
//! lock step, [`work`] says what one must leave behind. `crash-child` and `power-child` in `bin` are what they run.
//!
//! Files: [`pages`] says what is at each place, [`damage`] reads and writes a damaged store, [`power`] is a disk that
//! forgets, [`reader`] and [`forge`] read and write a store by its format alone.
//!
//! Random changes: [`together`] for rows that many entities share, [`begun`] for jobs. [`broken`] has the steps that
//! `break-protocols` leaves out.

pub mod apart;
pub mod bank;
pub mod begun;
pub mod blobbed;
pub mod broken;
pub mod child;
pub mod company;
pub mod damage;
pub mod derived;
pub mod elsewhere;
pub mod eventual;
pub mod executors;
pub mod forge;
pub mod listed;
pub use table_conformance::MapStore;
pub mod migrated;
pub mod opened;
pub mod pages;
pub mod periods;
#[cfg(unix)]
pub mod power;
pub mod queued;
pub mod random;
pub mod reader;
pub mod releases;
pub mod rolling;
pub mod rolls;
pub mod staff;
pub mod stops;
pub mod strict;
pub mod together;
pub mod vault;
pub mod versions;
pub mod work;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::{Durability, OpenOptions, Store, Tables};

use crate::executors::Executor;

/// A directory that is removed with everything in it when the value is dropped.
///
/// It lies in memory where the system has a memory file system, so that a slow disk can't make the tests slow: what
/// a test shows about durability it shows by killing processes, not by cutting the power.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The store, if it is none on disk: opened again, it is the same one.
    map: OnceLock<Tables>,
}

impl Scratch {
    /// A new, empty directory.
    #[expect(clippy::new_without_default, reason = "making a directory is no default")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("table-core-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch directory can be made");
        Self { path, map: OnceLock::new() }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A store in it: on LMDB, so it's for tests that are run on nothing else.
    pub fn store(&self) -> Store {
        self.store_with(&Store::options())
    }

    /// A store in it, opened with these options.
    pub fn store_with(&self, options: &OpenOptions) -> Store {
        assert_eq!(Executor::of_test(), Executor::Lmdb, "the test takes `tables`");
        options.open(self.path.join("store")).expect("a store can be made")
    }

    /// The tables of a store of the executor that the test is [run](Executor::run) on.
    pub fn tables(&self) -> Tables {
        self.tables_with(&Store::options())
    }

    /// The tables of a store of the test's executor; on LMDB, opened with these options.
    pub fn tables_with(&self, options: &OpenOptions) -> Tables {
        match Executor::of_test().map() {
            Some(map) => self.map.get_or_init(|| map).clone(),
            None => (*self.store_with(options)).clone(),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// Makes sure that the store's own check finds nothing wrong, where the store is on LMDB: no other has one.
pub fn assert_sound(tables: &Tables) {
    let Some(store) = Store::of(tables) else {
        assert_ne!(Executor::of_test(), Executor::Lmdb);
        return;
    };
    let problems = store.check().map(|report| report.problems);
    assert!(problems.as_ref().is_ok_and(Vec::is_empty), "{problems:?}");
}

/// Options for a store whose test is not about power failures: one flush less per commit.
pub fn relaxed() -> OpenOptions {
    Store::options().durability(Durability::Relaxed)
}

/// The README's program, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub mod readme {}

/// The one of the crate's own README.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/README.md")]
pub mod core_readme {}

/// The programs of the guide's chapter on keys.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/keys.md")]
pub mod guide_keys {}

/// The programs of the guide's chapter on indexes.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/indexes.md")]
pub mod guide_indexes {}

/// The programs of the guide's chapter on queries.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/queries.md")]
pub mod guide_queries {}

/// The programs of the guide's chapter on changes.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/changes.md")]
pub mod guide_changes {}

/// The programs of the guide's chapter on modelling.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/modelling.md")]
pub mod guide_modelling {}

/// The programs of the guide's chapter on changing a struct.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/versions.md")]
pub mod guide_versions {}

/// The programs of the guide's chapter on promises.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/promises.md")]
pub mod guide_promises {}

/// The programs of the guide's tutorial, compiled. `docs/guide/follow.sh` runs them.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/tutorial.md")]
pub mod tutorial {}

/// The programs of the guide's chapter on awaited calls.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/asynchronous.md")]
pub mod asynchronous {}

/// The program of the guide's chapter on queues.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/queues.md")]
pub mod queues {}

/// The programs of the guide's chapter on blobs and logs.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/blobs.md")]
pub mod blobs {}

/// The programs of the guide's chapter on encryption.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/encryption.md")]
pub mod encryption {}

/// The recipes of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/recipes.md")]
pub mod recipes {}

/// The program of the guide's chapter on tools.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/tools.md")]
pub mod tools {}

/// The programs of the guide's chapter on access.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/access.md")]
pub mod access {}

/// The programs of the guide's chapter on telemetry.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/telemetry.md")]
pub mod telemetry {}

/// The program of the guide's chapter on OData JSON.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/odata.md")]
pub mod odata {}

/// The program of the guide's chapter on the Azure SDK.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/azure.md")]
pub mod azure {}

/// The program of the guide's chapter on errors.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/guide/troubleshooting.md")]
pub mod troubleshooting {}
