//! Service records: of the store and of a table, replaced by what they were.

use std::sync::Arc;
use std::thread;

use table_engine::__executor::{
    Backend, Expected, RECORD_NAME_BYTES, RECORD_VALUE_BYTES, RECORDS, RecordOwner, Records,
};
use table_engine::ErrorKind;

use super::{check_lacks, tables};

/// The owners of the store's records and of those of the table `Company`.
const STORE: RecordOwner<'_> = RecordOwner::Store;
const COMPANY: RecordOwner<'_> = RecordOwner::Table("Company");

/// Returns whether the store keeps service records; else makes sure that it says so.
fn has_records(backend: &Arc<dyn Backend>) -> bool {
    match tables(backend).service_records() {
        Ok(_) => true,
        Err(refused) => {
            check_lacks(&refused, "service records");
            false
        }
    }
}

fn put(records: &Records<'_>, owner: RecordOwner<'_>, name: &str, value: &[u8]) {
    assert!(records.replace(owner, name, Expected::Any, Some(value)).unwrap());
}

pub(crate) fn a_service_record_is_what_was_last_put(backend: &Arc<dyn Backend>) {
    if !has_records(backend) {
        return;
    }
    let tables = tables(backend);
    tables.create_table("Company").unwrap();
    tables.create_table("Archive").unwrap();
    let records = tables.service_records().unwrap();
    for owner in [STORE, COMPANY] {
        assert_eq!(records.get(owner, "acl").unwrap(), None);
        // To remove what is not there is no change, and no refusal.
        assert!(records.replace(owner, "acl", Expected::Any, None).unwrap());
        put(&records, owner, "acl", b"one");
        assert_eq!(records.get(owner, "acl").unwrap().as_deref(), Some(&b"one"[..]));
        put(&records, owner, "acl", b"");
        assert_eq!(records.get(owner, "acl").unwrap().as_deref(), Some(&b""[..]));
        let large: Vec<u8> = (0..=u8::MAX).cycle().take(RECORD_VALUE_BYTES).collect();
        put(&records, owner, "acl", &large);
        assert_eq!(records.get(owner, "acl").unwrap(), Some(large));
        // Names have case, and one that another begins with is another.
        for other in ["ACL", "ac", "acl2"] {
            assert_eq!(records.get(owner, other).unwrap(), None, "{other}");
        }
    }
    // Each owner has its own.
    put(&records, STORE, "acl", b"store");
    put(&records, RecordOwner::Table("company"), "acl", b"company");
    assert_eq!(records.get(STORE, "acl").unwrap().as_deref(), Some(&b"store"[..]));
    assert_eq!(records.get(RecordOwner::Table("COMPANY"), "acl").unwrap().as_deref(), Some(&b"company"[..]));
    assert_eq!(records.get(RecordOwner::Table("Archive"), "acl").unwrap(), None);
    assert!(records.replace(COMPANY, "acl", Expected::Any, None).unwrap());
    assert_eq!(records.get(COMPANY, "acl").unwrap(), None);
    assert_eq!(records.get(STORE, "acl").unwrap().as_deref(), Some(&b"store"[..]));
}

pub(crate) fn a_service_record_is_replaced_by_what_it_was(backend: &Arc<dyn Backend>) {
    if !has_records(backend) {
        return;
    }
    let tables = tables(backend);
    tables.create_table("Company").unwrap();
    let records = tables.service_records().unwrap();
    for owner in [STORE, COMPANY] {
        let replace = |expected: Expected<'_>, value: Option<&[u8]>| {
            (records.replace(owner, "keys", expected, value).unwrap(), records.get(owner, "keys").unwrap())
        };
        assert_eq!(replace(Expected::Value(b"one"), Some(b"two")), (false, None));
        assert_eq!(replace(Expected::Value(b""), Some(b"two")), (false, None));
        assert_eq!(replace(Expected::Absent, Some(b"one")), (true, Some(b"one".to_vec())));
        assert_eq!(replace(Expected::Absent, Some(b"two")), (false, Some(b"one".to_vec())));
        assert_eq!(replace(Expected::Value(b"on"), Some(b"two")), (false, Some(b"one".to_vec())));
        assert_eq!(replace(Expected::Value(b"one"), Some(b"two")), (true, Some(b"two".to_vec())));
        assert_eq!(replace(Expected::Value(b"one"), None), (false, Some(b"two".to_vec())));
        assert_eq!(replace(Expected::Value(b"two"), None), (true, None));
        assert_eq!(replace(Expected::Absent, None), (true, None));
    }
    // Threads that count in one record lose nothing.
    put(&records, STORE, "count", b"0");
    let count = || -> u32 {
        let found = records.get(STORE, "count").unwrap().unwrap();
        std::str::from_utf8(&found).unwrap().parse().unwrap()
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    loop {
                        let found = count();
                        let (was, is) = (found.to_string(), (found + 1).to_string());
                        let expected = Expected::Value(was.as_bytes());
                        if records.replace(STORE, "count", expected, Some(is.as_bytes())).unwrap() {
                            break;
                        }
                    }
                }
            });
        }
    });
    assert_eq!(count(), 40);
}

pub(crate) fn a_service_record_goes_with_its_table(backend: &Arc<dyn Backend>) {
    if !has_records(backend) {
        return;
    }
    let tables = tables(backend);
    let records = tables.service_records().unwrap();
    let missed = |owner: RecordOwner<'_>, kind: ErrorKind| {
        let read = records.get(owner, "acl").unwrap_err();
        let write = records.replace(owner, "acl", Expected::Any, Some(b"x")).unwrap_err();
        for error in [read, write] {
            assert_eq!((error.kind(), error.table_name()), (kind, owner.table()), "{error}");
        }
    };
    missed(COMPANY, ErrorKind::TableNotFound);
    tables.create_table("Company").unwrap();
    put(&records, COMPANY, "acl", b"one");
    put(&records, STORE, "acl", b"store");
    if tables.rename_table("Company", "Firm").is_ok() {
        missed(COMPANY, ErrorKind::TableRenamed);
        let firm = RecordOwner::Table("firm");
        assert_eq!(records.get(firm, "acl").unwrap().as_deref(), Some(&b"one"[..]));
        // A table that gets the former name has nothing of it, and its own records are its own.
        tables.create_table("Company").unwrap();
        assert_eq!(records.get(COMPANY, "acl").unwrap(), None);
        put(&records, COMPANY, "acl", b"two");
        assert_eq!(records.get(firm, "acl").unwrap().as_deref(), Some(&b"one"[..]));
        tables.drop_table("Firm").unwrap();
        missed(firm, ErrorKind::TableNotFound);
        assert_eq!(records.get(COMPANY, "acl").unwrap().as_deref(), Some(&b"two"[..]));
    }
    tables.drop_table("Company").unwrap();
    missed(COMPANY, ErrorKind::TableNotFound);
    tables.create_table("Company").unwrap();
    assert_eq!(records.get(COMPANY, "acl").unwrap(), None);
    assert!(records.replace(COMPANY, "acl", Expected::Absent, Some(b"three")).unwrap());
    assert_eq!(records.get(STORE, "acl").unwrap().as_deref(), Some(&b"store"[..]));
}

/// Of a store that has queues, too.
pub(crate) fn a_service_record_goes_with_its_queue(backend: &Arc<dyn Backend>) {
    let orders = RecordOwner::Queue("orders");
    if !has_records(backend) || !backend.abilities().queues {
        return;
    }
    let (tables, queues) = (tables(backend), backend.queues().unwrap());
    let records = tables.service_records().unwrap();
    let missed = || {
        let read = records.get(orders, "acl").unwrap_err();
        let write = records.replace(orders, "acl", Expected::Any, Some(b"x")).unwrap_err();
        for error in [read, write] {
            assert_eq!(error.kind(), ErrorKind::QueueNotFound, "{error}");
            assert_eq!(error.queue_name(), Some("orders"));
        }
    };
    missed();
    queues.open("mails").unwrap();
    missed();
    queues.open("orders").unwrap();
    assert_eq!(records.get(orders, "acl").unwrap(), None);
    assert!(records.replace(orders, "acl", Expected::Any, None).unwrap());
    assert!(!records.replace(orders, "acl", Expected::Value(b"x"), Some(b"y")).unwrap());
    assert!(records.replace(orders, "acl", Expected::Absent, Some(b"one")).unwrap());
    assert!(!records.replace(orders, "acl", Expected::Absent, Some(b"two")).unwrap());
    assert!(records.replace(orders, "acl", Expected::Value(b"one"), Some(b"two")).unwrap());
    assert_eq!(records.get(orders, "acl").unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(records.get(orders, "ac").unwrap(), None);
    assert_eq!(records.get(RecordOwner::Queue("mails"), "acl").unwrap(), None);
    for at in 1..RECORDS {
        put(&records, orders, &format!("name-{at}"), b"");
    }
    let error = records.replace(orders, "more", Expected::Any, Some(b"x")).unwrap_err();
    check_lacks(&error, "16 service records");
    assert!(records.replace(orders, "name-1", Expected::Value(b""), None).unwrap());
    put(&records, orders, "more", b"x");
    queues.drop_queue("orders").unwrap();
    missed();
    // Another of the name has none of it.
    queues.open("orders").unwrap();
    assert_eq!(records.get(orders, "acl").unwrap(), None);
}

pub(crate) fn what_is_no_service_record_is_refused(backend: &Arc<dyn Backend>) {
    if !has_records(backend) {
        return;
    }
    let tables = tables(backend);
    tables.create_table("Company").unwrap();
    let records = tables.service_records().unwrap();
    let long = "n".repeat(RECORD_NAME_BYTES + 1);
    for owner in [STORE, COMPANY] {
        for (name, kind) in [
            ("", ErrorKind::InvalidKey),
            ("a/b", ErrorKind::InvalidKey),
            ("\u{e9}", ErrorKind::InvalidKey),
            (&*long, ErrorKind::KeyTooLong),
        ] {
            assert_eq!(records.get(owner, name).unwrap_err().kind(), kind, "{name:?}");
            let error = records.replace(owner, name, Expected::Any, None).unwrap_err();
            assert_eq!((error.kind(), error.table_name()), (kind, owner.table()), "{error}");
        }
        let large = vec![b'x'; RECORD_VALUE_BYTES + 1];
        let error = records.replace(owner, "acl", Expected::Any, Some(&large)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PropertyValueTooLarge, "{error}");
        assert_eq!(records.get(owner, "acl").unwrap(), None);

        // As many as an owner may have, and no more; one that is there may change all the same.
        let longest = "n".repeat(RECORD_NAME_BYTES);
        let names: Vec<_> = (1..RECORDS).map(|at| format!("name-{at}")).chain([longest]).collect();
        for name in &names {
            put(&records, owner, name, name.as_bytes());
        }
        let error = records.replace(owner, "more", Expected::Any, Some(b"x")).unwrap_err();
        check_lacks(&error, "16 service records");
        put(&records, owner, "name-1", b"other");
        assert!(records.replace(owner, "name-1", Expected::Any, None).unwrap());
        put(&records, owner, "more", b"x");
        for name in &names[1..] {
            assert_eq!(records.get(owner, name).unwrap().as_deref(), Some(name.as_bytes()));
        }
    }
    let error = records.get(RecordOwner::Table("no name"), "acl").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidTableName | ErrorKind::TableNotFound), "{error}");
}
