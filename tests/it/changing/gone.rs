//! What goes: a property that no struct knows any more, copies by a function that has changed, and what a type has printed.

use integration_tests::{Scratch, assert_sound};
use table_core::schema::{KeyPart, KeyType, Property, PropertyValue, ValueError};
use table_core::{Entity, ErrorKind, Query, ValueRef};

mod before {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_age, row = "age_{age:03}_{id:06}")]
    pub(super) struct Employee {
        pub department: String,
        pub id: u32,
        pub age: u8,
        pub phone: String,
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee", gone("Phone"))]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_age, row = "age_{age:03}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    age: u8,
}

#[test]
fn a_property_that_is_to_go_is_carried_no_more_and_the_migration_removes_it() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let older = store.table::<before::Employee>().unwrap();
    for id in 0..700 {
        let phone = format!("555-{id:04}");
        older.insert(&before::Employee { department: "Sales".into(), id, age: 20, phone }).unwrap();
    }
    let staff = store.table::<Employee>().unwrap();
    let phones = || {
        let rows = store.dynamic_table("Company").unwrap().query(&Query::new()).unwrap();
        rows.filter(|row| row.as_ref().unwrap().get("Phone").is_some()).count()
    };
    // It is read, and nothing is noted by that.
    assert_eq!(staff.get(Employee::key("Sales", 3)).unwrap().unwrap().age, 20);
    older.update(before::Employee::key("Sales", 4), |e| e.age = 21).unwrap();
    assert_eq!(phones(), 1_400);
    // A change leaves it out, of copies as well.
    staff.update(Employee::key("Sales", 3), |e| e.age = 30).unwrap();
    assert_eq!(phones(), 1_398);
    // Who still declares it writes no more.
    let error = older.update(before::Employee::key("Sales", 4), |e| e.age = 22).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("`Phone`"), "{error}");
    assert!(staff.check().unwrap().is_sound());

    let migration = store.migration::<Employee>().unwrap();
    assert!(migration.is_needed());
    assert_eq!(migration.run().unwrap().changed, 699);
    assert_eq!(phones(), 0);
    assert!(staff.check().unwrap().is_sound() && store.jobs().unwrap().is_empty());
    assert_eq!(staff.by_age().department("Sales").age(30).count().unwrap(), 1);
    assert_sound(&store);
    let error = store.table::<before::Employee>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
}

mod old_rule {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_youth, row = "youth_{id:06}", when = is_young)]
    pub(super) struct Employee {
        pub department: String,
        pub id: u32,
        pub age: u8,
    }

    fn is_young(employee: &Employee) -> bool {
        employee.age < 30
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_youth, row = "youth_{id:06}", when = is_young, when_version = 2)]
struct Younger {
    department: String,
    id: u32,
    age: u8,
}

fn is_young(employee: &Younger) -> bool {
    employee.age < 25
}

#[test]
fn another_version_of_a_function_has_its_index_made_anew() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let older = store.table::<old_rule::Employee>().unwrap();
    for id in 0..20 {
        older.insert(&old_rule::Employee { department: "Sales".into(), id, age: 20 + id as u8 }).unwrap();
    }
    assert_eq!(older.by_youth().department("Sales").count().unwrap(), 10);
    let staff = store.table::<Younger>().unwrap();
    let error = staff.by_youth().department("Sales").count().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    let error = staff.update(Younger::key("Sales", 1), |e| e.age = 40).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(staff.by_youth().department("Sales").count().unwrap(), 5);
    staff.update(Younger::key("Sales", 1), |e| e.age = 40).unwrap();
    assert_eq!(staff.by_youth().department("Sales").count().unwrap(), 4);
    assert!(staff.check().unwrap().is_sound());
    let error = older.update(old_rule::Employee::key("Sales", 2), |e| e.age = 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
}

/// A text that keys have in a form of its own, which has changed.
macro_rules! code {
    ($name:ident, $version:literal, $print:expr, $read:expr) => {
        #[derive(Clone, Debug, PartialEq)]
        struct $name(String);

        impl Property for $name {
            const EDM: table_core::EdmType = String::EDM;

            fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
                let print: fn(&str) -> String = $print;
                Ok(PropertyValue::Owned(print(&self.0).into()))
            }

            fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
                let read: fn(String) -> String = $read;
                String::from_property(value).map(read).map(Self)
            }
        }

        impl KeyPart for $name {
            const KEY: KeyType = String::KEY;
            const VERSION: u32 = $version;
        }
    };
}

code!(Code, 1, str::to_owned, |text| text);
code!(Lowered, 2, |text| text.to_lowercase(), |text| text.to_lowercase());

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "part")]
#[key(partition = "{store}", row = "part_{id:06}")]
#[index(by_code, row = "code_{code}", unique)]
struct Part {
    store: String,
    id: u32,
    code: Code,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "part")]
#[key(partition = "{store}", row = "part_{id:06}")]
#[index(by_code, row = "code_{code}", unique)]
struct LoweredPart {
    store: String,
    id: u32,
    code: Lowered,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(kind = "part", version = 1, former)]
#[key(partition = "{store}", row = "part_{id:06}")]
struct PartV1 {
    store: String,
    id: u32,
    code: Code,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "part", version = 2, from = PartV1)]
#[key(partition = "{store}", row = "part_{id:06}")]
#[index(by_code, row = "code_{code}", unique)]
struct PartV2 {
    store: String,
    id: u32,
    code: Lowered,
}

impl From<PartV1> for PartV2 {
    fn from(former: PartV1) -> Self {
        Self { store: former.store, id: former.id, code: Lowered(former.code.0) }
    }
}

/// An entity with the code in its key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "shelf")]
#[key(partition = "{store}", row = "shelf_{code}")]
struct Shelf {
    store: String,
    code: Code,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "shelf")]
#[key(partition = "{store}", row = "shelf_{code}")]
struct LoweredShelf {
    store: String,
    code: Lowered,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(kind = "shelf", version = 1, former)]
#[key(partition = "{store}", row = "shelf_{code}")]
struct ShelfV1 {
    store: String,
    code: Code,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "shelf", version = 2, from = ShelfV1)]
#[key(partition = "{store}", row = "shelf_{code}")]
struct ShelfV2 {
    store: String,
    code: Lowered,
}

impl From<ShelfV1> for ShelfV2 {
    fn from(former: ShelfV1) -> Self {
        Self { store: former.store, code: Lowered(former.code.0) }
    }
}

#[test]
fn another_version_of_what_a_type_prints_takes_another_version_of_the_struct() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let parts = store.table::<Part>().unwrap();
    for id in 0..20 {
        parts.insert(&Part { store: "Main".into(), id, code: Code(format!("C{id}")) }).unwrap();
    }
    let error = store.table::<LoweredPart>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("`KeyPart::VERSION` is 2, and they were written by 1"), "{error}");
    let lowered = store.table::<PartV2>().unwrap();
    let get = || lowered.get(PartV2::by_code("Main", Lowered("c7".into())));
    assert_eq!(get().unwrap_err().kind(), ErrorKind::MigrationPending);
    store.migration::<PartV2>().unwrap().run().unwrap();
    assert_eq!(get().unwrap().unwrap().id, 7);
    let report = lowered.check().unwrap();
    assert!(report.is_sound(), "{report:?}");
    let late = parts.insert(&Part { store: "Main".into(), id: 50, code: Code("C1".into()) }).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::LayoutChanged);

    // The same in the key of the entity itself.
    let shelves = store.table::<Shelf>().unwrap();
    for id in 0..20 {
        shelves.insert(&Shelf { store: "Main".into(), code: Code(format!("S{id}")) }).unwrap();
    }
    let error = store.table::<LoweredShelf>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    let moved = store.table::<ShelfV2>().unwrap();
    assert_eq!(moved.all().count().unwrap_err().kind(), ErrorKind::MigrationPending);
    store.migration::<ShelfV2>().unwrap().run().unwrap();
    let found: Vec<_> = moved.all().into_iter().map(|row| row.unwrap().code.0.clone()).collect();
    assert_eq!(found.len(), 20);
    assert!(found.contains(&"s7".to_owned()), "{found:?}");
    assert!(moved.get(ShelfV2::key("Main", Lowered("S7".into()))).unwrap().is_some());
    assert_sound(&store);
}
