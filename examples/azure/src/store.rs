//! The store of an example program: in a directory, on an emulator, in an account of Azure storage, or in a database.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use table_azure::AzureOptions;
use table_core::crypt::KeyProvider;
use table_core::store::{Encryption, Problem, Propagate, StoreStats};
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
    lmdb: Option<table_core::Store>,
    is_manual: bool,
}

/// What was found wrong with a store's files.
pub struct Checked {
    /// Each problem.
    pub problems: Vec<Problem>,
}

/// How a store is opened.
pub struct Options {
    lmdb: OpenOptions,
    azure: AzureOptions,
    is_manual: bool,
    seals: bool,
}

impl Options {
    /// Says who brings copies up to date that follow later.
    pub fn propagate(self, propagate: Propagate) -> Self {
        let is_manual = propagate == Propagate::Manual;
        let azure = if is_manual { self.azure.propagate_manually() } else { self.azure };
        Self { lmdb: self.lmdb.propagate(propagate), azure, is_manual, ..self }
    }

    /// Gives the keys by which values are sealed.
    pub fn encryption(self, keys: Arc<dyn KeyProvider>) -> Self {
        Self { lmdb: self.lmdb.encryption(keys), seals: true, ..self }
    }

    /// Opens the store of a program, which has a path of its own wherever the store lies.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Store> {
        let place = RUNNING.with_borrow(|running| running.place.clone());
        let path = path.as_ref();
        match place {
            Some(Place::Account(_)) if self.seals => {
                let because = "tables of Azure storage rotate and shred no keys";
                Err(Error::new(ErrorKind::Unsupported).because(because))
            }
            Some(Place::Account(connection)) => {
                let mut hasher = DefaultHasher::new();
                path.hash(&mut hasher);
                let run = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
                let prefix = format!("{run}X{:016x}", hasher.finish());
                let opened = self.azure.prefix(&prefix).connect(&connection)?;
                Ok(Store::elsewhere(Tables::clone(&opened), self.is_manual))
            }
            #[cfg(feature = "postgres")]
            Some(Place::Database(_)) if self.seals => {
                let because = "this store on PostgreSQL was given no keys";
                Err(Error::new(ErrorKind::Unsupported).because(because))
            }
            #[cfg(feature = "postgres")]
            Some(Place::Database(address)) => {
                let mut hasher = DefaultHasher::new();
                path.hash(&mut hasher);
                let schema = format!("example_{:016x}", hasher.finish());
                let opened = table_postgres::PostgresTables::options().schema(schema).connect(&address)?;
                Ok(Store::elsewhere(Tables::clone(&opened), self.is_manual))
            }
            Some(Place::Directory(directory)) => {
                self.directory(directory.join(path.file_name().unwrap_or_default()))
            }
            None => self.directory(path.to_owned()),
        }
    }

    fn directory(self, path: PathBuf) -> Result<Store> {
        let store = self.lmdb.open(path)?;
        Ok(Store { tables: Tables::clone(&store), lmdb: Some(store), is_manual: self.is_manual })
    }
}

impl Store {
    /// Opens the store of a program.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Returns a store that lies in no directory. What the program leaves in it is removed after it.
    fn elsewhere(tables: Tables, is_manual: bool) -> Self {
        RUNNING.with_borrow_mut(|running| running.opened.push(tables.clone()));
        Self { tables, lmdb: None, is_manual }
    }

    /// Returns how a store is opened where nothing is said.
    pub fn options() -> Options {
        Options {
            lmdb: table_core::Store::options(),
            // No other process has these tables: a job need not wait until others go by new states of indexes.
            azure: AzureOptions::new().lease(Duration::from_secs(1)),
            is_manual: false,
            seals: false,
        }
    }

    /// Returns the store in its directory.
    fn lmdb(&self, ability: &str) -> Result<&table_core::Store> {
        let because = || format!("that takes a store in a directory, which has {ability}");
        self.lmdb.as_ref().ok_or_else(|| Error::new(ErrorKind::Unsupported).because(because()))
    }

    /// Checks the store's files, if it has any.
    pub fn check(&self) -> Result<Checked> {
        let problems = match &self.lmdb {
            Some(store) => store.check()?.problems,
            None => Vec::new(),
        };
        Ok(Checked { problems })
    }

    /// Returns figures of the store's files.
    pub fn stats(&self) -> Result<StoreStats> {
        self.lmdb("figures")?.stats()
    }

    /// Returns what manages the keys.
    pub fn encryption(&self) -> Result<&Encryption> {
        self.lmdb("keys")?.encryption()
    }

    /// Frees what dropped tables have left in the store's files, if it has any.
    pub fn reclaim(&self) -> Result<u64> {
        self.lmdb.as_ref().map_or(Ok(0), table_core::Store::reclaim)
    }

    /// Returns what is to follow. In an account no thread looks through the tables for what another process has left: so it is
    /// propagated first.
    pub fn pending_propagation(&self) -> Result<PendingPropagation> {
        if self.lmdb.is_none() && !self.is_manual {
            self.tables.propagate()?;
        }
        self.tables.pending_propagation()
    }
}

impl Deref for Store {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}
