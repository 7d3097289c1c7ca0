//! A provider whose keys lie in a file.

mod file;
mod lock;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use self::file::{Contents, Cost, Protection};
use super::key::SecretKey;
use super::provider::{KeyError, KeyId, KeyProvider};
use super::{files, memory};
use crate::error::{Error, ErrorKind, Result};

/// A [`KeyProvider`] that keeps its keys in a file: closed to all but its owner, or sealed with a passphrase, or
/// both.
///
/// The file must not lie with the data, nor in one backup with them: the two together open everything.
///
/// ```
/// use std::sync::Arc;
/// use table_core::Store;
/// use table_core::crypt::KeyRing;
///
/// # let dir = tempfile::tempdir()?;
/// # let (keys, path) = (dir.path().join("company.keys"), dir.path().join("company.tables"));
/// // Once:
/// KeyRing::create(&keys)?;
///
/// // Each time:
/// let store = Store::options().encryption(Arc::new(KeyRing::open(&keys)?)).open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With a passphrase the file is of no use without it. It is stretched by Argon2id, which takes 64 MiB and some
/// tenths of a second at each opening, and as much for each guess:
///
/// ```no_run
/// use table_core::crypt::KeyRing;
///
/// KeyRing::create_with_passphrase("company.keys", "correct horse battery staple")?;
/// let ring = KeyRing::open_with_passphrase("company.keys", "correct horse battery staple")?;
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// A symbolic link to a ring is followed once, when it is opened, and the ring is changed where it lies. A ring with two
/// names, by a hard link, opens and can't be changed. A change by another than the owner, as root can make, leaves the
/// ring its owner's.
pub struct KeyRing {
    /// Absolute, and no link.
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    protection: Arc<Protection>,
    contents: Contents,
}

impl KeyRing {
    /// Makes a key ring with one new key, in a file that is not there yet and that its owner alone can read.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::make(path.as_ref(), || Ok(Protection::None))
    }

    /// Makes a key ring that opens with this passphrase alone.
    pub fn create_with_passphrase(path: impl AsRef<Path>, passphrase: &str) -> Result<Self> {
        Self::make(path.as_ref(), || Protection::with_passphrase(passphrase, Cost::DEFAULT))
    }

    /// Opens a key ring that has no passphrase. A file that others than its owner can read is refused.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::load(path.as_ref(), None)
    }

    /// Opens a key ring that has this passphrase.
    pub fn open_with_passphrase(path: impl AsRef<Path>, passphrase: &str) -> Result<Self> {
        Self::load(path.as_ref(), Some(passphrase))
    }

    /// Makes a new key, which wraps from now on; gives its name. Stores go over to it at their next
    /// `Encryption::rewrap`.
    pub fn rotate(&self) -> Result<KeyId> {
        self.change(Contents::add).map_err(|error| error.attempted("add a key to the key ring"))
    }

    /// Removes a key, and overwrites the file that held it. What it wrapped is lost, in backups too: a store's
    /// `Encryption::rewrap` comes first. The current key stays.
    pub fn remove(&self, id: &KeyId) -> Result<()> {
        let remove = |contents: &mut Contents| {
            if contents.current()? == *id {
                return Err(Error::new(ErrorKind::KeyUnavailable)
                    .because("the current key can't be removed; make a new one by `rotate` first"));
            }
            if contents.remove(id) { Ok(()) } else { Err(KeyError::not_found().into()) }
        };
        self.change(remove).map_err(|error| error.attempted("remove a key from the key ring"))
    }

    /// Gives the ring another passphrase, its first one, or none. The file is replaced as a whole, and the old file is
    /// overwritten. The keys stay as they are.
    ///
    /// ```no_run
    /// use table_core::crypt::KeyRing;
    ///
    /// let ring = KeyRing::open_with_passphrase("company.keys", "correct horse battery staple")?;
    /// ring.change_passphrase(Some("wrong pony charger paperclip"))?;
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// A process that has the ring open by the old passphrase goes on with the keys that it knows, and must open the
    /// ring anew to learn of others. Backups of the file open with the passphrase that they had. If that one has leaked,
    /// so have the keys: [`rotate`](Self::rotate), rewrap the stores, and [`remove`](Self::remove) the old key.
    pub fn change_passphrase(&self, passphrase: Option<&str>) -> Result<()> {
        let protection = match passphrase {
            Some(passphrase) => Protection::with_passphrase(passphrase, Cost::DEFAULT),
            None => Ok(Protection::None),
        };
        let change = |protection| {
            let _turn = lock::take(&self.path)?;
            files::wipe_left_overs(&self.path)?;
            let contents = self.reload()?;
            files::replace(&self.path, &file::encode(&protection, &contents)?)?;
            *self.state() = State { protection: Arc::new(protection), contents };
            Ok(())
        };
        protection
            .and_then(change)
            .map_err(|error: Error| error.attempted("change the passphrase of the key ring"))
    }

    /// Returns the names of all keys, the current one last.
    pub fn ids(&self) -> Vec<KeyId> {
        self.state().contents.ids()
    }

    fn make(path: &Path, protection: impl FnOnce() -> Result<Protection>) -> Result<Self> {
        let make = || {
            if std::fs::symlink_metadata(path).is_ok() {
                return Err(Error::new(ErrorKind::TargetExists)
                    .because(format!("`{}` is there already; open it instead", path.display())));
            }
            let protection = protection()?;
            let mut contents = Contents::default();
            contents.add()?;
            files::create(path, &file::encode(&protection, &contents)?)?;
            Ok(Self::new(real(path)?, protection, contents))
        };
        make().map_err(|error: Error| error.attempted("make the key ring"))
    }

    fn load(path: &Path, passphrase: Option<&str>) -> Result<Self> {
        let load = || {
            let path = real(path)?;
            let bytes = files::read(&path)?.ok_or_else(|| missing(&path))?;
            files::check_private(&path)?;
            let (protection, contents) = file::open(&bytes, passphrase)?;
            Ok(Self::new(path, protection, contents))
        };
        load().map_err(|error: Error| error.attempted("open the key ring"))
    }

    fn new(path: PathBuf, protection: Protection, contents: Contents) -> Self {
        Self { path, state: Mutex::new(State { protection: Arc::new(protection), contents }) }
    }

    /// Changes the file, one process at a time. It first removes what a killed process left beside the file.
    fn change<R>(&self, change: impl FnOnce(&mut Contents) -> Result<R>) -> Result<R> {
        let _turn = lock::take(&self.path)?;
        files::wipe_left_overs(&self.path)?;
        let mut contents = self.reload()?;
        let result = change(&mut contents)?;
        files::replace(&self.path, &file::encode(&self.protection(), &contents)?)?;
        self.state().contents = contents;
        Ok(result)
    }

    /// Returns what the file holds now: another process may have changed it.
    fn reload(&self) -> Result<Contents> {
        let bytes = files::read(&self.path)?.ok_or_else(|| missing(&self.path))?;
        file::open_again(&bytes, &self.protection())
    }

    fn protection(&self) -> Arc<Protection> {
        self.state().protection.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a key; if it is not here, once more after reading the file again.
    fn with<R>(
        &self,
        id: &KeyId,
        mut run: impl FnMut(&Contents) -> Result<R, KeyError>,
    ) -> Result<R, KeyError> {
        if self.state().contents.get(id).is_none() {
            let contents = self.reload()?;
            self.state().contents = contents;
        }
        run(&self.state().contents)
    }
}

/// Returns the path of the ring itself, behind all links.
fn real(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => files::failed("finding", path, error),
    })
}

fn missing(path: &Path) -> Error {
    Error::new(ErrorKind::KeyUnavailable).because(format!("there is no key ring at `{}`", path.display()))
}

impl KeyProvider for KeyRing {
    fn current(&self) -> Result<KeyId, KeyError> {
        let contents = self.reload()?;
        let id = contents.current()?;
        self.state().contents = contents;
        Ok(id)
    }

    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.with(id, |contents| memory::wrap(contents.get(id), key, context))
    }

    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        self.with(id, |contents| memory::unwrap(contents.get(id), wrapped, context))
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").field("path", &self.path).field("keys", &self.ids()).finish_non_exhaustive()
    }
}

/// Returns the file of a ring without a passphrase as it is written, if the bytes before its checksum can be read as one.
#[doc(hidden)]
#[cfg(feature = "fuzzing")]
pub fn again(body: &[u8]) -> Option<Vec<u8>> {
    let sum = crate::hash::xxh3_64(body).to_le_bytes();
    let (protection, contents) = file::open(&[body, &sum].concat(), None).ok()?;
    let written = file::encode(&protection, &contents).ok()?;
    Some(written.strip_suffix(&sum)?.to_vec())
}

#[cfg(test)]
mod tests;
