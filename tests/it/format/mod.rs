//! Whole stores, read byte by byte by a reader that follows `docs/internals/format.md` and shares no code with the
//! library: it must find what the library gives, and refuse what damage has changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use integration_tests::Scratch;
use integration_tests::forge::Forge;
use integration_tests::periods::Login;
use integration_tests::random::Random;
use integration_tests::reader::{self, Contents, Image};
use integration_tests::{blobbed, eventual, listed, queued};
use table_core::blob::SealedBlob;
use table_core::crypt::MemoryKeys;
use table_core::store::Propagate;
use table_core::{DynamicEntity, Entity, Query, Store, Ticks, Uuid, Value};

use crate::{series, wide};

/// Somebody whose rows have a shape, in either of its forms, or slots.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "person")]
#[key(partition = "{place}", row = "person_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Person {
    place: String,
    id: u32,
    name: String,
    age: Option<u8>,
    height: Option<i16>,
    balance: i64,
    born: Option<Ticks>,
    token: Option<Uuid>,
    rate: f64,
    is_member: Option<bool>,
    photo: Option<Vec<u8>>,
    note: Option<String>,
    floor: u16,
    shoe: i8,
}

fn person(id: u32, length: usize) -> Person {
    let random = &mut Random::new(id.into());
    let mut has = || random.below(3) > 0;
    Person {
        place: ["Ulm", "Łódź", "", "\u{1f3d9}", "\u{ff21}"][id as usize % 5].into(),
        id,
        name: format!("Ann {id}"),
        age: has().then_some(255),
        height: has().then_some(-32_768),
        balance: i64::from(id) - 7,
        born: has().then_some(Ticks::MAX),
        token: has().then_some(Uuid::from_u128(u128::from(id) << 64 | 7)),
        rate: if id == 3 { f64::from_bits(0x7ff8_0000_0000_0001) } else { f64::from(id) / 3.0 },
        is_member: has().then_some(id.is_multiple_of(2)),
        photo: has().then(|| vec![0xff; length]),
        note: has().then(|| "名".repeat(length)),
        floor: 65_535,
        shoe: -128,
    }
}

/// A row as the library gives it, and as the reader finds it. Doubles are equal if their bits are.
type Found = (u64, BTreeMap<String, Value>);

/// The store's bytes, when nobody has it open any more.
fn image(scratch: &Scratch) -> Image {
    let forge = Forge::open(&scratch.path().join("store"));
    let image = forge.image();
    forge.close();
    image
}

/// What the reader finds in a store, which is all that the library gives of its tables, and nothing else.
fn read_the_same(scratch: &Scratch, store: Store) -> Contents {
    let mut expected = BTreeMap::new();
    for name in store.tables().unwrap() {
        let mut rows: BTreeMap<_, Found> = BTreeMap::new();
        for row in store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap() {
            let row = row.unwrap();
            let keys = (row.partition_key().to_owned(), row.row_key().to_owned());
            let properties = row.properties().map(|(name, value)| (name.to_owned(), value.clone()));
            rows.insert(keys, (row.timestamp().unwrap().get(), properties.collect()));
        }
        expected.insert(name, rows);
    }
    drop(store);
    let contents = reader::read(&image(scratch)).unwrap();
    let mut found = BTreeMap::new();
    for (name, table) in &contents.tables {
        let row = |row: &reader::Row| -> Found { (row.time, row.properties.clone()) };
        let rows: BTreeMap<_, _> = table.rows.iter().map(|(keys, of)| (keys.clone(), row(of))).collect();
        found.insert(name.clone(), rows);
    }
    assert!(!found.is_empty());
    for (name, rows) in &expected {
        for (keys, row) in rows {
            assert_eq!(found[name].get(keys), Some(row), "{name} {keys:?}");
        }
    }
    assert!(found == expected, "the reader finds rows that the library does not give");
    contents
}

/// How many rows a table has in each form, and how many with a large value.
fn forms(contents: &Contents, table: &str) -> ([usize; 3], usize) {
    let mut forms = [0; 3];
    let rows = contents.tables[table].rows.values();
    rows.clone().for_each(|row| forms[usize::from(row.form)] += 1);
    (forms, rows.filter(|row| row.has_large).count())
}

#[test]
fn rows_of_every_form_are_read_by_what_the_page_says() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let people = store.table::<Person>().unwrap();
    for (id, length) in (0..).zip([0, 1, 42, 43, 85, 86, 100, 127, 257, 5_000, 25_000, 30_000]) {
        people.insert(&person(id, length)).unwrap();
        people.insert(&person(100 + id, length)).unwrap();
    }
    let bare = Person { age: None, height: None, born: None, token: None, is_member: None, ..person(50, 3) };
    people.insert(&bare).unwrap();
    // Its end is more than two bytes say.
    people.insert(&Person { note: Some("名".repeat(30_000)), ..person(51, 3) }).unwrap();
    people.delete(Person::key("Łódź", 1)).unwrap();
    let plain = store.create_table("Plain").unwrap();
    for number in 0..9_u32 {
        let mut row =
            DynamicEntity::new(["a", "é", "\u{ffff}", "\u{10ffff}"][number as usize % 4], number.to_string());
        for (at, value) in
            [0, 1, -1, 127, 128, -128, -129, 40_000, -3_000_000_000, i64::MIN].into_iter().enumerate()
        {
            row.set(&format!("Wide{at}"), value);
            row.set(&format!("Narrow{at}"), i32::try_from(value).unwrap_or(i32::MAX));
        }
        for (name, value) in [
            ("EntityType", Value::from("plain")),
            ("Text", "x".repeat(number as usize * 1_000).as_str().into()),
            ("Bytes", vec![7_u8; number as usize * 60].into()),
            ("Truth", (number % 2 == 0).into()),
            ("Double", (-0.0_f64).into()),
            ("Time", Ticks::UNIX_EPOCH.into()),
            ("Id", Uuid::from_u128(number.into()).into()),
        ] {
            row.set(name, value);
        }
        plain.insert(&row).unwrap();
    }
    plain.insert(&DynamicEntity::new("", "")).unwrap();
    store.create_table("Empty").unwrap();
    store.create_table("Gone").unwrap();
    store.drop_table("Gone").unwrap();
    drop((people, plain));
    let contents = read_the_same(&scratch, store);
    let (people, large) = forms(&contents, "People");
    assert!(people.iter().all(|rows| *rows > 0) && large > 4, "{people:?}, {large} of them large");
    let (plain, large) = forms(&contents, "Plain");
    assert!(plain == [0, 0, 10] && large > 4, "{plain:?}, {large} of them large");
    let layouts = &contents.tables["People"].layouts;
    assert!(layouts.len() == 1 && layouts["person"].contains("\nproperty Photo Binary?\n"), "{layouts:?}");
}

#[test]
fn lists_wide_entities_series_and_periods_are_rows_like_others() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<listed::Employee>().unwrap();
    for id in 0..40 {
        let skills = vec!["Rust".to_owned(), format!("C{}", id % 3)];
        let one =
            listed::employee(["Sales", "Legal"][id as usize % 2], id, ["Jones", "Smith, %"][id as usize % 2]);
        staff.insert(&listed::Employee { skills, team: Some("a".into()), ..one }).unwrap();
    }
    wide::surveys(&store, 5);
    series::days(&store, 5);
    let logins = store.periods::<Login>().unwrap();
    for number in 0..10_u64 {
        let at = Ticks::new(Ticks::UNIX_EPOCH.get() + number * 10 * 36_000_000_000).unwrap();
        logins.insert(&Login { user: "Ann".into(), at, address: 7 }).unwrap();
    }
    drop((staff, logins));
    let contents = read_the_same(&scratch, store);
    let ids = |table: &str, partition: &str, row: &str| -> Vec<u32> {
        let row = &contents.tables[table].rows[&(partition.to_owned(), row.to_owned())];
        assert!(row.properties.keys().all(|name| name == "EntityType" || name.starts_with("Ids")), "{row:?}");
        let ids = row.properties["Ids"].as_str().unwrap().split(',').map(|id| id.rsplit(';').next().unwrap());
        ids.map(|id| id.parse().unwrap()).collect()
    };
    assert_eq!(ids("Company", "Sales", "last_Jones"), (0..40).step_by(2).collect::<Vec<_>>());
    assert_eq!(
        ids("Company", "Legal", "skill_c1"),
        (0..40).filter(|id| id % 2 == 1 && id % 3 == 1).collect::<Vec<_>>()
    );
    assert_eq!(ids("Teams", "all", "team_a").len(), 40);
    // A head and its parts.
    let surveys = &contents.tables["Surveys"].rows;
    let head = surveys.iter().find(|(_, row)| row.properties["EntityType"].as_str() == Some("survey"));
    let ((partition, row), head) = head.unwrap();
    let parts = head.properties["EntityParts"].as_i32().unwrap();
    assert!(parts > 0);
    for part in 1..=parts {
        let part_row = &surveys[&(partition.clone(), format!("{row}_{part:02}"))];
        assert_eq!(part_row.properties["EntityType"].as_str(), Some(&*format!("survey.{part:02}")));
    }
    let cpu = contents.tables["Load"].rows.values().flat_map(|row| row.properties.keys());
    assert!(cpu.filter(|name| name.starts_with("Cpu_")).count() > 5);
    let (period, floor) = contents.templates["Logins"];
    assert!(period == 3 && floor <= Ticks::UNIX_EPOCH.get(), "period {period}, floor {floor}");
    let days: Vec<_> = contents.tables.keys().filter(|name| name.starts_with("Logins")).collect();
    assert_eq!(days, ["Logins19700101", "Logins19700102", "Logins19700103", "Logins19700104"]);
}

#[derive(Entity)]
#[entity(table = "Orders", kind = "order")]
#[key(partition = "all", row = "order_{name}")]
#[index_list(by_state, row = "state_{state}", of = name)]
struct Order {
    name: String,
    state: String,
}

#[derive(Entity)]
#[entity(table = "Scans", kind = "scan")]
#[key(partition = "all", row = "scan_{id}")]
struct Scan {
    id: u32,
    #[encrypt]
    scan: SealedBlob,
}

#[test]
fn long_lists_and_sealed_blobs_say_by_features_that_they_are_there() {
    let scratch = Scratch::new();
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let options = || Store::options().map_size(1 << 30).encryption(keys.clone());
    let store = scratch.store_with(&options());
    let orders = store.table::<Order>().unwrap();
    let order = |at: u32| Order { name: format!("{at:06}{}", "n".repeat(394)), state: "sent".into() };
    orders.bulk_insert((0..1_000).map(order)).unwrap().into_result().unwrap();
    let unsealed = store.upload("image/jpeg", &b"a scan"[..]).unwrap();
    drop((orders, unsealed));
    assert_eq!(read_the_same(&scratch, store).readers, 0);

    let store = scratch.store_with(&options());
    store.table::<Order>().unwrap().bulk_insert((1_000..1_300).map(order)).unwrap().into_result().unwrap();
    let contents = read_the_same(&scratch, store);
    assert_eq!(contents.readers, 1 << 5);
    let row = &contents.tables["Orders"].rows[&("all".to_owned(), "state_sent".to_owned())];
    assert_eq!(row.properties.keys().collect::<Vec<_>>(), ["EntityType", "Ids"]);
    let [(_, ids)] = &contents.held.values().collect::<Vec<_>>()[..] else { panic!("one blob is held") };
    let expected: Vec<_> = (0..1_300).map(|at| order(at).name).collect();
    assert!(*ids == expected.join(",").into_bytes());

    let store = scratch.store_with(&options());
    let scan = store.upload_sealed("image/dicom", &b"a broken rib"[..]).unwrap();
    store.table::<Scan>().unwrap().insert(&Scan { id: 1, scan }).unwrap();
    let contents = read_the_same(&scratch, store);
    assert_eq!((contents.readers, contents.held.len()), (1 << 5 | 1 << 4, 2));
    // They stay when what they are for has gone.
    let store = scratch.store_with(&options());
    store.table::<Scan>().unwrap().delete(Scan::key(1)).unwrap();
    let contents = read_the_same(&scratch, store);
    assert_eq!((contents.readers, contents.held.len()), (1 << 5 | 1 << 4, 1));
}

#[test]
fn queues_blobs_and_what_is_to_follow_are_read_by_what_the_page_says() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&Store::options().propagate(Propagate::Manual));
    let queue = queued::queue(&store);
    let ids = queue.send_all(&[1, 2, 3]).unwrap();
    assert!(queue.send_unique("seven", &7).unwrap());
    let received = queue.receive(std::time::Duration::from_secs(3_600)).unwrap().unwrap();
    let files = store.container("files").unwrap();
    for number in 0..4 {
        files.put_as(&format!("file {number}"), "image/png", &blobbed::bytes(number)).unwrap();
    }
    files.put("empty", b"").unwrap();
    files.put("gone", b"gone").unwrap();
    assert!(files.delete("gone").unwrap());
    let pictures = store.table::<blobbed::Picture>().unwrap();
    let picture = store.upload("image/jpeg", &*blobbed::bytes(2)).unwrap();
    pictures.insert(&blobbed::Picture { album: "a".into(), number: 1, bytes: 200_000, picture }).unwrap();
    let staff = store.table::<eventual::Employee>().unwrap();
    let random = &mut Random::new(7);
    for id in 0..5 {
        let one = eventual::Employee { id, code: None, ..eventual::employee(random) };
        staff.insert(&one).unwrap();
    }
    drop((received, queue, files, pictures, staff));
    let contents = read_the_same(&scratch, store);
    let numbers = &contents.queues["numbers"];
    let sent: Vec<_> = numbers.messages.values().map(|message| message.json.as_str()).collect();
    assert_eq!((sent, numbers.ever), (vec!["1", "2", "3", "7"], [4, 0, 0, 0]));
    let first = &numbers.messages[&ids[0]];
    assert!(first.turn == 1 && first.hidden.is_some(), "{first:?}");
    let uniques: Vec<_> = numbers.messages.values().filter_map(|message| message.unique.as_deref()).collect();
    assert_eq!(uniques, ["seven"]);
    let blob = |name: &str| &contents.blobs[&("files".to_owned(), name.to_owned())];
    for number in 0..4 {
        let (content_type, bytes) = blob(&format!("file {number}"));
        assert!(content_type == "image/png" && *bytes == blobbed::bytes(number), "{number}");
    }
    assert!(blob("empty").1.is_empty() && contents.blobs.len() == 5);
    // The entity's own row, and the whole copy of it.
    assert_eq!(contents.referred.values().collect::<Vec<_>>(), [&2]);
    assert_eq!(contents.following.len(), 5, "{:?}", contents.following);
    assert!(contents.following.iter().all(|entry| entry.kind == "employee"));
}

#[test]
fn a_flipped_bit_of_any_record_is_refused_by_the_reader_too() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let people = store.table::<Person>().unwrap();
    for id in 0..3 {
        people.insert(&person(id, 300)).unwrap();
    }
    drop(people);
    queued::queue(&store).send(&1).unwrap();
    store.container("files").unwrap().put("file", b"bytes").unwrap();
    read_the_same(&scratch, store);
    let sound = image(&scratch);
    let mut flipped = 0;
    let late = [&sound.queues, &sound.blobs].map(|late| late.as_ref().unwrap());
    let databases = [&sound.main, &sound.data, &sound.names, &sound.catalog].into_iter().chain(late);
    for (database, records) in databases.enumerate() {
        for (at, (key, value)) in records.iter().enumerate() {
            // LMDB's own records of its databases are nobody's here.
            if key[0] != 0 && database == 0 {
                continue;
            }
            for bit in (0..8 * (key.len() + value.len())).step_by(7) {
                let mut damaged = sound.clone();
                let record = match database {
                    0 => &mut damaged.main[at],
                    1 => &mut damaged.data[at],
                    2 => &mut damaged.names[at],
                    3 => &mut damaged.catalog[at],
                    4 => &mut damaged.queues.as_mut().unwrap()[at],
                    _ => &mut damaged.blobs.as_mut().unwrap()[at],
                };
                let byte = bit / 8;
                let of = if byte < key.len() { &mut record.0[byte] } else { &mut record.1[byte - key.len()] };
                *of ^= 1 << (bit % 8);
                assert!(reader::read(&damaged).is_err(), "database {database}, {key:?}, bit {bit}");
                flipped += 1;
            }
        }
    }
    assert!(flipped > 2_000, "{flipped}");
}
