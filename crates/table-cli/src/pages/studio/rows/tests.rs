//! Copies compared with their entities by what the store has noted alone.

use table_core::store::Propagate;
use table_core::{DynamicEntity, Entity, IfMatch, Store};

use super::{Agreement, Asked, Item, Listing, Moment};

#[derive(Entity, Clone)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_city, table = "Cities", partition = "{city}", row = "{department}_{id:06}", copy(age), eventual)]
#[index(by_skill, row = "skill_{skills[]}_{id:06}", copy = keys)]
#[index(by_badge, row = "badge_{badge}_{id:06}", copy = keys)]
#[index(by_senior, row = "senior_{id:06}", when = Employee::is_senior, copy = keys)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    city: String,
    age: i32,
    #[property(json)]
    skills: Vec<String>,
    badge: Option<String>,
}

impl Employee {
    fn is_senior(&self) -> bool {
        self.age >= 60
    }
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        email: format!("{id}@contoso.com"),
        city: "Oslo".into(),
        age: 30,
        skills: vec!["rust".into(), "tea".into()],
        badge: None,
    }
}

/// Reads all rows of a table, as a page shows them.
fn shown(store: &Store, table: &str, as_they_lie: bool) -> Vec<(String, String)> {
    listed(store, table, Asked { as_they_lie, ..Asked::default() }, true)
}

fn listed(store: &Store, table: &str, asked: Asked<'_>, compares: bool) -> Vec<(String, String)> {
    let table = store.dynamic_table(table).unwrap();
    let mut kinds = store.kinds().unwrap();
    kinds.retain(|kind| kind.table() == table.name());
    let listing = Listing { tables: store, table: &table, kinds: &kinds, compares };
    let moment = Moment::of(store).unwrap();
    let page = listing.page(&moment, &listing.query(asked).unwrap(), asked).unwrap();
    assert!(page.next.is_none() && page.closed.is_none());
    page.items.iter().map(|item| (item.row.row_key().to_owned(), told(item))).collect()
}

fn word(agreement: &Agreement) -> String {
    match agreement {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::Missing => "missing".to_owned(),
        Agreement::Follows => "follows".to_owned(),
        Agreement::Differs(names) => format!("differs in {}", names.join(", ")),
        Agreement::Untold(_) => "untold".to_owned(),
    }
}

fn told(item: &Item<'_>) -> String {
    if let Some((_, agreement)) = &item.owner {
        return word(agreement);
    }
    let of = |copy: &super::CopyState| format!("{} {}", copy.index, word(&copy.agreement));
    item.copies.iter().map(of).collect::<Vec<_>>().join("; ")
}

fn store() -> Store {
    let store = Store::options().propagate(Propagate::Manual).temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    for id in 1..=3 {
        staff.insert(&employee(id)).unwrap();
    }
    store.propagate().unwrap();
    store
}

#[test]
fn what_is_in_order_is_folded() {
    let store = store();
    let of_one = "by_email agrees; by_city agrees; by_skill untold; by_badge untold; by_senior untold";
    let rows = shown(&store, "Company", false);
    let keys: Vec<_> = rows.iter().map(|(row, _)| row.as_str()).collect();
    assert_eq!(keys, ["empid_000001", "empid_000002", "empid_000003"]);
    assert!(rows.iter().all(|(_, told)| told == of_one), "{rows:?}");
    assert_eq!(shown(&store, "Cities", false), []);
    assert_eq!(shown(&store, "Company", true).len(), 12);
    assert!(shown(&store, "Cities", true).iter().all(|(_, told)| told == "agrees"));
}

#[test]
fn a_filter_finds_entities_and_copies_where_it_names_them() {
    let store = store();
    let found = |filter: &str| {
        let rows = listed(&store, "Company", Asked { filter: Some(filter), ..Asked::default() }, true);
        rows.into_iter().map(|(row, _)| row).collect::<Vec<_>>()
    };
    // The copies by e-mail have an age, too.
    assert_eq!(found("Age ge 0"), ["empid_000001", "empid_000002", "empid_000003"]);
    assert_eq!(found("RowKey eq 'email_2@contoso.com'"), ["email_2@contoso.com"]);
    assert_eq!(found("EntityType eq 'employee.by_email'").len(), 3);
}

#[test]
fn what_disagrees_is_shown_with_the_properties_that_do() {
    let store = store();
    let raw = store.dynamic_table("Company").unwrap().raw();
    let stale = DynamicEntity::new("Sales", "email_1@contoso.com").with("Age", 31);
    raw.merge(&stale, IfMatch::Any).unwrap();
    raw.delete("Sales", "email_2@contoso.com").unwrap();
    raw.merge(&DynamicEntity::new("Sales", "empid_000003").with("Email", "new@contoso.com"), IfMatch::Any)
        .unwrap();
    let rows = shown(&store, "Company", false);
    let told = |row: &str| {
        let (_, told) = rows.iter().find(|(key, _)| key == row).expect("it is shown");
        told.split(';').next().unwrap_or_default().to_owned()
    };
    assert_eq!(told("empid_000001"), "by_email differs in Age");
    assert_eq!(told("email_1@contoso.com"), "differs in Age");
    assert_eq!(told("empid_000002"), "by_email missing");
    assert_eq!(told("empid_000003"), "by_email missing");
    assert_eq!(told("email_3@contoso.com"), "differs in the key");
    raw.delete("Sales", "empid_000001").unwrap();
    let rows = shown(&store, "Company", false);
    assert!(rows.contains(&("email_1@contoso.com".into(), "missing".into())), "{rows:?}");
}

#[test]
fn copies_that_are_to_follow_are_not_wrong() {
    let store = store();
    let staff = store.table::<Employee>().unwrap();
    staff.update(Employee::key("Sales", 1), |employee| employee.city = "Bergen".into()).unwrap();
    staff.update(Employee::key("Sales", 2), |employee| employee.age = 31).unwrap();
    let rows = shown(&store, "Company", false);
    let follow = rows.iter().filter(|(_, told)| told.contains("by_city follows")).count();
    assert_eq!(follow, 2, "{rows:?}");
    assert_eq!(shown(&store, "Cities", false), []);
    store.propagate().unwrap();
    let rows = shown(&store, "Company", false);
    assert!(rows.iter().all(|(_, told)| told.contains("by_city agrees")), "{rows:?}");
}

#[test]
fn where_a_store_is_far_no_copy_is_read() {
    let store = store();
    let raw = store.dynamic_table("Company").unwrap().raw();
    raw.delete("Sales", "email_2@contoso.com").unwrap();
    let rows = listed(&store, "Company", Asked::default(), false);
    let expected =
        ["empid_000001", "empid_000002", "empid_000003"].map(|row| (row.to_owned(), String::new()));
    assert_eq!(rows, expected);
    assert_eq!(listed(&store, "Cities", Asked::default(), false), []);
    let all = Asked { as_they_lie: true, ..Asked::default() };
    assert!(listed(&store, "Cities", all, false).iter().all(|(_, told)| told == "untold"));
}
