//! What a server keeps with a store and its tables: durable, in step between processes, and gone with its table.

use std::collections::BTreeSet;
use std::sync::Arc;

use integration_tests::child::Child;
use integration_tests::forge::Forge;
use integration_tests::{Scratch, assert_sound, reader, relaxed};
use table_core::__executor::{Expected, RECORD_VALUE_BYTES, RecordOwner};
use table_core::asynchronous::block_on;
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, ErrorKind, Store, Tables};

const STORE: RecordOwner<'_> = RecordOwner::Store;
const COMPANY: RecordOwner<'_> = RecordOwner::Table("Company");

fn put(tables: &Tables, owner: RecordOwner<'_>, value: &[u8]) {
    let records = tables.service_records().unwrap();
    assert!(records.replace(owner, "keys", Expected::Any, Some(value)).unwrap());
}

fn get(tables: &Tables, owner: RecordOwner<'_>) -> Option<Vec<u8>> {
    tables.service_records().unwrap().get(owner, "keys").unwrap()
}

#[test]
fn records_outlive_the_process_and_go_along_in_a_copy_and_a_compacted_store() {
    let scratch = Scratch::new();
    let [path, copy] = ["store", "copy"].map(|name| scratch.path().join(name));
    let large = vec![7; RECORD_VALUE_BYTES];
    let store = Store::open(&path).unwrap();
    let company = store.create_table("Company").unwrap();
    company.insert(&DynamicEntity::new("Sales", "1").with("Name", "Jones")).unwrap();
    put(&store, STORE, &large);
    put(&store, COMPANY, b"company");
    assert_sound(&store);
    store.copy_to(&copy).unwrap();
    drop(company);
    let store = store.compact().unwrap();
    assert_eq!(get(&store, COMPANY).as_deref(), Some(&b"company"[..]));
    drop(store);
    for path in [&path, &copy] {
        let store = Store::options().verify_first(true).open(path).unwrap();
        assert_eq!(get(&store, STORE).as_deref(), Some(&large[..]));
        assert_eq!(get(&store, COMPANY).as_deref(), Some(&b"company"[..]));
        assert_sound(&store);
        assert_eq!(store.stats().unwrap().tables.len(), 1);
    }
}

#[test]
fn a_dropped_table_leaves_nothing_of_its_records() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    for round in 0..3_u8 {
        store.create_table("Company").unwrap();
        assert_eq!(get(&store, COMPANY), None);
        put(&store, COMPANY, &[round; 20_000]);
        if round == 1 {
            store.rename_table("Company", "Firm").unwrap();
            assert_eq!(get(&store, RecordOwner::Table("FIRM")), Some(vec![round; 20_000]));
            store.create_table("Company").unwrap();
            assert_eq!(get(&store, COMPANY), None);
            store.drop_table("Firm").unwrap();
        }
        store.drop_table("Company").unwrap();
    }
    put(&store, STORE, b"store");
    assert!(store.service_records().unwrap().replace(STORE, "keys", Expected::Any, None).unwrap());
    store.reclaim().unwrap();
    assert_sound(&store);
    drop(store);
    let forge = Forge::open(&path);
    let image = forge.image();
    forge.close();
    assert_eq!(image.names.len(), 0);
}

#[test]
fn a_reader_that_knows_the_format_alone_finds_them() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    for table in ["Company", "Archive"] {
        let table = store.create_table(table).unwrap();
        table.insert(&DynamicEntity::new("p", "r").with("EntityType", "row").with("N", 1)).unwrap();
    }
    let read = || {
        let forge = Forge::open(&path);
        let image = forge.image();
        forge.close();
        reader::read(&image).unwrap()
    };
    drop(store);
    assert_eq!(read().readers & 64, 0);
    let store = relaxed().open(&path).unwrap();
    put(&store, COMPANY, b"\0\xff");
    put(&store, STORE, b"");
    drop(store);
    let contents = read();
    assert_eq!(contents.readers & 64, 64);
    assert_eq!(contents.service, [("keys".to_owned(), vec![])].into());
    assert_eq!(contents.tables["Company"].service, [("keys".to_owned(), vec![0, 0xff])].into());
    assert!(contents.tables["Archive"].service.is_empty());
    assert_eq!(contents.tables["Company"].rows.len(), 1);
}

#[test]
fn records_of_queues_are_read_by_the_format_and_leave_with_their_queue() {
    let scratch = Scratch::new();
    let [path, copy] = ["store", "copy"].map(|name| scratch.path().join(name));
    let hires = RecordOwner::Queue("hires");
    let store = relaxed().open(&path).unwrap();
    let read = |path: &std::path::Path| {
        let forge = Forge::open(path);
        let image = forge.image();
        forge.close();
        reader::read(&image).unwrap()
    };
    for name in ["hires", "moves"] {
        store.queue::<u32>(name).unwrap().send(&1).unwrap();
    }
    drop(store);
    assert_eq!(read(&path).readers & 128, 0);
    let store = relaxed().open(&path).unwrap();
    let large = vec![7; RECORD_VALUE_BYTES];
    put(&store, hires, &large);
    block_on(async {
        let records = store.to_async().service_records();
        assert!(records.replace(hires, "acl", Expected::Absent, Some(b"")).await.unwrap());
        assert_eq!(records.get(hires, "acl").await.unwrap(), Some(Vec::new()));
        let stale = records.replace(hires, "acl", Expected::Absent, Some(b"x")).await;
        assert!(!stale.unwrap());
    });
    assert_sound(&store);
    store.copy_to(&copy).unwrap();
    drop(store);
    for path in [&path, &copy] {
        let contents = read(path);
        assert_eq!(contents.readers & 128, 128);
        let expected = [("acl".to_owned(), vec![]), ("keys".to_owned(), large.clone())].into();
        assert_eq!(contents.queues["hires"].service, expected);
        assert_eq!(contents.queues["hires"].messages.len(), 1);
        assert!(contents.queues["moves"].service.is_empty());
    }
    let store = relaxed().open(&path).unwrap();
    store.drop_queue("hires").unwrap();
    store.reclaim().unwrap();
    assert_sound(&store);
    drop(store);
    let forge = Forge::open(&path);
    let image = forge.image();
    forge.close();
    assert!(image.queues.unwrap().iter().all(|(key, _)| key[0] != 9));
}

#[test]
fn a_store_that_is_read_only_shows_them_and_takes_none() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = Store::open(&path).unwrap();
    put(&store, STORE, b"one");
    drop(store);
    let store = Store::options().read_only(true).open(&path).unwrap();
    assert_eq!(get(&store, STORE).as_deref(), Some(&b"one"[..]));
    let records = store.service_records().unwrap();
    for (expected, value) in [
        (Expected::Any, Some(&b"two"[..])),
        (Expected::Value(b"one"), Some(b"two")),
        (Expected::Value(b"other"), Some(b"two")),
        (Expected::Absent, None),
    ] {
        let error = records.replace(STORE, "keys", expected, value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
        assert!(error.to_string().starts_with("cannot write a service record"), "{error}");
    }
    assert_eq!(get(&store, STORE).as_deref(), Some(&b"one"[..]));
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "pay")]
#[key(partition = "{department}", row = "pay_{id:06}")]
struct Pay {
    department: String,
    id: u32,
    #[encrypt]
    salary: i64,
}

#[test]
fn records_stay_beside_sealed_rows_of_an_authenticated_table() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let options = Store::options().encryption(keys);
    let store = options.open(&path).unwrap();
    let pay = Pay { department: "Sales".into(), id: 1, salary: 40_000 };
    store.table::<Pay>().unwrap().insert(&pay).unwrap();
    put(&store, COMPANY, b"policy");
    put(&store, STORE, b"keys");
    store.rename_table("Company", "Firm").unwrap();
    store.encryption().unwrap().rotate_all().unwrap();
    assert_sound(&store);
    drop(store);
    // What is kept is not sealed: a process without the keys reads it.
    let store = Store::options().read_only(true).open(&path).unwrap();
    assert_eq!(get(&store, RecordOwner::Table("Firm")).as_deref(), Some(&b"policy"[..]));
    drop(store);
    let store = options.open(&path).unwrap();
    assert_eq!(get(&store, STORE).as_deref(), Some(&b"keys"[..]));
    assert_sound(&store);
}

#[test]
fn awaited_calls_do_what_blocking_ones_do() {
    let scratch = Scratch::new();
    let store = relaxed().open(scratch.path().join("store")).unwrap();
    let map = integration_tests::MapStore::later(7).tables();
    for tables in [&*store, &map] {
        let records = tables.to_async().service_records();
        block_on(async {
            assert_eq!(records.get(STORE, "keys").await.unwrap(), None);
            let replace =
                |expected, value: Option<&'static [u8]>| records.replace(STORE, "keys", expected, value);
            assert!(replace(Expected::Absent, Some(b"one")).await.unwrap());
            assert!(!replace(Expected::Absent, Some(b"two")).await.unwrap());
            assert!(!replace(Expected::Value(b"two"), None).await.unwrap());
            assert!(replace(Expected::Value(b"one"), Some(b"two")).await.unwrap());
            assert!(replace(Expected::Any, Some(b"three")).await.unwrap());
            assert_eq!(records.get(STORE, "keys").await.unwrap().as_deref(), Some(&b"three"[..]));
            let error = records.get(COMPANY, "keys").await.unwrap_err();
            assert_eq!((error.kind(), error.table_name()), (ErrorKind::TableNotFound, Some("Company")));
            assert_eq!(records.get(STORE, "no name").await.unwrap_err().kind(), ErrorKind::InvalidKey);
        });
        assert_eq!(get(tables, STORE).as_deref(), Some(&b"three"[..]));
    }
}

fn child(path: &std::path::Path, times: u64) -> Child {
    let arguments = [path.to_str().unwrap().to_owned(), times.to_string()];
    Child::start(env!("CARGO_BIN_EXE_crash-child"), "service", &arguments)
}

fn number(tables: &Tables, owner: RecordOwner<'_>) -> u64 {
    let found = tables.service_records().unwrap().get(owner, "count").unwrap().unwrap();
    std::str::from_utf8(&found).unwrap().parse().unwrap()
}

/// Makes a store with the records that children count in.
fn counting(path: &std::path::Path) -> Store {
    let store = Store::open(path).unwrap();
    store.create_table("Company").unwrap();
    let records = store.service_records().unwrap();
    for owner in [STORE, COMPANY] {
        assert!(records.replace(owner, "count", Expected::Absent, Some(b"0")).unwrap());
    }
    store
}

#[test]
fn no_process_loses_what_another_has_put() {
    let (scratch, times) = (Scratch::new(), 25);
    let path = scratch.path().join("store");
    let store = counting(&path);
    let mut children: Vec<_> = (0..3).map(|_| child(&path, times)).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(|child| child.say("go"));
    let mut seen = BTreeSet::new();
    for child in children {
        for line in child.finish() {
            let Some(next) = line.strip_prefix("store ") else { continue };
            assert!(seen.insert(next.parse::<u64>().unwrap()), "two processes put {next}");
        }
    }
    assert!(seen.into_iter().eq(1..=3 * times));
    assert_eq!(number(&store, STORE), 3 * times);
    assert_sound(&store);
}

#[test]
fn what_was_acknowledged_survives_the_end_of_the_process() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    drop(counting(&path));
    let mut known = (0, 0);
    for round in 0..8 {
        let mut child = child(&path, 1_000_000);
        child.expect("ready");
        child.say("go");
        std::thread::sleep(std::time::Duration::from_millis(round * 3));
        for line in child.kill() {
            let (what, next) = line.split_once(' ').unwrap();
            let next = next.parse().unwrap();
            if what == "store" { known.0 = next } else { known.1 = next }
        }
        let store = Store::options().verify_first(true).open(&path).unwrap();
        let found = (number(&store, STORE), number(&store, COMPANY));
        // One number may have been put and not said any more.
        assert!((known.0..=known.0 + 1).contains(&found.0), "{found:?}, and {known:?} were acknowledged");
        assert!((known.1..=known.1 + 1).contains(&found.1) && found.1 <= found.0, "{found:?}, {known:?}");
        assert_sound(&store);
        known = found;
    }
    assert!(known.0 > 0);
}
