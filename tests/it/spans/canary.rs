//! No key, no value and no part of a filter is in anything that is told.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use integration_tests::Scratch;
use table_core::access::Access;
use table_core::blob::SealedBlob;
use table_core::crypt::{MemoryKeys, Secret};
use table_core::queue::Queue;
use table_core::{DynamicEntity, Entity, Filter, IfMatch, Key, OpenOptions, Query, Store};
use tracing::level_filters::LevelFilter;

use super::listener::Listener;

/// In every key, every value, every name of a blob, every filter and the path of the store.
const CANARY: &str = "canary0781120";
const NUMBER: i64 = 7_380_519_246_813_579;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{name}_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(
    by_name,
    table = "Names",
    partition = "{name}",
    row = "{department}_{id:06}",
    copy(email, salary),
    eventual
)]
struct Employee {
    department: String,
    name: String,
    id: u32,
    email: String,
    salary: i64,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt]
    scan: SealedBlob,
}

fn employee(id: u32) -> Employee {
    let text = |kind: &str| format!("{kind}-{CANARY}-{id}");
    Employee {
        department: CANARY.into(),
        name: CANARY.into(),
        id,
        email: text("email"),
        salary: NUMBER,
        ssn: text("ssn").into(),
        scan: SealedBlob::default(),
    }
}

fn key(id: u32) -> Key<Employee> {
    Employee::key(CANARY, CANARY, id)
}

fn rows(store: &Store) {
    let staff = store.table::<Employee>().unwrap();
    for id in 0..30 {
        let scan = store.upload_sealed("text/plain", CANARY.as_bytes()).unwrap();
        staff.insert(&Employee { scan, ..employee(id) }).unwrap();
    }
    staff.insert(&employee(1)).unwrap_err();
    staff.insert(&Employee { email: employee(2).email, ..employee(100) }).unwrap_err();
    staff.put(&employee(3)).unwrap();
    staff.update(key(4), |e| e.email = format!("new-{CANARY}")).unwrap();
    staff.merge(key(5), Employee::patch().salary(NUMBER + 1), IfMatch::Any).unwrap();
    staff.merge(key(500), Employee::patch().salary(1), IfMatch::Any).unwrap_err();
    staff.move_to(key(6), |e| e.id = 600).unwrap();
    staff.delete(key(7)).unwrap();
    staff.delete(key(7)).unwrap_err();
    staff.get(key(8)).unwrap().unwrap().scan.get(store).unwrap();
    staff.get(Employee::by_email(CANARY, &employee(9).email)).unwrap().unwrap();
    assert!(staff.get(key(900)).unwrap().is_none());
    staff.egt(Employee::partition(CANARY)).insert(&employee(200)).insert(&employee(201)).commit().unwrap();
    staff
        .egt(Employee::partition(CANARY))
        .insert(&employee(200))
        .insert(&employee(202))
        .commit()
        .unwrap_err();
    let report = staff.bulk_insert((195..230).map(employee)).unwrap();
    assert_eq!(report.failures.len(), 2);
    let all = staff.all().filter(|e| e.salary.ge(NUMBER) & e.email.ne(CANARY));
    assert!(all.count().unwrap() > 20);
    let some = staff.by_email().department(CANARY).filter(|e| e.salary.ge(NUMBER));
    assert!(some.page(5, None).unwrap().next.is_some());
    store.propagate().unwrap();
    assert!(staff.by_name().name(CANARY).count().unwrap() > 20);
    let snapshot = store.snapshot().unwrap();
    assert!(staff.at(&snapshot).rows().department(CANARY).views().count() > 20);
    drop(snapshot);
    staff.check().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    staff.reencrypt().unwrap().run().unwrap();
    let query = staff.rows().department(CANARY).filter(|e| e.email.eq(CANARY)).entities();
    staff.delete_where(query).unwrap().run().unwrap();
    staff.delete_partition(Employee::partition(CANARY)).unwrap().steps_of(7).run().unwrap();
    store.drop_tables(&["Payroll", "Names"]).unwrap();
    store.reclaim().unwrap();
}

fn properties(store: &Store) {
    let table = store.create_table("Company").unwrap();
    let row = |number: u32| {
        let row = DynamicEntity::new(CANARY, format!("{CANARY}{number:04}"));
        row.with("Text", CANARY).with("Number", NUMBER).with("Bytes", CANARY.as_bytes().to_vec())
    };
    let first = table.insert(&row(0)).unwrap();
    table.insert(&row(0)).unwrap_err();
    table.put(&row(0)).unwrap();
    table.replace(&row(0), IfMatch::ETag(first)).unwrap_err();
    table.merge(&row(0), IfMatch::Any).unwrap();
    table.insert(&DynamicEntity::new(CANARY.repeat(200), CANARY)).unwrap_err();
    table.delete(CANARY, "missing").unwrap_err();
    let batch = (1..50).fold(table.batch(CANARY), |batch, number| batch.insert(row(number)));
    batch.commit().unwrap();
    table.batch(CANARY).insert(row(60)).insert(row(1)).commit().unwrap_err();
    let (told, answers) = mpsc::channel();
    for number in [70, 1] {
        let told = told.clone();
        let batch = table.batch(CANARY).insert(row(number));
        batch.submit(move |answer| told.send(answer.is_ok()).unwrap()).unwrap();
    }
    assert_eq!([answers.recv(), answers.recv()], [Ok(true), Ok(false)]);
    store
        .bulk((40..60).map(|number| table.batch(CANARY).insert(row(number))))
        .unwrap()
        .into_result()
        .unwrap_err();
    let filter = |text: &str| text.replace("CANARY", CANARY).parse::<Filter>().unwrap();
    for text in [
        "PartitionKey eq 'CANARY' and Text eq 'CANARY'",
        "RowKey ge 'CANARY' and Number eq 7380519246813579L",
        "PartitionKey eq 'CANARY' and RowKey ge 'CANARY0010'",
        "Text ne 'CANARY'",
    ] {
        let query = Query::new().filter(filter(text));
        table.query(&query).unwrap().for_each(|row| drop(row.unwrap()));
        let page = table.page(&query, 2, None).unwrap();
        table.page(&Query::new().partition("other"), 2, page.next.as_ref()).err();
        table.query_with(&query, |_| {}).unwrap();
    }
    table
        .query(&Query::new().filter(filter("A eq 'CANARY'")).select([CANARY.repeat(30)]))
        .map(drop)
        .unwrap_err();
    table.get_with(CANARY, CANARY, |_| ()).unwrap();
    let access = Access::to_table("Company").read().partition(CANARY);
    let restricted = store.restricted(&access).dynamic_table("Company").unwrap();
    assert!(restricted.query(&Query::new()).unwrap().count() > 40);
    restricted.insert(&row(80)).unwrap_err();
    restricted.get("other", CANARY).map(drop).ok();
    store.dynamic_table(CANARY).unwrap_err();
    assert!(store.check().unwrap().problems.is_empty());
}

fn messages(store: &Store) {
    let queue: Queue<String> = store.queue("hires").unwrap();
    let minute = Duration::from_secs(60);
    let text = CANARY.to_owned();
    queue.send(&text).unwrap();
    queue.send_unique(CANARY, &text).unwrap();
    queue.send_unique(CANARY, &text).unwrap();
    queue.peek(5).unwrap();
    let message = queue.receive(minute).unwrap().unwrap();
    message.fail(CANARY, Duration::ZERO).unwrap();
    message.delete().unwrap_err();
    // What is no message of the type, which errors show.
    let numbers: Queue<u32> = store.queue("hires").unwrap();
    numbers.receive(minute).unwrap_err();
    let mut message = queue.receive(minute).unwrap().unwrap();
    message.update(format!("more {CANARY}"), minute).unwrap();
    message.delete().unwrap();
    queue.stats().unwrap();
    queue.clear().unwrap();
}

fn blobs(store: &Store) {
    let photos = store.container("photos").unwrap();
    let name = format!("{CANARY}.jpg");
    photos.put(&name, CANARY.as_bytes()).unwrap();
    photos.put_new(&name, "text/plain", CANARY.as_bytes()).unwrap_err();
    photos.upload(&name, &format!("text/{CANARY}"), CANARY.repeat(200_000).as_bytes()).unwrap();
    photos.append(&name, CANARY.as_bytes()).unwrap();
    photos.get(&name).unwrap().unwrap();
    photos.find(&name).unwrap().unwrap();
    assert_eq!(photos.list(CANARY).unwrap().count(), 1);
    photos.open(&name).unwrap();
    photos.delete(&name).unwrap();
    photos.open(&name).unwrap_err();
    photos.put(&format!("{CANARY}\n"), b"").unwrap_err();
    store.upload("text/plain", CANARY.as_bytes()).unwrap().get(store).unwrap();
}

/// Reads and changes rows of which some bytes are others.
fn damaged(options: &OpenOptions, scratch: &Scratch) {
    let path = scratch.path().join(CANARY).join("damaged");
    let store = options.open(&path).unwrap();
    let table = store.create_table("Company").unwrap();
    table.insert(&DynamicEntity::new(CANARY, CANARY).with("Text", CANARY)).unwrap();
    drop((table, store));
    let file = path.join("data.mdb");
    let mut bytes = std::fs::read(&file).unwrap();
    let last = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(CANARY.as_bytes()));
    let places: Vec<_> = last.collect();
    // The value is the last of the three in a row.
    for three in places.chunks(3) {
        bytes[three[three.len() - 1]] ^= 1;
    }
    std::fs::write(&file, bytes).unwrap();
    let Ok(store) = options.open(&path) else { return };
    if let Ok(table) = store.dynamic_table("Company") {
        table.get(CANARY, CANARY).unwrap_err();
        assert!(table.query(&Query::new()).unwrap().any(|row| row.is_err()));
    }
    assert!(!store.check().unwrap().problems.is_empty());
}

#[test]
fn nothing_that_is_told_shows_a_key_a_value_or_a_literal() {
    let (scratch, listener) = (Scratch::new(), Listener::new(LevelFilter::TRACE));
    let options = Store::options()
        .slow_after(Duration::ZERO)
        .encryption(Arc::new(MemoryKeys::new().unwrap()))
        .propagate(table_core::store::Propagate::Manual)
        .clone();
    std::fs::create_dir_all(scratch.path().join(CANARY)).unwrap();
    listener.hear(|| {
        let store = options.open(scratch.path().join(CANARY).join("store")).unwrap();
        for work in [rows, properties, messages, blobs] {
            work(&store);
        }
        store.copy_to(scratch.path().join(CANARY).join("copy")).unwrap();
        damaged(&options, &scratch);
    });
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let bytes = format!("{:?}", CANARY.as_bytes());
    let needles = [
        CANARY.to_owned(),
        hex.to_uppercase(),
        hex,
        NUMBER.to_string(),
        bytes.trim_matches(['[', ']']).to_owned(),
    ];
    let told = listener.all();
    for told in &told {
        let text = format!("{told:?}");
        let shown = needles.iter().find(|needle| text.contains(needle.as_str()));
        assert!(shown.is_none(), "{text} shows {shown:?}");
    }
    // All kinds of spans and events were among them.
    for (name, least) in [
        ("open", 2),
        ("commit", 50),
        ("query", 50),
        ("job", 4),
        ("queue.send", 3),
        ("queue.receive", 3),
        ("blob.put", 2),
        ("slow", 100),
        ("full_scan", 3),
        ("damage", 2),
    ] {
        let count = told.iter().filter(|told| told.name == name).count();
        assert!(count >= least, "{count} {name}");
    }
    assert!(told.iter().filter(|told| told.fields.contains_key("error.type")).count() > 10);
    assert!(told.iter().all(|told| !matches!(told.name, "queue.other" | "blob.other")));
}
