//! Rows by shape: what is declared has one, the rest has slots, and both are read and found to be damaged alike.

use integration_tests::Scratch;
use integration_tests::forge::Forge;
use table_core::{DynamicEntity, DynamicTable, Entity, ErrorKind, IfMatch, Query, Store, Ticks, Uuid, Value};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "person")]
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
    #[property(default)]
    level: u16,
    seal: Vec<u8>,
}

fn plain(id: u32) -> Person {
    Person {
        place: "Ulm".into(),
        id,
        name: format!("Ann {id}"),
        age: None,
        height: None,
        balance: -1,
        born: None,
        token: None,
        rate: 1.5,
        is_member: None,
        photo: None,
        note: None,
        level: 0,
        seal: Vec::new(),
    }
}

/// People of every form: with all, with nothing that may be absent, with texts and bytes of lengths at which the form changes.
fn people() -> Vec<Person> {
    let full = Person {
        age: Some(255),
        height: Some(-32_768),
        born: Some(Ticks::MAX),
        token: Some(Uuid::from_u128(7)),
        is_member: Some(false),
        photo: Some(vec![0xff; 3]),
        note: Some(String::new()),
        level: 65_535,
        seal: vec![1],
        ..plain(0)
    };
    let mut people = vec![plain(1), Person { id: 2, ..full.clone() }];
    for length in [0, 1, 127, 200, 240, 249, 250, 251, 255, 256, 257, 300, 2_000, 20_000] {
        let id = u32::try_from(people.len()).unwrap() + 1;
        let long = "é".repeat(length / 2) + &"x".repeat(length % 2);
        people.push(Person { id, note: Some(long.clone()), ..plain(0) });
        people.push(Person { id: id + 1, photo: Some(long.into_bytes()), ..full.clone() });
        people.push(Person { id: id + 2, seal: vec![9; length], ..plain(0) });
    }
    // Ends of two bytes can't say where the last of these begins.
    let id = u32::try_from(people.len()).unwrap() + 1;
    people.push(Person { id, note: Some("x".repeat(30_000)), seal: vec![7; 40_000], ..full });
    people
}

/// The forms of the rows in the store, by the number of their shape; `None` is slots.
fn forms(scratch: &Scratch, store: Store) -> Vec<Option<u16>> {
    drop(store);
    let forge = Forge::open(&scratch.path().join("store"));
    let shape = |row: &[u8]| (row[7] >> 6 < 2).then(|| u16::from_le_bytes([row[8], row[9] & 0x7f]));
    let forms = forge.covered().iter().map(|(_, row)| shape(row)).collect();
    forge.close();
    forms
}

#[test]
fn what_is_written_is_read_in_every_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Person>().unwrap();
    let people = people();
    for person in &people {
        table.insert(person).unwrap();
    }
    let reopened = |store: Store| {
        drop(store);
        scratch.store()
    };
    drop(table);
    let store = reopened(store);
    let table = store.table::<Person>().unwrap();
    let found: Vec<_> =
        table.rows().place("Ulm").into_iter().map(|found| (*found.unwrap()).clone()).collect();
    assert!(found == people);
    let snapshot = store.snapshot().unwrap();
    let views = table.at(&snapshot).rows().place("Ulm").views();
    for (view, person) in views.zip(&people) {
        let view = view.unwrap();
        assert_eq!((view.name().unwrap(), view.age().unwrap()), (&*person.name, person.age));
        assert_eq!((view.born().unwrap(), view.level().unwrap()), (person.born, person.level));
        assert_eq!(
            (view.note().unwrap(), view.photo().unwrap()),
            (person.note.as_deref(), person.photo.as_deref())
        );
    }
    for person in &people {
        assert_eq!(&*table.get(Person::key("Ulm", person.id)).unwrap().unwrap(), person);
        let copy = table.get(Person::by_name("Ulm", &*person.name, person.id)).unwrap().unwrap();
        assert_eq!(&*copy, person);
        let row = table.dynamic().get("Ulm", &format!("person_{:06}", person.id)).unwrap().unwrap();
        let number = |name| row.get(name).and_then(Value::as_i64);
        assert_eq!((number("Balance"), number("Age")), (Some(person.balance), person.age.map(i64::from)));
        assert_eq!(row.get("EntityType").and_then(|kind| kind.as_str()), Some("person"));
        assert_eq!(row.get("Note").and_then(|note| note.as_str()), person.note.as_deref());
    }
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    assert_eq!((report.shapes, report.unused_shapes), (2, 0));
    drop((table, snapshot));
    let forms = forms(&scratch, store);
    // One person and its copy have slots.
    assert_eq!(forms.iter().filter(|form| form.is_none()).count(), 2, "{forms:?}");
}

mod later {
    use super::*;

    /// A person with a field more, and one in another width.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "person")]
    #[key(partition = "{place}", row = "person_{id:06}")]
    #[index(by_name, row = "name_{name}_{id:06}")]
    pub(super) struct Person {
        pub(super) place: String,
        pub(super) id: u32,
        pub(super) name: String,
        pub(super) age: Option<u16>,
        pub(super) height: Option<i16>,
        pub(super) balance: i64,
        pub(super) born: Option<Ticks>,
        pub(super) token: Option<Uuid>,
        pub(super) rate: f64,
        pub(super) is_member: Option<bool>,
        pub(super) photo: Option<Vec<u8>>,
        pub(super) note: Option<String>,
        #[property(default)]
        pub(super) level: u16,
        pub(super) seal: Vec<u8>,
        pub(super) city: Option<String>,
    }
}

#[test]
fn a_declaration_that_changes_brings_a_shape_and_leaves_the_rows_theirs() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let before = store.table::<Person>().unwrap();
    before.insert(&Person { age: Some(40), ..plain(1) }).unwrap();
    before.insert(&plain(2)).unwrap();
    drop(before);
    drop(store);

    let store = scratch.store();
    let after = store.table::<later::Person>().unwrap();
    // Declaring and reading write no shape.
    assert_eq!(after.get(later::Person::key("Ulm", 1)).unwrap().unwrap().age, Some(40));
    assert_eq!(store.check().unwrap().shapes, 2);
    let mut person = (*after.get(later::Person::key("Ulm", 2)).unwrap().unwrap()).clone();
    (person.age, person.city) = (Some(300), Some("Ulm".into()));
    after.put(&person).unwrap();
    assert_eq!(*after.get(later::Person::key("Ulm", 2)).unwrap().unwrap(), person);
    assert_eq!(
        after.rows().place("Ulm").into_iter().map(|found| found.unwrap().age).collect::<Vec<_>>(),
        [Some(40), Some(300)]
    );
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    assert_eq!((report.shapes, report.unused_shapes), (4, 0));
    after.delete(later::Person::key("Ulm", 1)).unwrap();
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    assert_eq!((report.shapes, report.unused_shapes), (4, 2));
    drop(after);
    assert_eq!(forms(&scratch, store).into_iter().flatten().min(), Some(2));
}

fn raw(store: &Store) -> DynamicTable {
    store.table::<Person>().unwrap().dynamic().raw()
}

#[test]
fn rows_by_their_properties_take_the_shape_that_holds_just_these() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<Person>().unwrap().insert(&plain(1)).unwrap();
    let table = raw(&store);
    let row = table.get("Ulm", "person_000001").unwrap().unwrap();
    let with = |key: &str, change: &dyn Fn(&mut DynamicEntity)| {
        let mut entity = DynamicEntity::new("Ulm", key);
        for (name, value) in row.properties() {
            entity.set(name, value.clone());
        }
        change(&mut entity);
        entity
    };
    type Case<'a> = (&'a str, Option<u16>, &'a dyn Fn(&mut DynamicEntity));
    let cases: [Case<'_>; 8] = [
        ("person_100001", Some(0), &|_| {}),
        ("person_100002", Some(0), &|row| drop(row.set("Note", "new"))),
        ("person_100003", None, &|row| drop(row.set("Other", 1))),
        ("person_100004", None, &|row| drop(row.set("Rate", 1))),
        ("person_100005", None, &|row| drop(row.set("Age", 256))),
        ("person_100006", None, &|row| drop(row.remove("Rate"))),
        ("person_100007", None, &|row| drop(row.remove("EntityType"))),
        ("person_100008", None, &|row| drop(row.set("EntityType", "stranger"))),
    ];
    for (key, _, change) in &cases {
        let entity = with(key, change);
        table.insert(&entity).unwrap();
        let found = table.get("Ulm", key).unwrap().unwrap();
        let sorted = |entity: &DynamicEntity| {
            let mut all: Vec<_> =
                entity.properties().map(|(name, value)| (name.to_owned(), value.clone())).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all
        };
        assert_eq!(sorted(&found), sorted(&entity), "{key}");
    }
    // Merged, a row goes from one form to the other and back.
    let patch = |name: &str, value: Value| {
        let mut patch = DynamicEntity::new("Ulm", "person_000001");
        patch.set(name, value);
        table.merge(&patch, IfMatch::Any).unwrap();
    };
    patch("Age", 7.into());
    patch("Height", 70_000.into());
    patch("Note", "x".repeat(5_000).into());
    let merged = table.get("Ulm", "person_000001").unwrap().unwrap();
    assert_eq!(merged.get("Height").and_then(|height| height.as_i32()), Some(70_000));
    patch("Height", 7.into());
    let person = store.table::<Person>().unwrap().get(Person::key("Ulm", 1)).unwrap().unwrap();
    assert_eq!(
        (person.age, person.height, person.note.as_deref()),
        (Some(7), Some(7), Some(&*"x".repeat(5_000)))
    );
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    // Those of before have theirs, and nobody else gave any.
    assert_eq!(report.shapes, 2);
    drop(table);
    let mut expected = vec![Some(1), Some(0)];
    expected.extend(cases.iter().map(|(_, form, _)| *form));
    assert_eq!(forms(&scratch, store), expected);
}

#[test]
fn what_no_struct_declares_has_slots() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.create_table("Plain").unwrap();
    table.insert(&DynamicEntity::new("a", "b").with("EntityType", "person").with("Age", 1)).unwrap();
    assert_eq!(store.check().unwrap().shapes, 0);
    drop(table);
    assert_eq!(forms(&scratch, store), [None]);
}

/// The errors that reads of the one person and its copy give, and what a check says.
fn survey(scratch: &Scratch) -> (Vec<ErrorKind>, usize) {
    let mut found = Vec::new();
    let store = scratch.store();
    let mut note = |error: table_core::Error| found.push(error.kind());
    match store.table::<Person>() {
        Err(error) => note(error),
        Ok(table) => {
            let key = Person::key("Ulm", 1);
            let mut expect = |person: Result<Option<Person>, table_core::Error>| match person {
                Ok(person) => assert_eq!(person, Some(plain(1))),
                Err(error) => note(error),
            };
            expect(table.get(key).map(|found| found.map(|found| (*found).clone())));
            expect(
                table
                    .get(Person::by_name("Ulm", "Ann 1", 1))
                    .map(|found| found.map(|found| (*found).clone())),
            );
            expect(
                table
                    .rows()
                    .place("Ulm")
                    .into_iter()
                    .next()
                    .transpose()
                    .map(|found| found.map(|found| (*found).clone())),
            );
            if let Err(error) = table.dynamic().query(&Query::new()).unwrap().collect::<Result<Vec<_>, _>>() {
                note(error);
            }
            if let Err(error) = table.insert(&plain(2)) {
                note(error);
            }
        }
    }
    (found, store.check().unwrap().problems.len())
}

#[test]
fn a_shape_that_is_not_there_or_damaged_is_an_error_and_never_another_row() {
    let fresh = || {
        let scratch = Scratch::new();
        let store = scratch.store();
        store.table::<Person>().unwrap().insert(&plain(1)).unwrap();
        drop(store);
        scratch
    };
    let (healthy, problems) = survey(&fresh());
    assert_eq!((healthy, problems), (Vec::new(), 0));

    // A row of a shape beyond those that the store has, with the right checksum.
    for number in [2_u16, 999, 0x7fff] {
        let scratch = fresh();
        let forge = Forge::open(&scratch.path().join("store"));
        for (key, mut row) in forge.covered() {
            row[8..10].copy_from_slice(&number.to_le_bytes());
            forge.put_covered(&key, &row);
        }
        forge.close();
        let (errors, problems) = survey(&scratch);
        // The insert of another is none.
        assert_eq!((&*errors, problems), (&[ErrorKind::Corrupt; 4][..], 2), "shape {number}");
    }

    // Each record of a shape missing, moved, or with a byte changed and its checksum right.
    let scratch = fresh();
    let forge = Forge::open(&scratch.path().join("store"));
    let table = u32::from_le_bytes(forge.tables()[0].1[..4].try_into().unwrap());
    let shapes: Vec<_> = forge.entries(table).into_iter().filter(|(entry, _)| entry[0] == 5).collect();
    forge.close();
    assert_eq!(shapes.len(), 2);
    for (entry, body) in &shapes {
        let damage = |what: &str, damage: &dyn Fn(&Forge)| {
            let scratch = fresh();
            let forge = Forge::open(&scratch.path().join("store"));
            damage(&forge);
            forge.close();
            let (errors, problems) = survey(&scratch);
            assert!(errors.iter().all(|kind| *kind == ErrorKind::Corrupt), "{what}: {errors:?}");
            assert!(!errors.is_empty() && problems > 0, "{what}: {errors:?}, {problems} problems");
        };
        damage("missing", &|forge| forge.put_entry(table, entry, None));
        for bit in 0..8 * entry.len() {
            let mut moved = entry.clone();
            moved[bit / 8] ^= 1 << (bit % 8);
            if shapes.iter().any(|(other, _)| *other == moved) {
                continue;
            }
            damage(&format!("key {}", moved.escape_ascii()), &|forge| {
                forge.put_entry(table, entry, None);
                forge.put_entry(table, &moved, Some(body));
            });
        }
    }
}
