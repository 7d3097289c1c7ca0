//! Keys that are new: the store's data may not say yet that there are any, so no other process has used them.
//!
//! They say so themselves. Keys that don't are in use, and then the data must say that they have keys: an opening
//! authenticates what it finds beside new keys alone. New keys that a process left behind which ended before it was
//! done are replaced first, root key and MAC key. So keys in use that are made to pass for new authenticate nothing:
//! they are replaced, and gone.

use table_engine::crypt::mac::MacKey;
use table_engine::crypt::{KeyProvider, files};
use table_engine::error::{Error, ErrorKind, Result};

use super::key_store::{Vault, without_end};
use super::mac_key;
use super::record::{AUTHORITY, META, Meta, RecordCounts};
use super::root::{self, NewRoot};
use crate::open::aux_env::Records;

/// The number of the first transaction in an environment.
const FIRST: u64 = 1;

/// A root key and a MAC key that are in no environment yet.
pub(super) struct NewKeys {
    root: NewRoot,
    authenticator: MacKey,
    /// The MAC key's record.
    record: Vec<u8>,
}

impl NewKeys {
    /// Makes new keys, and asks the provider to wrap the root key.
    pub(super) fn make(identity: &[u8; 16], provider: &dyn KeyProvider) -> Result<Self> {
        let root = NewRoot::make(identity, provider)?;
        let (authenticator, record) = mac_key::make(identity, &root.root)?;
        Ok(Self { root, authenticator, record })
    }

    /// Returns the number of the root key.
    pub(super) fn number(&self) -> u64 {
        self.root.root.number
    }

    /// Returns the first records of an environment of these keys, whose root key's file is durable by then.
    pub(super) fn first_records(self, identity: [u8; 16], dir: &std::path::Path) -> Result<Records> {
        self.root.write(dir)?;
        let mut set_digest = RecordCounts::default();
        set_digest.add(AUTHORITY, &self.record);
        let root = self.number();
        let meta = Meta { identity, root, generation: 0, is_new: true, transaction: FIRST, set_digest };
        Ok(vec![(META.to_vec(), meta.encode()), (AUTHORITY.to_vec(), self.record)])
    }
}

impl Vault {
    /// Returns the number of the root key if the keys are new now.
    pub(super) fn new_root(&self) -> Result<Option<u64>> {
        let txn = self.read_txn()?;
        let meta = self.meta(&txn)?;
        Ok(meta.is_new.then_some(meta.root))
    }

    /// Puts others in the place of the new keys under this root key, and returns their MAC key. What was opened of the
    /// former ones is of no use any more.
    pub(super) fn replace(&self, former: u64, new: NewKeys) -> Result<MacKey> {
        let mut change = self.change()?;
        if !change.meta.is_new || change.meta.root != former {
            return Err(without_end());
        }
        if change.meta.set_digest.records() != 0 {
            return Err(Error::new(ErrorKind::NotGenuine).because(
                "the store's keys are said to be new, and have been in use: somebody without the keys has changed their \
                 records; take them from a backup",
            ));
        }
        root::wipe_others(&self.side.path, former)?;
        change.put(AUTHORITY, &new.record)?;
        change.meta.root = new.number();
        change.meta.generation += 1;
        new.root.write(&self.side.path)?;
        change.commit()?;
        files::wipe(&root::path(&self.side.path, former))?;
        Ok(new.authenticator)
    }

    /// Notes durably that the keys are new no longer: the data say that they have keys.
    pub(super) fn settle(&self) -> Result<()> {
        let mut change = self.change()?;
        if !change.meta.is_new {
            return Ok(());
        }
        change.meta.is_new = false;
        change.commit()
    }
}
