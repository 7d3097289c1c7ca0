//! Several kinds of entities in one table: departments and their employees share a partition, so one query reads both,
//! and one transaction keeps the head count right.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, EntitySet, ErrorKind, Query, Store};

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
#[index(by_email, row = "email_{email}", unique, copy = keys)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    email: String,
}

/// The kinds in the table. Two kinds whose rows could have one key would not compile.
#[derive(EntitySet)]
enum Company {
    Department(Department),
    Employee(Employee),
}

/// Adds an employee and counts him, or neither.
fn hire(store: &Store, employee: &Employee) -> table_core::Result<()> {
    let department = employee.department.as_str();
    store
        .egt::<Company>(Employee::partition(department))
        .update(Department::key(department), |department| department.head_count += 1)
        .insert(employee)
        .commit()
        .map(|_| ())
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("heterogeneous");
    let store = Store::open(scratch.path())?;
    let company = store.set::<Company>()?;
    let mut out = stdout();
    writeln!(out, "{}\n\n{}\n", Department::SCHEMA, Employee::SCHEMA)?;

    store.table::<Department>()?.insert(&Department { name: "Sales".into(), head_count: 0 })?;
    let employee = |id, last_name: &str| Employee {
        department: "Sales".into(),
        id,
        last_name: last_name.into(),
        email: format!("{}@contoso.com", last_name.to_lowercase()),
    };
    hire(&store, &employee(1, "Hall"))?;
    hire(&store, &employee(2, "Kwok"))?;
    writeln!(out, "Two hired: each in one transaction with the count.\n")?;
    draw(&mut out, company.dynamic(), &Query::new())?;

    // The address is taken, so nobody is hired and nobody is counted.
    let refused = hire(&store, &Employee { id: 3, ..employee(3, "Hall") }).unwrap_err();
    writeln!(out, "\nA third is refused:\n  {refused}")?;
    assert_eq!((refused.kind(), refused.index()), (ErrorKind::UniqueConflict, Some(1)));

    writeln!(out, "\nWhat removing one would touch:")?;
    let leaves = company
        .egt(Employee::partition("Sales"))
        .update(Department::key("Sales"), |department| department.head_count -= 1)
        .delete(Employee::key("Sales", 1));
    writeln!(out, "  {}", leaves.explain()?)?;

    // A department and all its employees: one query, one range of rows.
    let sales = company.partition(Department::partition("Sales"));
    writeln!(out, "\nThe department as one query reads it:\n  {}", sales.explain()?)?;
    let (mut counted, mut found) = (0, 0);
    for entity in sales {
        match &*entity? {
            Company::Department(department) => {
                writeln!(out, "  {} has {}", department.name, department.head_count)?;
                counted = department.head_count;
            }
            Company::Employee(employee) => {
                writeln!(out, "  {} {}", employee.id, employee.last_name)?;
                found += 1;
            }
        }
    }
    assert_eq!((counted, found), (2, 2));

    // Page by page; the token may be kept as text.
    let sales = company.partition(Department::partition("Sales"));
    let first = sales.page(2, None)?;
    let rest = sales.page(2, first.next.as_ref())?;
    writeln!(out, "\nIn pages of two: {}, then {}", first.entities.len(), rest.entities.len())?;
    assert!(rest.next.is_none());

    // A snapshot keeps the department as it was with those who belonged to it.
    let moment = store.snapshot()?;
    hire(&store, &employee(3, "Smith"))?;
    let (then, now) = (company.at(&moment), company.partition(Department::partition("Sales")));
    let before = then.partition(Department::partition("Sales")).count()?;
    writeln!(out, "A third is hired: {} rows in the snapshot, {} now", before, now.count()?)?;
    assert_eq!(then.get(Department::key("Sales"))?.map(|department| department.head_count), Some(2));
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
