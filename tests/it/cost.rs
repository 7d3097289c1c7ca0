//! What entities cost, as estimated and as counted, against what is stored and what changes write.

use table_core::schema::{Basis, Usage};
use table_core::{Entity, ErrorKind, Query, Store};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name))]
#[index(by_office, table = "Offices", partition = "{office}", row = "{department}_{id:06}", copy = keys, atomic)]
#[index(by_phone, row = "phone_{phone}_{id:06}", copy = keys)]
#[index(by_tag, row = "tag_{tags[]}_{id:06}", copy = keys, as = tag)]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    office: String,
    phone: Option<String>,
    #[property(json)]
    tags: Vec<String>,
    age: i32,
}

fn employee(id: u32) -> Employee {
    Employee {
        department: if id.is_multiple_of(2) { "Sales" } else { "Legal" }.into(),
        id,
        first_name: ["Ann", "Bob", "Eve", "Jun"][id as usize % 4].into(),
        last_name: ["Jones", "Hall", "Smith"][id as usize % 3].into(),
        email: format!("employee{id:03}@contoso.com"),
        office: if id.is_multiple_of(10) { "Oslo" } else { "Bern" }.into(),
        phone: id.is_multiple_of(4).then(|| format!("555{id:04}")),
        tags: (0..id % 3).map(|tag| format!("t{tag}")).collect(),
        age: 40,
    }
}

#[test]
fn what_is_counted_is_what_is_stored() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    let empty = staff.cost().unwrap();
    assert_eq!((empty.entities, empty.service_bytes(), empty.stored_bytes()), (0, 0, 0));
    assert!(empty.advice.is_empty());

    // More than are looked at in one snapshot.
    assert_eq!(staff.bulk_insert((0..1_200).map(employee)).unwrap().committed, 1_200);
    // Rows of no declared kind are none of the kind's.
    store
        .dynamic_table("Company")
        .unwrap()
        .insert(&table_core::DynamicEntity::new("Sales", "other"))
        .unwrap();
    let cost = staff.cost().unwrap();
    assert_eq!((cost.basis, cost.entities, cost.entity), (Basis::Counted, 1_200, "Employee"));

    let mut sizes = std::collections::BTreeMap::<String, (u64, u64)>::new();
    for name in ["Company", "Offices"] {
        for row in store.dynamic_table(name).unwrap().query(&Query::new()).unwrap() {
            let row = row.unwrap();
            if let Some(kind) = row.get("EntityType").and_then(|kind| kind.as_str()) {
                let (rows, bytes) = sizes.entry(kind.to_owned()).or_default();
                *rows += 1;
                *bytes += row.size() as u64;
            }
        }
    }
    assert_eq!(cost.rows.len(), 6);
    for rows in &cost.rows {
        let kind = rows.index.map_or("employee".to_owned(), |index| format!("employee.{index}"));
        assert_eq!((rows.rows, rows.service_bytes), sizes[&kind], "{kind}");
        assert!(rows.stored_bytes > 0 && rows.stored_bytes < rows.service_bytes);
    }
    assert_eq!(cost.service_bytes(), sizes.values().map(|(_, bytes)| bytes).sum::<u64>());

    let values = |at: usize| cost.rows[at].values.map(|values| (values.distinct, values.most));
    assert_eq!(values(0), None);
    assert_eq!(values(1), Some((1_200, 1)));
    // Three names in each of two partitions.
    assert_eq!(values(2), Some((6, 200)));
    assert_eq!(values(3), Some((2, 1_080)));
    assert_eq!(values(4), Some((300, 1)));
    // An element of a list is not given back.
    assert_eq!(values(5), None);
    let about = |what: &str| cost.advice.iter().filter(|line| line.contains(what)).count();
    assert_eq!((about("`by_office` tells little apart"), about("`by_name`")), (1, 0));
    assert_eq!(about("`by_email` holds whole copies"), 1);
    assert_eq!(cost.advice.len(), 2);
}

#[test]
fn what_a_change_writes_is_what_it_explains() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    let one = Employee { phone: Some("5550000".into()), tags: vec!["t0".into()], ..employee(0) };
    let key = || Employee::key("Sales", 0);
    let rows_of = |explained: String| explained.lines().filter(|line| line.starts_with("  ")).count();

    let cost = |cost: &table_core::schema::Cost, change: &str| {
        let found = cost.changes.iter().find(|found| found.change.split(", ").any(|name| name == change));
        (found.unwrap().rows, found.unwrap().requests)
    };
    // Before there is anything, each index is expected to have one row of each entity.
    let expected = Employee::SCHEMA.cost(&Usage::of(1)).unwrap();
    let transaction = || store.transaction();
    let insert = transaction().insert(&one).explain().unwrap().to_string();
    assert_eq!(cost(&expected, "insert"), (rows_of(insert.clone()) as f64, 2.0), "{insert}");
    staff.insert(&one).unwrap();
    let counted = staff.cost().unwrap();
    assert_eq!(counted.changes, expected.changes);

    type Change = fn(&mut Employee);
    let changes: [(&str, Change, f64); 7] = [
        ("first_name", |e| e.first_name = "Zoe".into(), 2.0),
        ("last_name", |e| e.last_name = "Zhu".into(), 2.0),
        ("email", |e| e.email = "zoe@contoso.com".into(), 2.0),
        ("office", |e| e.office = "Lima".into(), 4.0),
        ("phone", |e| e.phone = Some("5559999".into()), 2.0),
        ("tags", |e| e.tags = vec!["t9".into()], 2.0),
        ("age", |e| e.age = 41, 2.0),
    ];
    for (name, change, requests) in changes {
        let explained = transaction().update(key(), change).explain().unwrap().to_string();
        assert_eq!(
            cost(&counted, name),
            (rows_of(explained.clone()) as f64, requests),
            "{name}: {explained}"
        );
    }
    let delete = transaction().delete(key()).explain().unwrap().to_string();
    assert_eq!(cost(&counted, "delete"), (rows_of(delete.clone()) as f64, 3.0), "{delete}");
}

#[test]
fn an_estimate_is_near_what_is_counted() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    let like =
        |id: u32| Employee { phone: Some(format!("555{id:04}")), tags: vec!["one".into()], ..employee(id) };
    staff.bulk_insert((0..300).map(like)).unwrap().into_result().unwrap();
    let counted = staff.cost().unwrap();
    let usage = Usage::of(300)
        .length("department", 5)
        .length("first_name", 3)
        .length("last_name", 5)
        .length("email", 23)
        .length("office", 4)
        .length("phone", 7)
        // As JSON.
        .length("tags", 7)
        .element("tags", 3);
    let expected = Employee::SCHEMA.cost(&usage).unwrap();
    assert_eq!((expected.basis, expected.entities), (Basis::Estimated, 300));
    let near = |a: u64, b: u64| a.abs_diff(b) * 20 <= b;
    for (expected, counted) in expected.rows.iter().zip(&counted.rows) {
        assert_eq!((expected.index, expected.rows), (counted.index, counted.rows));
        assert!(near(expected.service_bytes, counted.service_bytes), "{expected:?} {counted:?}");
        assert!(near(expected.stored_bytes, counted.stored_bytes), "{expected:?} {counted:?}");
    }
}

/// What an office pays.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Pay", kind = "pay")]
#[key(partition = "{office}", row = "pay")]
#[summary(of = Clerk)]
struct Pay {
    office: String,
    #[summary(count)]
    clerks: u64,
    #[summary(sum = salary)]
    salaries: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Pay", kind = "clerk")]
#[key(partition = "{office}", row = "clerk_{id:06}")]
#[summarized_in(Pay)]
struct Clerk {
    office: String,
    id: u32,
    salary: i64,
    desk: i32,
}

#[test]
fn a_change_counts_the_row_of_a_summary_that_it_adds_to() {
    let store = Store::temporary().unwrap();
    let clerks = store.table::<Clerk>().unwrap();
    let expected = Clerk::SCHEMA.cost(&Usage::of(100)).unwrap();
    assert_eq!((expected.rows[0].rows, expected.rows[1].rows), (100, 0));
    for id in 0..30 {
        let office = if id < 20 { "Oslo" } else { "Bern" }.into();
        clerks.insert(&Clerk { office, id, salary: 100, desk: 1 }).unwrap();
    }
    let counted = clerks.cost().unwrap();
    assert_eq!((counted.rows[0].rows, counted.rows[1].rows), (30, 2));
    assert_eq!((counted.rows[1].values, counted.advice.len()), (None, 0));
    assert_eq!(counted.changes, expected.changes);
    let rows = |change: &str| counted.changes.iter().find(|found| found.change == change).unwrap().rows;
    assert_eq!((rows("insert"), rows("delete"), rows("salary"), rows("desk")), (2.0, 2.0, 2.0, 1.0));
    let explained = |change: fn(&mut Clerk)| {
        let update = clerks.egt(Clerk::partition("Oslo")).update(Clerk::key("Oslo", 1), change);
        update.explain().unwrap().to_string().lines().filter(|line| line.starts_with("  ")).count()
    };
    assert_eq!((explained(|clerk| clerk.salary = 7), explained(|clerk| clerk.desk = 7)), (2, 1));
}

#[test]
fn what_is_not_declared_can_not_be_expected() {
    let refused = |usage: Usage, text: &str| {
        let error = Employee::SCHEMA.cost(&usage).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(Usage::of(1).length("Email", 3), "field `Email`");
    refused(Usage::of(1).changes("salary", 3.0), "field `salary`");
    refused(Usage::of(1).element("tag", 3), "field `tag`");
    refused(Usage::of(1).reads("email", 3.0), "index `email`");
}

#[test]
fn an_index_that_is_written_more_than_read_is_advised_against() {
    let usage = |reads: f64| {
        Usage::of(1_000).reads("by_office", reads).changes("office", 50.0).changes("age", 9_000.0)
    };
    let says = |reads: f64| {
        let cost = Employee::SCHEMA.cost(&usage(reads)).unwrap();
        cost.advice.iter().any(|line| line.starts_with("`by_office` is written more often than read"))
    };
    assert!(says(49.0) && !says(50.0));
}
