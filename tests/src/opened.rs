//! Stores of a test's executor, opened with what the test needs, and opened again: on LMDB, and on PostgreSQL.

use std::ops::Deref;
use std::sync::Arc;

use table_core::crypt::{Cell, KeyHandle, KeyProvider, Scope, Token, TokenScope};
use table_core::store::{Encryption, Propagate};
use table_core::{Durability, Result, Store, Tables, ValueRef};
#[cfg(feature = "postgres")]
use table_postgres::{Encryption as PostgresEncryption, PostgresTables};

use crate::Scratch;
use crate::executors::Executor;

/// What a store is opened with.
#[derive(Clone, Default)]
pub struct Needs {
    /// What gives it its keys, if it has any.
    pub keys: Option<Arc<dyn KeyProvider>>,
    /// How copies follow.
    pub propagate: Propagate,
}

/// A store that is open.
#[derive(Clone)]
pub enum Opened {
    /// On LMDB.
    Lmdb(Store),
    /// On PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(PostgresTables),
}

/// The keys of a store.
#[derive(Clone, Debug)]
pub enum Keys {
    /// Of one on LMDB.
    Lmdb(Encryption),
    /// Of one on PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(PostgresEncryption),
}

/// A data key that is alive.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownKey {
    /// Its name.
    pub handle: KeyHandle,
    /// The scope whose values it seals.
    pub scope: Scope,
    /// Whether it seals new values.
    pub current: bool,
}

impl Scratch {
    /// Opens the store of the scratch: made at first, and the one that is there afterwards.
    pub fn open(&self, needs: &Needs) -> Opened {
        match Executor::of_test() {
            Executor::Lmdb => {
                let options = Store::options()
                    .durability(Durability::Relaxed)
                    .map_size(1 << 28)
                    .propagate(needs.propagate);
                let options = match &needs.keys {
                    Some(keys) => options.encryption(keys.clone()),
                    None => options,
                };
                Opened::Lmdb(self.store_with(&options))
            }
            #[cfg(feature = "postgres")]
            executor @ (Executor::Postgres | Executor::PostgresLater) => {
                Opened::Postgres(self.postgres(needs, executor == Executor::PostgresLater))
            }
            other => panic!("no store of {other:?} is opened again"),
        }
    }

    #[cfg(feature = "postgres")]
    fn postgres(&self, needs: &Needs, awaits: bool) -> PostgresTables {
        let server = std::env::var("TABLE_POSTGRES").expect("`TABLE_POSTGRES` names a server");
        let own = self.path().file_name().and_then(|name| name.to_str()).expect("a scratch has a name");
        let options =
            PostgresTables::options().schema(own.replace('-', "_")).awaits(awaits).propagate(needs.propagate);
        let options = match &needs.keys {
            Some(keys) => options.encryption(keys.clone()),
            None => options,
        };
        options.connect(&server).expect("a store can be opened")
    }
}

impl Opened {
    /// Returns the store on LMDB; `None` if it is another.
    pub fn lmdb(&self) -> Option<&Store> {
        match self {
            Self::Lmdb(store) => Some(store),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    /// Returns the keys of the store.
    pub fn encryption(&self) -> Result<Keys> {
        match self {
            Self::Lmdb(store) => store.encryption().cloned().map(Keys::Lmdb),
            #[cfg(feature = "postgres")]
            Self::Postgres(tables) => tables.encryption().map(Keys::Postgres),
        }
    }
}

impl Deref for Opened {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        match self {
            Self::Lmdb(store) => store,
            #[cfg(feature = "postgres")]
            Self::Postgres(tables) => tables,
        }
    }
}

/// Calls a method of the keys of either store.
macro_rules! of_either {
    ($keys:expr, $encryption:ident => $call:expr) => {
        match $keys {
            Keys::Lmdb($encryption) => $call,
            #[cfg(feature = "postgres")]
            Keys::Postgres($encryption) => $call,
        }
    };
}

impl Keys {
    /// Returns every living key, by scope and age.
    pub fn keys(&self) -> Result<Vec<KnownKey>> {
        of_either!(self, encryption => {
            let keys = encryption.keys()?.into_iter();
            let known = keys.map(|key| KnownKey { handle: key.handle, scope: key.scope, current: key.current });
            Ok(known.collect())
        })
    }

    /// Gives a scope a new key.
    pub fn rotate(&self, scope: &Scope) -> Result<KeyHandle> {
        of_either!(self, encryption => encryption.rotate(scope))
    }

    /// Gives every scope a new key.
    pub fn rotate_all(&self) -> Result<u64> {
        of_either!(self, encryption => encryption.rotate_all())
    }

    /// Destroys an old key, once nothing is left under it.
    pub fn destroy(&self, handle: KeyHandle) -> Result<()> {
        of_either!(self, encryption => encryption.destroy(handle))
    }

    /// Destroys every old key that nothing is left under.
    pub fn destroy_unused(&self) -> Result<u64> {
        of_either!(self, encryption => encryption.destroy_unused())
    }

    /// Destroys all keys of a scope.
    pub fn shred(&self, scope: &Scope) -> Result<u64> {
        of_either!(self, encryption => encryption.shred(scope))
    }

    /// Returns the token of a value under the current key.
    pub fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        of_either!(self, encryption => encryption.token(cell, scope, value))
    }

    /// Returns a value, sealed for a cell.
    pub fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        of_either!(self, encryption => encryption.seal(cell, value))
    }
}
