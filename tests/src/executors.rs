//! The executors that tests of typed tables are run on: LMDB, a map, a map that can do what the service can, one that answers
//! later, PostgreSQL, and a server of the Table service's protocol.

use std::cell::Cell;

use table_core::__executor::Abilities;
use table_core::{ErrorKind, Result, Snapshot, Tables};

use crate::MapStore;

/// What carries out reads and plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// LMDB.
    Lmdb,
    /// An ordered map that can do everything but seal.
    Map,
    /// The map with the abilities of the service.
    Service,
    /// The map as a store that answers later: calls that block run as those do that are awaited.
    Later,
    /// PostgreSQL, whose calls block.
    #[cfg(feature = "postgres")]
    Postgres,
    /// PostgreSQL: calls that block run as those do that are awaited.
    #[cfg(feature = "postgres")]
    PostgresLater,
    /// A server of the Table service's protocol, whose calls block.
    #[cfg(feature = "azure")]
    Azure,
    /// A server of the Table service's protocol: calls that block run as those do that are awaited.
    #[cfg(feature = "azure")]
    AzureLater,
}

/// Says where futures of the map that answers later are pending.
const SEED: u64 = 41;

thread_local! {
    static EXECUTOR: Cell<Executor> = const { Cell::new(Executor::Lmdb) };
}

impl Executor {
    /// The one that the test of this thread is run on.
    pub fn of_test() -> Self {
        EXECUTOR.get()
    }

    /// Runs a test whose tables, of its [scratch](crate::Scratch), are this executor's.
    pub fn run(self, test: impl FnOnce()) {
        /// Takes the choice back when it is dropped, also where the test fails, so that the thread's next test starts without it.
        struct Back;
        impl Drop for Back {
            fn drop(&mut self) {
                EXECUTOR.set(Executor::Lmdb);
            }
        }
        EXECUTOR.set(self);
        let _back = Back;
        test();
    }

    /// Returns what the store of a test can do.
    pub fn abilities(self) -> Abilities {
        match self {
            Self::Lmdb => Abilities::ALL,
            Self::Map => MapStore::new().backend().abilities(),
            Self::Service => MapStore::as_the_service().backend().abilities(),
            Self::Later => MapStore::later(0).backend().abilities(),
            #[cfg(feature = "postgres")]
            Self::Postgres | Self::PostgresLater => table_postgres::ABILITIES,
            #[cfg(feature = "azure")]
            Self::Azure | Self::AzureLater => table_azure::ABILITIES,
        }
    }

    /// The tables of a store that is not on LMDB.
    pub(crate) fn map(self) -> Option<Tables> {
        match self {
            Self::Lmdb => None,
            Self::Map => Some(MapStore::new().tables()),
            Self::Service => Some(MapStore::as_the_service().tables()),
            Self::Later => Some(MapStore::later(SEED).tables()),
            #[cfg(feature = "postgres")]
            Self::Postgres => Some(postgres(false)),
            #[cfg(feature = "postgres")]
            Self::PostgresLater => Some(postgres(true)),
            #[cfg(feature = "azure")]
            Self::Azure => Some(azure(false)),
            #[cfg(feature = "azure")]
            Self::AzureLater => Some(azure(true)),
        }
    }
}

/// Returns the tables of an empty store in a schema of its own.
#[cfg(feature = "postgres")]
fn postgres(awaits: bool) -> Tables {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = std::env::var("TABLE_POSTGRES").expect("`TABLE_POSTGRES` names a server");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let schema = format!("it_{}_{number}", std::process::id());
    let options = table_postgres::PostgresTables::options().schema(schema).awaits(awaits);
    let store = options.connect(&server).expect("a store can be made");
    Tables::clone(&store)
}

/// Returns the tables of an empty store, whose names begin as no others do on the server.
#[cfg(feature = "azure")]
fn azure(awaits: bool) -> Tables {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    let connection = std::env::var("TABLE_AZURE").expect("`TABLE_AZURE` has a connection string");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let run = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
    let prefix = format!("{run}P{}x{number}x", std::process::id());
    let options = table_azure::AzureOptions::new().prefix(&prefix).awaits(awaits);
    let options = options.lease(std::time::Duration::from_millis(20));
    Tables::clone(&options.connect(&connection).expect("a connection string"))
}

/// Returns a snapshot; `None` on a store that takes none, which must say so by the name of the ability.
pub fn snapshot(store: &Tables) -> Option<Snapshot> {
    let taken = store.snapshot();
    if Executor::of_test().abilities().snapshot {
        return Some(taken.expect("a snapshot can be taken"));
    }
    assert_lacks(taken.map(drop), "`snapshot`");
    None
}

/// Makes sure that this was refused by the name of the ability that it takes.
pub fn assert_lacks(done: Result<()>, ability: &str) {
    let error = done.expect_err("the store lacks the ability");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains(ability), "{error}");
}

/// Returns whether the test's store gives rows from the last to the first. If it doesn't, `done`, which asked for them, must have
/// been refused by the name of the ability.
pub fn reverses<T>(done: impl FnOnce() -> Result<T>) -> bool {
    let reverses = Executor::of_test().abilities().reverse;
    if !reverses {
        assert_lacks(done().map(drop), "`reverse`");
    }
    reverses
}

/// Makes of each of these tests, which stand beside it and run on LMDB, one on each other executor.
#[macro_export]
macro_rules! on_other_executors {
    ($($test:ident)+) => {
        mod on_a_map {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::Map.run(super::$test);
                }
            )+
        }

        mod as_the_service {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::Service.run(super::$test);
                }
            )+
        }

        mod awaited {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::Later.run(super::$test);
                }
            )+
        }

        $crate::on_executors_with_queues! { $($test)+ }
    };
}

/// Makes of each of these tests, which stand beside it and run on LMDB, one on each other executor that has jobs.
#[macro_export]
macro_rules! on_executors_with_jobs {
    ($($test:ident)+) => {
        #[cfg(feature = "postgres")]
        mod on_postgres {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::Postgres.run(super::$test);
                }
            )+
        }

        #[cfg(feature = "postgres")]
        mod awaited_on_postgres {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::PostgresLater.run(super::$test);
                }
            )+
        }
    };
}

/// Makes of each of these tests, which stand beside it and run on LMDB, one on each other executor that has queues.
#[macro_export]
macro_rules! on_executors_with_queues {
    ($($test:ident)+) => {
        $crate::on_executors_with_jobs! { $($test)+ }

        $crate::on_azure! { $($test)+ }
    };
}

/// Makes of each of these tests, which stand beside it and run on LMDB, one on a server of the Table service's protocol.
#[macro_export]
macro_rules! on_azure {
    ($($test:ident)+) => {
        #[cfg(feature = "azure")]
        mod on_azure {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::Azure.run(super::$test);
                }
            )+
        }

        #[cfg(feature = "azure")]
        mod awaited_on_azure {
            $(
                #[test]
                fn $test() {
                    $crate::executors::Executor::AzureLater.run(super::$test);
                }
            )+
        }
    };
}
