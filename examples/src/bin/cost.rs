//! Guide, "estimating what duplicates cost": what an entity and its copies take before there are any, what they take once
//! there are, and what the figures advise.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, stdout};
use table_core::schema::Usage;
use table_core::{Entity, Store};

/// An employee, found by address, by name, by office, and by state.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name))]
#[index(by_office, row = "office_{office}_{id:06}", copy = keys)]
#[index(by_state, row = "state_{state}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    office: String,
    state: String,
    age: i32,
}

const NAMES: [&str; 8] = ["Jones", "Hall", "Smith", "Cao", "Berg", "Silva", "Okafor", "Weber"];

fn employee(id: u32) -> Employee {
    let pick = |from: &[&str], by: u32| from[(id / by) as usize % from.len()].to_owned();
    Employee {
        department: pick(&["Sales", "Legal"], 1_000),
        id,
        first_name: pick(&["Ann", "Bob", "Eve", "Jun"], 1),
        last_name: pick(&NAMES, 3),
        email: format!("employee{id}@contoso.com"),
        office: pick(&["Oslo", "Bern", "Lagos", "Lima", "Seoul"], 7),
        state: if id.is_multiple_of(50) { "on leave" } else { "active" }.into(),
        age: 20 + (id % 45) as i32,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = stdout();

    // What is expected in a day. The texts are about as long as these; the office changes seldom, the state often.
    let usage = Usage::of(2_000)
        .length("department", 5)
        .length("first_name", 3)
        .length("last_name", 5)
        .length("email", 24)
        .length("office", 4)
        .length("state", 6)
        .reads("by_email", 4_000.0)
        .reads("by_name", 900.0)
        .reads("by_office", 120.0)
        .reads("by_state", 10.0)
        .changes("office", 15.0)
        .changes("state", 600.0);
    let expected = Employee::SCHEMA.cost(&usage)?;
    writeln!(out, "Before there is any entity:\n\n{expected}\n")?;
    // An index by what changes all day costs more than it gives.
    assert!(
        expected.advice.iter().any(|line| line.starts_with("`by_state` is written more often than read"))
    );

    let scratch = Scratch::new("cost");
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    staff.bulk_insert((0..2_000).map(employee))?.into_result()?;
    let counted = staff.cost()?;
    writeln!(out, "And once they are there:\n\n{counted}")?;

    assert_eq!(counted.entities, 2_000);
    assert!(counted.advice.iter().any(|line| line.starts_with("`by_state` tells little apart")));
    let off = counted.service_bytes().abs_diff(expected.service_bytes());
    assert!(off * 10 < counted.service_bytes(), "the estimate is off by {off} bytes");

    // The figures of a change are those that the change itself explains.
    let leave = staff.egt(Employee::partition("Sales")).update(Employee::key("Sales", 7), |employee| {
        employee.state = "on leave".into();
    });
    let of_state = counted.changes.iter().find(|change| change.change == "state").ok_or("no such change")?;
    writeln!(out, "\nA change of a state:\n\n{}", leave.explain()?)?;
    assert!((of_state.rows - 4.0).abs() < 1e-9);
    Ok(())
}
