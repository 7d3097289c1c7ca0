//! The key that vouches for what lies in the clear.

use super::damage::{Damaged, body, resealed};
use super::*;
use crate::encryption::vault::record::{AUTHORITY, MacKeyRecord};

fn digest(store: &Store) -> [u8; 32] {
    store.encryption().unwrap().authenticator().unwrap().digest("test", &[b"one", b"two"])
}

#[test]
fn the_authority_is_the_same_whatever_becomes_of_the_keys() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, expected) = (table(&store), digest(&store));
    let encryption = store.encryption().unwrap();
    let peer = scratch.peer(&store);
    encryption.seal(&company.cell("Sales", "1", "Ssn").unwrap(), SSN).unwrap();
    encryption.rotate_all().unwrap();
    encryption.destroy_unused().unwrap();
    encryption.rewrap().unwrap();
    encryption.shred(&Scope::store()).unwrap();
    encryption.shred(&company.key_scope()).unwrap();
    scratch.provider.rotate().unwrap();
    peer.rewrap().unwrap();
    for one in [&peer, &scratch.peer(&store)] {
        assert_eq!(one.authenticator().unwrap().digest::<32>("test", &[b"one", b"two"]), expected);
    }
    let copy = scratch.path.with_file_name("copy");
    store.copy_to(&copy).unwrap();
    assert_eq!(digest(&scratch.store_at(&copy).unwrap()), expected);
    drop((company, peer, store));
    assert_eq!(digest(&scratch.store()), expected);
    // Every store has its own.
    assert_ne!(digest(&Scratch::new().store()), expected);
}

#[test]
fn keys_whose_authority_is_damaged_gone_or_anothers_are_refused() {
    let damaged = Damaged::new();
    let (keys, scratch) = (damaged.keys(), &damaged.scratch);
    let put = |record: Option<&[u8]>| damaged.put(AUTHORITY, record);
    let read =
        |keys: &Encryption| keys.vault.mac_key_record(&keys.vault.read_txn().unwrap()).unwrap().to_vec();
    let other_store = Scratch::new();
    let other = read(other_store.store().encryption().unwrap());
    let record = read(keys);
    MacKeyRecord::decode(&record).unwrap();
    let identity = keys.vault.identity;
    let open = || Encryption::open_keys(&scratch.path, false, identity, scratch.provider.clone());
    let mut flipped = record.clone();
    flipped[40] ^= 1;
    for (bad, expected) in [
        (Some(&flipped[..]), ErrorKind::Corrupt),
        (Some(&resealed(AUTHORITY, &body(&record)[..31])), ErrorKind::Corrupt),
        (Some(&resealed(AUTHORITY, body(&flipped))), ErrorKind::DecryptionFailed),
        (Some(&other), ErrorKind::DecryptionFailed),
        (None, ErrorKind::Corrupt),
    ] {
        put(bad);
        assert_eq!(kind(open()), expected);
        // Nor is it lost by a renewal.
        assert_eq!(kind(keys.rewrap()), expected);
        assert_eq!(scratch.roots(), 1);
        put(Some(&record));
    }
    open().unwrap();
    keys.rewrap().unwrap();
}
