//! Store transactions: changes of entities of any partitions and tables, all or none.

mod limits;
mod model;
mod turns;

use integration_tests::company::Department;
use integration_tests::executors::Executor;
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{DynamicEntity, ETag, Entity, ErrorKind, IfMatch, Query, Store, Tables, Ticks};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Former", kind = "former")]
#[key(partition = "{year:04}", row = "{id:06}")]
struct Former {
    year: u16,
    id: u32,
    email: String,
}

/// Of another table of the same name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "FORMER", kind = "note")]
#[key(partition = "{year:04}", row = "note_{id:06}")]
struct Note {
    year: u16,
    id: u32,
}

fn employee(department: &str, id: u32, email: &str) -> Employee {
    Employee { department: department.into(), id, email: email.into() }
}

fn former(id: u32) -> Former {
    Former { year: 2026, id, email: format!("{id}@contoso.com") }
}

/// Every row of a store, with its table and its version.
fn seen(store: &Tables) -> Vec<(String, DynamicEntity, Option<ETag>)> {
    let mut seen = Vec::new();
    for name in store.tables().unwrap() {
        for row in store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap() {
            let row = row.unwrap();
            seen.push((name.clone(), row.clone(), row.etag()));
        }
    }
    seen
}

/// Two departments, each with an employee, and a former one.
fn company() -> (Scratch, Tables) {
    let scratch = Scratch::new();
    let store = scratch.tables();
    for (name, id) in [("Sales", 1), ("Legal", 2)] {
        store
            .table::<Department>()
            .unwrap()
            .insert(&Department { name: name.into(), head_count: 1 })
            .unwrap();
        store.table::<Employee>().unwrap().insert(&employee(name, id, &format!("{id}@contoso.com"))).unwrap();
    }
    store.table::<Former>().unwrap().insert(&former(9)).unwrap();
    (scratch, store)
}

#[test]
fn what_spans_partitions_and_tables_happens_whole_with_one_time() {
    let (_scratch, store) = company();
    if !Executor::of_test().abilities().groups {
        return refused_by_its_name(&store);
    }
    let (one, note) = (former(1), Note { year: 2026, id: 1 });
    let renamed = employee("Legal", 2, "first@contoso.com");
    let etag = store
        .transaction()
        .insert(&one)
        .delete(Employee::key("Sales", 1))
        .update(Department::key("Sales"), |department| department.head_count -= 1)
        .merge(Department::key("Legal"), Department::patch().head_count(5), IfMatch::Any)
        .replace(&renamed, IfMatch::Any)
        .put(&note)
        .move_to(Former::key(2026, 9), |former| former.id = 10)
        .commit()
        .unwrap()
        .etag(0);
    let rows: Vec<_> =
        seen(&store).into_iter().map(|(table, row, etag)| (table, row.row_key().to_owned(), etag)).collect();
    let row = |table: &str, key: &str| (table.to_owned(), key.to_owned(), Some(etag));
    let expected = [
        row("Company", "department"),
        row("Company", "email_first@contoso.com"),
        row("Company", "empid_000002"),
        row("Company", "department"),
        row("Former", "000001"),
        row("Former", "000010"),
        row("Former", "note_000001"),
    ];
    assert_eq!(rows, expected);
    let head_count = |name: &str| {
        store.table::<Department>().unwrap().get(Department::key(name)).unwrap().unwrap().head_count
    };
    assert_eq!((head_count("Sales"), head_count("Legal")), (0, 5));
    assert_eq!(*store.table::<Note>().unwrap().get(Note::key(2026, 1)).unwrap().unwrap(), note);
    assert_sound(&store);
}

/// What the service can't do is refused by the name of what it takes, and nothing is written.
fn refused_by_its_name(store: &Tables) {
    let before = seen(store);
    let one = former(1);
    let error = store.transaction().insert(&one).delete(Employee::key("Sales", 1)).commit();
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("takes the ability `groups`"), "{error}");
    assert_eq!(seen(store), before);
    // What is of one partition it can do.
    let other = former(2);
    store.transaction().insert(&one).insert(&other).commit().unwrap();
    assert_eq!(seen(store).len(), before.len() + 2);
}

#[test]
fn what_one_change_is_refused_for_none_is_made_for_and_the_error_says_which() {
    let (_scratch, store) = company();
    if !Executor::of_test().abilities().groups {
        return;
    }
    let before = seen(&store);
    let old = ETag::from_timestamp(Ticks::MIN);
    let (new, there) = (former(1), former(9));
    let (taken, long) = (employee("Legal", 3, "2@contoso.com"), employee("Legal", 3, &"x".repeat(600)));
    let (first, second) = (employee("Legal", 3, "a"), employee("Legal", 4, "a"));
    let begun = || {
        let count = |department: &mut Department| department.head_count += 1;
        store.transaction().insert(&new).update(Department::key("Sales"), count)
    };
    let refused = [
        (begun().insert(&there), ErrorKind::EntityAlreadyExists, "Former"),
        (begun().insert(&taken), ErrorKind::UniqueConflict, "Company"),
        (begun().insert(&long), ErrorKind::KeyTooLong, "Company"),
        (begun().delete(Employee::key("Sales", 7)), ErrorKind::EntityNotFound, "Company"),
        (begun().delete_if(Employee::key("Sales", 1), old), ErrorKind::ConditionNotMet, "Company"),
        (begun().update(Former::key(2026, 9), |f| f.year = 2027), ErrorKind::KeyChanged, "Former"),
        (begun().move_to(Former::key(2026, 9), |f| f.year = 2027), ErrorKind::KeyChanged, "Former"),
        (begun().update(Department::key("Sales"), |_| {}), ErrorKind::DuplicateRow, "Company"),
        (begun().delete(Former::key(2026, 1)), ErrorKind::DuplicateRow, "Former"),
        (begun().put(&new), ErrorKind::DuplicateRow, "Former"),
        (begun().insert(&first).insert(&second), ErrorKind::UniqueConflict, "Company"),
    ];
    for (at, (transaction, kind, table)) in refused.into_iter().enumerate() {
        let (shown, last) = (format!("{transaction:?}"), transaction.len() - 1);
        assert!(shown.starts_with("StoreTransaction"), "{shown}");
        let error = transaction.commit().unwrap_err();
        assert_eq!((error.kind(), error.index()), (kind, Some(last)), "{at}: {error}");
        assert_eq!(error.table_name(), Some(table), "{at}: {error}");
        assert_eq!(seen(&store), before, "{at}");
    }
    // Two of one key in different partitions are two entities, and so are two of one in different tables.
    let (a, b) = (employee("Sales", 5, "a"), employee("Legal", 5, "a"));
    store.transaction().insert(&a).insert(&b).insert(&new).commit().unwrap();
    let error = store.transaction().commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BatchLength);
    assert_eq!(error.to_string(), "cannot commit a transaction: the transaction has no operation");
}

#[test]
fn entities_of_several_partitions_exchange_what_must_be_unique() {
    let (_scratch, store) = company();
    if !Executor::of_test().abilities().groups {
        return;
    }
    let other = employee("Sales", 3, "3@contoso.com");
    store.table::<Employee>().unwrap().insert(&other).unwrap();
    let email = |email: &'static str| move |employee: &mut Employee| employee.email = email.into();
    store
        .transaction()
        .update(Employee::key("Sales", 1), email("3@contoso.com"))
        .update(Employee::key("Legal", 2), email("3@contoso.com"))
        .update(Employee::key("Sales", 3), email("1@contoso.com"))
        .commit()
        .unwrap();
    let staff = store.table::<Employee>().unwrap();
    let holder = |department: &str, email: &str| {
        staff.get(Employee::by_email(department, email)).unwrap().map(|e| e.id)
    };
    assert_eq!(holder("Sales", "3@contoso.com"), Some(1));
    assert_eq!(holder("Sales", "1@contoso.com"), Some(3));
    assert_eq!((holder("Legal", "3@contoso.com"), holder("Legal", "2@contoso.com")), (Some(2), None));
    assert_sound(&store);
}

#[test]
fn a_transaction_is_explained_by_table_and_partition() {
    let (_scratch, store) = company();
    let before = seen(&store);
    let one = former(1);
    let transaction = store
        .transaction()
        .insert(&one)
        .delete(Employee::key("Sales", 1))
        .update(Department::key("Sales"), |department| department.head_count -= 1);
    assert_eq!((transaction.len(), transaction.is_empty()), (3, false));
    let explain = transaction.explain().unwrap();
    assert_eq!(explain.rows(), 4);
    assert_eq!(explain.places().collect::<Vec<_>>(), [("Former", "2026", 1), ("Company", "Sales", 3)]);
    assert_eq!(explain.removed().collect::<Vec<_>>(), ["empid_000001", "email_1@contoso.com"]);
    let drawn = "4 of 10000 rows, all or none:\n\
                 in partition `2026` of `Former`:\n  insert  `000001`  the former itself\n\
                 in partition `Sales` of `Company`:\n  \
                 delete  `empid_000001`  the employee itself\n  \
                 remove  `email_1@contoso.com`  its copy for by_email\n  \
                 replace `department`  the department itself";
    assert_eq!(explain.to_string(), drawn);
    assert_eq!(seen(&store), before);
}

on_other_executors! {
    what_spans_partitions_and_tables_happens_whole_with_one_time
    what_one_change_is_refused_for_none_is_made_for_and_the_error_says_which
    entities_of_several_partitions_exchange_what_must_be_unique
    a_transaction_is_explained_by_table_and_partition
}

/// A table that can't be opened is said of the change that it is for.
#[test]
fn a_table_that_cannot_be_opened_is_told_when_it_is_committed() {
    #[derive(Entity)]
    #[entity(table = "Former", kind = "former")]
    #[key(partition = "{year:04}", row = "{id:06}")]
    struct Otherwise {
        year: u16,
        id: u32,
        email: i64,
    }

    let (scratch, store) = company();
    let before = seen(&store);
    let (one, two) = (former(1), Otherwise { year: 1, id: 1, email: 1 });
    let error = store.transaction().insert(&one).insert(&two).commit().unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::LayoutChanged, Some(1)), "{error}");
    assert_eq!(seen(&store), before);

    drop(store);
    let path = scratch.path().join("store");
    let reading = Store::options().read_only(true).open(path).unwrap();
    let error = reading.transaction().insert(&one).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
    reading.transaction().insert(&one).explain().unwrap();
}
