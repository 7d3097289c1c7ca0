//! Guide, pattern 2, without its drawback: copies of an entity in other partitions and tables, which come with its change.
//! The guide has them follow by a queue, since the service's transactions end at the partition.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, Query, Store};

/// An employee, in the partition of the department; an address is given once in the whole company, and names are listed in
/// a table of their own.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "emails", row = "email_{email}", copy = keys, unique, atomic)]
#[index(
    by_name,
    table = "Names",
    partition = "{last_name}",
    row = "{department}_{id:06}",
    copy(first_name),
    atomic
)]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

fn employee(department: &str, id: u32, first_name: &str, last_name: &str) -> Employee {
    Employee {
        department: department.into(),
        id,
        first_name: first_name.into(),
        last_name: last_name.into(),
        email: format!("{}@contoso.com", first_name.to_lowercase()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("copies_elsewhere");
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    let mut out = stdout();

    writeln!(out, "Where the rows lie:\n\n{}", Employee::SCHEMA)?;
    let ann = employee("Sales", 223, "Ann", "Jones");
    let insert = || staff.egt(Employee::partition("Sales")).insert(&ann);
    writeln!(out, "\nWhat an insert touches:\n\n{}\n", insert().explain()?)?;
    insert().commit()?;
    staff.insert(&employee("Legal", 7, "Bob", "Jones"))?;
    staff.insert(&employee("Legal", 8, "Eve", "Hall"))?;
    draw(&mut out, staff.dynamic(), &Query::new())?;
    writeln!(out)?;
    let names = store.dynamic_table("Names")?;
    draw(&mut out, &names, &Query::new())?;

    writeln!(out, "\nAn address leads to its holder, in whatever department:\n")?;
    let bob = staff.get(Employee::by_email("bob@contoso.com"))?.ok_or("his address is there")?;
    let bob = staff.get(bob.key())?.ok_or("and so is he")?;
    writeln!(out, "  {} {} of {}", bob.first_name, bob.last_name, bob.department)?;
    assert_eq!((&*bob.department, bob.id), ("Legal", 7));

    writeln!(out, "\nAll of one name, over departments, from one partition of another table:\n")?;
    let query = staff.by_name().last_name("Jones");
    writeln!(out, "  {}", query.explain()?)?;
    for row in query.clone() {
        let row = row?;
        writeln!(out, "  {} {}, {}", row.first_name, row.last_name, row.department)?;
    }
    assert_eq!(query.count()?, 2);

    writeln!(out, "\nAn address that another department has given:\n")?;
    let taken = Employee { email: "bob@contoso.com".into(), ..employee("Sales", 224, "Rob", "Hill") };
    let taken = staff.insert(&taken).unwrap_err();
    writeln!(out, "  {taken}")?;
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict);

    writeln!(
        out,
        "\nAnn marries. Her row goes from one partition of the names to another, with the change:\n"
    )?;
    staff.update(Employee::key("Sales", 223), |ann| ann.last_name = "Hall".into())?;
    draw(&mut out, &names, &Query::new())?;
    let halls = staff.by_name().last_name("Hall").entities();
    assert_eq!(halls.into_iter().collect::<Result<Vec<_>, _>>()?.len(), 2);

    writeln!(out, "\nWithout its table the index is made again:\n")?;
    store.drop_table("Names")?;
    let staff = store.table::<Employee>()?;
    let unread = staff.by_name().last_name("Hall").count().unwrap_err();
    writeln!(out, "  {unread}")?;
    assert_eq!(unread.kind(), ErrorKind::IndexBuilding);
    staff.rebuild()?.run()?;
    assert_eq!(staff.by_name().last_name("Hall").count()?, 2);
    assert!(store.check()?.problems.is_empty());
    store.drop_tables(&["Company", "Names"])?;
    assert!(store.tables()?.is_empty());
    Ok(())
}
