//! What a store on LMDB says of its kinds: the states of indexes, copies elsewhere, names of tables.

use integration_tests::Scratch;
use table_core::introspect::{IndexCondition, RowOf};
use table_core::schema::Form;
use table_core::{Entity, Store};

mod first {
    use table_core::Entity;

    #[derive(Entity, Clone)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, table = "Emails", partition = "{email}", row = "email", unique, atomic)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) email: String,
        pub(super) age: u8,
    }
}

#[expect(clippy::duplicated_attributes, reason = "each index says for itself what it is")]
#[derive(Entity, Clone)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, table = "Emails", partition = "{email}", row = "email", unique, atomic)]
#[index(by_age, row = "age_{age:03}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
}

fn hire(store: &Store) {
    let staff = store.table::<first::Employee>().unwrap();
    for id in [1, 2] {
        let email = format!("{id}@contoso.com");
        staff.insert(&first::Employee { department: "Sales".into(), id, email, age: 40 }).unwrap();
    }
}

#[test]
fn the_states_of_indexes_are_told() {
    let scratch = Scratch::new();
    let store = scratch.store();
    hire(&store);
    let conditions = || -> Vec<(String, Option<IndexCondition>)> {
        let kinds = store.kinds().unwrap();
        let company = kinds.iter().find(|kind| kind.lies_here()).unwrap();
        company.indexes().into_iter().map(|index| (index.name, index.condition)).collect()
    };
    let ready = || Some(IndexCondition::Ready);
    assert_eq!(conditions(), [("by_email".to_owned(), ready())]);
    // Both are of one age, which is to be unique.
    let staff = store.table::<Employee>().unwrap();
    assert!(staff.rebuild().unwrap().run().is_err());
    let found = conditions();
    let Some((_, Some(IndexCondition::Blocked(by)))) = found.iter().find(|(name, _)| name == "by_age") else {
        panic!("{found:?}")
    };
    assert!(by.contains("`empid_000001` and `empid_000002` both claim the key `age_040`"), "{by}");
    staff.update(Employee::key("Sales", 2), |employee| employee.age = 41).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    let mut found = conditions();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found, [("by_age".to_owned(), ready()), ("by_email".to_owned(), ready())]);
}

#[test]
fn a_kind_is_told_where_its_copies_lie_and_by_the_new_name_of_its_table() {
    let scratch = Scratch::new();
    let store = scratch.store();
    hire(&store);
    store.rename_table("Company", "Firm").unwrap();
    let kinds = store.kinds().unwrap();
    let told: Vec<_> =
        kinds.iter().map(|kind| (kind.table(), kind.entities_table(), kind.lies_here())).collect();
    assert_eq!(told, [("Emails", "Firm", false), ("Firm", "Firm", true)]);
    let found = kinds[0].read_keys("1@contoso.com", "email").unwrap();
    assert_eq!(found.row, RowOf::Index("by_email".into()));
    assert_eq!(found.values, [("Email".to_owned(), "1@contoso.com".into())]);
    assert_eq!(kinds[1].indexes()[0].table, "Emails");
    let drawn = kinds[1].design().drawn(Form::Markdown);
    assert!(
        drawn.contains("| employee.by_email, unique, in table Emails, atomic | `{Email}` | `email` |"),
        "{drawn}"
    );
}
