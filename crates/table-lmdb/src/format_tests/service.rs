//! Service records.

use table_engine::error::ErrorKind;
use table_engine::executor::service_records::{Expected, RecordOwner};

use super::hex;
use crate::Store;
use crate::records::features::Feature;
use crate::records::meta::{self, Meta};
use crate::records::record_digest::{self, RecordDigest, SetDigest};
use crate::records::service;
use crate::tests_scratch::in_memory;

const STORE: RecordOwner<'_> = RecordOwner::Store;

/// A store with a record of its own and one of its table.
fn store() -> (tempfile::TempDir, Store) {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    store.create_table("Company").unwrap();
    let records = store.service_records().unwrap();
    assert!(records.replace(RecordOwner::Table("Company"), "acl", Expected::Absent, Some(b"")).unwrap());
    assert!(records.replace(STORE, "keys", Expected::Absent, Some(b"one")).unwrap());
    (dir, store)
}

#[test]
fn service_records_are_these_bytes() {
    let (_dir, store) = store();
    let dbs = store.shared().environment.dbs;
    let txn = store.shared().environment.read_txn().unwrap();
    for (db, key, record) in [
        (dbs.names, "00000000 08 6b657973", "6f6e65 862231a6ca4b3c5e"),
        (dbs.names, "00000001 08 61636c", "b5383146ea968798"),
        (
            dbs.main,
            "00742300000000",
            "00000000 00000000 00000000 00000000 0000000000000000 0000000000000000 00000000 0000000000000000 00000000 \
             0000000000000000 01000000 862231a6ca4b3c5e d7b92952bcc4fd07",
        ),
    ] {
        assert_eq!(db.get(&txn, &hex(key)).unwrap(), Some(&hex(record)[..]), "{key}");
    }
    assert_eq!(dbs.names.len(&txn).unwrap(), 2);
    let meta = Meta::read(dbs.main, &txn).unwrap();
    assert_eq!(meta.features.reader, 64);
    assert!(meta.features.has(Feature::ServiceRecords));
    let digest = RecordDigest::read(dbs.main, &txn, 1).unwrap();
    assert_eq!(digest.service, SetDigest { count: 1, digest: 0x9887_96ea_4631_38b5 });
}

#[test]
fn a_digest_of_service_records_that_are_none_is_left_out() {
    let (_dir, store) = store();
    let dbs = store.shared().environment.dbs;
    let records = store.service_records().unwrap();
    assert!(records.replace(STORE, "keys", Expected::Any, None).unwrap());
    let mut txn = store.shared().environment.write_txn().unwrap();
    let key = record_digest::key(service::STORE);
    assert_eq!(dbs.main.get(&txn, &key).unwrap().map(<[u8]>::len), Some(32 + 8));
    // A longer one says nothing more, so no writer has made it.
    for length in [44, 56, 68, 80] {
        let mut record = vec![0; length + 8];
        meta::seal(&key, &mut record);
        dbs.main.put(&mut txn, &key, &record).unwrap();
        let read = RecordDigest::read(dbs.main, &txn, service::STORE);
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Corrupt, "{length}");
    }
    txn.abort();
}

#[test]
fn damage_is_found_and_no_record_is_missed_for_it() {
    let (_dir, store) = store();
    let (environment, dbs) = (&store.shared().environment, store.shared().environment.dbs);
    let txn = environment.read_txn().unwrap();
    let meta = Meta::read(dbs.main, &txn).unwrap();
    drop(txn);
    let of = |name| crate::records::sort::RecordName { table: service::STORE, name };
    let key = hex("00000000 08 6b657973");
    let read = |txn: &heed::RwTxn<'_>| {
        // One that is there, and one that is to be missed.
        let found = service::get(&dbs, txn, &meta, of("keys")).map_err(|e| e.kind())?;
        assert_eq!(found.as_deref(), Some(&b"one"[..]));
        service::get(&dbs, txn, &meta, of("other")).map(drop).map_err(|e| e.kind())
    };
    let mut txn = environment.env.write_txn().unwrap();
    let record = dbs.names.get(&txn, &key).unwrap().unwrap().to_vec();
    assert_eq!(read(&txn), Ok(()));
    for bit in 0..record.len() * 8 {
        let mut flipped = record.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        dbs.names.put(&mut txn, &key, &flipped).unwrap();
        assert_eq!(read(&txn), Err(ErrorKind::Corrupt), "bit {bit}");
    }
    // A former value whose checksum fits, a record under another name, and none.
    dbs.names.put(&mut txn, &key, &meta::sealed(&key, b"two".to_vec())).unwrap();
    assert_eq!(read(&txn), Err(ErrorKind::Corrupt));
    dbs.names.delete(&mut txn, &key).unwrap();
    assert_eq!(read(&txn), Err(ErrorKind::Corrupt));
    let other = hex("00000000 08 6b657974");
    dbs.names.put(&mut txn, &other, &meta::sealed(&other, b"one".to_vec())).unwrap();
    assert_eq!(read(&txn), Err(ErrorKind::Corrupt));
    txn.abort();
}

#[test]
fn a_check_tells_of_records_that_are_not_counted() {
    for (table, problem) in [(0, "service records"), (1, "service records"), (9, "table number 9")] {
        let (_dir, store) = store();
        let (environment, dbs) = (&store.shared().environment, store.shared().environment.dbs);
        assert!(store.check().unwrap().problems.is_empty());
        let mut txn = environment.write_txn().unwrap();
        let mut meta = Meta::begin(dbs.main, &txn).unwrap();
        let key = crate::records::names::entry_key(table, 8, b"more");
        dbs.names.put(&mut txn, &key, &meta::sealed(&key, b"x".to_vec())).unwrap();
        meta.write(dbs.main, &mut txn).unwrap();
        txn.commit().unwrap();
        let problems = store.check().unwrap().problems;
        assert!(problems.iter().any(|found| found.to_string().contains(problem)), "{problems:#?}");
    }
}

#[test]
fn a_library_that_does_not_know_them_refuses_the_store() {
    // Another bit of the word stands for what a former library sees in this one.
    let (_dir, store) = store();
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    let mut meta = Meta::read(environment.dbs.main, &txn).unwrap();
    meta.features.reader <<= 2;
    let error = Meta::decode(&meta.encode()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("(0x100)"), "{error}");
}
