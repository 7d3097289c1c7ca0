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
    age: i64,
    #[series]
    hits: [i64; 2],
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Anybody {
    Person(Person),
}

fn person(age: i64) -> Person {
    Person { place: "Ulm".into(), id: 1, name: "Ann".into(), age, hits: [3, 1 << 40] }
}

fn key() -> table_core::Key<Person> {
    Person::key("Ulm", 1)
}

/// The properties of the row as its struct writes them, the age as narrow as its type may be.
fn properties(age: i64) -> Vec<(String, Value)> {
    let scratch = Scratch::new();
    let people = scratch.store().table::<Person>().unwrap();
    people.insert(&person(age)).unwrap();
    let row = people.dynamic().get("Ulm", "person_01").unwrap().unwrap();
    let narrow = |name: &str, value: &Value| match (name, value.as_i64()) {
        ("Age", Some(age)) => i32::try_from(age).map_or(age.into(), Value::from),
        _ => value.clone(),
    };
    row.properties().map(|(name, value)| (name.to_owned(), narrow(name, value))).collect()
}

/// A change of the row.
type Way = (&'static str, fn(&Store) -> Result<()>);

const WAYS: [Way; 17] = [
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
    ("update", |store| people(store).update(key(), |person| person.name = "Bob".into()).map(drop)),
    ("patch", |store| people(store).merge(key(), Person::patch().name("Bob"), IfMatch::Any).map(drop)),
    ("replace", |store| people(store).replace(&person(7), IfMatch::Any).map(drop)),
    ("put", |store| people(store).put(&person(7)).map(drop)),
    ("move", |store| people(store).move_to(key(), |person| person.id = 2).map(drop)),
    ("delete", |store| people(store).delete(key())),
    ("add", |store| people(store).add(key(), Person::add().hits(0, 5)).map(drop)),
    ("transaction", |store| {
        store.transaction().update(key(), |person: &mut Person| person.age += 1).commit().map(drop)
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
fn after(scratch: &Scratch, keys: &Arc<MemoryKeys>, (name, way): Way) -> Vec<DynamicEntity> {
    let path = scratch.path().join("store");
    let store = relaxed().encryption(keys.clone()).open(&path).unwrap();
    way(&store).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_sound(&store);
    drop(store);
    let store = relaxed().encryption(keys.clone()).open(path).unwrap();
    let rows = raw(&store).query(&Query::new()).unwrap().collect::<Result<Vec<_>, _>>();
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

#[test]
fn a_row_whose_kind_stands_as_text_is_changed_in_every_way() {
    for age in [0, 5, 300, 70_000, 1 << 40] {
        for way in WAYS {
            for is_numbered in [false, true] {
                let [(forged, keys), (plain, plain_keys)] =
                    [(); 2].map(|()| (Scratch::new(), Arc::new(MemoryKeys::new().unwrap())));
                for (scratch, keys, kind) in [(&forged, &keys, "other"), (&plain, &plain_keys, "person")] {
                    let path = scratch.path().join("store");
                    let store = relaxed().encryption(keys.clone()).open(path).unwrap();
                    let table = store.create_table("People").unwrap();
                    if is_numbered {
                        let other = DynamicEntity::new("Ulm", "numbered").with("EntityType", "person");
                        table.insert(&other).unwrap();
                        table.delete("Ulm", "numbered").unwrap();
                    }
                    let mut row = DynamicEntity::new("Ulm", "person_01");
                    for (name, value) in properties(age) {
                        let value = if name == "EntityType" { kind.into() } else { value };
                        row = row.with(&name, value);
                    }
                    table.insert(&row).unwrap();
                }
                let forge = Forge::open(&forged.path().join("store"));
                let (at, mut image) = forge.rows().remove(0);
                let kind = image.properties.iter_mut().find(|(_, tag, _)| *tag == 9).unwrap();
                (kind.1, kind.2) = (0, b"person".to_vec());
                forge.put_row(&at, Some(&image));
                forge.close();
                let [found, expected] = [(&forged, &keys), (&plain, &plain_keys)]
                    .map(|(scratch, keys)| content(after(scratch, keys, way)));
                assert_eq!(found, expected, "{}, age {age}, numbered: {is_numbered}", way.0);
            }
        }
    }
}
