//! The keys at work: found, made where there are none, and remembered.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_engine::crypt::data_key::DataKey;
use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::key::{self, Derivation};
use table_engine::crypt::scope::check_partition;
use table_engine::crypt::value::{self, Sealed};
use table_engine::crypt::{Cell, KeyHandle, KeyId, Scope, Secret, SecretKey, Token, TokenScope};
use table_engine::model::{Value, ValueRef};
use table_engine::plaintext::Plaintext;
use table_engine::row::DIGEST;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::schema::TOKEN_BYTES;
use table_engine::sealing::Sealing;
use table_engine::{Error, ErrorKind, Result};
use zeroize::Zeroizing;

use super::Provider;
use super::records::{KeyRecord, Records, RootRecord};
use crate::runner::Runner;

/// The number of a scope's only key.
const VERSION: u32 = 1;
/// How often a key is made that others make, too.
const ATTEMPTS: u32 = 16;
/// How many keys are remembered. What is forgotten is read again.
const REMEMBERED: usize = 65_536;

/// The keys of a store. Clones share what they remember.
#[derive(Clone)]
pub(crate) struct AzureVault(Arc<Shared>);

struct Shared {
    records: Arc<Records>,
    runner: Arc<Runner>,
    provider: Provider,
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    root: Option<Arc<Root>>,
    keys: HashMap<KeyHandle, Arc<DataKey>>,
    scopes: HashMap<Vec<u8>, Arc<DataKey>>,
}

/// The root key in memory.
struct Root {
    identity: [u8; 16],
    key: Derivation,
}

impl Root {
    /// Returns the digest under which the key of a scope is kept: a table's readers learn no partition's key by it.
    fn digest(&self, scope: &[u8]) -> [u8; 32] {
        self.key.expand(&[b"table-azure scope 1", scope])
    }

    /// Returns the bytes that a data key is bound to.
    fn binding(&self, handle: KeyHandle) -> Vec<u8> {
        [&self.identity[..], &handle.0.to_le_bytes()].concat()
    }

    fn wrap(&self, handle: KeyHandle, scope: &Scope, key: &SecretKey) -> Result<KeyRecord> {
        let mut plain = Zeroizing::new(Vec::with_capacity(SecretKey::BYTES + scope.as_bytes().len()));
        plain.extend_from_slice(key.expose());
        plain.extend_from_slice(scope.as_bytes());
        let wrapped = envelope::seal(&self.key, Purpose::DataKey, &self.binding(handle), &plain)?;
        Ok(KeyRecord { check: key.check_value(), wrapped })
    }

    fn unwrap(&self, handle: KeyHandle, record: &KeyRecord) -> Result<DataKey> {
        let open = || {
            let plain = envelope::open(&self.key, Purpose::DataKey, &self.binding(handle), &record.wrapped);
            let plain = plain.map(Zeroizing::new).ok()?;
            let (key, scope) = plain.split_at_checked(SecretKey::BYTES)?;
            let key = SecretKey::from_slice(key).filter(|key| key.check_value() == record.check)?;
            Some(DataKey::new(handle, VERSION, Scope::from_bytes(scope)?, &key))
        };
        open().ok_or_else(|| {
            let because = format!("the data key {handle} does not open: its record was changed");
            Error::new(ErrorKind::DecryptionFailed).because(because)
        })
    }
}

/// Returns the bytes that the provider binds the root key to.
fn context(identity: &[u8; 16]) -> Vec<u8> {
    [&b"table-azure root 1"[..], identity].concat()
}

impl AzureVault {
    pub(super) fn new(records: Records, runner: Arc<Runner>, provider: Provider) -> Self {
        let remembered = Mutex::default();
        Self(Arc::new(Shared { records: Arc::new(records), runner, provider, remembered }))
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs what is asked of the table of keys while this thread waits.
    fn wait<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
        &self,
        ask: impl FnOnce(Arc<Records>) -> F,
    ) -> Result<T> {
        self.0.runner.wait(ask(self.0.records.clone()))?
    }

    /// Returns the root key, which is made if there is none.
    fn root(&self) -> Result<Arc<Root>> {
        if let Some(root) = &self.remembered().root {
            return Ok(root.clone());
        }
        for _ in 0..ATTEMPTS {
            let found = self.wait(|records| async move { records.root().await })?;
            if let Some(found) = found {
                let root = Arc::new(self.open_root(&found)?);
                self.remembered().root = Some(root.clone());
                return Ok(root);
            }
            // Whichever is there first is everybody's: it is read in the next round.
            let made = self.make_root()?;
            self.wait(|records| async move { records.insert_root(&made).await })?;
        }
        Err(others_go_on())
    }

    fn open_root(&self, record: &RootRecord) -> Result<Root> {
        let id = KeyId::new(&*record.provider)?;
        let key =
            self.0.provider.unwrap(&id, &record.wrapped, &context(&record.identity)).map_err(|error| {
                let because = format!("{error} (its key `{}`)", id.as_str().escape_debug());
                Error::from(error).because(because)
            })?;
        if key.check_value() != record.check {
            return Err(another_key());
        }
        Ok(Root { identity: record.identity, key: key.derivation() })
    }

    /// Makes a root key and has it wrapped, and unwrapped again: a provider that can't give it back is found out before anything
    /// lies under it.
    fn make_root(&self) -> Result<RootRecord> {
        let mut identity = [0; 16];
        for half in identity.chunks_mut(8) {
            half.copy_from_slice(&key::random_number()?.to_le_bytes());
        }
        let (key, context) = (SecretKey::generate()?, context(&identity));
        let id = self.0.provider.current()?;
        let wrapped = self.0.provider.wrap(&id, &key, &context)?;
        let check = key.check_value();
        if self.0.provider.unwrap(&id, &wrapped, &context)?.check_value() != check {
            return Err(another_key());
        }
        Ok(RootRecord { identity, provider: id.as_str().to_owned(), check, wrapped })
    }

    /// Returns the key of this name.
    fn key(&self, handle: KeyHandle) -> Result<Arc<DataKey>> {
        if let Some(key) = self.remembered().keys.get(&handle) {
            return Ok(key.clone());
        }
        let root = self.root()?;
        let found = self.wait(|records| async move { records.key(handle).await })?;
        let found = found.ok_or_else(|| {
            let because =
                format!("the table of keys holds no data key {handle}; it may be older than the data");
            Error::new(ErrorKind::KeyUnavailable).because(because)
        })?;
        let key = Arc::new(root.unwrap(handle, &found)?);
        let mut remembered = self.remembered();
        if remembered.keys.len() >= REMEMBERED {
            remembered.keys.clear();
        }
        remembered.keys.insert(handle, key.clone());
        Ok(key)
    }

    /// Returns the key of a scope, if it has one.
    fn found(&self, scope: &[u8]) -> Result<Option<Arc<DataKey>>> {
        if let Some(key) = self.remembered().scopes.get(scope) {
            return Ok(Some(key.clone()));
        }
        let parsed = parse(scope)?;
        let digest = self.root()?.digest(scope);
        let Some(handle) = self.wait(|records| async move { records.scope(&digest).await })? else {
            return Ok(None);
        };
        let key = self.key(handle)?;
        if *key.scope() != parsed {
            let because = format!("the record of {parsed} names the data key {handle}, which is another's");
            return Err(Error::new(ErrorKind::DecryptionFailed).because(because));
        }
        let mut remembered = self.remembered();
        if remembered.scopes.len() >= REMEMBERED {
            remembered.scopes.clear();
        }
        remembered.scopes.insert(scope.to_vec(), key.clone());
        Ok(Some(key))
    }

    /// Returns the key of a scope, which is made if there is none.
    fn current(&self, scope: &[u8]) -> Result<Arc<DataKey>> {
        for _ in 0..ATTEMPTS {
            if let Some(key) = self.found(scope)? {
                return Ok(key);
            }
            let parsed = parse(scope)?;
            check_partition(parsed.partition_key().unwrap_or_default())?;
            let root = self.root()?;
            let (handle, key) = (KeyHandle(key::random_number()?), SecretKey::generate()?);
            let (record, digest) = (root.wrap(handle, &parsed, &key)?, root.digest(scope));
            // First the key: a scope never names one that is not there. One that no scope names is never used.
            self.wait(|records| async move {
                if records.insert_key(handle, &record).await? {
                    records.insert_scope(&digest, handle).await?;
                }
                Ok(())
            })?;
        }
        Err(others_go_on())
    }

    fn of_cell(&self, cell: &Cell<'_>) -> Result<Arc<DataKey>> {
        self.current(&cell.scope.bytes(cell.table, cell.partition)).map_err(placed(cell))
    }

    /// Returns the bytes of the scope whose key makes tokens for a cell.
    fn of_tokens(cell: &Cell<'_>, scope: TokenScope) -> Vec<u8> {
        scope.key_scope(cell.scope).bytes(cell.table, cell.partition).into_owned()
    }
}

fn parse(scope: &[u8]) -> Result<Scope> {
    Scope::from_bytes(scope)
        .ok_or_else(|| Error::new(ErrorKind::InvalidKey).because("these bytes are no scope's"))
}

/// Says in which cell a key was missing.
fn placed<'a>(cell: &Cell<'a>) -> impl FnOnce(Error) -> Error + use<'a> {
    let (partition, row) = (cell.partition, cell.row);
    move |error| error.partition(partition).row(row)
}

#[cold]
fn another_key() -> Error {
    Error::new(ErrorKind::KeyUnavailable).because("the key provider gave another key than it was given")
}

#[cold]
fn others_go_on() -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because("others go on making the key that is needed, and none is found")
}

#[cold]
fn signs_none() -> Error {
    Error::new(ErrorKind::Unsupported)
        .because("tables of Azure storage sign no rows: that takes a store in a directory")
}

impl Sealing for AzureVault {
    fn share(&self) -> Arc<dyn Sealing> {
        Arc::new(self.clone())
    }

    /// No key stops being current, and none is destroyed.
    fn generation(&self) -> Result<u64> {
        Ok(0)
    }

    fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        let key = self.of_cell(cell)?;
        value::seal(cell, &self.root()?.identity, &key, value)
    }

    fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        let sealed = Sealed::read(cell, sealed)?;
        let key = self.key(sealed.key).map_err(placed(cell))?;
        sealed.open(cell, &self.root()?.identity, &key)
    }

    fn current(&self, cell: &Cell<'_>) -> Result<KeyHandle> {
        self.of_cell(cell).map(|key| key.handle())
    }

    fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        let key = Self::current(self, &Self::of_tokens(cell, scope)).map_err(placed(cell))?;
        Ok(Token::new(&key, scope, cell, value))
    }

    fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>> {
        let found = self.found(&Self::of_tokens(cell, scope)).map_err(placed(cell))?;
        Ok(found.iter().map(|key| Token::new(key, scope, cell, value)).collect())
    }

    fn makes_token(&self, cell: &Cell<'_>, scope: TokenScope, token: Option<&[u8]>) -> Result<bool> {
        let key = Self::current(self, &Self::of_tokens(cell, scope)).map_err(placed(cell))?;
        let version = Token::version_byte(key.version());
        Ok(token.is_some_and(|token| token.len() == TOKEN_BYTES && token.first() == Some(&version)))
    }
}

impl Vault for AzureVault {
    fn open(&self, table: u32, keys: (&str, &str), property: &str, sealed: &[u8]) -> Result<Plaintext> {
        let cell = Cell::new(table, keys.0, keys.1, property)?;
        Sealing::open(self, &cell, sealed).map(Secret::new)
    }

    fn generation(&self) -> Result<u64> {
        Sealing::generation(self)
    }

    fn sign(&self, _: (&str, &str), _: Vec<(&str, ValueRef<'_>)>) -> Result<[u8; DIGEST]> {
        Err(signs_none())
    }

    fn is_genuine(&self, _: (&str, &str), _: Vec<(&str, ValueRef<'_>)>, _: &[u8; DIGEST]) -> Result<bool> {
        Err(signs_none())
    }

    fn authenticator(&self) -> Result<&dyn Authenticator> {
        Err(signs_none())
    }
}

impl fmt::Debug for AzureVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureVault").finish_non_exhaustive()
    }
}
