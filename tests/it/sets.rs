//! Several kinds of entities in one table.

use integration_tests::Scratch;
use integration_tests::company::{Department, Employee};
use integration_tests::executors::{reverses, snapshot};
use table_core::query::QueryClass;
use table_core::{DynamicEntity, EntitySet, ErrorKind, IfMatch, Query, Stored, Tables, prop};

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

fn company(scratch: &Scratch) -> Tables {
    let store = scratch.tables();
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
    if reverses(|| query().rev().top(2).page(2, None)) {
        assert_eq!(found(query().rev().top(2)), [second.clone(), first.clone()]);
    }
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
fn pages_of_a_set_leave_copies_out() {
    let scratch = Scratch::new();
    let set = company(&scratch).set::<Company>().unwrap();
    let query = || set.partition(Department::partition("Sales"));
    let all = found(query());
    for size in 1..=4 {
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = query().page(size, after.as_ref()).unwrap();
            assert!(page.entities.len() <= size);
            paged.extend(page.entities.into_iter().map(Stored::into_inner));
            // As it would be kept by a caller: as text.
            let Some(next) = page.next else { break };
            after = Some(next.to_string().parse().unwrap());
        }
        assert_eq!(paged, all);
    }
    let page = query().filter(prop("Age").ge(42)).page(10, None).unwrap();
    assert_eq!((page.entities.len(), page.next.is_none()), (1, true));
    let error = query().page(0, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
    // A token of another query is none of this one.
    let next = query().page(1, None).unwrap().next.unwrap();
    let turned = || query().rev().page(1, Some(&next));
    if reverses(turned) {
        assert_eq!(turned().unwrap_err().kind(), ErrorKind::InvalidContinuation);
    }

    assert_eq!(*query().first().unwrap().unwrap(), all[0]);
    assert!(query().exists().unwrap());
    let again = query().rev();
    if reverses(|| again.clone().first()) {
        assert_eq!(found(again.clone()), found(again));
    }
    assert!(!query().row_prefix("guest_").exists().unwrap());
    assert!(query().row_prefix("guest_").first().unwrap().is_none());
}

#[test]
fn a_set_in_a_snapshot_is_as_it_was() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let set = store.set::<Company>().unwrap();
    let Some(snapshot) = snapshot(&store) else { return };
    let (before, third) = (found(set.partition(Employee::partition("Sales"))), employee(3));
    set.egt(Employee::partition("Sales"))
        .insert(&third)
        .update(Department::key("Sales"), |department| department.head_count += 1)
        .delete(Employee::key("Sales", 1))
        .commit()
        .unwrap();

    let then = set.at(&snapshot);
    assert_eq!(found(then.partition(Employee::partition("Sales"))), before);
    assert_eq!(found(then.across_partitions().rev()).len(), 3);
    assert_eq!(then.across_partitions().count().unwrap(), 3);
    let first = then.partition(Employee::partition("Sales")).page(2, None).unwrap();
    assert_eq!((first.entities.len(), first.next.is_some()), (2, true));
    assert_eq!(then.get(Department::key("Sales")).unwrap().unwrap().head_count, 2);
    assert_eq!(then.get(Employee::key("Sales", 1)).unwrap().unwrap(), employee(1));
    assert!(then.get(Employee::key("Sales", 3)).unwrap().is_none());
    assert_eq!(*then.get_any("Sales", "department").unwrap().unwrap(), Company::Department(sales(2)));
    assert!(then.get_any("Sales", "empid_000003").unwrap().is_none());
    // A copy's row is of no kind of the set, here as there.
    let error = then.get_any("Sales", "email_1@contoso.com").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
    assert_eq!(
        error.to_string(),
        set.get_any("Sales", "email_2@contoso.com").unwrap_err().to_string().replace("email_2", "email_1")
    );

    // A snapshot of another store shows none of this one's tables.
    let other = Scratch::new();
    let elsewhere = other.tables();
    let foreign = elsewhere.snapshot().unwrap();
    let error = set.at(&foreign).get(Department::key("Sales")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
    assert!(set.at(&foreign).partition(Department::partition("Sales")).count().is_err());
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
        .delete(Employee::key("Sales", 3))
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

#[test]
fn entities_can_be_written_without_their_type() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let set = store.set::<Company>().unwrap();
    let rows = || set.dynamic().query(&Query::new()).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    let before = rows();
    let third = DynamicEntity::new("Sales", "empid_000003").with("EntityType", "employee").with("Age", 43);
    let change = |name: &str, value: &str| DynamicEntity::new("Sales", "empid_000001").with(name, value);

    let said = |result: table_core::Result<_>| {
        let error = result.map(|_: table_core::ETag| ()).unwrap_err();
        (error.kind(), error.to_string())
    };
    let mismatch = |text: &str| (ErrorKind::SchemaMismatch, text.to_owned());
    assert_eq!(
        said(set.insert_any(&third)),
        mismatch(
            "cannot insert into table `Company`, partition `Sales`, row `empid_000003`: property `Email` does not \
             fit the struct `Employee`: expected Edm.String, but there is no such property"
        )
    );
    assert_eq!(
        said(set.put_any(&third.clone().with("Email", "3@contoso.com").with("Agee", 1))),
        mismatch(
            "cannot put into table `Company`, partition `Sales`, row `empid_000003`: `Employee` has no property `Agee`"
        )
    );
    let nameless = DynamicEntity::new("Sales", "empid_000003").with("Age", 43);
    assert_eq!(
        said(set.insert_any(&nameless)).1,
        "cannot insert into table `Company`, partition `Sales`, row `empid_000003`: the row's kind is ``, which is \
         none of the set's: department, employee"
    );
    let misplaced = DynamicEntity::new("Sales", "employee_3").with("EntityType", "employee");
    assert_eq!(set.check_any(&misplaced).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert_eq!(said(set.merge_any(&change("Id", "7"), IfMatch::Any)).0, ErrorKind::KeyChanged);
    assert_eq!(said(set.merge_any(&change("Age", "old"), IfMatch::Any)).0, ErrorKind::SchemaMismatch);
    assert_eq!(
        said(set.merge_any(&change("EntityType", "guest"), IfMatch::Any)).0,
        ErrorKind::SchemaMismatch
    );
    assert_eq!(
        said(set.merge_any(&change("Email", "2@contoso.com"), IfMatch::Any)).0,
        ErrorKind::UniqueConflict
    );
    assert_eq!(said(set.merge_any(&nameless, IfMatch::Any)).0, ErrorKind::EntityNotFound);
    let stale = table_core::ETag::from_timestamp(table_core::Ticks::MAX);
    assert_eq!(said(set.merge_any(&change("Email", "x"), stale)).0, ErrorKind::ConditionNotMet);
    // A copy is no entity.
    let copy = DynamicEntity::new("Sales", "email_1@contoso.com").with("Age", 1);
    assert_eq!(said(set.merge_any(&copy, IfMatch::Any)).0, ErrorKind::SchemaMismatch);
    assert_eq!(rows(), before);

    let third = third.with("Email", "3@contoso.com");
    set.check_any(&third).unwrap();
    set.insert_any(&third).unwrap();
    set.merge_any(&change("Email", "one@contoso.com"), IfMatch::Any).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let by_email = |email: &str| staff.get(Employee::by_email("Sales", email)).unwrap().map(|e| e.id);
    assert_eq!(
        (by_email("one@contoso.com"), by_email("1@contoso.com"), by_email("3@contoso.com")),
        (Some(1), None, Some(3))
    );
    set.put_any(&third.with("Age", 44)).unwrap();
    assert_eq!(staff.get(Employee::key("Sales", 3)).unwrap().unwrap().age, 44);
    set.delete_any("Sales", "empid_000003").unwrap();
    assert_eq!(by_email("3@contoso.com"), None);
    assert_eq!(rows().len(), before.len());
}

#[test]
fn a_key_that_leads_to_another_kind_is_no_entity() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let dynamic = store.dynamic_table("Company").unwrap();
    dynamic.insert(&DynamicEntity::new("Sales", "empid_000009").with("EntityType", "guest")).unwrap();
    dynamic.insert(&DynamicEntity::new("Sales", "empid_000008")).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let error = staff.get(Employee::key("Sales", 9)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read from table `Company`, partition `Sales`, row `empid_000009`: the row is of the kind `guest`, \
         not `employee`"
    );
    for id in [8, 9] {
        let key = || Employee::key("Sales", id);
        let new = Employee { id, ..employee(1) };
        let kinds = [
            staff.get(key()).map(|_| ()).unwrap_err().kind(),
            staff.view(key(), |_| Ok(())).map(|_| ()).unwrap_err().kind(),
            staff.update(key(), |_| ()).map(|_| ()).unwrap_err().kind(),
            staff.put(&new).map(|_| ()).unwrap_err().kind(),
            staff.delete(key()).unwrap_err().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::SchemaMismatch; 5]);
        if let Some(snapshot) = snapshot(&store) {
            let refused = staff.at(&snapshot).view(key()).map(drop).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::SchemaMismatch);
        }
    }
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 2);
}

integration_tests::on_other_executors! {
    a_query_gives_every_kind_and_no_copies
    pages_of_a_set_leave_copies_out
    a_set_in_a_snapshot_is_as_it_was
    an_entity_of_any_kind_is_found_by_its_key
    an_unknown_kind_is_an_error_or_a_variant
    a_transaction_changes_several_kinds_or_nothing
    entities_can_be_written_without_their_type
    a_key_that_leads_to_another_kind_is_no_entity
}
