//! What a newer program added to a row stays there when an older one writes, in every row that holds it.

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, Entity, EntitySet, IfMatch, Query, SetTable, Store, Table};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:06}", copy(age))]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
#[index(adults, row = "adult_{id:06}", when = Self::is_adult)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    age: u8,
}

impl Employee {
    fn is_adult(&self) -> bool {
        self.age >= 18
    }
}

/// The next release's.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:06}", copy(age))]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
#[index(adults, row = "adult_{id:06}", when = Self::is_adult)]
struct Newer {
    department: String,
    id: u32,
    name: String,
    email: String,
    age: u8,
    phone: Option<String>,
    #[property(default = 1)]
    level: i32,
}

impl Newer {
    fn is_adult(&self) -> bool {
        self.age >= 18
    }
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Employee(Employee),
}

fn jun() -> Newer {
    Newer {
        department: "Sales".into(),
        id: 7,
        name: "Cao".into(),
        email: "jun@contoso.com".into(),
        age: 40,
        phone: Some("555-0100".into()),
        level: 3,
    }
}

fn of(newer: &Newer) -> Employee {
    let Newer { department, id, name, email, age, .. } = newer.clone();
    Employee { department, id, name, email, age }
}

/// The older program's tables.
struct Older {
    staff: Table<Employee>,
    company: SetTable<Company>,
}

/// The older program's tables, the newer one's, and the store; both have it open.
fn both(scratch: &Scratch) -> (Store, Older, Table<Newer>) {
    let store = scratch.store();
    let older = Older { staff: store.table().unwrap(), company: store.set().unwrap() };
    let newer = store.table::<Newer>().unwrap();
    newer.insert(&jun()).unwrap();
    (store, older, newer)
}

/// The rows of the entity, its own and its copies, without what no program gave them.
fn rows(newer: &Table<Newer>) -> Vec<DynamicEntity> {
    let rows = newer.dynamic().query(&Query::new()).unwrap();
    rows.map(Result::unwrap)
        .map(|row| {
            let mut bare = DynamicEntity::new(row.partition_key(), row.row_key());
            for (name, value) in row.properties() {
                bare.set(name, value.clone());
            }
            bare
        })
        .collect()
}

/// Has the older program do something, and compares every row with those of a store where the newer program did the same.
fn is_carried(change: impl FnOnce(&Older), same: impl FnOnce(&mut Newer)) {
    let scratch = Scratch::new();
    let (store, older, newer) = both(&scratch);
    change(&older);
    let mut expected = jun();
    same(&mut expected);
    let key = Newer::key(&expected.department, expected.id);
    assert_eq!(newer.get(key).unwrap().unwrap(), expected);
    let by_email = Newer::by_email("Sales", &expected.email);
    assert_eq!(newer.get(by_email).unwrap().unwrap(), expected, "the whole copy is of the newer struct too");
    let adults: Vec<_> = newer.adults().department("Sales").into_iter().map(|e| e.unwrap()).collect();
    assert_eq!(adults.iter().map(|e| (**e).clone()).collect::<Vec<_>>(), [expected.clone()]);
    assert_sound(&store);

    let other = Scratch::new();
    let store = other.store();
    let alone = store.table::<Newer>().unwrap();
    alone.insert(&expected).unwrap();
    assert_eq!(rows(&newer), rows(&alone));
}

#[test]
fn an_update_carries_it() {
    is_carried(
        |older| {
            older.staff.update(Employee::key("Sales", 7), |e| e.age += 1).unwrap();
        },
        |e| e.age += 1,
    );
    // The copies move.
    is_carried(
        |older| {
            older
                .staff
                .update(Employee::key("Sales", 7), |e| {
                    e.email = "cao@contoso.com".into();
                    e.name = "Chan".into();
                })
                .unwrap();
        },
        |e| (e.email, e.name) = ("cao@contoso.com".into(), "Chan".into()),
    );
    // Nothing changes.
    is_carried(
        |older| {
            older.staff.update(Employee::key("Sales", 7), |_| {}).unwrap();
        },
        |_| {},
    );
}

#[test]
fn replace_and_put_carry_it() {
    let older_one = || Employee { age: 50, ..of(&jun()) };
    is_carried(
        |older| {
            older.staff.replace(&older_one(), IfMatch::Any).unwrap();
        },
        |e| e.age = 50,
    );
    is_carried(
        |older| {
            older.staff.put(&older_one()).unwrap();
        },
        |e| e.age = 50,
    );
}

#[test]
fn a_merge_carries_it() {
    is_carried(
        |older| {
            let patch = Employee::patch().age(51_u8).email("cao@contoso.com");
            older.staff.merge(Employee::key("Sales", 7), patch, IfMatch::Any).unwrap();
        },
        |e| (e.age, e.email) = (51, "cao@contoso.com".into()),
    );
}

#[test]
fn a_move_carries_it() {
    is_carried(
        |older| {
            older.staff.move_to(Employee::key("Sales", 7), |e| e.id = 8).unwrap();
        },
        |e| e.id = 8,
    );
}

#[test]
fn a_transaction_carries_it() {
    is_carried(
        |older| {
            let other = Employee { id: 9, email: "kim@contoso.com".into(), ..of(&jun()) };
            older
                .staff
                .egt(Employee::partition("Sales"))
                .insert(&other)
                .update(Employee::key("Sales", 7), |e: &mut Employee| e.email = "cao@contoso.com".into())
                .commit()
                .unwrap();
            older
                .company
                .egt(Employee::partition("Sales"))
                .delete(Employee::key("Sales", 9))
                .commit()
                .unwrap();
        },
        |e| e.email = "cao@contoso.com".into(),
    );
    // Two entities that exchange what is unique take what each knows along.
    let scratch = Scratch::new();
    let (_store, older, newer) = both(&scratch);
    let kim = Newer { id: 8, email: "kim@contoso.com".into(), phone: None, level: 5, ..jun() };
    newer.insert(&kim).unwrap();
    older
        .staff
        .egt(Employee::partition("Sales"))
        .update(Employee::key("Sales", 7), |e: &mut Employee| e.email = "kim@contoso.com".into())
        .update(Employee::key("Sales", 8), |e: &mut Employee| e.email = "jun@contoso.com".into())
        .commit()
        .unwrap();
    for (email, id, level) in [("kim@contoso.com", 7, 3), ("jun@contoso.com", 8, 5)] {
        let found = newer.get(Newer::by_email("Sales", email)).unwrap().unwrap();
        assert_eq!((found.id, found.level, found.phone.is_some()), (id, level, id == 7));
    }
}

#[test]
fn a_set_carries_it() {
    is_carried(
        |older| {
            let mut changes = DynamicEntity::new("Sales", "empid_000007");
            changes.set("Email", "cao@contoso.com");
            older.company.merge_any(&changes, IfMatch::Any).unwrap();
        },
        |e| e.email = "cao@contoso.com".into(),
    );
    is_carried(
        |older| {
            let mut whole = DynamicEntity::new("Sales", "empid_000007");
            whole.set("EntityType", "employee");
            whole.set("Name", "Cao");
            whole.set("Email", "jun@contoso.com");
            whole.set("Age", 52);
            older.company.put_any(&whole).unwrap();
        },
        |e| e.age = 52,
    );
}

#[test]
fn what_is_deleted_takes_it_along() {
    let scratch = Scratch::new();
    let (_store, older, newer) = both(&scratch);
    older.staff.delete(Employee::key("Sales", 7)).unwrap();
    assert!(rows(&newer).is_empty());
}
