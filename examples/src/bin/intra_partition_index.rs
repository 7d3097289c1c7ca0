//! Guide, pattern 1: copies of an entity under other row keys of its partition, kept alike in one transaction.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::query::QueryClass;
use table_core::{Entity, ErrorKind, Query, Store, Stored};

/// One employee of a department, found by number, by e-mail address and by name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

fn employee(id: u32, first_name: &str, last_name: &str) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        first_name: first_name.into(),
        last_name: last_name.into(),
        email: format!("{}@contoso.com", last_name.to_lowercase()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("intra_partition_index");
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    let mut out = stdout();

    writeln!(
        out,
        "What an insert touches:\n\n{}",
        staff.egt(Employee::partition("Sales")).insert(&employee(223, "Ann", "Jones")).explain()?
    )?;
    staff.insert(&employee(223, "Ann", "Jones"))?;
    staff.insert(&employee(224, "Bob", "Hall"))?;
    draw(&mut out, staff.dynamic(), &Query::new())?;

    writeln!(out, "\nEach key is a point query:\n")?;
    let by_id = staff.get(Employee::key("Sales", 223))?.ok_or("she is there")?;
    let by_email = staff.get(Employee::by_email("Sales", "jones@contoso.com"))?.ok_or("so is her copy")?;
    assert_eq!(by_email, *by_id);
    let query = staff.rows().department("Sales").id(223);
    writeln!(out, "  {}", query.explain()?)?;
    assert_eq!(query.explain()?.class(), QueryClass::Point);

    writeln!(out, "\nA copy answers with what it was declared to hold, and leads to the rest:\n")?;
    for row in staff.by_name().department("Sales").last_name("Jones") {
        let row = row?;
        let whole = staff.get(row.key())?.ok_or("the entity of a copy is there")?;
        writeln!(out, "  {} {}: {}", row.first_name, row.last_name, whole.email)?;
    }

    writeln!(out, "\nA new e-mail address: the old copy goes and the new one comes, in one transaction.\n")?;
    let jones = staff.update(Employee::key("Sales", 223), |e| e.email = "ann@contoso.com".into())?;
    draw(&mut out, staff.dynamic(), &Query::new().row_prefix("email_"))?;
    assert!(staff.get(Employee::by_email("Sales", "jones@contoso.com"))?.is_none());

    let taken = staff.insert(&Employee { email: "ann@contoso.com".into(), ..employee(225, "Eve", "Li") });
    let taken = taken.unwrap_err();
    writeln!(out, "\nAn address that is taken:\n  {taken}")?;
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict);

    staff.delete_if(Employee::key("Sales", 223), Stored::etag(&jones))?;
    assert_eq!(staff.dynamic().query(&Query::new())?.count(), 3, "Bob's row and his two copies are left");
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
