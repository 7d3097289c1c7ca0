//! Copies of the keys.

use super::*;

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
    table(&store).insert(&table_engine::DynamicEntity::new("Sales", "1")).unwrap();
    let keys = scratch.path.join("keys");
    let root = std::fs::read_dir(&keys).unwrap().map(|entry| entry.unwrap().path());
    let root = root.into_iter().find(|path| path.to_str().unwrap().contains("root-")).unwrap();
    let away = scratch.path.with_file_name("away");
    std::fs::rename(&root, &away).unwrap();
    let target = scratch.path.with_file_name("copy");
    let error = store.copy_to(&target).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(!target.exists(), "{error}");
    // The files that were there stay as they are, and no other is made.
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
fn a_copy_made_while_the_root_key_is_renewed_opens() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    let peer = scratch.peer(&store);
    let copies = std::thread::scope(|scope| {
        // Fewer than a copy is tried.
        let renewing = scope.spawn(move || (0..60).for_each(|_| assert_eq!(peer.rewrap().unwrap(), [])));
        let mut copies = Vec::new();
        while !renewing.is_finished() || copies.is_empty() {
            let target = scratch.path.with_file_name(format!("copy{}", copies.len()));
            store.copy_to(&target).unwrap();
            copies.push(target);
        }
        copies
    });
    for copy in copies {
        let copy = scratch.store_at(&copy).unwrap();
        assert_eq!(copy.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    }
}

#[test]
fn keys_are_copied_to_where_nothing_is_or_not_at_all() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let root = store.encryption().unwrap().vault.root().unwrap();
    let copy = scratch.path.with_file_name("copy");
    std::fs::create_dir(&copy).unwrap();
    // A file where the directory is to be.
    std::fs::write(copy.join("keys"), "mine").unwrap();
    let error = copy_to(&scratch.path, &copy, false, true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TargetExists);
    assert!(error.to_string().contains(copy.to_str().unwrap()), "{error}");
    assert_eq!(std::fs::read(copy.join("keys")).unwrap(), b"mine");
    // The root key's own file there already.
    std::fs::remove_file(copy.join("keys")).unwrap();
    std::fs::create_dir(copy.join("keys")).unwrap();
    let taken = root::path(&copy.join("keys"), root.number);
    std::fs::write(&taken, "mine").unwrap();
    assert_eq!(kind(copy_to(&scratch.path, &copy, false, true)), ErrorKind::TargetExists);
    assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    // A whole copy.
    std::fs::remove_dir_all(&copy).unwrap();
    copy_to(&scratch.path, &copy, false, true).unwrap();
    assert_eq!(kind(copy_to(&scratch.path, &copy, false, true)), ErrorKind::TargetExists);
}

#[test]
fn a_store_without_keys_is_copied_without_keys() {
    let scratch = Scratch::new();
    let store = Store::options().map_size(1 << 26).open(&scratch.path).unwrap();
    let copy = scratch.path.with_file_name("copy");
    store.copy_to(&copy).unwrap();
    assert!(!copy.join("keys").exists());
}
