//! Several kinds of entities in one table.

use integration_tests::Scratch;
use table_core::{
    DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Query, QueryClass, Store, Stored, prop,
};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: i32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Department(Department),
    Employee(Employee),
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Everything {
    Department(Department),
    #[entity_set(unknown)]
    Other(DynamicEntity),
}

fn sales(head_count: u32) -> Department {
    Department { name: "Sales".into(), head_count }
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com"), age: 40 + id as i32 }
}

fn company(scratch: &Scratch) -> Store {
    let store = scratch.store();
    let (first, second) = (employee(1), employee(2));
    store
        .egt::<Company>(Employee::partition("Sales"))
        .insert(&first)
        .insert(&second)
        .insert(&sales(2))
        .commit()
        .unwrap();
    store
}

fn found(entities: impl IntoIterator<Item = table_core::Result<Stored<Company>>>) -> Vec<Company> {
    entities.into_iter().map(|entity| Stored::into_inner(entity.unwrap())).collect()
}

#[test]
fn a_query_gives_every_kind_and_no_copies() {
    let scratch = Scratch::new();
    let set = company(&scratch).set::<Company>().unwrap();
    let query = || set.partition(Department::partition("Sales"));
    let (department, first, second) =
        (Company::Department(sales(2)), Company::Employee(employee(1)), Company::Employee(employee(2)));
    assert_eq!(found(query()), [department.clone(), first.clone(), second.clone()]);
    assert_eq!(found(query().rev().top(2)), [second.clone(), first.clone()]);
    assert_eq!(found(query().row_prefix("empid_")), [first, second.clone()]);
    assert_eq!(found(query().rows("empid_000002"..)), std::slice::from_ref(&second));
    // A department has no age, and compares false.
    assert_eq!(found(query().filter(prop("Age").ge(42))), [second]);
    assert_eq!(query().count().unwrap(), 3);
    assert_eq!(found(set.across_partitions()).len(), 3);
    assert_eq!(query().explain().unwrap().class(), QueryClass::PartitionScan);
    assert_eq!(set.across_partitions().explain().unwrap().class(), QueryClass::TableScan);
    assert_eq!(found(set.partition(Department::partition("Marketing"))), []);
}

#[test]
fn an_entity_of_any_kind_is_found_by_its_key() {
    let scratch = Scratch::new();
    let set = company(&scratch).set::<Company>().unwrap();
    assert_eq!(set.get(Employee::key("Sales", 1)).unwrap().unwrap(), employee(1));
    let any = set.get_any("Sales", "department").unwrap().unwrap();
    assert_eq!(*any, Company::Department(sales(2)));
    assert!(set.get_any("Sales", "nothing").unwrap().is_none());
}

#[test]
fn an_unknown_kind_is_an_error_or_a_variant() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let dynamic = store.dynamic_table("Company").unwrap();
    let guest = DynamicEntity::new("Sales", "guest_1").with("EntityType", "guest").with("Name", "Ann");
    dynamic.insert(&guest).unwrap();
    dynamic.insert(&DynamicEntity::new("Sales", "nothing")).unwrap();

    let set = store.set::<Company>().unwrap();
    let error = set.partition(Employee::partition("Sales")).row_prefix("guest").into_iter().next();
    let error = error.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert_eq!(
        error.to_string(),
        "cannot query table `Company`, partition `Sales`, row `guest_1`: the row's kind is `guest`, which is none of \
         the set's: department, employee; a variant with `#[entity_set(unknown)]` would take it"
    );
    assert_eq!(set.get_any("Sales", "nothing").unwrap_err().kind(), ErrorKind::SchemaMismatch);

    let set = store.set::<Everything>().unwrap();
    let other = set.get_any("Sales", "guest_1").unwrap().unwrap();
    assert_eq!(*other, Everything::Other(guest));
    // To this set employees and their copies are unknown too.
    let all =
        set.partition(Department::partition("Sales")).into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    let departments = all.iter().filter(|entity| matches!(***entity, Everything::Department(_))).count();
    assert_eq!((all.len(), departments), (7, 1));
}

#[test]
fn a_transaction_changes_several_kinds_or_nothing() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let set = store.set::<Company>().unwrap();
    let count =
        |set: &table_core::SetTable<Company>| set.get(Department::key("Sales")).unwrap().unwrap().head_count;

    let third = employee(3);
    set.egt(Department::partition("Sales"))
        .insert(&third)
        .update(Department::key("Sales"), |department| department.head_count += 1)
        .commit()
        .unwrap();
    assert_eq!(count(&set), 3);

    // The e-mail is taken, so the head count stays.
    let clash = Employee { id: 4, ..employee(3) };
    let error = set
        .egt(Department::partition("Sales"))
        .update(Department::key("Sales"), |department| department.head_count += 1)
        .insert(&clash)
        .commit()
        .unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::UniqueConflict, Some(1)));
    assert_eq!(count(&set), 3);

    let explain = set
        .egt(Department::partition("Sales"))
        .merge(Department::key("Sales"), Department::patch().head_count(2), IfMatch::Any)
        .delete(Employee::key("Sales", 3), IfMatch::Any)
        .explain()
        .unwrap();
    assert_eq!(
        explain.to_string(),
        "3 of 100 rows in partition `Sales` of `Company`:\n  \
         replace `department`  the department itself\n  \
         delete  `empid_000003`  the employee itself\n  \
         remove  `email_3@contoso.com`  its copy for by_email"
    );
    assert_eq!(set.dynamic().query(&Query::new()).unwrap().count(), 7);
}
