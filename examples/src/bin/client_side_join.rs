//! Guide: the client-side join. Many rows refer to a small table that rarely changes; each of its entities is read once, at
//! the moment of the rows.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, Query, Store};

/// A department: one of few.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Departments", kind = "department")]
#[key(partition = "{region}", row = "{name}")]
struct Department {
    region: String,
    name: String,
    floor: i32,
    manager: u32,
}

/// An employee, who belongs to a department or to none.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{region}", row = "empid_{id:06}")]
struct Employee {
    region: String,
    id: u32,
    name: String,
    department: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("client_side_join");
    let store = Store::open(scratch.path())?;
    let (departments, staff) = (store.table::<Department>()?, store.table::<Employee>()?);
    let mut out = stdout();

    for (name, floor, manager) in [("Sales", 3, 2), ("Legal", 4, 4)] {
        departments.insert(&Department { region: "west".into(), name: name.into(), floor, manager })?;
    }
    let people =
        [(1, "Ann", "Sales"), (2, "Bob", "Sales"), (3, "Cleo", ""), (4, "Dan", "Legal"), (5, "Eve", "Press")];
    staff
        .bulk_insert(people.map(|(id, name, department)| Employee {
            region: "west".into(),
            id,
            name: name.into(),
            department: (!department.is_empty()).then(|| department.into()),
        }))?
        .into_result()?;
    writeln!(out, "The small table:\n")?;
    draw(&mut out, departments.dynamic(), &Query::new())?;

    writeln!(out, "\nEach employee with the department, read once each:\n")?;
    let snapshot = store.snapshot()?;
    // What is written from here on, neither side sees.
    departments.update(Department::key("west", "Sales"), |sales| sales.floor = 9)?;
    departments.delete(Department::key("west", "Legal"))?;

    let (then, rows) = (departments.at(&snapshot), staff.at(&snapshot).rows().region("west"));
    let department_of = |employee: &table_core::Stored<Employee>| {
        let department = employee.department.as_ref()?;
        Some(Department::key(&*employee.region, department))
    };
    let joined = then.join(rows, department_of).collect::<table_core::Result<Vec<_>>>()?;
    for (employee, department) in &joined {
        let floor =
            department.as_ref().map_or("no floor".into(), |department| format!("floor {}", department.floor));
        writeln!(out, "  {:<5}{:<7}{floor}", employee.name, employee.department.as_deref().unwrap_or("-"))?;
    }
    let floors: Vec<_> = joined.iter().map(|(_, found)| found.as_ref().map(|found| found.floor)).collect();
    assert_eq!(
        floors,
        [Some(3), Some(3), None, Some(4), None],
        "nobody sits in the press department, which is not there"
    );
    let same = |a: usize, b: usize| match (&joined[a].1, &joined[b].1) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    assert!(same(0, 1) && !same(0, 3), "Sales was asked for once");

    writeln!(out, "\nThe other way round: the manager of each department, a lookup in the large table.\n")?;
    let employees = staff.at(&snapshot);
    let all = departments.at(&snapshot).rows().region("west");
    for pair in employees.join(all, |department| Some(Employee::key("west", department.manager))) {
        let (department, manager) = pair?;
        writeln!(out, "  {:<7}{}", department.name, manager.ok_or("each has a manager")?.name)?;
    }
    Ok(())
}
