//! The store's MAC key: a key that authenticates rows and records in the clear.
//!
//! It is made with the keys, and stays as long as they do. No rotation makes another, no shredding destroys it, and a
//! renewal of the root key puts it under the new one. So its digests hold for ever, in every copy too.

use zeroize::Zeroizing;

use table_engine::crypt::SecretKey;
use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::mac::MacKey;
use table_engine::error::{Error, ErrorKind, Result};

use super::key_store::{PATIENCE, Vault, without_end};
use super::record::{AUTHORITY, MacKeyRecord};
use super::root::Root;
use crate::lmdb;

/// The MAC key as it was read.
pub(super) struct StoreMacKey {
    key: MacKey,
    /// The number of the root key, if the keys were [new](super::new_keys).
    new_under: Option<u64>,
}

/// Makes a new MAC key, and its record.
pub(super) fn make(identity: &[u8; 16], root: &Root) -> Result<(MacKey, Vec<u8>)> {
    let key = SecretKey::generate()?;
    Ok((MacKey::new(&key), wrap(identity, root, &key)?.encode()))
}

fn wrap(identity: &[u8; 16], root: &Root, key: &SecretKey) -> Result<MacKeyRecord> {
    let wrapped = envelope::seal(&root.key, Purpose::Authenticator, identity, key.expose())?;
    Ok(MacKeyRecord { check: key.check_value(), wrapped })
}

fn unwrap(identity: &[u8; 16], root: &Root, record: &MacKeyRecord) -> Result<SecretKey> {
    envelope::open(&root.key, Purpose::Authenticator, identity, &record.wrapped)
        .ok()
        .map(Zeroizing::new)
        .and_then(|bytes| SecretKey::from_slice(&bytes))
        .filter(|key| key.check_value() == record.check)
        .ok_or_else(|| {
            Error::new(ErrorKind::DecryptionFailed)
                .because("the store's authority does not open: the keys' record of it was changed")
        })
}

/// Returns the record under another root key.
pub(super) fn rewrap(identity: &[u8; 16], record: &[u8], old: &Root, new: &Root) -> Result<Vec<u8>> {
    let key = unwrap(identity, old, &MacKeyRecord::decode(record)?)?;
    let rewrapped = wrap(identity, new, &key)?;
    // Before the old one goes, the new one must open.
    unwrap(identity, new, &rewrapped)?;
    Ok(rewrapped.encode())
}

impl Vault {
    /// Returns the MAC key, which is read once.
    pub(super) fn authenticator(&self) -> Result<&MacKey> {
        match self.authenticator.get() {
            Some(authenticator) => Ok(&authenticator.key),
            None => self.load_mac_key().map(|loaded| &self.authenticator.get_or_init(|| loaded).key),
        }
    }

    /// Returns the number of the root key if the keys were new when the MAC key was read.
    pub(super) fn new_under(&self) -> Option<u64> {
        self.authenticator.get().and_then(|authenticator| authenticator.new_under)
    }

    fn load_mac_key(&self) -> Result<StoreMacKey> {
        for _ in 0..PATIENCE {
            let root = self.root()?;
            let txn = self.read_txn()?;
            let meta = self.meta(&txn)?;
            if meta.root != root.number {
                continue;
            }
            let record = MacKeyRecord::decode(self.mac_key_record(&txn)?)?;
            let key = MacKey::new(&unwrap(&self.identity, &root, &record)?);
            return Ok(StoreMacKey { key, new_under: meta.is_new.then_some(meta.root) });
        }
        Err(without_end())
    }

    pub(super) fn mac_key_record<'t>(&self, txn: &'t heed::RoTxn<'_>) -> Result<&'t [u8]> {
        self.side.db.get(txn, AUTHORITY).map_err(lmdb::error)?.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt).because(format!(
                "the keys at `{}` lack the store's authority; take them from a backup",
                self.side.path.display()
            ))
        })
    }
}
