//! The keys of a store: found, made where there are none, and remembered for the time of a lease.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use table_engine::crypt::data_key::DataKey;
use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::mac::MacKey;
use table_engine::crypt::scope::check_partition;
use table_engine::crypt::{KeyHandle, Scope, SecretKey, key};
use table_engine::{Error, ErrorKind, Result, Ticks};
use zeroize::Zeroizing;

use super::Provider;
use super::key_table::{ATTEMPTS, KeyTable, Leased, ScopeKeys, Unanswered, gone, put};
use super::root::{self, Authority, Root};
use super::rows::{AUTHORITY, AuthorityRow, Head, KeyRow, RootRow, ScopeRow, State};
use crate::runner::Runner;

/// The keys of a store.
pub(super) struct KeyStore {
    pub(super) table: Arc<KeyTable>,
    runner: Arc<Runner>,
    pub(super) provider: Provider,
    roots: Mutex<HashMap<u64, Arc<Root>>>,
    authority: OnceLock<Authority>,
}

/// A data key with the scope that it was made for.
pub(super) struct Unwrapped {
    pub(super) key: SecretKey,
    pub(super) scope: Scope,
}

impl KeyStore {
    pub(super) fn new(table: Arc<KeyTable>, runner: Arc<Runner>, provider: Provider) -> Self {
        Self { table, runner, provider, roots: Mutex::default(), authority: OnceLock::new() }
    }

    /// Runs what is asked of the table of keys while this thread waits.
    pub(super) fn wait<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
        &self,
        ask: impl FnOnce(Arc<KeyTable>) -> F,
    ) -> Result<T> {
        self.runner.wait(ask(self.table.clone()))?
    }

    /// Returns what all digests of the store are made with, made with the first keys if there are none.
    pub(super) fn authority(&self) -> Result<&Authority> {
        if let Some(known) = self.authority.get() {
            return Ok(known);
        }
        for _ in 0..ATTEMPTS {
            let Some(leased) = self.wait(|table| async move { table.read_head().await })? else {
                // Whichever is there first is everybody's: it is read in the next round.
                self.make()?;
                continue;
            };
            let identity = leased.head.identity;
            let found = self.wait(|table| async move { table.row(AUTHORITY).await })?;
            let row = AuthorityRow::read(&found.ok_or_else(gone)?)?;
            // A root key that is gone was replaced meanwhile.
            let Some(root) = self.root(&identity, row.root)? else { continue };
            let mac = MacKey::new(&root::unwrap_authority(&identity, &root, &row)?);
            return Ok(self.authority.get_or_init(|| Authority { identity, mac }));
        }
        Err(others_go_on())
    }

    /// Returns the store's identity, if it is known or can be read.
    pub(super) fn identity(&self) -> Option<&[u8; 16]> {
        self.authority().ok().map(|authority| &authority.identity)
    }

    /// Makes the first keys of a store, unless another process is quicker.
    fn make(&self) -> Result<()> {
        let mut identity = [0; 16];
        for half in identity.chunks_mut(8) {
            half.copy_from_slice(&key::random_number()?.to_le_bytes());
        }
        let (root, root_row) = root::make(&identity, &*self.provider)?;
        let authority = root::wrap_authority(&identity, &root, &SecretKey::generate()?)?;
        let lease = self.table.lease;
        let head = Head { identity, generation: 1, root: root.number, is_moving: false, lease, etag: None };
        let operations = [put(&head.row(), None)?, put(&root_row.row(), None)?, put(&authority.row(), None)?];
        self.wait(|table| async move { table.write(&operations, None, Unanswered::Harmless).await }).map(drop)
    }

    /// Returns the root key of this number, which the provider unwraps if it is not at hand; `None` if it is not there any more.
    pub(super) fn root(&self, identity: &[u8; 16], number: u64) -> Result<Option<Arc<Root>>> {
        // The lock is held while the provider is asked, so that it is asked once.
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = roots.get(&number) {
            return Ok(Some(root.clone()));
        }
        let found = self.wait(|table| async move { table.row(&RootRow::key(number)).await })?;
        let Some(found) = found else { return Ok(None) };
        let root = Arc::new(root::load(&RootRow::read(&found)?, identity, &*self.provider)?);
        roots.insert(number, root.clone());
        Ok(Some(root))
    }

    /// Remembers a root key that was made here.
    pub(super) fn remember_root(&self, root: Root) {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        roots.insert(root.number, Arc::new(root));
    }

    /// Returns the keys' state, as it was a lease ago at the earliest.
    pub(super) fn leased(&self) -> Result<Leased> {
        self.authority()?;
        match self.table.held() {
            Some(leased) => Ok(leased),
            None => self.wait(|table| async move { table.leased().await }),
        }
    }

    /// Reads the keys' state now.
    pub(super) fn leased_now(&self) -> Result<Leased> {
        self.authority()?;
        self.wait(|table| async move { table.read_head().await?.ok_or_else(gone) })
    }

    /// Waits until every process goes by the keys as they are.
    pub(super) fn settle(&self) -> Result<Leased> {
        self.authority()?;
        self.wait(|table| async move { table.settle().await })
    }

    /// Returns the key of this name.
    pub(super) fn key(&self, handle: KeyHandle) -> Result<Arc<DataKey>> {
        let generation = self.leased()?.generation();
        if let Some(key) = self.table.known_key(handle) {
            return Ok(key);
        }
        for _ in 0..ATTEMPTS {
            let found = self.wait(|table| async move { table.row(&KeyRow::key(handle)).await })?;
            let found = found.ok_or_else(|| {
                let because =
                    format!("the table of keys holds no data key {handle}; it may be older than the data");
                Error::new(ErrorKind::KeyUnavailable).because(because)
            })?;
            let row = KeyRow::read(&found)?;
            check_alive(&row)?;
            // A root key that is gone was replaced meanwhile, and the key lies under another.
            let Some(unwrapped) = self.unwrap(&row)? else { continue };
            let key = Arc::new(DataKey::new(handle, row.version, unwrapped.scope, &unwrapped.key));
            self.table.remember_key(generation, &key);
            return Ok(key);
        }
        Err(others_go_on())
    }

    /// Returns the key that a row holds, which must be alive; `None` if its root key is gone.
    pub(super) fn unwrap(&self, row: &KeyRow) -> Result<Option<Unwrapped>> {
        let identity = &self.authority()?.identity;
        let Some(root) = self.root(identity, row.root)? else { return Ok(None) };
        unwrap_under(&root, identity, row).map(Some)
    }

    /// Returns the row of a key, wrapped under a root key; the rest of it is of `row`.
    pub(super) fn wrap(&self, root: &Root, row: KeyRow, unwrapped: &Unwrapped) -> Result<KeyRow> {
        let (identity, Unwrapped { key, scope }) = (&self.authority()?.identity, unwrapped);
        let check = key.check_value().to_vec();
        let mut row = KeyRow { check, state: State::Alive, root: root.number, ..row };
        let mut plain = Zeroizing::new(Vec::with_capacity(SecretKey::BYTES + scope.as_bytes().len()));
        plain.extend_from_slice(key.expose());
        plain.extend_from_slice(scope.as_bytes());
        row.wrapped = envelope::seal(&root.key, Purpose::DataKey, &row.binding(identity), &plain)?;
        Ok(row)
    }

    /// Makes a data key of a scope, under the root key that wraps new ones.
    pub(super) fn new_key(&self, leased: &Leased, scope: &Scope, version: u32) -> Result<KeyRow> {
        let root = self.root(&leased.head.identity, leased.head.root)?.ok_or_else(gone)?;
        let (handle, key) = (KeyHandle(key::random_number()?), SecretKey::generate()?);
        let new = KeyRow {
            made: Ticks::now().get().cast_signed(),
            ..KeyRow::destroyed(handle, version, State::Alive)
        };
        self.wrap(&root, new, &Unwrapped { key, scope: scope.clone() })
    }

    /// Reads the record of a scope; one without keys if it never had any.
    pub(super) fn scope_row(&self, scope: &Scope) -> Result<ScopeRow> {
        let mac = &self.authority()?.mac;
        let tag = mac.digest("scope", &[scope.as_bytes()]);
        let found = self.wait(move |table| async move { table.row(&ScopeRow::key(&tag)).await })?;
        if let Some(row) = found {
            return ScopeRow::read(mac, &row);
        }
        let table = scope.table_number().unwrap_or_default();
        Ok(ScopeRow { tag, table, ..ScopeRow::default() })
    }

    /// Returns the keys of a scope that are alive; `None` if it has none.
    pub(super) fn scope_keys(&self, scope: &[u8]) -> Result<Option<Arc<ScopeKeys>>> {
        let generation = self.leased()?.generation();
        if let Some(known) = self.table.known_scope(scope) {
            return Ok(Some(known));
        }
        let parsed = parse(scope)?;
        for _ in 0..ATTEMPTS {
            let row = self.scope_row(&parsed)?;
            let Some(current) = row.sealing() else { return Ok(None) };
            let keys = row.keys.iter().rev().map(|(_, handle)| self.key(*handle));
            let alive = match keys.collect::<Result<Vec<_>>>() {
                // A key was destroyed since the record was read.
                Err(error) if error.kind().is_destroyed() => continue,
                keys => keys?,
            };
            alive.iter().try_for_each(|key| check_scope(key, &parsed))?;
            let Some(current) = alive.iter().find(|key| key.handle() == current).cloned() else { continue };
            let keys = Arc::new(ScopeKeys { current, alive });
            self.table.remember_scope(generation, scope, &keys);
            return Ok(Some(keys));
        }
        Err(others_go_on())
    }

    /// Returns the keys of a scope, which gets its first one if it has none.
    pub(super) fn made_scope_keys(&self, scope: &[u8]) -> Result<Arc<ScopeKeys>> {
        for _ in 0..ATTEMPTS {
            if let Some(keys) = self.scope_keys(scope)? {
                return Ok(keys);
            }
            self.add_first(&parse(scope)?)?;
        }
        Err(others_go_on())
    }

    /// Gives a scope that has no key its first one, unless another process is quicker. No process remembers another key of it.
    pub(super) fn add_first(&self, scope: &Scope) -> Result<()> {
        check_partition(scope.partition_key().unwrap_or_default())?;
        let (leased, mut row) = (self.leased()?, self.scope_row(scope)?);
        if !row.keys.is_empty() {
            return Ok(());
        }
        let version = row.latest.checked_add(1).ok_or_else(|| too_many(scope, 0))?;
        let new = self.new_key(&leased, scope, version)?;
        (row.latest, row.current) = (version, version);
        row.keys.push((version, new.handle));
        let operations = [put(&row.row(&self.authority()?.mac), row.etag)?, put(&new.row(), None)?];
        let until = Some(leased.until);
        self.wait(move |table| async move { table.write(&operations, until, Unanswered::Harmless).await })
            .map(drop)
    }
}

/// Returns the key that a row holds, by its root key.
pub(super) fn unwrap_under(root: &Root, identity: &[u8; 16], row: &KeyRow) -> Result<Unwrapped> {
    let open = || {
        let plain = envelope::open(&root.key, Purpose::DataKey, &row.binding(identity), &row.wrapped);
        let plain = plain.map(Zeroizing::new).ok()?;
        let (key, scope) = plain.split_at_checked(SecretKey::BYTES)?;
        let key = SecretKey::from_slice(key).filter(|key| key.check_value()[..] == row.check[..])?;
        Some(Unwrapped { key, scope: Scope::from_bytes(scope)? })
    };
    open().ok_or_else(|| {
        let because = format!("the data key {} does not open: its record was changed", row.handle);
        Error::new(ErrorKind::DecryptionFailed).because(because)
    })
}

/// Refuses a key that was destroyed.
fn check_alive(row: &KeyRow) -> Result<()> {
    let handle = row.handle;
    let (kind, because) = match row.state {
        State::Alive => return Ok(()),
        State::Shredded => (
            ErrorKind::KeyShredded,
            format!("the data key {handle} was destroyed with its scope, and the value with it"),
        ),
        State::Superseded => (
            ErrorKind::KeySuperseded,
            format!(
                "the data key {handle} was destroyed when nothing was left under it; the value was sealed anew before, so read \
                 it again"
            ),
        ),
    };
    Err(Error::new(kind).because(because))
}

/// Checks that a key which a scope's record names is the scope's own: a shredding would leave readable what another scope's key
/// sealed.
fn check_scope(key: &DataKey, scope: &Scope) -> Result<()> {
    if key.scope() == scope {
        return Ok(());
    }
    let because = format!("the record of {scope} names the data key {}, which is another's", key.handle());
    Err(Error::new(ErrorKind::DecryptionFailed).because(because))
}

fn parse(scope: &[u8]) -> Result<Scope> {
    Scope::from_bytes(scope)
        .ok_or_else(|| Error::new(ErrorKind::InvalidKey).because("these bytes are no scope's"))
}

#[cold]
pub(super) fn too_many(scope: &Scope, count: usize) -> Error {
    let because = format!(
        "{scope} has {count} keys, as many as there can be: `Encryption::destroy_unused` destroys those that nothing is sealed \
         with any more"
    );
    Error::new(ErrorKind::KeyUnavailable).because(because)
}

#[cold]
pub(super) fn others_go_on() -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because("others go on changing the keys that are needed, and none is found")
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStore").finish_non_exhaustive()
    }
}
