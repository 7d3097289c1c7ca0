//! Bits that flip in the entries of what is to follow: all of it is propagated, or there is an error; none is missing
//! without one.

use table_derive::Entity;
use table_engine::Propagate;
use table_engine::error::ErrorKind;
use table_engine::model::EntityKeys;
use table_engine::outbox::keys;
use table_engine::typed::Propagation;

use super::*;
use crate::open::walk_bytes;
use crate::records::features::Feature;
use crate::records::meta::{self, Meta};
use crate::tests_scratch::in_memory;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{department}_{id:06}", copy = keys, eventual)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

const EMPLOYEES: u32 = 40;

fn options() -> crate::OpenOptions {
    Store::options().durability(crate::Durability::Relaxed).map_size(1 << 26).propagate(Propagate::Manual)
}

/// Employees of whom most are to be propagated: new ones, changed ones and one that is gone.
fn built() -> (tempfile::TempDir, Store) {
    let dir = in_memory();
    let store = options().open(dir.path().join("store")).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let employee = |id| Employee { department: "Sales".into(), id, name: format!("n{}", id % 3) };
    (0..EMPLOYEES / 2).for_each(|id| _ = staff.insert(&employee(id)).unwrap());
    store.propagate().unwrap();
    for id in 0..EMPLOYEES / 4 {
        staff.update(Employee::key("Sales", id), |e| e.name = "changed".into()).unwrap();
    }
    staff.delete(Employee::key("Sales", EMPLOYEES / 4)).unwrap();
    (EMPLOYEES / 2..EMPLOYEES).for_each(|id| _ = staff.insert(&employee(id)).unwrap());
    (dir, store)
}

/// Propagates, and looks at what that makes. The kind of the error, if there was one.
fn propagate(store: &Store) -> Option<ErrorKind> {
    let staff = match store.table::<Employee>() {
        Ok(staff) => staff,
        Err(error) => return Some(error.kind()),
    };
    match store.propagate() {
        Ok(propagated) => {
            assert_eq!(propagated, Propagation::Complete);
            assert_eq!(staff.by_name().across_partitions().count().unwrap(), u64::from(EMPLOYEES) - 1);
            assert_eq!(staff.by_name().name("changed").count().unwrap(), u64::from(EMPLOYEES) / 4);
            assert!(staff.check().unwrap().is_sound());
            None
        }
        Err(error) => Some(error.kind()),
    }
}

/// Returns every record of the database.
fn records(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let environment = &store.shared().environment;
    let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
    let txn = environment.read_txn().unwrap();
    let owned = |(key, record): (&[u8], &[u8])| (key.to_vec(), record.to_vec());
    db.iter(&txn).unwrap().map(|pair| pair.map(owned).unwrap()).collect()
}

/// Puts other bytes under a key, as damage would, or none.
fn put(store: &Store, key: &[u8], record: Option<&[u8]>) {
    let environment = &store.shared().environment;
    let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
    let mut txn = environment.write_txn().unwrap();
    let mut meta = Meta::begin(environment.dbs.main, &txn).unwrap();
    match record {
        Some(record) => db.put(&mut txn, key, record).unwrap(),
        None => drop(db.delete(&mut txn, key).unwrap()),
    }
    meta.write(environment.dbs.main, &mut txn).unwrap();
    environment.commit(txn).unwrap();
}

#[test]
fn what_is_sound_is_propagated() {
    let (_dir, store) = built();
    assert_eq!(store.check().unwrap().pending_propagation, u64::from(EMPLOYEES / 2 + EMPLOYEES / 4 + 1));
    assert_sound(&store);
    assert_eq!(propagate(&store), None);
    assert_sound(&store);
}

#[test]
fn a_flipped_bit_or_a_missing_record_is_told_by_who_propagates_and_by_the_check() {
    let (_dir, store) = built();
    let is_ours = |key: &[u8]| key == keys::COUNTERS || keys::of_entry(key).is_some();
    let ours: Vec<_> = records(&store).into_iter().filter(|(key, _)| is_ours(key)).collect();
    assert!(ours.len() > 20);
    drop(store);
    for (number, (key, record)) in ours.iter().enumerate() {
        for how in 0..3 {
            // One of many like it is enough.
            if *key != keys::COUNTERS && number % 5 != how {
                continue;
            }
            let (_dir, store) = built();
            let (mut key, mut record) = (key.clone(), record.clone());
            match how {
                0 => put(&store, &key, None),
                1 => {
                    let at = number % record.len();
                    record[at] ^= 1 << (number % 8);
                    put(&store, &key, Some(&record));
                }
                _ => {
                    // A bit of the key: it stands elsewhere.
                    put(&store, &key, None);
                    let at = key.len() - 1 - number % key.len().min(8);
                    key[at] ^= 1 << (number % 8);
                    put(&store, &key, Some(&record));
                }
            }
            let problems = store.check().map_or(1, |report| report.problems.len());
            assert_ne!(problems, 0, "{how}: {}", key.escape_ascii());
            assert_eq!(propagate(&store), Some(ErrorKind::Corrupt), "{how}: {}", key.escape_ascii());
        }
    }
}

/// A change of an entity whose entry is damaged is refused, and not taken for the first.
#[test]
fn an_entry_that_is_damaged_is_not_taken_for_one_that_is_not_there() {
    let (_dir, store) = built();
    let (key, mut record) =
        records(&store).into_iter().find(|(key, _)| keys::of_entry(key).is_some()).unwrap();
    record[3] ^= 4;
    put(&store, &key, Some(&record));
    let staff = store.table::<Employee>().unwrap();
    let change = |id| staff.update(Employee::key("Sales", id), |e| e.name = "again".into());
    assert_eq!(change(0).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(staff.get(Employee::key("Sales", 0)).unwrap().unwrap().name, "changed");
    change(1).unwrap();
    let lost = keys::COUNTERS;
    put(&store, &lost, None);
    assert_eq!(change(2).unwrap_err().kind(), ErrorKind::Corrupt);
}

/// What pages prove: an entry that damage has put out of order, or hidden, is no entry that is not there.
#[test]
fn a_bit_that_flips_in_the_file_hides_no_entry() {
    let (dir, store) = built();
    let path = dir.path().join("store");
    let environment = &store.shared().environment;
    let pages = environment.dbs.pages;
    let places: std::collections::BTreeSet<u64> = {
        let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
        let txn = environment.read_txn().unwrap();
        let keys = db.iter(&txn).unwrap().map(|pair| pages.number(pair.unwrap().0).unwrap());
        keys.collect()
    };
    let size = pages.size();
    drop(store);
    let file = std::fs::read(path.join("data.mdb")).unwrap();
    let (mut flips, mut met) = (0, 0);
    for page in places {
        let from = usize::try_from(page).unwrap() * size;
        // LMDB goes by what a page's header and offsets say: those are other tests'.
        let lower = usize::from(u16::from_le_bytes([file[from + 12], file[from + 13]]));
        let upper = usize::from(u16::from_le_bytes([file[from + 14], file[from + 15]]));
        for at in (from + upper.max(lower)..from + size).step_by(37) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let copy = in_memory();
            std::fs::write(copy.path().join("data.mdb"), &damaged).unwrap();
            flips += 1;
            // A node's own fields are seen by a look at the pages.
            if walk_bytes(&damaged).is_none() {
                continue;
            }
            let Ok(store) = options().open(copy.path()) else { continue };
            let error = propagate(&store);
            assert!(error.is_none_or(|kind| kind == ErrorKind::Corrupt), "{at}: {error:?}");
            met += usize::from(error.is_some());
        }
    }
    println!("{flips} flips, {met} met");
    assert!(flips > 50 && met * 3 > flips, "{met} of {flips}");
}

/// The first entry sets the feature, which writers must know; what has none has neither.
#[test]
fn the_first_entry_sets_the_feature_in_its_transaction() {
    let dir = in_memory();
    let store = options().open(dir.path().join("store")).unwrap();
    let has = |store: &Store| {
        let environment = &store.shared().environment;
        let txn = environment.read_txn().unwrap();
        Meta::read(environment.dbs.main, &txn).unwrap().features.has(Feature::Pending)
    };
    let staff = store.table::<Employee>().unwrap();
    assert!(!has(&store));
    assert_eq!(staff.delete(Employee::key("Sales", 1)).unwrap_err().kind(), ErrorKind::EntityNotFound);
    assert!(!has(&store));
    staff.insert(&Employee { department: "Sales".into(), id: 1, name: "n".into() }).unwrap();
    assert!(has(&store));
    let key = keys::entry(&table_engine::row::key::stored(1, "Sales", "empid_000001"));
    let records = records(&store);
    let of = |key: &[u8]| records.iter().find(|(known, _)| known == key).map(|(_, record)| record.clone());
    let entry = of(&key).unwrap();
    let body = meta::opened(&key, &entry).unwrap();
    // What the page on the format says, without the times.
    assert_eq!(&body[16..], b"\0\0\0\0\0\0\0\0\0\0\0\0\0\x08\0employee\0\0\0\0\0\0\0\0\0\0");
    let counters = of(&keys::COUNTERS).unwrap();
    let expected = [1_u64.to_le_bytes(), meta::checksum_of(&entry).to_le_bytes()].concat();
    assert_eq!(meta::opened(&keys::COUNTERS, &counters).unwrap(), expected);
}

#[test]
fn nothing_follows_at_a_moment_before_the_first_queue() {
    let dir = in_memory();
    let store = Store::open(dir.path()).unwrap();
    let table = store.create_table("Table").unwrap();
    let before = store.snapshot().unwrap();
    queues(&store).open("queue").unwrap();
    let after = store.snapshot().unwrap();
    for snapshot in [before, after] {
        assert!(!snapshot.follows(&table, EntityKeys::new("p", "r")).unwrap());
    }
}
