use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::crypt::{KeyError, KeyId, KeyScope, MemoryKeys, SecretKey};
use crate::{DynamicTable, Store};

/// A store with one table.
struct Scratch {
    _dir: tempfile::TempDir,
    path: PathBuf,
    provider: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        Self { _dir: dir, path, provider: Arc::new(MemoryKeys::new().unwrap()) }
    }

    fn store(&self) -> Store {
        self.store_at(&self.path).unwrap()
    }

    fn store_at(&self, path: &Path) -> Result<Store> {
        Store::options().map_size(1 << 26).encryption(self.provider.clone()).open(path)
    }

    /// The same keys as another process has them: with a cache of its own.
    fn peer(&self, store: &Store) -> Encryption {
        let identity = store.encryption().unwrap().vault.identity;
        Encryption::open_keys(&self.path, false, identity, self.provider.clone()).unwrap()
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
fn what_was_sealed_opens_after_the_store_is_opened_again() {
    let scratch = Scratch::new();
    let mut sealed = Vec::new();
    let scopes = [KeyScope::Store, KeyScope::Table, KeyScope::Partition];
    {
        let store = scratch.store();
        let company = table(&store);
        for scope in scopes {
            let cell = company.cell("Sales", "1", "Ssn").unwrap().scoped(scope);
            sealed.push(store.encryption().unwrap().seal(&cell, SSN).unwrap());
        }
    }
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    for (sealed, scope) in sealed.iter().zip(scopes) {
        assert_eq!(encryption.open(&cell, sealed).unwrap().as_value_ref(), SSN);
        assert_eq!(encryption.reseal(&cell.scoped(scope), sealed).unwrap(), None);
    }
    let keys = encryption.keys().unwrap();
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|key| key.current && key.version == 1));
    let names: Vec<_> = keys.iter().map(|key| key.scope.to_string()).collect();
    assert_eq!(names, ["the store", "table 1", "partition `Sales` of table 1"]);
}

#[test]
fn without_a_provider_or_with_another_the_rest_of_the_store_is_readable() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let sealed = {
        let cell_of = table(&store);
        store.encryption().unwrap().seal(&cell_of.cell("Sales", "1", "Ssn").unwrap(), SSN).unwrap()
    };
    let entity = crate::DynamicEntity::new("Sales", "1").with("Name", "Jones").with("Ssn", sealed);
    table(&store).insert(&entity).unwrap();
    let other: Arc<MemoryKeys> = Arc::new(MemoryKeys::new().unwrap());
    let again = Store::options().map_size(1 << 26).encryption(other.clone()).open(&scratch.path);
    assert_eq!(kind(again), ErrorKind::OptionsConflict);
    drop(store);

    assert_eq!(
        kind(Store::options().map_size(1 << 26).encryption(other).open(&scratch.path)),
        ErrorKind::KeyUnavailable
    );
    let store = Store::options().map_size(1 << 26).open(&scratch.path).unwrap();
    let error = store.encryption().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("Store::options().encryption(..)"), "{error}");
    let read = table(&store).get("Sales", "1").unwrap().unwrap();
    assert_eq!(read.get("Name").unwrap().as_str(), Some("Jones"));
}

#[test]
fn a_rotated_key_seals_and_the_old_one_still_opens() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let peer = scratch.peer(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let old = encryption.seal(&cell, SSN).unwrap();
    assert!(peer.open(&cell, &old).is_ok());
    let (old_key, generation) = (KeyHandle::of(&old).unwrap(), peer.generation().unwrap());
    let old_token = encryption.token(&cell, TokenScope::Partition, SSN).unwrap();

    let new_key = encryption.rotate(&Scope::store()).unwrap();
    assert!(peer.generation().unwrap() > generation);
    // Both seal with the new key at once, though the other remembered the old one.
    for one in [encryption, &peer] {
        let sealed = one.seal(&cell, SSN).unwrap();
        assert_eq!(KeyHandle::of(&sealed), Some(new_key));
        assert_eq!(one.open(&cell, &old).unwrap().as_value_ref(), SSN);
        let tokens = one.tokens(&cell, TokenScope::Partition, SSN).unwrap();
        assert_eq!(tokens[0], one.token(&cell, TokenScope::Partition, SSN).unwrap());
        assert_eq!(tokens[1..], [old_token]);
    }
    // The current key is not destroyed by itself, nor one that there isn't.
    assert_eq!(kind(encryption.destroy(new_key)), ErrorKind::KeyUnavailable);
    assert_eq!(kind(encryption.destroy(KeyHandle(1))), ErrorKind::KeyUnavailable);
    let resealed = encryption.reseal(&cell, &old).unwrap().unwrap();
    assert_eq!(encryption.reseal(&cell, &resealed).unwrap(), None);
    encryption.destroy(old_key).unwrap();
    for one in [encryption, &peer] {
        assert_eq!(one.open(&cell, &resealed).unwrap().as_value_ref(), SSN);
        assert_eq!(kind(one.open(&cell, &old)), ErrorKind::KeyShredded);
        assert_eq!(one.tokens(&cell, TokenScope::Partition, SSN).unwrap().len(), 1);
        assert_eq!(one.keys().unwrap().len(), 1);
    }
}

#[test]
fn a_shredded_scope_is_gone_and_the_others_stay() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let peer = scratch.peer(&store);
    let other = store.create_table("Other").unwrap();
    let cells = [
        company.cell("Sales", "1", "Ssn").unwrap().scoped(KeyScope::Partition),
        company.cell("Marketing", "1", "Ssn").unwrap().scoped(KeyScope::Partition),
        company.cell("Sales", "1", "Ssn").unwrap().scoped(KeyScope::Table),
        company.cell("Sales", "1", "Ssn").unwrap(),
        other.cell("Sales", "1", "Ssn").unwrap().scoped(KeyScope::Partition),
    ];
    let sealed = cells.map(|cell| encryption.seal(&cell, SSN).unwrap());
    let check = |gone: &[usize]| {
        for (at, (cell, sealed)) in cells.iter().zip(&sealed).enumerate() {
            for one in [encryption, &peer] {
                let opened = one.open(cell, sealed);
                if gone.contains(&at) {
                    assert_eq!(kind(opened), ErrorKind::KeyShredded, "{cell:?}");
                } else {
                    assert_eq!(opened.unwrap().as_value_ref(), SSN, "{cell:?}");
                }
            }
        }
        assert_eq!(scratch.roots(), 1);
    };
    check(&[]);
    assert_eq!(encryption.shred(&company.partition_key_scope("Nobody").unwrap()).unwrap(), 0);
    check(&[]);
    assert_eq!(encryption.shred(&company.partition_key_scope("Sales").unwrap()).unwrap(), 1);
    check(&[0]);
    // Whoever comes back gets a new key, and the old values stay gone.
    let again = peer.seal(&cells[0], SSN).unwrap();
    assert_ne!(KeyHandle::of(&again), KeyHandle::of(&sealed[0]));
    let info =
        peer.keys().unwrap().into_iter().find(|key| Some(key.handle) == KeyHandle::of(&again)).unwrap();
    assert_eq!(info.version, 2);
    check(&[0]);
    // A table takes its partitions along.
    assert_eq!(encryption.shred(&company.key_scope()).unwrap(), 3);
    check(&[0, 1, 2]);
    assert_eq!(kind(peer.open(&cells[0], &again)), ErrorKind::KeyShredded);
    assert_eq!(encryption.shred(&Scope::store()).unwrap(), 1);
    check(&[0, 1, 2, 3]);
}

#[test]
fn a_destroyed_key_can_not_be_had_from_the_bytes_that_are_left() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let keys = scratch.path.join("keys");
    let cell = company.cell("Sales", "1", "Ssn").unwrap().scoped(KeyScope::Partition);
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let handle = KeyHandle::of(&sealed).unwrap();
    let (record, root) = {
        let txn = encryption.vault.read_txn().unwrap();
        (encryption.vault.record(&txn, handle).unwrap().unwrap(), encryption.vault.root().unwrap())
    };
    let root_file = root::path(&keys, root.number);
    let root_bytes = std::fs::read(&root_file).unwrap();
    encryption.shred(&company.partition_key_scope("Sales").unwrap()).unwrap();

    // LMDB may well have the wrapped key still; what unwraps it is in no file.
    assert!(!root_file.exists());
    let needle = &root_bytes[root_bytes.len() - 80..root_bytes.len() - 8];
    for entry in std::fs::read_dir(&keys).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(needle.len()).any(|window| window == needle));
    }
    let current = encryption.vault.root().unwrap();
    assert!(encryption.vault.unwrap(&current, handle, &record).is_err());
    assert!(encryption.vault.unwrap(&root, handle, &record).is_ok(), "with a copy of the root key it can");
}

#[test]
fn another_key_of_the_provider_takes_over() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let peer = scratch.peer(&store);
    let old = scratch.provider.current().unwrap();
    scratch.provider.rotate().unwrap();
    encryption.rewrap().unwrap();
    assert!(scratch.provider.forget(&old));
    for one in [encryption, &peer, &scratch.peer(&store)] {
        assert_eq!(one.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    }
    assert_eq!(scratch.roots(), 1);
    assert_eq!(encryption.keys().unwrap().len(), 1);
}

#[test]
fn threads_and_peers_that_need_a_key_at_once_share_one() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let handles = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let peer = scratch.peer(&store);
            for one in [store.encryption().unwrap().clone(), peer] {
                let (company, handles) = (&company, &handles);
                scope.spawn(move || {
                    for partition in 0..20 {
                        let partition = partition.to_string();
                        let cell = company.cell(&partition, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
                        let sealed = one.seal(&cell, SSN).unwrap();
                        handles.lock().unwrap().push((partition, KeyHandle::of(&sealed).unwrap()));
                    }
                });
            }
        }
    });
    let mut handles = handles.into_inner().unwrap();
    assert_eq!(handles.len(), 160);
    handles.sort();
    handles.dedup();
    assert_eq!(handles.len(), 20, "one key for each partition");
    assert_eq!(store.encryption().unwrap().keys().unwrap().len(), 20);
}

#[test]
fn renewing_while_others_seal_and_open_loses_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    std::thread::scope(|scope| {
        for number in 0..3 {
            let (peer, company) = (scratch.peer(&store), &company);
            scope.spawn(move || {
                for round in 0..60 {
                    let partition = format!("{number} {}", round % 7);
                    let cell = company.cell(&partition, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
                    let sealed = peer.seal(&cell, SSN).unwrap();
                    assert_eq!(peer.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
                }
            });
        }
        for one in [store.encryption().unwrap().clone(), scratch.peer(&store)] {
            scope.spawn(move || {
                for _ in 0..15 {
                    one.rewrap().unwrap();
                    one.rotate_all().unwrap();
                }
            });
        }
    });
    assert_eq!(scratch.roots(), 1);
    // Every key that was ever made opens, as none was destroyed.
    let encryption = scratch.peer(&store);
    for key in encryption.keys().unwrap() {
        encryption.vault.key(key.handle).unwrap();
    }
}

/// Counts, and fails when it is told to.
struct Watched {
    inner: MemoryKeys,
    calls: AtomicU64,
    broken: std::sync::atomic::AtomicBool,
}

impl Watched {
    fn new() -> Arc<Self> {
        let inner = MemoryKeys::new().unwrap();
        Arc::new(Self { inner, calls: AtomicU64::new(0), broken: false.into() })
    }

    fn called(&self) -> Result<(), KeyError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.broken.load(Ordering::Relaxed) {
            Err(KeyError::unavailable("the line is dead"))
        } else {
            Ok(())
        }
    }
}

impl KeyProvider for Watched {
    fn current(&self) -> Result<KeyId, KeyError> {
        self.called().and_then(|()| self.inner.current())
    }
    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.called().and_then(|()| self.inner.wrap(id, key, context))
    }
    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        self.called().and_then(|()| self.inner.unwrap(id, wrapped, context))
    }
}

#[test]
fn the_provider_is_asked_at_opening_and_never_for_a_value() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    let open = || Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path);
    drop(open().unwrap());
    let before = provider.calls.load(Ordering::Relaxed);
    let store = open().unwrap();
    assert_eq!(provider.calls.load(Ordering::Relaxed), before + 1, "one unwrap");
    provider.broken.store(true, Ordering::Relaxed);
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    for partition in 0..5 {
        let partition = partition.to_string();
        let cell = company.cell(&partition, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
        encryption.seal(&cell, SSN).unwrap();
        encryption.rotate(&company.partition_key_scope(&partition).unwrap()).unwrap();
    }
    // What needs it fails whole, and says why.
    let error = encryption.rewrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert_eq!(
        error.to_string(),
        "cannot rewrap the data keys: the key provider can't be used: the line is dead"
    );
    drop((store, company));
    assert_eq!(kind(open()), ErrorKind::KeyUnavailable);
    provider.broken.store(false, Ordering::Relaxed);
    assert_eq!(open().unwrap().encryption().unwrap().keys().unwrap().len(), 10);
}

#[test]
fn a_store_whose_provider_fails_at_first_leaves_nothing_behind() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    provider.broken.store(true, Ordering::Relaxed);
    let open = || Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path);
    assert_eq!(kind(open()), ErrorKind::KeyUnavailable);
    assert!(!scratch.path.join("keys").exists());
    provider.broken.store(false, Ordering::Relaxed);
    open().unwrap();
}

#[test]
fn keys_that_are_lost_or_anothers_are_told_apart() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    drop((store, company));
    let keys = scratch.path.join("keys");
    let aside = scratch.path.join("aside");
    std::fs::rename(&keys, &aside).unwrap();
    // New keys are made; the old value names one that is not among them.
    let store = scratch.store();
    assert_eq!(kind(store.encryption().unwrap().open(&cell, &sealed)), ErrorKind::KeyUnavailable);
    drop(store);
    std::fs::remove_dir_all(&keys).unwrap();
    let closed = Store::options().map_size(1 << 26).create(false).encryption(scratch.provider.clone());
    assert_eq!(kind(closed.open(&scratch.path)), ErrorKind::Io);

    // Another store's.
    let other = scratch.path.with_file_name("other");
    drop(scratch.store_at(&other).unwrap());
    std::fs::rename(other.join("keys"), &keys).unwrap();
    let error = scratch.store_at(&scratch.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("another store's"), "{error}");

    // Without the root key's file.
    std::fs::remove_dir_all(&keys).unwrap();
    std::fs::rename(&aside, &keys).unwrap();
    let root = std::fs::read_dir(&keys)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("root-"))
        .unwrap();
    let bytes = std::fs::read(&root).unwrap();
    std::fs::remove_file(&root).unwrap();
    assert_eq!(kind(scratch.store_at(&scratch.path)), ErrorKind::KeyUnavailable);
    std::fs::write(&root, &bytes[1..]).unwrap();
    assert_eq!(kind(scratch.store_at(&scratch.path)), ErrorKind::Corrupt);
    std::fs::write(&root, &bytes).unwrap();
    let store = scratch.store();
    assert_eq!(store.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
}

#[test]
fn a_copy_has_the_keys_and_opens_with_the_same_provider() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    let target = scratch.path.with_file_name("copy");
    store.copy_to(&target).unwrap();
    let copy = scratch.store_at(&target).unwrap();
    assert_eq!(copy.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    // Also from a store that was opened without a provider.
    drop((store, company));
    let store = Store::options().map_size(1 << 26).open(&scratch.path).unwrap();
    let target = scratch.path.with_file_name("second");
    store.copy_to(&target).unwrap();
    let copy = scratch.store_at(&target).unwrap();
    assert_eq!(copy.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
}

#[test]
fn a_copy_that_would_lack_the_root_key_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let root = store.encryption().unwrap().vault.root().unwrap();
    let file = root::path(&scratch.path.join("keys"), root.number);
    std::fs::remove_file(&file).unwrap();
    let error = store.copy_to(scratch.path.with_file_name("copy")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}

#[test]
fn a_copy_whose_keys_can_not_be_had_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let store = scratch.store();
    table(&store).insert(&crate::DynamicEntity::new("Sales", "1")).unwrap();
    let keys = scratch.path.join("keys");
    let root = std::fs::read_dir(&keys).unwrap().map(|entry| entry.unwrap().path());
    let root = root.into_iter().find(|path| path.to_str().unwrap().contains("root-")).unwrap();
    let away = scratch.path.with_file_name("away");
    std::fs::rename(&root, &away).unwrap();
    let target = scratch.path.with_file_name("copy");
    let error = store.copy_to(&target).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(!target.exists(), "{error}");
    // What was there before stays, and nothing comes beside it.
    std::fs::create_dir_all(target.join("keys")).unwrap();
    std::fs::write(target.join("keys").join("mine"), "mine").unwrap();
    std::fs::rename(&away, &root).unwrap();
    assert_eq!(kind(store.copy_to(&target)), ErrorKind::TargetExists);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1);
    assert_eq!(std::fs::read(target.join("keys").join("mine")).unwrap(), b"mine");
    std::fs::remove_dir_all(&target).unwrap();
    store.copy_to(&target).unwrap();
    assert_eq!(scratch.store_at(&target).unwrap().tables().unwrap(), ["Company"]);
}

#[test]
fn a_root_key_that_a_crash_left_behind_is_removed() {
    let scratch = Scratch::new();
    drop(scratch.store());
    let keys = scratch.path.join("keys");
    // Died after the new root key's file and before the commit; or after the commit and before the old one's end.
    std::fs::write(keys.join("root-00000000000000ab"), "a whole one").unwrap();
    std::fs::write(keys.join("root-00000000000000ac.new-1"), "half a one").unwrap();
    assert_eq!(scratch.roots(), 3);
    drop(scratch.store());
    assert_eq!(scratch.roots(), 1);
}

#[test]
fn versions_wrap_around_only_where_tokens_stay_apart() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    for _ in 0..256 {
        encryption.rotate(&Scope::store()).unwrap();
    }
    let error = encryption.rotate(&Scope::store()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("destroy old ones"), "{error}");
    let oldest = encryption.keys().unwrap().remove(0).handle;
    encryption.destroy(oldest).unwrap();
    encryption.rotate(&Scope::store()).unwrap();
}

#[test]
fn a_job_is_found_where_it_was_broken_off() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    assert_eq!(encryption.progress("re-encrypt").unwrap(), None);
    let progress = Progress {
        position: Some(("Sales".to_owned(), "empid_000001".to_owned())),
        seen: 500,
        changed: 499,
        generation: 3,
    };
    encryption.save_progress("re-encrypt", Some(&progress)).unwrap();
    assert_eq!(encryption.progress("re-encrypt").unwrap(), Some(progress.clone()));
    assert_eq!(scratch.peer(&store).progress("re-encrypt").unwrap(), Some(progress));
    encryption.save_progress("re-encrypt", None).unwrap();
    assert_eq!(encryption.progress("re-encrypt").unwrap(), None);
    assert_eq!(kind(encryption.progress("")), ErrorKind::InvalidKey);
    assert_eq!(kind(encryption.save_progress(&"x".repeat(257), None)), ErrorKind::InvalidKey);
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
    let raw = encryption.vault.unwrap(
        &encryption.vault.root().unwrap(),
        key.handle(),
        &encryption.vault.record(&encryption.vault.read_txn().unwrap(), key.handle()).unwrap().unwrap(),
    );
    let raw = raw.unwrap().unwrap();
    let hex = format!("{:x}", uuid::Uuid::from_slice(&raw.expose()[..16]).unwrap().simple());
    assert!(!shown.contains(&hex) && !shown.contains(&format!("{:?}", &raw.expose()[..4])), "{shown}");
}
