//! A property that becomes encrypted: plain, then either, then sealed.

use integration_tests::{assert_sound, on_executors_with_jobs};
use table_core::{
    DynamicEntity, Entity, Error, ErrorKind, IfMatch, Projection, Query, Stored, Table, Tables, Value, View,
};

use super::{CANARY, Scratch, kind, refused, rows};

/// One declaration of an employee, with these attributes on what becomes encrypted.
macro_rules! declared {
    ($name:ident $(, #[$($encrypt:tt)*])?) => {
        #[derive(Entity, Clone, Debug, PartialEq)]
        #[entity(table = "Payroll", kind = "employee")]
        #[key(partition = "{department}", row = "empid_{id:06}")]
        #[index(by_email, row = "email_{email}", unique)]
        #[index(by_age, row = "age_{age:03}_{id:06}", copy(ssn))]
        #[index(by_name, row = "name_{name}_{id:06}", copy = keys)]
        pub(super) struct $name {
            department: String,
            id: u32,
            email: String,
            name: String,
            age: u8,
            $(#[$($encrypt)*])?
            ssn: String,
            $(#[$($encrypt)*])?
            photo: Option<Vec<u8>>,
            $(#[$($encrypt)*])?
            #[property(json)]
            tags: Vec<String>,
            $(#[$($encrypt)*])?
            #[property(default)]
            level: u8,
        }

        impl $name {
            pub(super) fn new(id: u32) -> Self {
                Self {
                    department: "Sales".into(),
                    id,
                    email: format!("{id}@contoso.com"),
                    name: format!("Name{id}"),
                    age: 40,
                    ssn: format!("{CANARY} {id}"),
                    photo: (id % 2 == 0).then(|| CANARY.into()),
                    tags: vec![CANARY.into()],
                    level: 3,
                }
            }
        }
    };
}

declared!(Plain);
declared!(Dual, #[encrypt(dual)]);
declared!(Sealed, #[encrypt]);

/// The properties that become encrypted.
const SEALED: [&str; 4] = ["Ssn", "Photo", "Tags", "Level"];

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Dual)]
struct Ssn {
    ssn: String,
    #[property(default)]
    level: u8,
}

fn layout_error<E: table_core::typed::InOneTable>(store: &Tables) -> Error {
    let error = refused(store.table::<E>());
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    error
}

/// How many rows hold one of the properties plain.
fn plain(table: &table_core::DynamicTable) -> usize {
    let is_plain = |value: &Value| value.as_bytes().and_then(table_core::crypt::KeyHandle::of).is_none();
    let holds = |row: &DynamicEntity| SEALED.iter().any(|name| row.get(name).is_some_and(is_plain));
    rows(table).iter().filter(|row| holds(row)).count()
}

fn filled(store: &Tables, entities: u32) -> Table<Plain> {
    let table = store.table::<Plain>().unwrap();
    for id in 0..entities {
        table.insert(&Plain::new(id)).unwrap();
    }
    table
}

#[test]
fn what_was_plain_is_read_sealed_bit_by_bit_and_then_only_sealed() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let old = filled(&store, 20);
    let etags: Vec<_> = rows(old.dynamic()).iter().map(DynamicEntity::etag).collect();
    let error = layout_error::<Sealed>(&store);
    assert!(error.to_string().contains("`#[encrypt(dual)]`"), "{error}");

    let dual = store.table::<Dual>().unwrap();
    let key = |id| Dual::key("Sales", id);
    assert_eq!(*dual.get(key(4)).unwrap().unwrap(), Dual::new(4));
    assert_eq!(*dual.get(Dual::by_email("Sales", "4@contoso.com")).unwrap().unwrap(), Dual::new(4));
    assert_eq!(dual.get(Dual::by_age("Sales", 40, 4)).unwrap().unwrap().ssn, Dual::new(4).ssn);
    let seen = dual.view(key(4), |e| {
        assert_eq!((e.ssn()?, e.photo()?, e.level()?), (Dual::new(4).ssn, Dual::new(4).photo, 3));
        assert_eq!(e.tags()?, [CANARY]);
        View::to_entity(&e)
    });
    assert_eq!(*seen.unwrap().unwrap(), Dual::new(4));
    assert_eq!(dual.get_as::<Ssn>(key(4)).unwrap().unwrap().ssn, Dual::new(4).ssn);

    // What is written is sealed, also what the change does not touch; and each copy with it.
    assert_eq!(plain(dual.dynamic()), 60);
    dual.update(key(0), |e| e.name = "Other".into()).unwrap();
    assert_eq!(plain(dual.dynamic()), 57);
    dual.put(&Dual::new(0)).unwrap();
    dual.replace(&Dual::new(1), IfMatch::Any).unwrap();
    dual.merge(Dual::key("Sales", 2), Dual::patch().age(41), IfMatch::Any).unwrap();
    dual.insert(&Dual::new(100)).unwrap();
    assert_eq!(plain(dual.dynamic()), 51);
    dual.delete(Dual::key("Sales", 3)).unwrap();
    let error = layout_error::<Sealed>(&store);
    assert_eq!(error.row_key(), Some("age_040_000004"), "{error}");
    assert!(error.to_string().contains("are still plain"), "{error}");

    let report = dual.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (16, 0));
    assert_eq!(plain(dual.dynamic()), 0);
    assert_eq!(*dual.get(key(5)).unwrap().unwrap(), Dual::new(5));
    // An entity that only became sealed is the one that it was.
    let now = rows(dual.dynamic());
    assert!(now.iter().filter(|row| row.row_key().ends_with("05")).all(|row| etags.contains(&row.etag())));
    assert!(dual.reencrypt().unwrap().run().unwrap().changed == 0);

    let sealed = store.table::<Sealed>().unwrap();
    assert_eq!(*sealed.get(Sealed::key("Sales", 5)).unwrap().unwrap(), Sealed::new(5));
    // Who opens notes nothing; who writes does.
    store.table::<Dual>().unwrap();
    sealed.insert(&Sealed::new(51)).unwrap();
    // Who has the table open with the former declaration still writes nothing plain.
    dual.insert(&Dual::new(50)).unwrap();
    assert_eq!(*sealed.get(Sealed::key("Sales", 50)).unwrap().unwrap(), Sealed::new(50));
    // There is no way back, and what is plain now was put there by somebody.
    let back = layout_error::<Dual>(&store).to_string();
    assert!(back.contains("no row holds `Ssn` plain any more: leave `dual` out"), "{back}");
    layout_error::<Plain>(&store);
    let change = DynamicEntity::new("Sales", "empid_000005").with("Ssn", CANARY);
    sealed.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
    assert_eq!(kind(sealed.get(Sealed::key("Sales", 5))), ErrorKind::DecryptionFailed);
    assert_sound(&store);
}

#[test]
fn from_either_there_is_no_way_back_to_plain() {
    let scratch = Scratch::new();
    let store = scratch.open();
    filled(&store, 1);
    store.table::<Dual>().unwrap();
    store.table::<Plain>().unwrap();
    store.table::<Dual>().unwrap().update(Dual::key("Sales", 0), |e| e.age = 3).unwrap();
    layout_error::<Plain>(&store);
    drop(store);
    layout_error::<Plain>(&scratch.open());
    layout_error::<Plain>(&scratch.open_without_provider());
}

/// A program that has had the table open since before can't write plain any more, by no way.
#[test]
fn a_program_of_former_times_writes_nothing_plain() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let old = filled(&store, 3);
    let key = |id| Plain::key("Sales", id);
    old.update(key(0), |e| e.age = 41).unwrap();
    let dual = store.table::<Dual>().unwrap();
    dual.update(Dual::key("Sales", 2), |e| e.age = 43).unwrap();
    let before = rows(old.dynamic());
    assert_eq!(kind(old.insert(&Plain::new(9))), ErrorKind::LayoutChanged);
    assert_eq!(kind(old.put(&Plain::new(0))), ErrorKind::LayoutChanged);
    assert_eq!(kind(old.update(key(0), |e| e.age = 42)), ErrorKind::LayoutChanged);
    assert_eq!(kind(old.delete(key(0))), ErrorKind::LayoutChanged);
    let nine = Plain::new(9);
    assert_eq!(kind(old.egt(Plain::partition("Sales")).insert(&nine).commit()), ErrorKind::LayoutChanged);
    let report = old.bulk_insert([Plain::new(9)]).unwrap();
    assert_eq!(report.failures[0].error.kind(), ErrorKind::LayoutChanged);
    assert_eq!(rows(old.dynamic()), before);
    assert!(refused(old.insert(&nine)).to_string().contains("declare it with `#[encrypt]` here too"));
    assert_eq!(kind(store.table::<Plain>()), ErrorKind::LayoutChanged);

    // Others go on.
    old.dynamic().insert(&DynamicEntity::new("Sales", "other")).unwrap();
    dual.insert(&Dual::new(9)).unwrap();
    dual.reencrypt().unwrap().run().unwrap();
    store.table::<Sealed>().unwrap();
    // What it reads does not fit its struct.
    assert_eq!(kind(old.get(key(0))), ErrorKind::SchemaMismatch);
}

/// Somebody who writes plain while the layout is being changed comes before it, or is refused.
#[test]
fn nothing_plain_comes_between() {
    for round in 0..20 {
        let scratch = Scratch::new();
        let store = scratch.open();
        let old = filled(&store, 1);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for id in 1..200 {
                    match old.insert(&Plain::new(id)) {
                        Ok(_) => {}
                        Err(error) => return assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}"),
                    }
                }
            });
            std::thread::sleep(std::time::Duration::from_micros(100 * round));
            let dual = store.table::<Dual>().unwrap();
            dual.reencrypt().unwrap().run().unwrap();
            assert_eq!(plain(dual.dynamic()), 0);
            store.table::<Sealed>().unwrap();
            writer.join().unwrap();
        });
        let table = store.table::<Sealed>().unwrap();
        assert_eq!(plain(table.dynamic()), 0);
        assert!(table.rows().department("Sales").into_iter().all(|e| e.is_ok()));
    }
}

#[test]
fn what_no_longer_fits_is_not_taken_for_plain() {
    let scratch = Scratch::new();
    let store = scratch.open();
    filled(&store, 2);
    let dual = store.table::<Dual>().unwrap();
    let put = |value: Value| {
        let change = DynamicEntity::new("Sales", "empid_000000").with("Ssn", value);
        dual.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
    };
    // Neither text nor sealed.
    put(Value::Binary(CANARY.into()));
    assert_eq!(kind(dual.get(Dual::key("Sales", 0))), ErrorKind::SchemaMismatch);
    // Sealed for another row.
    dual.put(&Dual::new(1)).unwrap();
    let other = dual.dynamic().get("Sales", "empid_000001").unwrap().unwrap();
    put(other.get("Ssn").unwrap().clone());
    assert_eq!(kind(dual.get(Dual::key("Sales", 0))), ErrorKind::DecryptionFailed);
    let read: Option<Stored<Dual>> = dual.get(Dual::key("Sales", 1)).unwrap();
    assert!(read.is_some());
    assert_eq!(dual.dynamic().query(&Query::new()).unwrap().filter(Result::is_ok).count(), 8);
}

#[test]
fn pictures_say_what_may_be_plain() {
    let picture = <Dual as Entity>::SCHEMA.to_string();
    assert!(picture.contains("Ssn: encrypted(dual) String, "), "{picture}");
}

on_executors_with_jobs! {
    what_was_plain_is_read_sealed_bit_by_bit_and_then_only_sealed
    from_either_there_is_no_way_back_to_plain
    a_program_of_former_times_writes_nothing_plain
    nothing_plain_comes_between
    what_no_longer_fits_is_not_taken_for_plain
}
