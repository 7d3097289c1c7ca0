//! The store of an example program: in a directory, on an emulator, in an account of Azure storage, or in a database.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use table_azure::AzureOptions;
use table_core::crypt::{KeyProvider, Scope};
use table_core::store::{Problem, Propagate};
use table_core::typed::PendingPropagation;
use table_core::{Error, ErrorKind, OpenOptions, Result, Tables};

/// Where the stores of programs lie.
#[derive(Clone, Debug)]
pub enum Place {
    /// In this directory, each in one of its own.
    Directory(PathBuf),
    /// In the account that a connection string names, each with tables whose names begin as those of no other.
    Account(String),
    /// In the PostgreSQL database of this address, each in a schema of its own.
    #[cfg(feature = "postgres")]
    Database(String),
}

impl Place {
    /// Reads what the command line says: `azurite`, or `emulator`, a connection string, the address of a database, or a
    /// directory.
    pub fn parse(text: &str) -> Self {
        match text {
            #[cfg(feature = "postgres")]
            text if text.starts_with("postgres://") => Self::Database(text.into()),
            "azurite" | "emulator" => Self::Account("UseDevelopmentStorage=true".into()),
            text if text.contains('=') => Self::Account(text.into()),
            directory => Self::Directory(directory.into()),
        }
    }

    /// Runs a program whose stores lie here, and removes the tables that it leaves in an account or a database.
    pub fn run<T>(&self, program: impl FnOnce() -> T) -> T {
        /// Forgets the place, and removes what lies there, also where the program fails.
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                let opened = RUNNING.with_borrow_mut(|running| std::mem::take(&mut running.opened));
                for tables in opened {
                    let names = tables.tables().unwrap_or_default();
                    let together: Vec<_> = names.iter().map(String::as_str).collect();
                    // What can't be removed is another's to see to: the program's own error says more.
                    if tables.drop_tables(&together).is_err() {
                        for name in names {
                            drop(tables.drop_table(&name));
                        }
                    }
                }
                RUNNING.take();
            }
        }
        RUNNING.with_borrow_mut(|running| running.place = Some(self.clone()));
        let _leave = Leave;
        program()
    }
}

/// The place of the program that this thread runs.
#[derive(Default)]
struct Running {
    place: Option<Place>,
    /// What it has opened in an account or a database.
    opened: Vec<Tables>,
}

thread_local! {
    static RUNNING: RefCell<Running> = RefCell::default();
}

/// A store.
pub struct Store {
    tables: Tables,
    kept: Kept,
    propagate: Propagate,
}

/// Where a store lies.
enum Kept {
    Directory(table_core::Store),
    Account,
    #[cfg(feature = "postgres")]
    Database(table_postgres::PostgresTables),
}

/// What was found wrong with a store's files.
pub struct Checked {
    /// Each problem.
    pub problems: Vec<Problem>,
}

/// Figures of a store.
pub struct Stats {
    /// Those of its blobs.
    pub blobs: BlobStats,
}

/// What the blobs of a store come to.
pub struct BlobStats {
    /// How many there are.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The keys of a store.
pub enum Encryption<'s> {
    /// Those in a directory.
    Directory(&'s table_core::store::Encryption),
    /// Those in a database.
    #[cfg(feature = "postgres")]
    Database(table_postgres::Encryption),
}

/// A data key.
pub struct KeyInfo {
    /// Whether it seals new values.
    pub current: bool,
}

impl Encryption<'_> {
    /// Returns every living data key.
    pub fn keys(&self) -> Result<Vec<KeyInfo>> {
        let all: Vec<_> = match self {
            Self::Directory(keys) => keys.keys()?.iter().map(|key| key.current).collect(),
            #[cfg(feature = "postgres")]
            Self::Database(keys) => keys.keys()?.iter().map(|key| key.current).collect(),
        };
        Ok(all.into_iter().map(|current| KeyInfo { current }).collect())
    }

    /// Gives every scope that has a key a new one.
    pub fn rotate_all(&self) -> Result<u64> {
        match self {
            Self::Directory(keys) => keys.rotate_all(),
            #[cfg(feature = "postgres")]
            Self::Database(keys) => keys.rotate_all(),
        }
    }

    /// Destroys every old key that nothing is left under.
    pub fn destroy_unused(&self) -> Result<u64> {
        match self {
            Self::Directory(keys) => keys.destroy_unused(),
            #[cfg(feature = "postgres")]
            Self::Database(keys) => keys.destroy_unused(),
        }
    }

    /// Destroys all keys of a scope.
    pub fn shred(&self, scope: &Scope) -> Result<u64> {
        match self {
            Self::Directory(keys) => keys.shred(scope),
            #[cfg(feature = "postgres")]
            Self::Database(keys) => keys.shred(scope),
        }
    }
}

/// How a store is opened.
pub struct Options {
    lmdb: OpenOptions,
    azure: AzureOptions,
    propagate: Propagate,
    keys: Option<Arc<dyn KeyProvider>>,
}

impl Options {
    /// Says who brings copies up to date that follow later.
    pub fn propagate(self, propagate: Propagate) -> Self {
        let (lmdb, azure) = (self.lmdb.propagate(propagate), self.azure.propagate(propagate));
        Self { lmdb, azure, propagate, ..self }
    }

    /// Gives the keys by which values are sealed.
    pub fn encryption(self, keys: Arc<dyn KeyProvider>) -> Self {
        Self { keys: Some(keys), ..self }
    }

    /// Opens the store of a program, which has a path of its own wherever the store lies.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Store> {
        let place = RUNNING.with_borrow(|running| running.place.clone());
        let path = path.as_ref();
        match place {
            Some(Place::Account(_)) if self.keys.is_some() => {
                let because = "the program's keys end with it, and the account would keep what they have wrapped, so that examples \
                               have no keys there; a new key beside numbers that are unique by tokens would take the ability `expect`";
                Err(Error::new(ErrorKind::Unsupported).because(because))
            }
            Some(Place::Account(connection)) => {
                let run = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
                let prefix = format!("{run}X{:016x}", number_of(path));
                let opened = self.azure.prefix(&prefix).connect(&connection)?;
                Ok(Store::elsewhere(&opened, Kept::Account, self.propagate))
            }
            #[cfg(feature = "postgres")]
            Some(Place::Database(address)) => {
                // A schema of this run's own: another one's keys open nothing.
                let schema = format!("example_{:x}_{:016x}", run(), number_of(path));
                let options = table_postgres::PostgresTables::options().schema(schema);
                let options = match self.keys {
                    Some(keys) => options.encryption(keys),
                    None => options,
                };
                let opened = options.propagate(self.propagate).connect(&address)?;
                let tables = Tables::clone(&opened);
                Ok(Store::elsewhere(&tables, Kept::Database(opened), self.propagate))
            }
            Some(Place::Directory(directory)) => {
                self.directory(directory.join(path.file_name().unwrap_or_default()))
            }
            None => self.directory(path.to_owned()),
        }
    }

    fn directory(self, path: PathBuf) -> Result<Store> {
        let options = match self.keys {
            Some(keys) => self.lmdb.encryption(keys),
            None => self.lmdb,
        };
        let store = options.open(path)?;
        Ok(Store { tables: Tables::clone(&store), kept: Kept::Directory(store), propagate: self.propagate })
    }
}

/// Returns a number that the path of a store has in an account or a database.
fn number_of(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// Returns a number that no other run of a program has.
#[cfg(feature = "postgres")]
fn run() -> u128 {
    static RUN: std::sync::LazyLock<u128> = std::sync::LazyLock::new(|| {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
        since.map_or(0, |since| since.as_nanos()) << 32 | u128::from(std::process::id())
    });
    *RUN
}

impl Store {
    /// Opens the store of a program.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Returns a store that lies in no directory. What the program leaves in it is removed after it.
    fn elsewhere(tables: &Tables, kept: Kept, propagate: Propagate) -> Self {
        RUNNING.with_borrow_mut(|running| running.opened.push(tables.clone()));
        Self { tables: tables.clone(), kept, propagate }
    }

    /// Returns how a store is opened where nothing is said.
    pub fn options() -> Options {
        Options {
            lmdb: table_core::Store::options(),
            // No other process has these tables: a job need not wait until others go by new states of indexes.
            azure: AzureOptions::new().lease(Duration::from_secs(1)),
            propagate: Propagate::default(),
            keys: None,
        }
    }

    /// Checks the store's files, if it has any.
    pub fn check(&self) -> Result<Checked> {
        let problems = match &self.kept {
            Kept::Directory(store) => store.check()?.problems,
            _ => Vec::new(),
        };
        Ok(Checked { problems })
    }

    /// Returns figures of the store.
    pub fn stats(&self) -> Result<Stats> {
        let (blobs, bytes) = match &self.kept {
            Kept::Directory(store) => {
                let stats = store.stats()?.blobs;
                (stats.blobs, stats.bytes)
            }
            Kept::Account => return Err(not_in_an_account("figures")),
            #[cfg(feature = "postgres")]
            Kept::Database(tables) => {
                let stats = tables.blob_stats()?;
                (stats.blobs, stats.bytes)
            }
        };
        Ok(Stats { blobs: BlobStats { blobs, bytes } })
    }

    /// Returns what manages the keys.
    pub fn encryption(&self) -> Result<Encryption<'_>> {
        match &self.kept {
            Kept::Directory(store) => store.encryption().map(Encryption::Directory),
            Kept::Account => Err(not_in_an_account("keys")),
            #[cfg(feature = "postgres")]
            Kept::Database(tables) => tables.encryption().map(Encryption::Database),
        }
    }

    /// Frees what dropped tables have left in the store's files, if it has any.
    pub fn reclaim(&self) -> Result<u64> {
        match &self.kept {
            Kept::Directory(store) => store.reclaim(),
            _ => Ok(0),
        }
    }

    /// Returns what is to follow. In an account no thread looks through the tables for what another process has left: so it is
    /// propagated first.
    pub fn pending_propagation(&self) -> Result<PendingPropagation> {
        if !matches!(self.kept, Kept::Directory(_)) && self.propagate == Propagate::Background {
            self.tables.propagate()?;
        }
        self.tables.pending_propagation()
    }
}

/// Returns the refusal of what an account has not.
fn not_in_an_account(ability: &str) -> Error {
    let because = format!("that takes a store in a directory or a database, which has {ability}");
    Error::new(ErrorKind::Unsupported).because(because)
}

impl Deref for Store {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}
