//! Rows of forms that the format allows and this library does not write, met by every way to write: their kind stands as
//! text, numbered or not yet, and their properties lie in slots.

use std::sync::Arc;

use integration_tests::forge::Forge;
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, EntitySet, IfMatch, Query, Result, Store, Value};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "person")]
#[key(partition = "{place}", row = "person_{id:02}")]
struct Person {
    place: String,
    id: u8,
    name: String,
    /// So long, in some, that the slots behind it are wide.
    note: String,
    age: i64,
    #[series]
    hits: [i64; 2],
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Anybody {
    Person(Person),
}

/// A number of each width, and a text of each size: a small value, a large one, one that makes slots wide, one that fills pages
/// of its own.
const SIZES: [(i64, usize); 6] =
    [(0, 0), (5, 20), (300, 300), (70_000, 5_000), (1 << 40, 20_000), (-1, 5_000)];

fn person(age: i64, note: usize) -> Person {
    let (place, name) = ("Ulm".into(), "Ann".into());
    Person { place, id: 1, name, note: "n".repeat(note), age, hits: [3, 1 << 40] }
}

fn key() -> table_core::Key<Person> {
    Person::key("Ulm", 1)
}

/// Rows as a struct writes them, each number as narrow as its type may be.
fn rows_of(store: &Store, table: &str) -> Vec<DynamicEntity> {
    let narrow = |value: &Value| match value {
        Value::Int64(number) => i32::try_from(*number).map_or_else(|_| value.clone(), Value::from),
        _ => value.clone(),
    };
    let rows = store.dynamic_table(table).unwrap().query(&Query::new()).unwrap();
    let as_narrow = |row: DynamicEntity| {
        let properties = row.properties().map(|(name, value)| {
            // What is added to is of the type that is declared.
            (
                name,
                if name.starts_with("Hits") || name.starts_with("Marks") {
                    value.clone()
                } else {
                    narrow(value)
                },
            )
        });
        let new = DynamicEntity::new(row.partition_key(), row.row_key());
        properties.fold(new, |new, (name, value)| new.with(name, value))
    };
    rows.map(|row| as_narrow(row.unwrap())).collect()
}

/// A change of the row.
type Way = (&'static str, fn(&Store) -> Result<()>);

const WAYS: [Way; 23] = [
    ("raw merge", |store| raw(store).merge(&change(), IfMatch::Any).map(drop)),
    ("raw merge of a new kind", |store| {
        raw(store).merge(&change().with("EntityType", "nobody yet"), IfMatch::Any).map(drop)
    }),
    ("raw insert or merge", |store| raw(store).insert_or_merge(&change()).map(drop)),
    ("raw replace", |store| raw(store).replace(&change(), IfMatch::Any).map(drop)),
    ("raw put", |store| raw(store).put(&change()).map(drop)),
    ("raw delete", |store| raw(store).delete("Ulm", "person_01")),
    ("raw batch", |store| {
        let other = DynamicEntity::new("Ulm", "z").with("EntityType", "another").with("New", 1);
        raw(store).batch("Ulm").merge(change(), IfMatch::Any).insert(other).commit().map(drop)
    }),
    ("merge by a rule", |store| {
        raw(store).encrypting(|_, _, _| false).merge(&change(), IfMatch::Any).map(drop)
    }),
    ("insert or merge by a rule", |store| {
        raw(store).encrypting(|_, _, _| false).insert_or_merge(&change()).map(drop)
    }),
    ("replace by a rule", |store| {
        raw(store).encrypting(|_, _, _| false).replace(&change(), IfMatch::Any).map(drop)
    }),
    ("batch by a rule", |store| {
        raw(store).encrypting(|_, _, _| false).batch("Ulm").merge(change(), IfMatch::Any).commit().map(drop)
    }),
    ("update", |store| people(store).update(key(), |person| person.name = "Bob".into()).map(drop)),
    ("patch", |store| people(store).merge(key(), Person::patch().name("Bob"), IfMatch::Any).map(drop)),
    ("replace", |store| people(store).replace(&person(7, 7), IfMatch::Any).map(drop)),
    ("put", |store| people(store).put(&person(7, 7)).map(drop)),
    ("move", |store| people(store).move_to(key(), |person| person.id = 2).map(drop)),
    ("delete", |store| people(store).delete(key())),
    ("add", |store| people(store).add(key(), Person::add().hits(0, 5)).map(drop)),
    ("transaction", |store| {
        store.transaction().update(key(), |person: &mut Person| person.age += 1).commit().map(drop)
    }),
    ("batch", |store| {
        people(store).egt(Person::partition("Ulm")).update(key(), |person| person.age -= 1).commit().map(drop)
    }),
    ("set", |store| {
        let set = store.set::<Anybody>()?;
        set.egt(Person::partition("Ulm"))
            .merge(key(), Person::patch().age(6), IfMatch::Any)
            .commit()
            .map(drop)
    }),
    ("put by any of a set", |store| {
        let rows = raw(store).get("Ulm", "person_01")?.unwrap();
        store.set::<Anybody>()?.put_any(&rows.with("EntityType", "person")).map(drop)
    }),
    ("by any of a set", |store| {
        let change = DynamicEntity::new("Ulm", "person_01").with("Name", "Bob");
        store.set::<Anybody>()?.merge_any(&change, IfMatch::Any).map(drop)
    }),
];

fn change() -> DynamicEntity {
    DynamicEntity::new("Ulm", "person_01").with("Name", "Bob").with("New", "a name that has no number")
}

fn raw(store: &Store) -> table_core::DynamicTable {
    store.dynamic_table("People").unwrap().raw()
}

fn people(store: &Store) -> table_core::Table<Person> {
    store.table().unwrap()
}

/// What stands in the table after this.
fn after(scratch: &Scratch, keys: &Arc<MemoryKeys>, table: &str, way: Way) -> Vec<DynamicEntity> {
    let (name, change) = way;
    let path = scratch.path().join("store");
    let store = relaxed().encryption(keys.clone()).open(&path).unwrap();
    change(&store).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_sound(&store);
    drop(store);
    let store = relaxed().encryption(keys.clone()).open(path).unwrap();
    let rows =
        store.dynamic_table(table).unwrap().query(&Query::new()).unwrap().collect::<Result<Vec<_>, _>>();
    rows.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What counts of them: all but their times, and the order in which their names came.
fn content(rows: Vec<DynamicEntity>) -> Vec<(String, Vec<(String, Value)>)> {
    let sorted = |row: DynamicEntity| {
        let mut properties: Vec<_> =
            row.properties().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        properties.sort_by(|(a, _), (b, _)| a.cmp(b));
        (row.row_key().to_owned(), properties)
    };
    rows.into_iter().map(sorted).collect()
}

fn kind_of(row: &DynamicEntity) -> &str {
    row.get("EntityType").and_then(|kind| kind.as_str()).unwrap()
}

/// Puts rows into a new table by the dynamic interface, which gives a number to each text that says a kind; then makes those
/// of which `is_text` says so hold it as text.
fn make(
    scratch: &Scratch,
    keys: &Arc<MemoryKeys>,
    table: &str,
    rows: &[DynamicEntity],
    forging: Forging<'_>,
) {
    let path = scratch.path().join("store");
    let store = relaxed().encryption(keys.clone()).open(&path).unwrap();
    let made = store.create_table(table).unwrap();
    for row in rows {
        let kind = kind_of(row);
        if forging.is_numbered {
            made.insert(&DynamicEntity::new("Ulm", "numbered").with("EntityType", kind)).unwrap();
            made.delete("Ulm", "numbered").unwrap();
        }
        let kind = if forging.texts.contains(&row.row_key()) { "other" } else { kind };
        made.insert(&row.clone().with("EntityType", kind)).unwrap();
    }
    drop((made, store));
    let forge = Forge::open(&path);
    for (at, mut image) in forge.rows() {
        let Some(row) = rows.iter().find(|row| at.ends_with(&[&[0], row.row_key().as_bytes()].concat()))
        else {
            panic!("a row more: {}", at.escape_ascii());
        };
        if forging.texts.contains(&row.row_key()) {
            let kind = image.properties.iter_mut().find(|(_, tag, _)| *tag == 9).unwrap();
            (kind.1, kind.2) = (0, kind_of(row).as_bytes().to_vec());
            forge.put_row(&at, Some(&image));
        }
    }
    forge.close();
}

/// What is forged.
#[derive(Clone, Copy, Debug)]
struct Forging<'f> {
    /// The keys of rows whose kind is to stand as text.
    texts: &'f [&'f str],
    /// Whether the texts have numbers all the same.
    is_numbered: bool,
}

/// Changes forged rows, and such as were never forged: what comes of both is one.
fn assert_one(table: &str, rows: &[DynamicEntity], forging: Forging<'_>, way: Way) {
    let plain = Forging { texts: &[], ..forging };
    let [found, expected] = [forging, plain].map(|forging| {
        let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
        make(&scratch, &keys, table, rows, forging);
        content(after(&scratch, &keys, table, way))
    });
    assert_eq!(found, expected, "{}: {forging:?}", way.0);
}

#[test]
fn a_row_whose_kind_stands_as_text_is_changed_in_every_way() {
    for (age, note) in SIZES {
        let scratch = Scratch::new();
        let store = scratch.store();
        people(&store).insert(&person(age, note)).unwrap();
        let rows = rows_of(&store, "People");
        for way in WAYS {
            for is_numbered in [false, true] {
                assert_one("People", &rows, Forging { texts: &["person_01"], is_numbered }, way);
            }
        }
    }
}

/// A head and two parts.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Forms", kind = "form", wide)]
#[key(partition = "{place}", row = "form_{id:02}")]
struct Form {
    place: String,
    id: u8,
    title: String,
    #[part]
    note: String,
    level: i64,
    #[part]
    #[series]
    marks: [i64; 3],
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Paper {
    Form(Form),
}

fn form(level: i64, note: usize) -> Form {
    let (place, title) = ("Ulm".into(), "A title".into());
    Form { place, id: 1, title, note: "n".repeat(note), level, marks: [0, 300, 1 << 40] }
}

fn forms(store: &Store) -> table_core::Table<Form> {
    store.table().unwrap()
}

fn form_key() -> table_core::Key<Form> {
    Form::key("Ulm", 1)
}

/// A raw change of one of its rows.
fn part(row: &str) -> DynamicEntity {
    DynamicEntity::new("Ulm", row).with("New", "a name that has no number")
}

const WIDE_WAYS: [Way; 17] = [
    ("raw merge of the head", |store| raw_forms(store).merge(&part("form_01"), IfMatch::Any).map(drop)),
    ("raw merge of a part", |store| raw_forms(store).merge(&part("form_01_02"), IfMatch::Any).map(drop)),
    ("raw insert or merge", |store| raw_forms(store).insert_or_merge(&part("form_01_01")).map(drop)),
    ("raw batch", |store| {
        let batch = raw_forms(store).batch("Ulm");
        let all = ["form_01", "form_01_01", "form_01_02"].map(part);
        all.into_iter().fold(batch, |batch, part| batch.merge(part, IfMatch::Any)).commit().map(drop)
    }),
    ("merge by a rule", |store| {
        raw_forms(store).encrypting(|_, _, _| false).merge(&part("form_01_01"), IfMatch::Any).map(drop)
    }),
    ("update of the head", |store| {
        forms(store).update(form_key(), |form| form.title = "Another".into()).map(drop)
    }),
    ("update of a part", |store| forms(store).update(form_key(), |form| form.level += 1).map(drop)),
    ("patch of all", |store| {
        let patch = Form::patch().title("Another").level(-300).marks(1, 70_000);
        forms(store).merge(form_key(), patch, IfMatch::Any).map(drop)
    }),
    ("patch of the last part", |store| {
        forms(store).merge(form_key(), Form::patch().marks(0, 1), IfMatch::Any).map(drop)
    }),
    ("replace", |store| forms(store).replace(&form(7, 7), IfMatch::Any).map(drop)),
    ("put", |store| forms(store).put(&form(7, 5_000)).map(drop)),
    ("move", |store| forms(store).move_to(form_key(), |form| form.id = 2).map(drop)),
    ("delete", |store| forms(store).delete(form_key())),
    ("add", |store| forms(store).add(form_key(), Form::add().marks(2, 5)).map(drop)),
    ("batch", |store| {
        let batch = forms(store).egt(Form::partition("Ulm"));
        batch.update(form_key(), |form| form.marks[0] -= 1).commit().map(drop)
    }),
    ("transaction", |store| {
        store.transaction().update(form_key(), |form: &mut Form| form.level = 1 << 50).commit().map(drop)
    }),
    ("set", |store| {
        let set = store.set::<Paper>()?;
        let patch = Form::patch().note("short").level(0);
        set.egt(Form::partition("Ulm")).merge(form_key(), patch, IfMatch::Any).commit().map(drop)
    }),
];

fn raw_forms(store: &Store) -> table_core::DynamicTable {
    store.dynamic_table("Forms").unwrap().raw()
}

#[test]
fn a_wide_entity_whose_rows_say_their_kinds_as_text_is_changed_in_every_way() {
    let some: [&[&str]; 4] =
        [&["form_01"], &["form_01_01"], &["form_01_02"], &["form_01", "form_01_01", "form_01_02"]];
    // A way, a number's width, a text's size: each of these with each of the first.
    let mut sizes = SIZES.into_iter().cycle();
    for texts in some {
        for way in WIDE_WAYS {
            for is_numbered in [false, true] {
                let (level, note) = sizes.next().unwrap();
                let scratch = Scratch::new();
                let store = scratch.store();
                forms(&store).insert(&form(level, note)).unwrap();
                let rows = rows_of(&store, "Forms");
                assert_eq!(rows.len(), 3);
                assert_one("Forms", &rows, Forging { texts, is_numbered }, way);
            }
        }
    }
}
