//! The keys of encrypted properties: kept in an environment of their own beside the data.

mod change;
mod check_all;
mod copy;
mod data_keys;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzed;
pub(crate) mod kept_store;
mod key_list;
mod key_store;
mod keys_note;
mod mac_key;
mod new_keys;
mod progress;
mod record;
mod renew;
mod root;
pub(crate) mod table_keys;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Weak};

use table_engine::__executor::{check_unused, unused_keys};
use table_engine::crypt::mac::MacKey;
use table_engine::crypt::token::Token;
use table_engine::crypt::value::{self, Sealed};
use table_engine::crypt::{Cell, KeyHandle, KeyInfo, KeyProvider, Scope, SealedValues, Secret, TokenScope};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::{Value, ValueRef};
use table_engine::schema::TOKEN_BYTES;

pub(crate) use self::check_all::check;
pub(crate) use self::copy::copy_to;
use self::data_keys::Add;
use self::kept_store::KeptStore;
use self::key_list::KeyList;
use self::key_store::Vault;
pub(crate) use self::keys_note::{are_noted, open};
use self::record::job_key;
use self::renew::Doomed;
use crate::open::aux_env::Access;
pub use table_engine::sealing::job::Progress;

/// The directory of the keys, in the store's.
const DIRECTORY: &str = "keys";

/// The longest name of a job, in bytes.
const JOB_NAME: usize = 256;

/// Seals and opens the encrypted properties of a store, and looks after its keys. Given by
/// [`Store::encryption`](crate::Store::encryption); cheap to clone, and may be shared between threads.
///
/// ```
/// use std::sync::Arc;
/// use table_core::crypt::{KeyScope, MemoryKeys, Secret};
/// use table_core::{ErrorKind, Store, ValueRef};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
/// let company = store.create_table("Company")?;
/// let encryption = store.encryption()?;
///
/// let cell = company.cell("Sales", "empid_000001", "Ssn")?.scoped(KeyScope::Partition);
/// let sealed = encryption.seal(&cell, ValueRef::String("078-05-1120"))?;
/// assert_eq!(encryption.open(&cell, &sealed)?.as_str(), Some("078-05-1120"));
///
/// // In another row it does not open.
/// let other = company.cell("Sales", "empid_000002", "Ssn")?;
/// assert_eq!(encryption.open(&other, &sealed).unwrap_err().kind(), ErrorKind::DecryptionFailed);
///
/// // Once the partition's key is destroyed, nothing opens it.
/// encryption.shred(&company.partition_key_scope("Sales")?)?;
/// assert_eq!(encryption.open(&cell, &sealed).unwrap_err().kind(), ErrorKind::KeyShredded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Encryption {
    vault: Arc<Vault>,
    /// The store whose values it seals.
    store: Option<Weak<dyn KeptStore>>,
}

impl Encryption {
    /// Opens the keys of the store in this directory.
    pub(crate) fn open_keys(
        store: &Path,
        access: impl Into<Access>,
        identity: [u8; 16],
        provider: Arc<dyn KeyProvider>,
    ) -> Result<Self> {
        let vault = Vault::open(&store.join(DIRECTORY), access.into(), identity, provider)?;
        Ok(Self { vault: Arc::new(vault), store: None })
    }

    /// Returns the keys, as those of this store.
    pub(crate) fn of_store(self, store: Weak<dyn KeptStore>) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Seals a value for its cell: bytes for a property of type Binary. The data key is made, and durable, before
    /// this returns, if its scope has none.
    ///
    /// It needs no lock of the data, and the caller must hold none: making a key waits for the disk.
    pub fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>> {
        let key = self.vault.current(&cell.scope.bytes(cell.table, cell.partition)).map_err(placed(cell))?;
        value::seal(cell, &self.vault.identity, &key, value)
    }

    /// Returns the value that was sealed for this cell, of the type that it had.
    pub fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value> {
        let sealed = Sealed::read(cell, sealed)?;
        let key = self.vault.key(sealed.key).map_err(placed(cell))?;
        sealed.open(cell, &self.vault.identity, &key)
    }

    /// Returns the value sealed anew with the key that is current now, if it was sealed with another.
    pub fn reseal(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Option<Vec<u8>>> {
        let parsed = Sealed::read(cell, sealed)?;
        let current =
            self.vault.current(&cell.scope.bytes(cell.table, cell.partition)).map_err(placed(cell))?;
        if parsed.key == current.handle() {
            return Ok(None);
        }
        let value = Secret::new(self.open(cell, sealed)?);
        value::seal(cell, &self.vault.identity, &current, value.expose().as_value_ref()).map(Some)
    }

    /// Returns the key that seals in this cell now.
    pub(crate) fn current(&self, cell: &Cell<'_>) -> Result<KeyHandle> {
        let scope = cell.scope.bytes(cell.table, cell.partition);
        self.vault.current(&scope).map(|key| key.handle()).map_err(placed(cell))
    }

    /// Returns the token of a value under the current key, with which a row's key is written.
    pub fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token> {
        let keys = scope.key_scope(cell.scope).bytes(cell.table, cell.partition);
        let key = self.vault.current(&keys).map_err(placed(cell))?;
        Ok(Token::new(&key, scope, cell, value))
    }

    /// Returns whether a token is of the key that makes tokens in this cell now.
    pub(crate) fn makes_token(
        &self,
        cell: &Cell<'_>,
        scope: TokenScope,
        token: Option<&[u8]>,
    ) -> Result<bool> {
        let keys = scope.key_scope(cell.scope).bytes(cell.table, cell.partition);
        let version = Token::version_byte(self.vault.current(&keys).map_err(placed(cell))?.version());
        Ok(token.is_some_and(|token| token.len() == TOKEN_BYTES && token.first() == Some(&version)))
    }

    /// Returns the tokens of a value under every living key, newest first, which a lookup has to try. Empty if nothing
    /// was ever sealed. The cell's row key plays no part.
    ///
    /// A value that is found by a token is to be opened and compared.
    pub fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>> {
        let keys = scope.key_scope(cell.scope).bytes(cell.table, cell.partition);
        let keys = self.vault.alive(&keys).map_err(placed(cell))?;
        Ok(keys.iter().map(|key| Token::new(key, scope, cell, value)).collect())
    }

    /// Returns the key that authenticates the rows and records that the store holds in the clear. It is made with the
    /// keys and stays as long as they do, whatever is rotated, rewrapped or shredded.
    pub(crate) fn authenticator(&self) -> Result<&MacKey> {
        self.vault.authenticator()
    }

    /// Returns a number that rises whenever a key stops being current or is destroyed, by whatever process.
    ///
    /// A value that was sealed at one generation may be written only while that is the generation. Else it could come under
    /// a key that is about to be destroyed, after a job has counted the values under it.
    pub fn generation(&self) -> Result<u64> {
        self.vault.generation()
    }

    /// Returns every living data key, by scope and age. Keys of dropped tables are among them: their scopes name the
    /// tables' numbers, and [`shred`](Self::shred) takes them.
    pub fn keys(&self) -> Result<Vec<KeyInfo>> {
        self.vault.list().and_then(KeyList::whole).map_err(|error| error.attempted("list the keys"))
    }

    /// Returns every living data key whose record is sound, by scope and age.
    pub(crate) fn sound_keys(&self) -> Result<Vec<KeyInfo>> {
        self.vault.list().map(|listed| listed.keys)
    }

    /// Gives a scope a new key, which seals from now on. The old one goes on to open what it sealed, until all that
    /// is sealed anew and the old key is [destroyed](Self::destroy).
    pub fn rotate(&self, scope: &Scope) -> Result<KeyHandle> {
        let rotate = || {
            scope.check_of(&self.vault.identity)?;
            self.vault.add(scope, Add::Always)
        };
        rotate().map_err(|error: Error| error.attempted("rotate a data key"))
    }

    /// Gives every scope that has a key a new one; returns how many. Each is a transaction of its own. A scope whose
    /// records are damaged is an error when all others are rotated.
    pub fn rotate_all(&self) -> Result<u64> {
        let rotate = || {
            let listed = self.vault.list()?;
            let mut rotated = 0;
            // A scope whose keys were destroyed gets a key when it needs one.
            for scope in listed.scopes() {
                self.vault.add(scope, Add::Always)?;
                rotated += 1;
            }
            listed.flaw.map_or(Ok(rotated), |flaw| Err(key_list::but_for(rotated, flaw)))
        };
        rotate().map_err(|error: Error| error.attempted("rotate the data keys"))
    }

    /// Destroys an old key for good, once nothing is left under it.
    ///
    /// While a value is sealed with it, or one of its tokens stands in a row, of whatever table, it is
    /// [`KeyInUse`](ErrorKind::KeyInUse), which says how many there are and where the first is: so it reads every row, as
    /// [`Store::sealed_values`](crate::Store::sealed_values) does. [`Table::reencrypt`](table_engine::Table::reencrypt) makes
    /// them anew; [`destroy_unused`](Self::destroy_unused) is for many keys. The current key of a scope is not destroyed
    /// by itself; [`shred`](Self::shred) destroys a scope's keys together with its values.
    pub fn destroy(&self, handle: KeyHandle) -> Result<()> {
        let destroy = || {
            let key = match self.vault.key(handle) {
                Err(error) if error.kind().is_destroyed() => return Ok(()),
                key => key?,
            };
            self.vault.check_old(&*self.vault.read_txn()?, handle, key.scope())?;
            let keys = BTreeSet::from([handle]);
            check_unused(handle, &self.sealed_by(&keys)?)?;
            self.flush_data()?;
            self.vault.renew(Doomed::These(&keys)).map(drop)
        };
        destroy().map_err(|error: Error| error.attempted("destroy a data key"))
    }

    /// Destroys for good every old key that nothing is left under, of whatever scope; returns how many. Every row is read
    /// once, and the keys that stay are wrapped anew once.
    ///
    /// A reader whose snapshot is older than the values that were sealed anew finds those that it still sees
    /// [destroyed](ErrorKind::KeyShredded), as it does after [`destroy`](Self::destroy).
    pub fn destroy_unused(&self) -> Result<u64> {
        let destroy = || {
            // A key with a damaged record, its own or its scope's, stays.
            let old = self.sound_keys()?.into_iter().filter(|key| !key.current);
            let keys: BTreeSet<_> = old.map(|key| key.handle).collect();
            let found = self.sealed_by(&keys)?;
            let keys = unused_keys(keys, &found);
            if keys.is_empty() {
                return Ok(0);
            }
            self.flush_data()?;
            self.vault.renew(Doomed::These(&keys)).map(|renewed| renewed.destroyed())
        };
        destroy().map_err(|error: Error| error.attempted("destroy the unused data keys"))
    }

    /// Returns the store, which may have been closed.
    fn open_store(&self) -> Result<Arc<dyn KeptStore>> {
        self.store.as_ref().and_then(Weak::upgrade).ok_or_else(|| {
            Error::new(ErrorKind::KeyUnavailable).because("the store is closed; open it again")
        })
    }

    /// Makes the data durable, whatever the store's level. A key's end is durable at once: were the values that were
    /// sealed anew not, a power failure would bring back those that nothing opens.
    fn flush_data(&self) -> Result<()> {
        self.open_store()?.flush().map_err(|error| error.and("; no key was destroyed"))
    }

    /// Returns the values and tokens left under keys that are no longer current.
    fn sealed_by(&self, keys: &BTreeSet<KeyHandle>) -> Result<Vec<SealedValues>> {
        let store = self.open_store()?;
        // A writer that sealed with them while they were current has committed by now, or is refused.
        store.await_writers()?;
        store.sealed_values(&|handle| keys.contains(&handle))
    }

    /// Makes everything that was ever sealed in a scope unreadable, by destroying all its keys; returns how many.
    /// A table's scope takes its partitions' scopes with it.
    ///
    /// It is one transaction of the keys, however many there are, which no reader or writer of the data waits for: the old
    /// root key may go only when nothing lies under it any more, and a crash must find either all keys under it or
    /// none. A hundred thousand keys take about a second.
    ///
    /// The other keys are put under a new root key, and the old one is overwritten, so that the keys which LMDB's free
    /// pages still hold do not open. It is final where no copy of the keys' directory is left, and no snapshot of the
    /// file system: with one of those, and the provider's key, the destroyed keys can still be had. So remove those,
    /// or the provider's old key.
    ///
    /// Values that are written in the scope later get a new key. A value that another thread is just about to write with a
    /// destroyed key is lost as well.
    ///
    /// A scope of a table of another store is [`TableNotFound`](ErrorKind::TableNotFound), and destroys nothing.
    pub fn shred(&self, scope: &Scope) -> Result<u64> {
        let shred = || {
            scope.check_of(&self.vault.identity)?;
            self.flush_data()?;
            self.vault.renew(Doomed::All(scope)).map(|renewed| renewed.destroyed())
        };
        shred().map_err(|error: Error| error.attempted("shred a scope"))
    }

    /// Puts all data keys under a new root key that the provider's current key wraps: after the provider's key has
    /// changed. No value is touched. When it returns, the provider's old key is needed for backups alone.
    ///
    /// Returns the data keys whose records are damaged, mostly none. They keep no other key from being wrapped anew, and
    /// stay as they are; what they sealed opens again only if the keys' directory is taken from a backup.
    pub fn rewrap(&self) -> Result<Vec<KeyHandle>> {
        let renewed = self.vault.renew(Doomed::None);
        renewed.map(|renewed| renewed.damaged).map_err(|error| error.attempted("rewrap the data keys"))
    }

    /// Returns how far a job of this name has come; `None` if it has not begun, or has ended.
    pub fn progress(&self, job: &str) -> Result<Option<Progress>> {
        let read = || {
            let key = checked_job_key(job)?;
            let txn = self.vault.read_txn()?;
            self.vault.meta(&txn)?;
            let found = self.vault.find(&txn, &key)?;
            found.map(|record| progress::decode(&key, record)).transpose()
        };
        read().map_err(|error: Error| error.attempted("read a job's progress"))
    }

    /// Saves how far a job has come, durably; `None` when it has ended. To be saved after what it tells of.
    pub fn save_progress(&self, job: &str, progress: Option<&Progress>) -> Result<()> {
        let save = || {
            let key = checked_job_key(job)?;
            let mut change = self.vault.change()?;
            match progress {
                Some(progress) => change.put(&key, &progress::encode(progress, &key))?,
                None => change.delete(&key)?,
            }
            change.commit()
        };
        save().map_err(|error: Error| error.attempted("save a job's progress"))
    }
}

fn checked_job_key(job: &str) -> Result<Vec<u8>> {
    if job.is_empty() || job.len() > JOB_NAME {
        let because = format!("a job's name has 1 to {JOB_NAME} bytes, not {}", job.len());
        return Err(Error::new(ErrorKind::InvalidKey).because(because));
    }
    Ok(job_key(job))
}

/// Says in which cell a key was missing.
fn placed<'a>(cell: &Cell<'a>) -> impl FnOnce(Error) -> Error + use<'a> {
    let (partition, row) = (cell.partition, cell.row);
    move |error| error.partition(partition).row(row)
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encryption").field("path", &self.vault.side.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
