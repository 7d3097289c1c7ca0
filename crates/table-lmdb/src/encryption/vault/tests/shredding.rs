//! Keys that are gone for good.

use super::*;

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
    // A partition that comes back gets a new key, and the old values stay gone.
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
fn no_file_of_the_keys_shows_a_partitions_name() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let name = "patients with a rare disease";
    let scope = company.partition_key_scope(name).unwrap();
    let shows = || {
        std::fs::read_dir(scratch.path.join("keys")).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes.windows(name.len()).any(|window| window == name.as_bytes())
        })
    };
    encryption.seal(&company.cell(name, "1", "Ssn").unwrap().scoped(KeyScope::Partition), SSN).unwrap();
    encryption.rotate(&scope).unwrap();
    assert!(!shows());
    assert_eq!(encryption.keys().unwrap().iter().filter(|key| key.scope == scope).count(), 2);
    encryption.shred(&scope).unwrap();
    assert!(!shows());
    // Nor does what is left of them tell whose they were.
    assert_eq!(encryption.keys().unwrap(), []);
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
