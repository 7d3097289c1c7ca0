//! Guide, pattern 2: a list in another table and partition that may be a moment behind. What the guide does by a queue and
//! its workers, a word in the declaration does here.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::store::Propagate;
use table_core::typed::Eventual;
use table_core::typed::Propagation;
use table_core::{Entity, Query, Store};

/// An employee, in the partition of the department; who has which name is listed in a table of its own, over all departments.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(
    by_name,
    table = "Names",
    partition = "{last_name}",
    row = "{department}_{id:06}",
    copy(first_name),
    eventual
)]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
}

fn employee(department: &str, id: u32, first_name: &str, last_name: &str) -> Employee {
    let [department, first_name, last_name] = [department, first_name, last_name].map(str::to_owned);
    Employee { department, id, first_name, last_name }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("eventual_index");
    // So that it can be seen. By default a thread propagates in the background.
    let store = Store::options().propagate(Propagate::Manual).open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    let mut out = stdout();

    writeln!(out, "Where the rows lie, and when they come:\n\n{}", Employee::SCHEMA)?;
    let ann = employee("Sales", 223, "Ann", "Jones");
    let insert = || staff.egt(Employee::partition("Sales")).insert(&ann);
    writeln!(out, "\nAn insert touches one row, and leaves word of another:\n\n{}\n", insert().explain()?)?;
    let first = insert().commit()?.etag(0);
    staff.insert(&employee("Legal", 7, "Bob", "Jones"))?;
    assert_eq!(staff.by_name().last_name("Jones").count()?, 0);
    writeln!(out, "  {}", store.pending_propagation()?)?;

    writeln!(out, "\nOnce they are propagated, the names are there:\n")?;
    assert_eq!(store.propagate()?, Propagation::Complete);
    let names = store.dynamic_table("Names")?;
    draw(&mut out, &names, &Query::new())?;
    let row = staff.by_name().last_name("Jones").department("Sales").first()?.ok_or("hers is there")?;
    assert_eq!(Eventual::as_of(&row), first);

    writeln!(out, "\nAnn marries, and Bob leaves. The list does not know yet:\n")?;
    staff.update(Employee::key("Sales", 223), |ann| ann.last_name = "Hall".into())?;
    staff.delete(Employee::key("Legal", 7))?;
    for row in staff.by_name().last_name("Jones") {
        let row = row?;
        writeln!(
            out,
            "  {} of {}, as of {}",
            row.first_name,
            row.department,
            Eventual::as_of(&row).timestamp()
        )?;
    }
    assert_eq!(staff.by_name().last_name("Jones").count()?, 2);

    writeln!(out, "\nWho asks for the entities gets those that still belong there: none.\n")?;
    assert_eq!(staff.by_name().last_name("Jones").entities().count()?, 0);

    writeln!(
        out,
        "The process ends here. Another one opens the table, and a thread of it propagates what is left:\n"
    )?;
    drop((staff, names, store));
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    while store.pending_propagation()?.entities > 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    draw(&mut out, &store.dynamic_table("Names")?, &Query::new())?;
    assert_eq!(staff.by_name().last_name("Hall").count()?, 1);
    assert_eq!(staff.by_name().last_name("Jones").count()?, 0);
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
