//! Guide: one to many and one to one, by references: an entity keeps the keys of others, as two properties each. A table takes
//! a reference where it takes a key.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::typed::Ref;
use table_core::{Entity, ErrorKind, Projection, Query, Store};

/// An employee, under a manager of whatever department, or under none.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    manager: Option<Ref<Employee>>,
}

/// A project, in a table of its own: who leads it, and who stands in.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Projects", kind = "project")]
#[key(partition = "all", row = "{name}")]
struct Project {
    name: String,
    lead: Ref<Employee>,
    #[property(rename = "StandIn")]
    deputy: Option<Ref<Employee>>,
}

/// Who leads a project, and nothing else of it.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Project)]
struct Lead {
    lead: Ref<Employee>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("references");
    let store = Store::open(scratch.path())?;
    let (staff, projects) = (store.table::<Employee>()?, store.table::<Project>()?);
    let mut out = stdout();

    let mut manager = None;
    for (department, id, name) in [("Board", 1, "Ann"), ("Sales", 2, "Bob"), ("Sales", 3, "Cleo")] {
        let employee =
            Employee { department: department.into(), id, name: name.into(), manager: manager.clone() };
        staff.insert(&employee)?;
        manager.get_or_insert(Ref::to(&employee));
    }
    let bob = || Ref::from(Employee::key("Sales", 2));
    projects.insert(&Project { name: "Autumn".into(), lead: bob(), deputy: None })?;
    projects.insert(&Project { name: "Spring".into(), lead: bob(), deputy: manager.clone() })?;
    draw(&mut out, staff.dynamic(), &Query::new())?;
    draw(&mut out, projects.dynamic(), &Query::new())?;

    writeln!(out, "\nFrom a project to who leads it, and on to the manager:\n")?;
    let spring = projects.get(Project::key("Spring"))?.ok_or("it is there")?;
    let lead = staff.get(&spring.lead)?.ok_or("there is one")?;
    let above = staff.get(lead.manager.as_ref().ok_or("there is one")?)?.ok_or("she is there")?;
    writeln!(out, "  {} is led by {}, who reports to {}", spring.name, lead.name, above.name)?;
    assert_eq!((&*lead.name, &*above.name), ("Bob", "Ann"));
    assert_eq!(spring.deputy, Some(Ref::to(&*above)));

    writeln!(out, "\nAnd back, by a filter:\n")?;
    for employee in staff.all().filter(|e| e.manager.eq(Ref::to(&*above))) {
        writeln!(out, "  {}", employee?.name)?;
    }
    assert_eq!(staff.all().filter(|e| e.manager.eq(Employee::key("Board", 1))).count()?, 2);
    assert_eq!(projects.all().filter(|p| p.deputy.is_none()).count()?, 1);

    writeln!(out, "\nMany at one moment, each entity read once:\n")?;
    let snapshot = store.snapshot()?;
    let rows = projects.at(&snapshot).all();
    for pair in staff.at(&snapshot).join(rows, |project| Some(project.lead.clone())) {
        let (project, lead) = pair?;
        writeln!(out, "  {}: {}", project.name, lead.ok_or("there is one")?.name)?;
    }
    let leads = projects.all().select::<Lead>().into_iter().collect::<Result<Vec<_>, _>>()?;
    assert!(leads.len() == 2 && leads.iter().all(|project| project.lead == bob()));

    writeln!(out, "\nNobody watches over a reference:\n")?;
    staff.delete(spring.lead.key())?;
    assert!(staff.get(&spring.lead)?.is_none());
    writeln!(out, "  {:?} is there no more", spring.lead)?;
    projects.update(Project::key("Spring"), |project| project.lead = Ref::to(&*above))?;
    let lead = projects.get_as::<Lead>(Project::key("Spring"))?.ok_or("it is there")?.lead;
    assert_eq!(lead, Employee::key("Board", 1));

    writeln!(out, "\nA reference by a key that no row can have is not written:\n")?;
    let wrong =
        Project { name: "Winter".into(), lead: Employee::key("Sa/les", 1_000_000).into(), deputy: None };
    let refused = projects.insert(&wrong).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::ValueOutOfRange);
    assert_eq!(projects.all().count()?, 2);
    Ok(())
}
