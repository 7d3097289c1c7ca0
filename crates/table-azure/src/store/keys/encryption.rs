//! What a program does with the keys of a store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use table_engine::__executor::{check_unused, unused_keys};
use table_engine::crypt::{Cell, KeyHandle, KeyInfo, Scope, Token, TokenScope};
use table_engine::sealing::Sealing;
use table_engine::{Error, ErrorKind, Result, Ticks, Value, ValueRef};

use super::super::AzureStore;
use super::at_work::AzureVault;
use super::key_store::others_go_on;
use super::key_table::ATTEMPTS;
use super::rows::{KEY, KeyRow, ScopeRow, State};

/// Seals and opens the encrypted properties of a store, and looks after its keys; given by
/// [`AzureTables::encryption`](crate::AzureTables::encryption).
///
/// The provider's key wraps a root key, that one the data keys, and those seal values. The account has all of them but the
/// provider's, and those alone that are wrapped.
///
/// Every process goes by what it has read of the keys for a [lease](crate::AzureOptions::lease), and each change of them that
/// something relies on is waited for, two leases long: `rotate`, `rotate_all`, `shred`, `destroy`, `destroy_unused`, `rewrap` and the
/// beginning of `reencrypt` take so long each. What waits and is broken off is called again.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use table_core::Entity;
/// # use table_core::crypt::{MemoryKeys, Scope};
/// # use table_azure::AzureOptions;
/// # #[derive(Entity)]
/// # #[entity(table = "Payroll", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, #[encrypt] salary: i64 }
/// # let provider = Arc::new(MemoryKeys::new()?);
/// let tables = AzureOptions::new().encryption(provider).connect("UseDevelopmentStorage=true")?;
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
    keys: AzureVault,
    store: Arc<AzureStore>,
}

/// A data key, and whether a younger one seals.
struct Listed {
    info: KeyInfo,
    is_old: bool,
}

impl Encryption {
    pub(crate) fn new(store: &Arc<AzureStore>) -> Result<Self> {
        let keys = store.service.keys.vault()?.clone();
        keys.0.authority()?;
        Ok(Self { keys, store: store.clone() })
    }

    /// Seals a value for its cell: bytes for a property of type Binary. The data key is made before this returns, if its scope has
    /// none.
    pub fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        self.keys.seal(cell, value)
    }

    /// Returns the value that was sealed for this cell, of the type that it had. Whether its key has been destroyed meanwhile is
    /// asked first.
    pub fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        self.keys.0.leased_now()?;
        Sealing::open(&self.keys, cell, sealed)
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

    /// Returns a number that rises whenever a key comes, stops being current or is destroyed, by whatever process.
    pub fn generation(&self) -> Result<u64> {
        Ok(self.keys.0.leased_now()?.generation())
    }

    /// Returns every living data key, by scope and age.
    pub fn keys(&self) -> Result<Vec<KeyInfo>> {
        let listed = self.list().map_err(|error| error.attempted("list the keys"))?;
        Ok(listed.into_iter().map(|key| key.info).collect())
    }

    fn list(&self) -> Result<Vec<Listed>> {
        let keys = &self.keys.0;
        let authority = keys.authority()?;
        'again: for _ in 0..ATTEMPTS {
            keys.leased_now()?;
            let scopes: BTreeMap<_, _> = keys.scope_rows()?.into_iter().map(|row| (row.tag, row)).collect();
            let rows = keys.wait(|table| async move { table.rows(KEY).await })?;
            let rows = rows.iter().map(KeyRow::read).collect::<Result<Vec<_>>>()?;
            let mut all = Vec::new();
            for row in rows.iter().filter(|row| row.state == State::Alive) {
                // A root key that is gone was replaced meanwhile.
                let Some(unwrapped) = keys.unwrap(row)? else { continue 'again };
                let tag = authority.mac.digest("scope", &[unwrapped.scope.as_bytes()]);
                let record = scopes.get(&tag);
                let current = record.and_then(ScopeRow::sealing) == Some(row.handle);
                let is_old = record.is_some_and(|record| row.version < record.current);
                let made = Ticks::new(row.made.cast_unsigned()).unwrap_or(Ticks::MIN);
                let (handle, version, scope) = (row.handle, row.version, unwrapped.scope);
                let info = KeyInfo::new(handle, scope, version, made).with_current(current);
                all.push(Listed { info, is_old });
            }
            all.sort_by(|a, b| (&a.info.scope, a.info.version).cmp(&(&b.info.scope, b.info.version)));
            return Ok(all);
        }
        Err(others_go_on())
    }

    /// Gives a scope a new key, which seals from then on. The old one goes on to open what it sealed, until all that is written
    /// anew and the old key is [destroyed](Self::destroy). The new key is made known first, and seals two leases later: so lookups
    /// by tokens find what any process writes. Who rotates the scope meanwhile gets the same key.
    ///
    /// A scope whose tokens keep values unique gets no new key: it is [`Unsupported`](ErrorKind::Unsupported), by the ability
    /// `expect`.
    pub fn rotate(&self, scope: &Scope) -> Result<KeyHandle> {
        let rotate = || {
            scope.check_of(&self.keys.0.authority()?.identity)?;
            self.store.check_not_unique(std::slice::from_ref(scope))?;
            let announced = self.keys.0.announce(scope)?;
            let handle = announced.handle;
            self.keys.0.switch(&[announced])?;
            Ok(handle)
        };
        rotate().map_err(|error: Error| error.attempted("rotate a data key"))
    }

    /// Gives every scope that has a key a new one; returns how many. If [`rotate`](Self::rotate) refuses one of them, none gets a
    /// new one.
    pub fn rotate_all(&self) -> Result<u64> {
        let rotate = || {
            let listed = self.list()?;
            let scopes: Vec<_> =
                listed.into_iter().filter(|key| key.info.current).map(|key| key.info.scope).collect();
            self.store.check_not_unique(&scopes)?;
            let announced = scopes.iter().map(|scope| self.keys.0.announce(scope));
            let announced = announced.collect::<Result<Vec<_>>>()?;
            self.keys.0.switch(&announced)?;
            Ok(u64::try_from(announced.len()).unwrap_or(u64::MAX))
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
            let Some(key) = all.iter().find(|key| key.info.handle == handle) else { return Ok(()) };
            if !key.is_old {
                let because = format!(
                    "the data key {handle} is the current one of {}, or a newer one; make a new one by `rotate`, and write what it \
                     sealed anew, first",
                    key.info.scope
                );
                return Err(Error::new(ErrorKind::KeyUnavailable).because(because));
            }
            // What was sealed with it while it was current is there by then, or is refused.
            self.keys.0.settle()?;
            check_unused(handle, &self.store.key_uses(&[&key.info])?)?;
            self.keys.0.end(&BTreeSet::from([handle])).map(drop)
        };
        destroy().map_err(|error: Error| error.attempted("destroy a data key"))
    }

    /// Destroys every old key that nothing is left under, of whatever scope; returns how many. Every row is read once.
    pub fn destroy_unused(&self) -> Result<u64> {
        let destroy = || {
            let all = self.list()?;
            let old: Vec<_> = all.iter().filter(|key| key.is_old).map(|key| &key.info).collect();
            if old.is_empty() {
                return Ok(0);
            }
            self.keys.0.settle()?;
            let found = self.store.key_uses(&old)?;
            self.keys.0.end(&unused_keys(old.iter().map(|key| key.handle), &found))
        };
        destroy().map_err(|error: Error| error.attempted("destroy the unused data keys"))
    }

    /// Makes everything that was ever sealed in a scope unreadable, by destroying all its keys; returns how many. A table's scope
    /// takes its partitions' scopes with it. Each scope's keys go in one request, one scope after another: what was broken off is
    /// called again.
    ///
    /// The keys are gone at once. Processes that remember them may go on to open, seal and look up by them for a lease, and what
    /// they seal then is lost too: when this returns, none does any more. Values that are written in the scope later get a new key.
    ///
    /// A scope of a table of another store is [`TableNotFound`](ErrorKind::TableNotFound), and destroys nothing.
    pub fn shred(&self, scope: &Scope) -> Result<u64> {
        let shred = || {
            scope.check_of(&self.keys.0.authority()?.identity)?;
            self.keys.0.shred(scope)
        };
        shred().map_err(|error: Error| error.attempted("shred a scope"))
    }

    /// Puts all data keys under a new root key that the provider's current key wraps: after the provider's key has changed. No
    /// value is touched. When it returns, the provider's old key is needed for copies of the account alone.
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
