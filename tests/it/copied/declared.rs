//! What is promised of copies, case by case.

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Projection, Query, Store};

use super::{
    Contact, Department, Employee, Home, Project, all, assert_copied, department, employee, project,
};

fn filled(store: &Store) {
    for id in 1..=3 {
        store.table::<Employee>().unwrap().insert(&employee("Sales", id)).unwrap();
    }
    store.table::<Department>().unwrap().insert(&department("Sales", Some(1))).unwrap();
    store.table::<Project>().unwrap().insert(&project("spring", "Sales", 1, Some(2))).unwrap();
}

fn contact(name: &str, email: Option<&str>) -> Option<Contact> {
    Some(Contact { name: name.into(), email: email.map(Into::into) })
}

#[test]
fn a_copy_is_what_its_source_says_and_nothing_else() {
    let scratch = Scratch::new();
    let store = scratch.store();
    filled(&store);
    let (staff, departments) = (store.table::<Employee>().unwrap(), store.table::<Department>().unwrap());
    let projects = store.table::<Project>().unwrap();
    let sales = || departments.get(Department::key("Sales")).unwrap().unwrap();
    assert_eq!(sales().manager, contact("n1", None));
    let row = departments.dynamic().get("Sales", "department").unwrap().unwrap();
    assert_eq!(row.get("HeadName").and_then(|name| name.as_str()), Some("n1"));
    assert!(row.get("HeadEmail").is_none() && row.get("ManagerName").is_none());
    // Both ways: who is there shows where the department is.
    let city = || staff.get(Employee::key("Sales", 3)).unwrap().unwrap().home.clone();
    assert_eq!(city(), Some(Home { city: "cSales".into() }));
    departments.update(Department::key("Sales"), |sales| sales.city = "Bern".into()).unwrap();
    assert_eq!(city(), Some(Home { city: "Bern".into() }));

    // What is given for a copy is not what is stored, and what comes back is.
    let given = Department { manager: contact("else", None), ..department("Sales", Some(2)) };
    departments.replace(&given, IfMatch::Any).unwrap();
    assert_eq!(sales().manager, contact("n2", Some("e2")));
    let stored = departments
        .update(Department::key("Sales"), |sales| (sales.manager_id, sales.manager) = (Some(3), None))
        .unwrap();
    assert_eq!(stored.manager, contact("n3", None));
    // Nobody is there, and nobody is referred to.
    for manager in [Some(9), None] {
        let stored =
            departments.update(Department::key("Sales"), |sales| sales.manager_id = manager).unwrap();
        assert_eq!((stored.manager.as_ref(), sales().manager.as_ref()), (None, None));
    }
    // One who comes is taken over.
    departments.update(Department::key("Sales"), |sales| sales.manager_id = Some(9)).unwrap();
    staff.insert(&employee("Sales", 9)).unwrap();
    assert_eq!(sales().manager, contact("n9", None));
    staff.move_to(Employee::key("Sales", 9), |nine| nine.id = 10).unwrap();
    assert_eq!(sales().manager, None);
    staff.move_to(Employee::key("Sales", 10), |nine| nine.id = 9).unwrap();
    assert_eq!(sales().manager, contact("n9", None));
    staff.delete(Employee::key("Sales", 9)).unwrap();
    assert_eq!(sales().manager, None);

    let spring = projects.get(Project::key("west", "spring")).unwrap().unwrap();
    assert_eq!((&spring.lead, &spring.deputy), (&contact("n1", None), &contact("n2", Some("e2"))));
    assert_copied(&store);
    assert_sound(&store);
}

#[test]
fn a_change_touches_the_holders_of_what_is_copied_alone() {
    let scratch = Scratch::new();
    let store = scratch.store();
    filled(&store);
    let staff = store.table::<Employee>().unwrap();
    let one = || staff.egt(Employee::partition("Sales"));
    let rows = |explain: table_core::typed::WriteExplain| {
        explain
            .places()
            .map(|(table, partition, rows)| format!("{table} {partition} {rows}"))
            .collect::<Vec<_>>()
    };
    let raise = one().update(Employee::key("Sales", 1), |one| one.salary += 1).explain().unwrap();
    assert_eq!(raise.rows(), 2, "the entity and its whole copy: {raise}");
    let renamed = one().update(Employee::key("Sales", 1), |one| one.name = "Ann".into()).explain().unwrap();
    assert_eq!(rows(renamed), ["Company Sales 4", "Projects west 1"]);
    let moved = one().update(Employee::key("Sales", 3), |one| one.name = "Ann".into()).explain().unwrap();
    assert_eq!(rows(moved), ["Company Sales 3"]);
    // Nothing was written by looking.
    assert_copied(&store);

    // Version and time of a holder are those of the change.
    let etag = staff.update(Employee::key("Sales", 1), |one| one.name = "Ann".into()).unwrap();
    let departments = store.table::<Department>().unwrap();
    let sales = departments.get(Department::key("Sales")).unwrap().unwrap();
    assert_eq!(table_core::Stored::etag(&sales), table_core::Stored::etag(&etag));
}

#[test]
fn what_is_changed_together_is_seen_together() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (ann, sales) = (employee("Sales", 1), department("Sales", Some(1)));
    let spring = project("spring", "Sales", 1, None);
    store.transaction().insert(&sales).insert(&spring).insert(&ann).commit().unwrap();
    assert_copied(&store);
    let departments = store.table::<Department>().unwrap();
    assert_eq!(departments.get(Department::key("Sales")).unwrap().unwrap().manager, contact("n1", None));
    // The source goes, and the holder refers to another that comes.
    let bob = employee("Sales", 2);
    store
        .transaction()
        .update(Department::key("Sales"), |sales| sales.manager_id = Some(2))
        .delete(Employee::key("Sales", 1))
        .insert(&bob)
        .commit()
        .unwrap();
    assert_eq!(
        departments.get(Department::key("Sales")).unwrap().unwrap().manager,
        contact("n2", Some("e2"))
    );
    assert_copied(&store);
    // One is its own boss.
    let staff = store.table::<Employee>().unwrap();
    let stored = staff
        .update(Employee::key("Sales", 2), |bob| (bob.boss_id, bob.name) = (Some(2), "Bob".into()))
        .unwrap();
    assert_eq!(stored.boss, contact("Bob", Some("e2")));
    assert_copied(&store);
    // All of a kind, by other ways to write.
    let report =
        staff.bulk_insert((3..40).map(|id| Employee { boss_id: Some(2), ..employee("Sales", id) })).unwrap();
    assert_eq!((report.committed, report.failures.len()), (37, 0));
    assert_copied(&store);
    staff
        .delete_where(staff.rows().department("Sales").filter(|e| e.name.eq("n7")).entities())
        .unwrap()
        .run()
        .unwrap();
    staff.delete_partition(Employee::partition("Sales")).unwrap().run().unwrap();
    assert_copied(&store);
    assert_eq!(departments.get(Department::key("Sales")).unwrap().unwrap().manager, None);
}

#[test]
fn too_many_holders_are_told_and_nothing_is_written() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (customers, orders) = (store.table::<Customer>().unwrap(), store.table::<Order>().unwrap());
    customers.insert(&Customer { id: 1, name: "Ann".into() }).unwrap();
    for number in 0..120 {
        orders.insert(&Order { customer: 1, number, buyer: None }).unwrap();
    }
    let buyers = |name: &str| {
        let all = orders.rows().customer(1).into_iter();
        all.map(Result::unwrap).filter(|order| order.buyer == Some(Buyer { name: name.into() })).count()
    };
    let error = customers.update(Customer::key(1), |one| one.name = "Cao".into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BatchLength);
    assert!(error.to_string().contains("120 entities that hold copies"), "{error}");
    assert_eq!(buyers("Ann"), 120);
    // A transaction of the store has more room.
    let update = |one: &mut Customer| one.name = "Cao".into();
    store.transaction().update(Customer::key(1), update).commit().unwrap();
    assert_eq!(buyers("Cao"), 120);
    assert!(orders.check().unwrap().is_sound());
}

#[test]
fn what_is_wrong_is_found_and_mended() {
    let scratch = Scratch::new();
    let store = scratch.store();
    filled(&store);
    let departments = store.table::<Department>().unwrap();
    let wrong = DynamicEntity::new("Sales", "department").with("HeadName", "else");
    departments.dynamic().raw().merge(&wrong, IfMatch::Any).unwrap();
    let gone = store.dynamic_table("Company").unwrap();
    gone.raw().delete("Sales", "empid_000002").unwrap();
    let report = departments.check().unwrap();
    assert_eq!((report.outdated, report.wrong()), (1, 1), "{report}");
    assert_eq!((report.problems[0].index, &*report.problems[0].row), ("manager", "department"));
    assert!(report.to_string().contains("hold what others said before"), "{report}");
    let projects = store.table::<Project>().unwrap();
    assert_eq!(projects.check().unwrap().outdated, 1);
    assert_eq!(departments.repair().unwrap().run().unwrap().mended, 1);
    assert_eq!(projects.repair().unwrap().run().unwrap().mended, 1);
    store.table::<Employee>().unwrap().repair().unwrap().run().unwrap();
    assert_copied(&store);
}

/// Customers and orders without the copies, as an earlier program declares them.
mod before {
    use table_core::Entity;

    #[derive(Entity, Clone)]
    #[entity(table = "Shop", kind = "customer")]
    #[key(partition = "{id:04}", row = "customer")]
    pub(super) struct Customer {
        pub(super) id: u32,
        pub(super) name: String,
    }

    #[derive(Entity, Clone)]
    #[entity(table = "Shop", kind = "order")]
    #[key(partition = "{customer:04}", row = "order_{number:06}")]
    pub(super) struct Order {
        pub(super) customer: u32,
        pub(super) number: u32,
    }
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "Shop", kind = "customer")]
#[key(partition = "{id:04}", row = "customer")]
#[copied_into(Order)]
struct Customer {
    id: u32,
    name: String,
}

#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Customer)]
struct Buyer {
    name: String,
}

#[derive(Entity, Clone, Debug)]
#[entity(table = "Shop", kind = "order")]
#[key(partition = "{customer:04}", row = "order_{number:06}")]
struct Order {
    customer: u32,
    number: u32,
    #[copy_of(Customer, key(customer))]
    buyer: Option<Buyer>,
}

#[test]
fn entities_that_are_there_already_take_their_copies_by_a_repair() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let old = (store.table::<before::Customer>().unwrap(), store.table::<before::Order>().unwrap());
    old.0.insert(&before::Customer { id: 1, name: "Ann".into() }).unwrap();
    old.1.insert(&before::Order { customer: 1, number: 1 }).unwrap();

    let (customers, orders) = (store.table::<Customer>().unwrap(), store.table::<Order>().unwrap());
    assert_eq!(orders.get(Order::key(1, 1)).unwrap().unwrap().buyer, None);
    assert_eq!(orders.check().unwrap().outdated, 1);
    orders.repair().unwrap().run().unwrap();
    assert_eq!(orders.get(Order::key(1, 1)).unwrap().unwrap().buyer, Some(Buyer { name: "Ann".into() }));
    customers.update(Customer::key(1), |one| one.name = "Cao".into()).unwrap();
    assert_eq!(orders.get(Order::key(1, 1)).unwrap().unwrap().buyer, Some(Buyer { name: "Cao".into() }));

    // Who doesn't know the copies can't write either side, and reads both.
    let error = old.0.insert(&before::Customer { id: 2, name: "Bob".into() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    let error = old.1.insert(&before::Order { customer: 2, number: 1 }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert_eq!(old.0.get(before::Customer::key(1)).unwrap().unwrap().name, "Cao");
    assert!(old.1.get(before::Order::key(1, 1)).unwrap().is_some());
    let rows = store.dynamic_table("Shop").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, 2);
}

/// The release after the copies: they are declared no more, and an order has a remark.
mod later {
    use table_core::Entity;

    #[derive(Entity, Clone)]
    #[entity(table = "Shop", kind = "customer")]
    #[key(partition = "{id:04}", row = "customer")]
    pub(super) struct Customer {
        pub(super) id: u32,
        pub(super) name: String,
        pub(super) city: Option<String>,
    }

    #[derive(Entity, Clone)]
    #[entity(table = "Shop", kind = "order")]
    #[key(partition = "{customer:04}", row = "order_{number:06}")]
    pub(super) struct Order {
        pub(super) customer: u32,
        pub(super) number: u32,
        #[property(new)]
        pub(super) remark: Option<String>,
    }

    /// What it held is to go.
    #[derive(Entity, Clone)]
    #[entity(table = "Shop", kind = "order", gone("BuyerName"))]
    #[key(partition = "{customer:04}", row = "order_{number:06}")]
    pub(super) struct Bare {
        pub(super) customer: u32,
        pub(super) number: u32,
        pub(super) remark: Option<String>,
    }
}

#[test]
fn copies_that_nobody_declares_any_more_are_forgotten_when_somebody_says_so() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (customers, orders) = (store.table::<Customer>().unwrap(), store.table::<Order>().unwrap());
    customers.insert(&Customer { id: 1, name: "Ann".into() }).unwrap();
    orders.insert(&Order { customer: 1, number: 1, buyer: None }).unwrap();

    // A new property is noted, and what is noted of copies stays: neither side is written without them.
    let (sources, holders) =
        (store.table::<later::Customer>().unwrap(), store.table::<later::Order>().unwrap());
    let rename = |name: &str| sources.update(later::Customer::key(1), |one| one.name = name.into()).map(drop);
    let remark =
        |text: &str| holders.update(later::Order::key(1, 1), |one| one.remark = Some(text.into())).map(drop);
    for _ in 0..2 {
        for error in [rename("Bob").unwrap_err(), remark("late").unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
            assert!(error.to_string().contains("`Table::forget_copies`"), "{error}");
        }
    }
    customers.update(Customer::key(1), |one| one.name = "Cao".into()).unwrap();
    let buyer = || orders.get(Order::key(1, 1)).unwrap().unwrap().buyer.clone().map(|buyer| buyer.name);
    assert_eq!(buyer().as_deref(), Some("Cao"));

    // Each side for itself, and once.
    assert_eq!((sources.forget_copies().unwrap(), sources.forget_copies().unwrap()), (1, 0));
    rename("Bob").unwrap();
    assert_eq!(remark("late").unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_eq!(holders.forget_copies().unwrap(), 1);
    remark("late").unwrap();
    assert_eq!(buyer().as_deref(), Some("Cao"));

    // Who declares them still notes them anew, and looks everything up again.
    customers.put(&Customer { id: 1, name: "Eve".into() }).unwrap();
    assert_eq!(buyer().as_deref(), Some("Eve"));
    assert_eq!(rename("Fay").unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_eq!(sources.forget_copies().unwrap() + holders.forget_copies().unwrap(), 2);
    rename("Fay").unwrap();

    // What it held goes with a word for it.
    store.migration::<later::Bare>().unwrap().run().unwrap();
    let row = store.dynamic_table("Shop").unwrap().get("0001", "order_000001").unwrap().unwrap();
    assert!(row.get("BuyerName").is_none());
    assert_eq!(row.get("Remark").and_then(|text| text.as_str()), Some("late"));
    integration_tests::assert_sound(&store);
}

/// A table that is dropped empties no copies: the check counts them, and a repair empties them.
#[test]
fn copies_of_a_dropped_table_are_found_and_emptied() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for id in 1..4 {
        store.table::<Employee>().unwrap().insert(&employee("Sales", id)).unwrap();
    }
    store.table::<Project>().unwrap().insert(&project("road", "Sales", 1, Some(2))).unwrap();
    store.table::<Project>().unwrap().insert(&project("bridge", "Sales", 3, None)).unwrap();
    store.drop_table("Company").unwrap();
    let _: table_core::Table<Employee> = store.table().unwrap();
    let projects = store.table::<Project>().unwrap();
    assert!(all::<Project>(&store).iter().all(|one| one.lead.is_some()));
    assert_eq!(projects.check().unwrap().outdated, 3);
    projects.repair().unwrap().run().unwrap();
    assert!(all::<Project>(&store).iter().all(|one| one.lead.is_none() && one.deputy.is_none()));
    // Who comes again fills them.
    store.table::<Employee>().unwrap().insert(&employee("Sales", 3)).unwrap();
    assert_eq!(all::<Project>(&store).iter().filter(|one| one.lead.is_some()).count(), 1);
    assert_copied(&store);
}
