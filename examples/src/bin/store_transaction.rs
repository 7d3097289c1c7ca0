//! Beyond the guide: an employee leaves the company. One entity goes, one comes in another table, one counts, and all of
//! it happens, or none of it. The service can't do that: a transaction there is of one partition.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, Query, Store, Stored};

/// An employee, in the partition of the department.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

/// The department itself.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

/// Who has left, in the partition of the year: another table, so that it can be kept elsewhere, and dropped.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Former", kind = "former")]
#[key(partition = "{year:04}", row = "empid_{id:06}")]
struct Former {
    year: u16,
    id: u32,
    name: String,
}

fn employee(department: &str, id: u32, name: &str) -> Employee {
    let email = format!("{}@contoso.com", name.to_lowercase());
    Employee { department: department.into(), id, name: name.into(), email }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("store_transaction");
    let store = Store::open(scratch.path())?;
    let (staff, departments) = (store.table::<Employee>()?, store.table::<Department>()?);
    let formers = store.table::<Former>()?;
    let mut out = stdout();

    writeln!(out, "Two departments:\n")?;
    for (name, people) in [("Sales", vec![employee("Sales", 7, "Ann")]), ("Legal", vec![])] {
        let department = Department { name: name.into(), head_count: u32::try_from(people.len())? };
        let transaction = store.transaction().insert(&department);
        people.iter().fold(transaction, |all, one| all.insert(one)).commit()?;
    }
    draw(&mut out, staff.dynamic(), &Query::new())?;

    writeln!(out, "\nAnn moves to another department, which is another partition:\n")?;
    let ann = staff.get(Employee::key("Sales", 7))?.ok_or("she is there")?;
    let moved = Employee { department: "Legal".into(), ..(*ann).clone() };
    let change = |by: i32| {
        move |department: &mut Department| {
            department.head_count = department.head_count.saturating_add_signed(by);
        }
    };
    let transaction = || {
        store
            .transaction()
            .delete_if(Employee::key("Sales", 7), Stored::etag(&ann))
            .insert(&moved)
            .update(Department::key("Sales"), change(-1))
            .update(Department::key("Legal"), change(1))
    };
    writeln!(out, "{}\n", transaction().explain()?)?;
    transaction().commit()?;
    draw(&mut out, staff.dynamic(), &Query::new())?;
    assert_eq!(departments.get(Department::key("Legal"))?.map(|legal| legal.head_count), Some(1));

    writeln!(out, "\nThe same once more: she is not there any more, so nothing happens.\n")?;
    let refused = transaction().commit().unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!((refused.kind(), refused.index()), (ErrorKind::EntityNotFound, Some(0)));
    assert_eq!(departments.get(Department::key("Legal"))?.map(|legal| legal.head_count), Some(1));

    writeln!(out, "\nAnn leaves. What was of one table is now of another:\n")?;
    let former = Former { year: 2026, id: 7, name: ann.name.clone() };
    let committed = store
        .transaction()
        .insert(&former)
        .delete(Employee::key("Legal", 7))
        .update(Department::key("Legal"), change(-1))
        .commit()?;
    draw(&mut out, staff.dynamic(), &Query::new())?;
    draw(&mut out, formers.dynamic(), &Query::new())?;
    let stored = formers.get(Former::key(2026, 7))?.ok_or("she is there")?;
    let legal = departments.get(Department::key("Legal"))?.ok_or("so is the department")?;
    assert_eq!((&*stored, legal.head_count), (&former, 0));
    assert_eq!([Stored::etag(&stored), Stored::etag(&legal)], [committed.etag(0), committed.etag(2)]);
    assert!(staff.get(Employee::by_email("Legal", "ann@contoso.com"))?.is_none());
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
