//! Indexes in other partitions and tables are made, changed and removed while their entities are there, as others are.

use integration_tests::assert_sound;
use integration_tests::elsewhere::{Employee, check};
use integration_tests::{Scratch, relaxed};
use table_core::{Entity, ErrorKind, Query, Table, Tables};

use super::{company, employee};

/// The employee before it had copies elsewhere.
mod before {
    use super::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) last_name: String,
        pub(super) email: String,
        pub(super) badge: Option<u32>,
        pub(super) is_inside: bool,
        #[property(json)]
        pub(super) skills: Vec<String>,
        pub(super) age: u32,
    }
}

/// The names are in another table, by another partition, and some indexes are gone.
mod later {
    use super::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_name, table = "People", partition = "name_{last_name}", row = "{department}_{id:06}", atomic)]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) last_name: String,
        pub(super) email: String,
        pub(super) badge: Option<u32>,
        pub(super) is_inside: bool,
        #[property(json)]
        pub(super) skills: Vec<String>,
        pub(super) age: u32,
    }
}

/// Of another kind, whose rows could have the key of a badge's copy.
#[derive(Entity)]
#[entity(table = "Names", kind = "street")]
#[key(partition = "{town}", row = "{number:05}")]
struct Street {
    town: String,
    number: u32,
}

fn former(id: u32) -> before::Employee {
    let Employee { department, id, last_name, email, badge, is_inside, skills, age } =
        employee(["Sales", "Legal"][id as usize % 2], id, &format!("{id}@contoso.com"));
    before::Employee { department, id, last_name, email, badge, is_inside, skills, age }
}

/// Employees of the former declaration.
fn filled(store: &Tables, many: u32) -> Table<before::Employee> {
    let staff = store.table::<before::Employee>().unwrap();
    assert!(staff.bulk_insert((0..many).map(former)).unwrap().failures.is_empty());
    staff
}

fn rows(store: &Tables, table: &str, kind: &str) -> usize {
    let query = Query::new().filter(format!("EntityType eq '{kind}'").parse().unwrap());
    store.dynamic_table(table).unwrap().query(&query).unwrap().count()
}

#[test]
fn indexes_elsewhere_are_made_of_entities_that_are_there() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&relaxed());
    let old = filled(&store, 700);
    let staff = store.table::<Employee>().unwrap();
    let by_email = || staff.get(Employee::by_email("7@contoso.com"));
    let snapshot = store.snapshot().unwrap();
    for error in [
        by_email().unwrap_err(),
        staff.get(Employee::by_badge(7)).unwrap_err(),
        staff.at(&snapshot).get(Employee::by_email("7@contoso.com")).unwrap_err(),
        staff.by_name().last_name("n1").into_iter().next().unwrap().unwrap_err(),
        staff.by_skill().across_partitions().count().unwrap_err(),
        staff.by_name().last_name("n1").entities().into_iter().next().unwrap().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        assert!(error.to_string().contains("`Table::rebuild` makes it"), "{error}");
    }
    drop(snapshot);
    // All else goes on, by both declarations, and nothing is noted elsewhere.
    staff.update(Employee::key("Sales", 4), |e| e.age = 50).unwrap();
    old.update(before::Employee::key("Sales", 4), |e| e.age = 51).unwrap();
    assert_eq!(rows(&store, "Names", "employee.by_name"), 0);
    store.table::<Street>().unwrap();

    let mut job = staff.rebuild().unwrap();
    while job.step().unwrap() {
        let beside = staff.update(Employee::key("Sales", 4), |e| e.age += 1);
        beside.unwrap();
        let begun = store.jobs().unwrap();
        assert!(
            begun.iter().all(|job| job.table == "Company" && job.name.starts_with("rebuild employee by_"))
        );
    }
    assert_eq!(check(&store).unwrap().len(), 700);
    assert_eq!(by_email().unwrap().unwrap().id, 7);
    assert!(staff.check().unwrap().is_sound());
    // It is unique over all departments, the old program can't keep it, and others keep away from its keys.
    let taken = staff.insert(&employee("New", 1_000, "7@contoso.com")).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict);
    let refused = old.update(before::Employee::key("Sales", 4), |e| e.age = 1).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
    let street = Street { town: "badges".into(), number: 1 };
    let street = store.table::<Street>().and_then(|table| table.insert(&street)).unwrap_err();
    assert_eq!(street.kind(), ErrorKind::LayoutConflict);
    assert!(!staff.rebuild().unwrap().step().unwrap());
    assert_sound(&store);
}

#[test]
fn two_that_claim_one_key_over_partitions_are_named() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let old = filled(&store, 20);
    old.update(before::Employee::key("Legal", 9), |e| e.email = "4@contoso.com".into()).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let error = staff.rebuild().unwrap().run().unwrap_err();
    assert_eq!((error.kind(), error.partition_key()), (ErrorKind::UniqueConflict, Some("Sales")), "{error}");
    let words = "the rows `empid_000009` of partition `Legal` and `empid_000004` of partition `Sales` both claim the key \
                 `email_4@contoso.com` in partition `all`";
    assert!(error.to_string().contains(words), "{error}");
    let unread = staff.get(Employee::by_email("4@contoso.com")).unwrap_err();
    assert!(unread.to_string().contains(words), "{unread}");
    // No third may claim it.
    assert_eq!(
        staff.insert(&employee("New", 99, "4@contoso.com")).unwrap_err().kind(),
        ErrorKind::UniqueConflict
    );
    staff.update(Employee::key("Legal", 9), |e| e.email = "9@contoso.com".into()).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(check(&store).unwrap().len(), 20);
    assert_eq!(staff.get(Employee::by_email("4@contoso.com")).unwrap().unwrap().id, 4);
}

#[test]
fn an_index_moves_to_another_table_and_leaves_nothing() {
    let (_scratch, store) = company();
    let new = store.table::<later::Employee>().unwrap();
    let error = new.get(later::Employee::by_name("n1", "Sales", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    let refused = new.delete(later::Employee::key("Sales", 1)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
    assert_eq!(check(&store).unwrap().len(), 3);
    for name in ["by_email", "by_badge", "by_skill"] {
        new.drop_index(name).unwrap().run().unwrap();
    }
    assert_eq!(
        (rows(&store, "Names", "employee.by_badge"), rows(&store, "Company", "employee.by_email")),
        (0, 0)
    );
    // Skills has no copies of employees any more.
    store.drop_table("Skills").unwrap();

    // Broken off between the tables, and gone on with by another handle.
    new.rebuild().unwrap().step().unwrap();
    new.rebuild().unwrap().run().unwrap();
    assert_eq!(
        (rows(&store, "Names", "employee.by_name"), rows(&store, "People", "employee.by_name")),
        (0, 3)
    );
    assert_eq!(new.by_name().last_name("n1").count().unwrap(), 2);
    assert!(new.check().unwrap().is_sound());
    // Nothing keeps Names to the employees.
    store.table::<Street>().unwrap().insert(&Street { town: "badges".into(), number: 1 }).unwrap();
    store.drop_table("Names").unwrap();
    new.delete(later::Employee::key("Sales", 1)).unwrap();
    assert_eq!(new.by_name().last_name("n1").count().unwrap(), 1);
    assert!(new.check().unwrap().is_sound());
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

#[test]
fn a_job_that_goes_over_several_tables_ends_where_one_of_them_is_dropped() {
    let (_scratch, store) = company();
    let new = store.table::<later::Employee>().unwrap();
    for name in ["by_email", "by_badge", "by_skill"] {
        new.drop_index(name).unwrap().run().unwrap();
    }
    let job = new.rebuild().unwrap();
    store.drop_table("Names").unwrap();
    job.run().unwrap();
    assert_eq!(rows(&store, "People", "employee.by_name"), 3);
    assert!(new.check().unwrap().is_sound());
}
