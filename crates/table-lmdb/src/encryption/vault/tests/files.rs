//! The root key's file: damaged, or in the way.

use super::damage::{Damaged, body, resealed};
use super::*;

#[test]
fn a_root_keys_file_is_taken_apart_with_care_also_where_its_checksum_fits() {
    let damaged = Damaged::new();
    let file = root::path(&damaged.scratch.path.join("keys"), damaged.keys().vault.root().unwrap().number);
    let bytes = std::fs::read(&file).unwrap();
    let body = body(&bytes);
    let refused = |body: &[u8]| {
        std::fs::write(&file, resealed(b"root", body)).unwrap();
        kind(damaged.peer())
    };
    for length in 0..body.len() {
        assert_eq!(refused(&body[..length]), ErrorKind::Corrupt, "length {length}");
    }
    assert_eq!(refused(&[body, &[0]].concat()), ErrorKind::Corrupt);
    // The format, the number, the name's length and text; then the key's check and the wrapped key itself.
    for (at, expected) in [
        (0, ErrorKind::Corrupt),
        (4, ErrorKind::Corrupt),
        (44, ErrorKind::Corrupt),
        (46, ErrorKind::Corrupt),
        (12, ErrorKind::KeyUnavailable),
        (body.len() - 1, ErrorKind::KeyUnavailable),
    ] {
        let mut changed = body.to_vec();
        changed[at] ^= 0x80;
        assert_eq!(refused(&changed), expected, "byte {at}");
    }
    // A name that no key has: of the provider's that it has not, or of none.
    let mut renamed = body.to_vec();
    renamed[46] = b'X';
    assert_eq!(refused(&renamed), ErrorKind::KeyUnavailable);
    let error = damaged.peer().unwrap_err();
    assert!(error.to_string().contains("no such key (its key `Xemory/1`)"), "{error}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(kind(damaged.peer()), ErrorKind::KeyUnavailable, "none");
    std::fs::create_dir(&file).unwrap();
    assert_eq!(kind(damaged.peer()), ErrorKind::KeyUnavailable, "no file");
    std::fs::remove_dir(&file).unwrap();
    let nameless = [&body[..44], &[0, 0], &body[44 + 2 + "memory/1".len()..]].concat();
    assert_eq!(refused(&nameless), ErrorKind::Corrupt);
    std::fs::write(&file, &bytes).unwrap();
    damaged.peer().unwrap();
    assert_eq!(damaged.keys().open(&damaged.cell(), &damaged.sealed).unwrap().as_value_ref(), SSN);
}

#[test]
fn a_root_key_that_can_not_be_removed_is_an_error_and_no_silence() {
    let damaged = Damaged::new();
    let keys = damaged.scratch.path.join("keys");
    // What can't be overwritten, since it is no file.
    let stray = keys.join("root-stray");
    std::fs::create_dir(&stray).unwrap();
    let before = damaged.records();
    for outcome in
        [damaged.peer().map(drop), damaged.keys().rewrap().map(drop), damaged.keys().destroy(damaged.old())]
    {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("root-stray"), "{error}");
    }
    assert!(damaged.records() == before);
    std::fs::remove_dir(&stray).unwrap();
    // What has another name is left alone.
    std::fs::create_dir(keys.join("notes")).unwrap();
    damaged.keys().rewrap().unwrap();
    assert!(keys.join("notes").exists());

    // The one that was replaced: then the new one is in force, and it is told that the old one is not gone.
    let old = root::path(&keys, damaged.keys().vault.root().unwrap().number);
    std::fs::remove_file(&old).unwrap();
    std::fs::create_dir(&old).unwrap();
    let error = damaged.keys().shred(&Scope::store()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().starts_with("cannot shred a scope: removing"), "{error}");
    assert_eq!(damaged.keys().open(&damaged.cell(), &damaged.sealed).unwrap().as_value_ref(), SSN);
    assert_eq!(kind(damaged.peer()), ErrorKind::Io);
    std::fs::remove_dir(&old).unwrap();
    assert!(damaged.peer().unwrap().open(&damaged.cell(), &damaged.sealed).is_ok());
    assert_eq!(damaged.scratch.roots(), 1);
}

/// The living root key's file, and a second name of it as a crash may leave one.
#[cfg(unix)]
fn twin(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let keys = scratch.path.join("keys");
    let names = root::list(&keys).unwrap();
    let [root] = &names[..] else { panic!("{names:?}") };
    let twin = keys.join(format!("{}.new-0123456789abcdef", root.to_str().unwrap()));
    let root = keys.join(root);
    std::fs::hard_link(&root, &twin).unwrap();
    (root, twin)
}

#[cfg(unix)]
#[test]
fn a_second_name_of_the_root_key_goes_and_the_key_stays() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let opens = |store: &Store| {
        assert_eq!(scratch.roots(), 1);
        assert_eq!(store.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    };
    // When the root key is renewed; the old one is overwritten all the same.
    let (root, _) = twin(&scratch);
    let mut former = std::fs::File::open(root).unwrap();
    encryption.rewrap().unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut former, &mut bytes).unwrap();
    assert!(!bytes.is_empty() && bytes.iter().all(|byte| *byte == 0), "{bytes:?}");
    opens(&store);
    // In a copy, which has the one name.
    twin(&scratch);
    let target = scratch.path.with_file_name("copy");
    store.copy_to(&target).unwrap();
    let copy = scratch.store_at(&target).unwrap();
    assert_eq!(copy.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    // When the keys are opened, and opened again.
    drop((copy, store, company));
    for _ in 0..2 {
        opens(&scratch.store());
        twin(&scratch);
    }
    opens(&scratch.store());
}

#[cfg(unix)]
#[test]
fn a_backup_by_hard_links_keeps_its_root_key() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let root =
        root::path(&scratch.path.join("keys"), store.encryption().unwrap().vault.root().unwrap().number);
    let backup = scratch.path.with_file_name("backup");
    std::fs::hard_link(&root, &backup).unwrap();
    let before = std::fs::read(&backup).unwrap();
    store.encryption().unwrap().rewrap().unwrap();
    assert!(!root.exists());
    assert_eq!(std::fs::read(&backup).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_root_key_behind_a_link_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let root =
        root::path(&scratch.path.join("keys"), store.encryption().unwrap().vault.root().unwrap().number);
    drop(store);
    let elsewhere = scratch.path.with_file_name("elsewhere");
    std::fs::rename(&root, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &root).unwrap();
    let error = scratch.store_at(&scratch.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
}

#[cfg(unix)]
#[test]
fn keys_whose_data_file_has_another_name_are_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let cell = table(&store).cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    drop(store);
    let (data, backup) = (scratch.path.join("keys/data.mdb"), scratch.path.with_file_name("backup"));
    std::fs::hard_link(&data, &backup).unwrap();
    let before = std::fs::read(&data).unwrap();
    let error = scratch.store_at(&scratch.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("keys/data.mdb` has another name too"), "{error}");
    assert_eq!(std::fs::read(&data).unwrap(), before);
    // Without its keys the store can be opened, as ever.
    drop(Store::options().map_size(1 << 26).open(&scratch.path).unwrap());
    std::fs::remove_file(backup).unwrap();
    assert_eq!(scratch.store().encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
}
