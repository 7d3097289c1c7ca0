//! What opens with which keys.

use super::*;

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
    let entity = table_engine::DynamicEntity::new("Sales", "1").with("Name", "Jones").with("Ssn", sealed);
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
    assert!(error.to_string().contains("give its options one by `.encryption(..)`"), "{error}");
    let read = table(&store).get("Sales", "1").unwrap().unwrap();
    assert_eq!(read.get("Name").unwrap().as_str(), Some("Jones"));
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
    // Nothing is made in their place, unless that is meant; then the old value names a key that is not among them.
    let options = Store::options().map_size(1 << 26).encryption(scratch.provider.clone());
    for create in [true, false] {
        let error = options.clone().create(create).open(&scratch.path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
        assert!(error.to_string().contains(keys.to_str().unwrap()), "{error}");
        assert!(error.to_string().contains("`OpenOptions::new_keys`"), "{error}");
        assert!(!keys.exists());
    }
    let store = options.clone().new_keys(true).open(&scratch.path).unwrap();
    assert_eq!(kind(store.encryption().unwrap().open(&cell, &sealed)), ErrorKind::KeyUnavailable);
    drop(store);
    std::fs::remove_dir_all(&keys).unwrap();
    let closed = options.create(false).new_keys(true);
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
fn a_partition_that_no_entity_can_be_in_gets_no_key() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    let long = "x".repeat(513);
    let cell = Cell::new(1, &long, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
    let error = encryption.seal(&cell, SSN).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyTooLong);
    assert!(error.partition_key().is_some_and(|key| key.starts_with("xxx")));
    assert_eq!(encryption.keys().unwrap(), []);
    for bytes in [&b""[..], b"plain", &[1; 66]] {
        assert_eq!(kind(encryption.open(&cell, bytes)), ErrorKind::DecryptionFailed);
        assert_eq!(kind(encryption.reseal(&cell, bytes)), ErrorKind::DecryptionFailed);
    }
}

#[test]
fn keys_that_are_missing_are_told_from_keys_that_never_were() {
    let scratch = Scratch::new();
    let plain = || Store::options().map_size(1 << 26).open(&scratch.path);
    let problems = |store: &Store| store.check().unwrap().problems;
    let keys = scratch.path.join("keys");
    // Without a provider nothing is made, and nothing is missed.
    assert!(problems(&plain().unwrap()).is_empty());
    // Keys that a provider's failure kept from being made are no keys.
    let unmade = Store::options().map_size(1 << 26).encryption(Arc::new(Unable)).open(&scratch.path);
    assert_eq!(kind(unmade), ErrorKind::KeyUnavailable);
    drop(scratch.store());
    assert!(keys.exists());
    // From then on they are missed: by a check too, and by a copy.
    let aside = scratch.path.with_file_name("aside");
    std::fs::rename(&keys, &aside).unwrap();
    assert_eq!(kind(scratch.store_at(&scratch.path)), ErrorKind::KeyUnavailable);
    let store = plain().unwrap();
    let found = problems(&store);
    assert!(found.len() == 1 && found[0].what.contains("its keys are missing at"), "{found:?}");
    table(&store).insert(&table_engine::DynamicEntity::new("Sales", "1")).unwrap();
    let copy = scratch.path.with_file_name("copy");
    store.copy_to(&copy).unwrap();
    drop(store);
    assert_eq!(kind(scratch.store_at(&copy)), ErrorKind::KeyUnavailable);
    std::fs::rename(&aside, &keys).unwrap();
    assert!(problems(&scratch.store()).is_empty());
}

struct Unable;

impl KeyProvider for Unable {
    fn current(&self) -> Result<KeyId, KeyError> {
        Err(KeyError::not_found())
    }
    fn wrap(&self, _: &KeyId, _: &SecretKey, _: &[u8]) -> Result<Vec<u8>, KeyError> {
        Err(KeyError::not_found())
    }
    fn unwrap(&self, _: &KeyId, _: &[u8], _: &[u8]) -> Result<SecretKey, KeyError> {
        Err(KeyError::not_found())
    }
}

/// A bit of the newest header's number would bring back the keys as they were before the last of them was made.
#[test]
fn a_previous_state_of_the_keys_is_not_taken_for_theirs() {
    /// Where a header page has the number of its commit.
    const NUMBER: usize = 16 + 24 + 2 * 48 + 8;
    let scratch = Scratch::new();
    let mut in_doubt = 0;
    for partition in 0..4 {
        let keys = {
            let store = scratch.store();
            let (company, name) = (table(&store), partition.to_string());
            let cell = company.cell(&name, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
            store.encryption().unwrap().seal(&cell, SSN).unwrap();
            store.encryption().unwrap().keys().unwrap().len()
        };
        let sound = std::fs::read(scratch.path.join("keys/data.mdb")).unwrap();
        for (page, bit) in [0, 4_096].into_iter().flat_map(|page| (0..8).map(move |bit| (page, bit))) {
            let mut damaged = sound.clone();
            damaged[page + NUMBER] ^= 1 << bit;
            // A place of its own: the store may be about to be closed.
            let path = scratch.path.with_file_name(format!("{partition} {page} {bit}"));
            std::fs::create_dir_all(path.join("keys")).unwrap();
            std::fs::copy(scratch.path.join("data.mdb"), path.join("data.mdb")).unwrap();
            for entry in std::fs::read_dir(scratch.path.join("keys")).unwrap() {
                let name = entry.unwrap().file_name();
                if name.to_str().unwrap().starts_with("root-") {
                    let from = scratch.path.join("keys").join(&name);
                    std::fs::copy(from, path.join("keys").join(&name)).unwrap();
                }
            }
            std::fs::write(path.join("keys/data.mdb"), damaged).unwrap();
            let refused = kind(scratch.store_at(&path));
            if refused != ErrorKind::OutcomeUnknown {
                assert_eq!(refused, ErrorKind::Corrupt, "{page} {bit}");
                continue;
            }
            in_doubt += 1;
            let accepting = Store::options().map_size(1 << 26).accept_lost_commit(true);
            let store = accepting.encryption(scratch.provider.clone()).open(&path).unwrap();
            assert!(store.encryption().unwrap().keys().unwrap().len() < keys);
        }
    }
    // Of four numbers in a row two have the bit.
    assert!(in_doubt > 0);
    assert_eq!(scratch.store().encryption().unwrap().keys().unwrap().len(), 4);
}
