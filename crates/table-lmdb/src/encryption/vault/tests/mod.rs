//! The keys of a store, from the outside and with other processes' eyes.

mod copies;
mod damage;
mod files;
mod mac_key;
mod new_keys;
mod opening;
mod provider;
mod rotation;
mod shredding;
mod together;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use table_engine::DynamicTable;
use table_engine::crypt::{KeyError, KeyId, KeyScope, MemoryKeys, SecretKey};

use super::*;
use crate::Store;
use crate::tests_scratch::in_memory;

/// A store with one table.
struct Scratch {
    _dir: tempfile::TempDir,
    path: PathBuf,
    provider: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        let dir = in_memory();
        let path = dir.path().join("store");
        Self { _dir: dir, path, provider: Arc::new(MemoryKeys::new().unwrap()) }
    }

    fn store(&self) -> Store {
        self.store_at(&self.path).unwrap()
    }

    fn store_at(&self, path: &Path) -> Result<Store> {
        Store::options().map_size(1 << 26).encryption(self.provider.clone()).open(path)
    }

    /// Opens the keys as another process does: with a cache of its own.
    fn peer(&self, store: &Store) -> Encryption {
        let identity = store.encryption().unwrap().vault.identity;
        let keys = Encryption::open_keys(&self.path, false, identity, self.provider.clone()).unwrap();
        let store = Arc::downgrade(&store.clone().into_shared());
        keys.of_store(store)
    }

    fn roots(&self) -> usize {
        let entries = std::fs::read_dir(self.path.join("keys")).unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with("root-"))
            .count()
    }
}

const SSN: ValueRef<'static> = ValueRef::String("078-05-1120");

fn table(store: &Store) -> DynamicTable {
    store.create_table_if_missing("Company").unwrap()
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    result.err().expect("it was refused").kind()
}

#[test]
fn nothing_shows_a_value_or_a_key() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let key = encryption.vault.key(KeyHandle::of(&sealed).unwrap()).unwrap();
    let (keys, token) =
        (encryption.keys().unwrap(), encryption.token(&cell, TokenScope::Table, SSN).unwrap());
    let mut shown = vec![
        format!("{store:?} {encryption:?} {cell:?} {key:?} {keys:?} {token:?}"),
        format!("{:?} {:?}", scratch.provider, Store::options().encryption(scratch.provider.clone())),
    ];
    let mut broken = sealed.clone();
    broken[60] ^= 1;
    let other = company.cell("Sales", "2", "Ssn").unwrap();
    for error in [encryption.open(&cell, &broken), encryption.open(&other, &sealed)].map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::DecryptionFailed);
        shown.push(format!("{error} {error:?}"));
    }
    let shown = shown.concat();
    assert!(!shown.contains("078-05-1120"), "{shown}");
    assert!(shown.contains("Encryption { path: ") && shown.contains("keys\", .."), "{shown}");
    let raw = encryption.vault.unwrap(
        &encryption.vault.root().unwrap(),
        key.handle(),
        &encryption.vault.record(&encryption.vault.read_txn().unwrap(), key.handle()).unwrap().unwrap(),
    );
    let raw = raw.unwrap().key;
    let hex = format!("{:x}", uuid::Uuid::from_slice(&raw.expose()[..16]).unwrap().simple());
    assert!(!shown.contains(&hex) && !shown.contains(&format!("{:?}", &raw.expose()[..4])), "{shown}");
}
