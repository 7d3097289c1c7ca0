//! What a handle of one store can give to another: text goes anywhere, and what is a store's own is refused by what it is.

use std::sync::Arc;
use std::time::Duration;

use integration_tests::Scratch;
use serde::{Deserialize, Serialize};
use table_core::crypt::MemoryKeys;
use table_core::queue::Queue;
use table_core::typed::Ref;
use table_core::{
    DynamicEntity, ETag, Entity, ErrorKind, IfMatch, Query, Result, Store, Stored, Table, Value,
};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email:blind}", unique)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[encrypt(scope = partition, blind)]
    email: String,
    manager: Option<Ref<Manager>>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Managers", kind = "manager")]
#[key(partition = "{office}", row = "{id:06}")]
struct Manager {
    office: String,
    id: u32,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Hire {
    id: u32,
}

/// Two stores with keys of their own, and the same entities.
struct Two {
    here: Store,
    there: Store,
    staff: Table<Employee>,
    others: Table<Employee>,
    scratch: Scratch,
}

fn employee(id: u32) -> Employee {
    let email = format!("{id}@contoso.com");
    Employee { department: "Sales".into(), id, name: format!("n{id}"), email, manager: None }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

fn two() -> Two {
    let scratch = Scratch::new();
    let [here, there] = ["here", "there"].map(|name| {
        let keys = Arc::new(MemoryKeys::new().unwrap());
        Store::options().encryption(keys).open(scratch.path().join(name)).unwrap()
    });
    let [staff, others] = [&here, &there].map(|store| {
        let staff = store.table::<Employee>().unwrap();
        for id in 1..=5 {
            staff.insert(&employee(id)).unwrap();
        }
        staff
    });
    Two { here, there, staff, others, scratch }
}

#[track_caller]
fn assert_refused<T>(done: Result<T>, kind: ErrorKind, says: &[&str]) {
    let Err(error) = done else { panic!("what is another store's was taken") };
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    for says in says {
        assert!(text.contains(says), "{text} has no {says}");
    }
}

#[test]
fn keys_and_references_work_anywhere() {
    let Two { here, there, staff, others, scratch: _scratch, .. } = two();
    let manager = Manager { office: "Oslo".into(), id: 7 };
    for store in [&here, &there] {
        store.table::<Manager>().unwrap().insert(&manager).unwrap();
    }
    staff.update(key(1), |employee| employee.manager = Some(Ref::to(&manager))).unwrap();
    let found = Stored::into_inner(staff.get(key(1)).unwrap().unwrap());
    others.put(&found).unwrap();
    let there = there.table::<Manager>().unwrap();
    assert_eq!(*there.get(found.manager.as_ref().unwrap()).unwrap().unwrap(), manager);
}

#[test]
fn an_etag_of_another_store_is_of_no_version() {
    let Two { staff, others, scratch: _scratch, .. } = two();
    let etag: ETag = Stored::etag(&staff.get(key(1)).unwrap().unwrap());
    let of_it = ["table `Company`", "row `empid_000001`"];
    assert_refused(others.replace(&employee(1), etag), ErrorKind::ConditionNotMet, &of_it);
    assert_refused(
        others.merge(key(1), Employee::patch().name("x"), etag),
        ErrorKind::ConditionNotMet,
        &of_it,
    );
    assert_refused(others.delete_if(key(1), etag), ErrorKind::ConditionNotMet, &of_it);
    let raw = others.dynamic().raw();
    assert_refused(raw.delete_if("Sales", "empid_000001", etag), ErrorKind::ConditionNotMet, &of_it);
    let egt = others.egt(Employee::partition("Sales")).insert(&employee(9)).delete_if(key(1), etag).commit();
    assert_refused(egt, ErrorKind::ConditionNotMet, &of_it);
    assert_eq!(others.all().count().unwrap(), 5);
}

#[test]
fn a_page_goes_on_in_its_own_store_alone() {
    let Two { here, there, staff, others, scratch: _scratch, .. } = two();
    let next = staff.rows().department("Sales").page(2, None).unwrap().next.unwrap();
    let page = others.rows().department("Sales").page(2, Some(&next)).map(drop);
    assert_refused(page, ErrorKind::InvalidContinuation, &["table `Company`", "another store"]);
    let plain = |store: &Store| {
        let table = store.create_table("Plain").unwrap();
        for row in 0..5 {
            table.insert(&DynamicEntity::new("p", row.to_string())).unwrap();
        }
        table
    };
    let (mine, foreign) = (plain(&here), plain(&there));
    let next = mine.page(&Query::new(), 2, None).unwrap().next.unwrap();
    let page = foreign.page(&Query::new(), 2, Some(&next)).map(drop);
    assert_refused(page, ErrorKind::InvalidContinuation, &["table `Plain`", "another store"]);
    // As text it is the same.
    let text = next.to_string().parse().unwrap();
    let page = foreign.page(&Query::new(), 2, Some(&text)).map(drop);
    assert_refused(page, ErrorKind::InvalidContinuation, &["another store"]);
    let snapshot = here.snapshot().unwrap();
    let found = others.at(&snapshot).get(key(1)).map(drop);
    assert_refused(found, ErrorKind::InvalidQuery, &["another store"]);
}

#[test]
fn a_message_of_another_store_is_completed_there() {
    let Two { here, there, staff, scratch: _scratch, .. } = two();
    let [mine, strange]: [Queue<Hire>; 2] = [&here, &there].map(|store| store.queue("hires").unwrap());
    for queue in [&mine, &strange] {
        queue.send(&Hire { id: 1 }).unwrap();
    }
    let received = strange.receive(Duration::from_secs(60)).unwrap().unwrap();
    let new = employee(9);
    let says = ["hires", "another store's"];
    let egt = staff.egt(Employee::partition("Sales")).insert(&new).complete(&received).commit();
    assert_refused(egt, ErrorKind::QueueNotFound, &says);
    let transaction = here.transaction().insert(&new).complete(&received).commit();
    assert_refused(transaction, ErrorKind::QueueNotFound, &says);
    let sent = here.transaction().insert(&new).send(&strange, &Hire { id: 2 }).commit();
    assert_refused(sent, ErrorKind::QueueNotFound, &says);
    assert!(staff.get(key(9)).unwrap().is_none());
    // Its own handle knows where it lies.
    received.delete().unwrap();
    assert_eq!((mine.stats().unwrap().completed, strange.stats().unwrap().completed), (0, 1));
}

#[test]
fn a_batch_of_another_stores_table_is_refused() {
    let Two { here, there, scratch: _scratch, .. } = two();
    let [mine, strange] = [&here, &there].map(|store| store.create_table("Plain").unwrap());
    let batch = |table: &table_core::DynamicTable| table.batch("p").insert(DynamicEntity::new("p", "r"));
    let report = here.bulk([batch(&mine), batch(&strange)]).unwrap();
    assert_eq!((report.committed, report.failures.len()), (1, 1));
    assert_refused(
        Err::<(), _>(report.failures.into_iter().next().unwrap().error),
        ErrorKind::TableNotFound,
        &["table `Plain`", "another store"],
    );
    assert_eq!(strange.query(&Query::new()).unwrap().count(), 0);
}

/// The number of a table is another's in another store: keys must not go by it.
#[test]
fn a_scope_of_another_store_destroys_no_key() {
    let Two { here, there, staff, others, scratch: _scratch, .. } = two();
    for scope in [staff.dynamic().partition_key_scope("Sales").unwrap(), staff.dynamic().key_scope()] {
        let keys = there.encryption().unwrap();
        assert_refused(keys.shred(&scope), ErrorKind::TableNotFound, &["cannot shred", "another store"]);
        assert_refused(keys.rotate(&scope), ErrorKind::TableNotFound, &["cannot rotate", "another store"]);
    }
    let handle = here.encryption().unwrap().keys().unwrap()[0].handle;
    assert_refused(there.encryption().unwrap().destroy(handle), ErrorKind::KeyUnavailable, &["key"]);
    assert_eq!(*others.get(key(1)).unwrap().unwrap(), employee(1));
    // A scope that is listed equals that of the table.
    let own = others.dynamic().partition_key_scope("Sales").unwrap();
    assert!(there.encryption().unwrap().keys().unwrap().iter().any(|key| key.scope == own));
    assert_eq!(there.encryption().unwrap().shred(&own).unwrap(), 1);
    assert!(others.get(key(1)).is_err());
    assert_eq!(*staff.get(key(1)).unwrap().unwrap(), employee(1));
}

/// A raw copy of rows has sealed bytes, which are bound to their store.
#[test]
fn a_sealed_value_opens_in_its_own_store_alone() {
    let Two { staff, others, scratch: _scratch, .. } = two();
    let row = staff.dynamic().raw().get("Sales", "empid_000001").unwrap().unwrap();
    let raw = others.dynamic().raw();
    raw.put(&row).unwrap();
    let found = others.get(key(1)).map(drop).unwrap_err();
    assert_eq!(found.kind(), ErrorKind::KeyUnavailable, "{found}");
    assert!(found.to_string().contains("row `empid_000001`"), "{found}");
    // So is a value that is put by itself.
    let sealed = row.get("Email").unwrap().clone();
    let change = DynamicEntity::new("Sales", "empid_000003").with("Email", sealed);
    raw.merge(&change, IfMatch::Any).unwrap();
    assert_eq!(others.get(key(3)).unwrap_err().kind(), ErrorKind::KeyUnavailable);

    // A token of another store stands for nothing here: a lookup by the value finds what this store's key made.
    let row = staff.dynamic().raw().get("Sales", "empid_000002").unwrap().unwrap();
    let token = row.get("EmailToken").unwrap().clone();
    assert_ne!(raw.get("Sales", "empid_000002").unwrap().unwrap().get("EmailToken"), Some(&token));
    let change = DynamicEntity::new("Sales", "empid_000002").with("EmailToken", token);
    raw.merge(&change, IfMatch::Any).unwrap();
    for id in [2, 4] {
        let email = format!("{id}@contoso.com");
        assert_eq!(others.get(Employee::by_email("Sales", &email)).unwrap().unwrap().id, id);
    }
    // The check names the entity whose copy lies elsewhere by such a token.
    let report = others.check().unwrap();
    assert!(!report.is_sound(), "{report}");
    assert!(
        report.problems.iter().any(|problem| problem.row == key_of_copy(&change)),
        "{:#?}",
        report.problems
    );
}

/// The key of the copy to which a token leads.
fn key_of_copy(change: &DynamicEntity) -> String {
    let Some(Value::Binary(token)) = change.get("EmailToken") else { panic!("a token is bytes") };
    token.iter().fold("email_".to_owned(), |key, byte| format!("{key}{byte:02x}"))
}
