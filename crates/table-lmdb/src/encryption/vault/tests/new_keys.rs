//! Between the keys and the note that the store has some: what a crash leaves there, and what is made to look like it.

use table_engine::{DynamicEntity, ErrorKind};

use super::*;
use crate::open::OpenOptions;
use crate::records::meta::Meta;

/// Makes the keys say that they are new, or that they are not.
fn say_new(store: &Store, is_new: bool) {
    let vault = &store.encryption().unwrap().vault;
    let mut change = vault.change().unwrap();
    change.meta.is_new = is_new;
    change.commit().unwrap();
}

/// Takes the note away, and what is vouched for with it.
fn forget(store: &Store) {
    edit(store, |meta| (meta.features.ignorable, meta.authenticated) = (0, [0; 16]));
}

fn edit(store: &Store, change: impl FnOnce(&mut Meta)) {
    let environment = &store.shared().environment;
    let mut txn = environment.write_txn().unwrap();
    let mut meta = Meta::begin(environment.dbs.main, &txn).unwrap();
    change(&mut meta);
    meta.write(environment.dbs.main, &mut txn).unwrap();
    environment.commit(txn).unwrap();
}

fn meta(store: &Store) -> Meta {
    let environment = &store.shared().environment;
    Meta::read(environment.dbs.main, &environment.read_txn().unwrap()).unwrap()
}

fn digest(store: &Store) -> [u8; 16] {
    store.encryption().unwrap().authenticator().unwrap().digest("a test", &[])
}

fn options(scratch: &Scratch) -> OpenOptions {
    Store::options().map_size(1 << 26).encryption(scratch.provider.clone())
}

/// The kind of the error, and that nothing is refused that an opening has left behind.
fn refused(scratch: &Scratch, options: &OpenOptions) -> ErrorKind {
    let first = kind(options.open(&scratch.path));
    assert_eq!(kind(options.open(&scratch.path)), first, "the second opening");
    first
}

#[test]
fn keys_are_new_until_the_data_say_that_there_are_any() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(store.encryption().unwrap().vault.new_root().unwrap(), None);
    assert_eq!(store.encryption().unwrap().vault.new_under(), scratch.made());
    assert!(meta(&store).features.ignorable & 1 == 1 && meta(&store).authenticated != [0; 16]);
}

impl Scratch {
    /// The number of the root key, as its file is called.
    fn made(&self) -> Option<u64> {
        let files = std::fs::read_dir(self.path.join("keys")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let numbers: Vec<_> =
            names.filter_map(|name| name.strip_prefix("root-").map(str::to_owned)).collect();
        assert_eq!(numbers.len(), 1, "{numbers:?}");
        u64::from_str_radix(&numbers[0], 16).ok()
    }
}

#[test]
fn a_crash_before_the_note_has_the_keys_made_anew() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let former = (scratch.made(), digest(&store));
    say_new(&store, true);
    forget(&store);
    drop(store);
    assert_eq!(refused(&scratch, &options(&scratch).read_only(true)), ErrorKind::KeyUnavailable);
    let store = scratch.store();
    assert_ne!(scratch.made(), former.0);
    assert_ne!(digest(&store), former.1, "another authority");
    assert_eq!(store.encryption().unwrap().vault.new_root().unwrap(), None);
    assert!(meta(&store).features.ignorable & 1 == 1);
    let cell_of = table(&store);
    let cell = cell_of.cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    drop((store, cell_of));
    let store = scratch.store();
    let cell_of = table(&store);
    let cell = cell_of.cell("Sales", "1", "Ssn").unwrap();
    assert_eq!(store.encryption().unwrap().open(&cell, &sealed).unwrap().as_value_ref(), SSN);
}

#[test]
fn a_crash_after_the_note_leaves_the_keys_as_they_are() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let former = (scratch.made(), digest(&store));
    say_new(&store, true);
    drop(store);
    // A reader has nothing to finish.
    let store = options(&scratch).read_only(true).open(&scratch.path).unwrap();
    assert_eq!(digest(&store), former.1);
    drop(store);
    let store = scratch.store();
    assert_eq!((scratch.made(), digest(&store)), former);
    assert_eq!(store.encryption().unwrap().vault.new_root().unwrap(), None);
}

#[test]
fn a_note_that_was_taken_away_beside_keys_in_use_is_missed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    forget(&store);
    // Also while the store is open.
    let problems = store.check().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.what.contains("are in use")), "{problems:?}");
    // Nor can copies be made that could not be opened.
    let copy = scratch.path.with_file_name("copy");
    assert_eq!(kind(store.copy_to(&copy)), ErrorKind::NotGenuine);
    assert!(!copy.exists());
    drop(store);
    let options = options(&scratch);
    for options in [options.clone(), options.clone().read_only(true), options.new_keys(true)] {
        assert_eq!(refused(&scratch, &options), ErrorKind::NotGenuine);
    }
    let plain = Store::options().map_size(1 << 26).open(&scratch.path).unwrap();
    let problems = plain.check().unwrap().problems;
    assert!(problems.iter().any(|problem| problem.what.contains("are in use")), "{problems:?}");
}

#[test]
fn keys_in_use_that_are_made_to_say_that_they_are_new_vouch_for_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let encryption = store.encryption().unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let former = digest(&store);
    say_new(&store, true);
    forget(&store);
    drop((store, company));
    let error = scratch.store_at(&scratch.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotGenuine);
    assert!(error.to_string().contains("have been in use"), "{error}");
    // With all of their records gone they are gone.
    let keys =
        Encryption::open_keys(&scratch.path, false, identity(&scratch), scratch.provider.clone()).unwrap();
    let mut change = keys.vault.change().unwrap();
    let all = keys.vault.side.db.iter(change.txn()).unwrap().map(|pair| pair.unwrap().0.to_vec());
    let records: Vec<_> = all.filter(|key| [b'k', b's', b'j'].contains(&key[0])).collect();
    for key in &records {
        change.delete(key).unwrap();
    }
    change.commit().unwrap();
    drop(keys);
    let store = scratch.store();
    assert_ne!(digest(&store), former);
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    assert_eq!(kind(store.encryption().unwrap().open(&cell, &sealed)), ErrorKind::KeyUnavailable);
}

fn identity(scratch: &Scratch) -> [u8; 16] {
    meta(&Store::options().map_size(1 << 26).open(&scratch.path).unwrap()).identity
}

#[test]
fn new_keys_beside_what_others_vouch_for_take_a_word_of_who_opens() {
    let scratch = Scratch::new();
    drop(scratch.store());
    // As if the process had died that made new keys for lost ones.
    let store = scratch.store();
    edit(&store, |meta| meta.authenticated[0] ^= 1);
    say_new(&store, true);
    drop(store);
    assert_eq!(refused(&scratch, &options(&scratch)), ErrorKind::KeyUnavailable);
    let store = options(&scratch).new_keys(true).open(&scratch.path).unwrap();
    table(&store).insert(&DynamicEntity::new("Sales", "1")).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    drop(store);
    drop(scratch.store());
}

#[test]
fn keys_are_not_made_beside_a_digest_whose_note_was_taken_away() {
    let scratch = Scratch::new();
    let store = scratch.store();
    edit(&store, |meta| meta.features.ignorable = 0);
    drop(store);
    std::fs::remove_dir_all(scratch.path.join("keys")).unwrap();
    assert_eq!(refused(&scratch, &options(&scratch)), ErrorKind::KeyUnavailable);
    assert!(!scratch.path.join("keys").exists());
}
