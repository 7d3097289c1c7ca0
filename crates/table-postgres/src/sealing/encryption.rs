//! What a program does with the keys of a store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use table_engine::__executor::{check_unused, unused_keys};
use table_engine::crypt::{Cell, KeyHandle, KeyInfo, Scope, Token, TokenScope};
use table_engine::sealing::Sealing;
use table_engine::{Error, ErrorKind, Result, Value, ValueRef};

use super::at_work::SharedKeys;
use super::change::Add;
use super::destroy;
use super::key_rows::{KeyRow, ScopeRow, VaultRow, tag_of};
use super::key_store::{PATIENCE, gone, without_end};
use crate::store::PostgresStore;

/// Seals and opens the encrypted properties of a store, and looks after its keys; given by
/// [`PostgresTables::encryption`](crate::PostgresTables::encryption).
///
/// The provider's key wraps a root key, that one the data keys, and those seal values. The server has all of them but the
/// provider's, and those alone that are wrapped: neither the database nor what is copied of it opens a value.
///
/// A key that is destroyed is gone from the database. What was copied of it before — backups, the archive of its log, a standby
/// that lags — has the key still, wrapped: to give that up too, [`rewrap`](Self::rewrap) the others with a new key of the
/// provider's, and destroy the provider's old one.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use table_core::Entity;
/// # use table_core::crypt::{MemoryKeys, Scope};
/// # use table_postgres::PostgresTables;
/// # #[derive(Entity)]
/// # #[entity(table = "Payroll", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, #[encrypt] salary: i64 }
/// # let provider = Arc::new(MemoryKeys::new()?);
/// let tables = PostgresTables::options().encryption(provider).connect("postgres://app@localhost/app")?;
/// let (staff, encryption) = (tables.table::<Employee>()?, tables.encryption()?);
/// encryption.rotate(&Scope::store())?;
/// // In whatever process: one that was stopped goes on where it was.
/// let report = staff.reencrypt()?.run()?;
/// assert_eq!(report.failed, 0);
/// assert_eq!(encryption.destroy_unused()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Encryption {
    keys: SharedKeys,
    store: Arc<PostgresStore>,
}

impl Encryption {
    pub(crate) fn new(store: &Arc<PostgresStore>) -> Result<Self> {
        Ok(Self { keys: store.keys.get()?.clone(), store: store.clone() })
    }

    /// Seals a value for its cell: bytes for a property of type Binary. The data key is made, and durable, before this returns,
    /// if its scope has none.
    pub fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        self.keys.seal(cell, value)
    }

    /// Returns the value that was sealed for this cell, of the type that it had. Whether its key has been destroyed meanwhile is
    /// asked first.
    pub fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        self.keys.0.refresh()?;
        self.keys.open(cell, sealed)
    }

    /// Returns the token of a value under the current key, with which a row's key is written.
    pub fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        self.keys.token(cell, scope, value)
    }

    /// Returns the tokens of a value under every living key, newest first, which a lookup has to try. Empty if nothing was ever
    /// sealed.
    pub fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>> {
        self.keys.tokens(cell, scope, value)
    }

    /// Returns a number that rises whenever a key stops being current or is destroyed, by whatever process.
    pub fn generation(&self) -> Result<u64> {
        self.keys.0.refresh()?;
        Ok(self.keys.0.known_generation())
    }

    /// Returns every living data key, by scope and age.
    pub fn keys(&self) -> Result<Vec<KeyInfo>> {
        self.list().map_err(|error| error.attempted("list the keys"))
    }

    fn list(&self) -> Result<Vec<KeyInfo>> {
        let keys = &self.keys.0;
        let tables = keys.tables();
        for _ in 0..PATIENCE {
            let answers = keys.pool.query_all(&[tables.vault(), tables.alive(), tables.all_scopes()])?;
            let [vault, alive, scopes] = &answers[..] else { return Err(gone()) };
            let vault = VaultRow::read(vault.first().ok_or_else(gone)?)?;
            let Some(root) = keys.root(vault.root)? else { continue };
            let mut records = BTreeMap::new();
            for row in scopes {
                records.extend(ScopeRow::read(&keys.authenticator, row, 0)?);
            }
            let mut all = Vec::with_capacity(alive.len());
            for row in alive {
                let Some(row) = KeyRow::read(row, 0)? else { continue };
                let scope = keys.unwrap(&root, &row)?.scope;
                let record = records.get(&tag_of(&keys.authenticator, scope.as_bytes()));
                let made = crate::clock::ticks(row.made);
                let current = record.and_then(ScopeRow::current) == Some(row.handle);
                all.push(KeyInfo::new(row.handle, scope, row.version, made).with_current(current));
            }
            all.sort_by(|a, b| (&a.scope, a.version).cmp(&(&b.scope, b.version)));
            return Ok(all);
        }
        Err(without_end())
    }

    /// Gives a scope a new key, which seals from now on. The old one goes on to open what it sealed, until all that is written
    /// anew and the old key is [destroyed](Self::destroy).
    pub fn rotate(&self, scope: &Scope) -> Result<KeyHandle> {
        let rotate = || {
            scope.check_of(&self.keys.0.identity)?;
            self.keys.0.add(scope, Add::Always)
        };
        rotate().map_err(|error: Error| error.attempted("rotate a data key"))
    }

    /// Gives every scope that has a key a new one; returns how many. Each is a transaction of its own.
    pub fn rotate_all(&self) -> Result<u64> {
        let rotate = || {
            let mut rotated = 0;
            for key in self.list()?.iter().filter(|key| key.current) {
                self.keys.0.add(&key.scope, Add::Always)?;
                rotated += 1;
            }
            Ok(rotated)
        };
        rotate().map_err(|error: Error| error.attempted("rotate the data keys"))
    }

    /// Destroys an old key, once nothing is left under it.
    ///
    /// While a value is sealed with it, or one of its tokens stands in a row, of whatever table, it is
    /// [`KeyInUse`](ErrorKind::KeyInUse), which says how many there are and where the first is: so it reads every row. The current
    /// key of a scope is not destroyed by itself; [`shred`](Self::shred) destroys a scope's keys together with its values.
    pub fn destroy(&self, handle: KeyHandle) -> Result<()> {
        let destroy = || {
            let all = self.list()?;
            let Some(key) = all.iter().find(|key| key.handle == handle) else { return Ok(()) };
            if key.current {
                let because = format!(
                    "the data key {handle} is the current one of {}; make a new one by `rotate`, and write what it sealed anew, \
                     first",
                    key.scope
                );
                return Err(Error::new(ErrorKind::KeyUnavailable).because(because));
            }
            // A writer that sealed with it while it was current has committed by now, or is refused.
            destroy::await_writers(&self.store)?;
            check_unused(handle, &destroy::found(&self.store, &[key])?)?;
            self.keys.0.end(&BTreeSet::from([handle])).map(drop)
        };
        destroy().map_err(|error: Error| error.attempted("destroy a data key"))
    }

    /// Destroys every old key that nothing is left under, of whatever scope; returns how many. Every row is read once.
    pub fn destroy_unused(&self) -> Result<u64> {
        let destroy = || {
            let all = self.list()?;
            let old: Vec<_> = all.iter().filter(|key| !key.current).collect();
            if old.is_empty() {
                return Ok(0);
            }
            destroy::await_writers(&self.store)?;
            let found = destroy::found(&self.store, &old)?;
            self.keys.0.end(&unused_keys(old.iter().map(|key| key.handle), &found))
        };
        destroy().map_err(|error: Error| error.attempted("destroy the unused data keys"))
    }

    /// Makes everything that was ever sealed in a scope unreadable, by destroying all its keys; returns how many. A table's scope
    /// takes its partitions' scopes with it. It is one transaction, which no reader or writer waits for.
    ///
    /// Processes that have opened the store open nothing more with them from their next read of rows on. Values that are written
    /// in the scope later get a new key. A value that another thread is just about to write with a destroyed key is refused, and
    /// sealed anew.
    ///
    /// A scope of a table of another store is [`TableNotFound`](ErrorKind::TableNotFound), and destroys nothing.
    pub fn shred(&self, scope: &Scope) -> Result<u64> {
        let shred = || {
            scope.check_of(&self.keys.0.identity)?;
            self.keys.0.shred(scope)
        };
        shred().map_err(|error: Error| error.attempted("shred a scope"))
    }

    /// Puts all data keys under a new root key that the provider's current key wraps: after the provider's key has changed. No
    /// value is touched. When it returns, the provider's old key is needed for backups alone.
    ///
    /// Returns the data keys whose records are damaged, mostly none; they stay as they are.
    pub fn rewrap(&self) -> Result<Vec<KeyHandle>> {
        self.keys.0.rewrap().map_err(|error| error.attempted("rewrap the data keys"))
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encryption").finish_non_exhaustive()
    }
}
