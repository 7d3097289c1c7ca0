//! The guide's index entity: for each last name of a department one row that lists the ids of those who have it. Every change
//! of an employee keeps it, in the same transaction, and no two of them are in each other's way.

use std::error::Error;
use std::io::Write;
use std::thread;

use examples::{Scratch, draw, stdout};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store};

/// An employee, in the partition of the department.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index_list(by_last_name, row = "last_{last_name}", of = id)]
#[index_list(
    by_project,
    table = "Projects",
    partition = "all",
    row = "{project}",
    of(department, id),
    atomic
)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    project: Option<String>,
}

fn employee(department: &str, id: u32, last_name: &str, project: Option<&str>) -> Employee {
    let project = project.map(Into::into);
    Employee { department: department.into(), id, last_name: last_name.into(), project }
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("index_list");
    let store = Store::open(scratch.path())?;
    let staff = store.table::<Employee>()?;
    let mut out = stdout();
    writeln!(out, "{}\n", Employee::SCHEMA)?;

    writeln!(out, "Four are hired:\n")?;
    for one in [
        employee("Sales", 7, "Jones", Some("apollo")),
        employee("Sales", 3, "Jones", None),
        employee("Sales", 5, "Cao", None),
        employee("Legal", 4, "Jones", Some("apollo")),
    ] {
        staff.insert(&one)?;
    }
    draw(&mut out, staff.dynamic(), &Query::new())?;
    draw(&mut out, &store.dynamic_table("Projects")?, &Query::new())?;

    writeln!(out, "\nAll who are called Jones, in one snapshot:\n")?;
    let jones = staff.list(Employee::by_last_name("Sales", "Jones"))?;
    writeln!(out, "  {}", jones.explain()?)?;
    let mut ids = Vec::new();
    for one in jones.entities() {
        let one = one?;
        writeln!(out, "  {} {}", one.id, one.last_name)?;
        ids.push(one.id);
    }
    assert_eq!((jones.len(), ids), (2, vec![3, 7]));
    let apollo = staff.list(Employee::by_project("apollo"))?;
    let departments: Vec<_> = apollo.entities().map(|one| Ok(one?.department.clone())).collect();
    assert_eq!(departments.into_iter().collect::<Result<Vec<_>, table_core::Error>>()?, ["Legal", "Sales"]);

    writeln!(out, "\nOne marries. What a change of the last name does:\n")?;
    let married = employee("Sales", 7, "Cao", Some("apollo"));
    let changes = || staff.egt(Employee::partition("Sales")).put(&married);
    writeln!(out, "{}\n", changes().explain()?)?;
    changes().commit()?;
    draw(&mut out, staff.dynamic(), &Query::new().partition("Sales"))?;
    assert_eq!(staff.list(Employee::by_last_name("Sales", "Cao"))?.len(), 2);
    // The list that was read stays as it was.
    assert_eq!(jones.entities().filter_map(Result::ok).count(), 2);

    writeln!(out, "\nSixteen threads hire, each 25 people of one name:\n")?;
    thread::scope(|scope| {
        for thread in 0..16 {
            let staff = &staff;
            scope.spawn(move || {
                for id in 0..25 {
                    staff.insert(&employee("Sales", 1_000 + 25 * thread + id, "Smith", None))?;
                }
                Ok::<(), table_core::Error>(())
            });
        }
    });
    let smiths = staff.list(Employee::by_last_name("Sales", "Smith"))?;
    writeln!(out, "  {} on one list", smiths.len())?;
    assert_eq!(smiths.len(), 400);

    writeln!(out, "\nThe list goes with the last of them:\n")?;
    staff.delete(Employee::key("Sales", 3))?;
    draw(&mut out, staff.dynamic(), &Query::new().partition("Sales").row_prefix("last_"))?;
    assert!(staff.list(Employee::by_last_name("Sales", "Jones"))?.is_empty());

    writeln!(out, "\nNobody writes a list by hand:\n")?;
    let wrong = DynamicEntity::new("Sales", "last_Cao").with("Ids", "000005");
    let refused = staff.dynamic().merge(&wrong, IfMatch::Any).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::DeclaredKind);

    writeln!(out, "\nUnless the handle is raw. Then a check finds it:\n")?;
    staff.dynamic().raw().merge(&wrong, IfMatch::Any)?;
    let report = staff.check()?;
    writeln!(out, "  {report}")?;
    assert_eq!(report.unlisted, 1);
    staff.repair()?.run()?;
    assert!(staff.check()?.is_sound());
    assert_eq!(staff.list(Employee::by_last_name("Sales", "Cao"))?.len(), 2);
    Ok(())
}
