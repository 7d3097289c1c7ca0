//! Guide: denormalization. A department keeps its manager's name and address beside its own data, so that both come by one
//! point query. The store keeps the copy: a change of the manager and of the departments that show it is one transaction.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{Entity, ErrorKind, Projection, Query, Store};

/// An employee, in the partition of the department. Where copies of it are, it says itself.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[copied_into(Department, Project)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    salary: i64,
}

/// What others show of an employee.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Employee)]
struct Contact {
    name: String,
    email: String,
}

/// A department, beside its employees.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
#[index(by_manager, row = "manager_{manager_id:06}", unique, copy = keys)]
struct Department {
    name: String,
    manager_id: Option<u32>,
    #[copy_of(Employee, key(name, manager_id))]
    manager: Option<Contact>,
}

/// A project, in a table of its own: the copy changes with the employee all the same, in a transaction over both.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Projects", kind = "project")]
#[key(partition = "all", row = "project_{title}")]
#[index(by_lead, row = "lead_{department}_{lead_id:06}_{title}", copy = keys)]
struct Project {
    title: String,
    department: String,
    lead_id: u32,
    #[copy_of(Employee, key(department, lead_id), atomic)]
    lead: Option<Contact>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("denormalized");
    let store = Store::open(scratch.path())?;
    let (staff, departments) = (store.table::<Employee>()?, store.table::<Department>()?);
    let projects = store.table::<Project>()?;
    let mut out = stdout();

    for (id, name) in [(1, "Ann"), (2, "Bob")] {
        let email = format!("{}@contoso.com", name.to_lowercase());
        staff.insert(&Employee {
            department: "Sales".into(),
            id,
            name: name.into(),
            email,
            salary: 5_000,
        })?;
    }
    // What a struct says of a copy is not what is stored: that is looked up.
    departments.insert(&Department { name: "Sales".into(), manager_id: Some(1), manager: None })?;
    for title in ["Autumn", "Spring"] {
        let project = Project { title: title.into(), department: "Sales".into(), lead_id: 1, lead: None };
        projects.insert(&project)?;
    }
    draw(&mut out, departments.dynamic(), &Query::new())?;
    draw(&mut out, projects.dynamic(), &Query::new().row_prefix("project_"))?;

    writeln!(out, "\nAnn has another address. What a change of it does:\n")?;
    let marries =
        || store.transaction().update(Employee::key("Sales", 1), |e| e.email = "cao@contoso.com".into());
    writeln!(out, "{}\n", marries().explain()?)?;
    marries().commit()?;
    let sales = departments.get(Department::key("Sales"))?.ok_or("it is there")?;
    assert_eq!(sales.manager.as_ref().map(|manager| &*manager.email), Some("cao@contoso.com"));
    let spring = projects.get(Project::key("Spring"))?.ok_or("it is there")?;
    assert_eq!(spring.lead, sales.manager);

    writeln!(out, "A raise touches nobody else:\n")?;
    let raise =
        || staff.egt(Employee::partition("Sales")).update(Employee::key("Sales", 1), |e| e.salary += 500);
    writeln!(out, "{}\n", raise().explain()?)?;
    assert_eq!(raise().explain()?.rows(), 1);
    raise().commit()?;

    writeln!(out, "Another manager: the department takes over what is copied.\n")?;
    let sales = departments.update(Department::key("Sales"), |sales| sales.manager_id = Some(2))?;
    writeln!(out, "  {:?}\n", sales.manager)?;
    assert_eq!(sales.manager.as_ref().map(|manager| &*manager.name), Some("Bob"));

    writeln!(out, "Ann leaves: nobody leads her projects any more.\n")?;
    staff.delete(Employee::key("Sales", 1))?;
    draw(&mut out, projects.dynamic(), &Query::new().row_prefix("project_"))?;
    for project in projects.all() {
        assert_eq!(project?.lead, None);
    }

    writeln!(out, "\nBoth at one time: what counts is what is there afterwards.\n")?;
    let cleo = Employee {
        department: "Sales".into(),
        id: 3,
        name: "Cleo".into(),
        email: "cleo@contoso.com".into(),
        salary: 6_000,
    };
    store
        .transaction()
        .insert(&cleo)
        .update(Project::key("Spring"), |project| project.lead_id = 3)
        .commit()?;
    let spring = projects.get(Project::key("Spring"))?.ok_or("it is there")?;
    writeln!(out, "  {:?}", spring.lead)?;
    assert_eq!(spring.lead, Some(Contact { name: cleo.name, email: cleo.email }));

    // By hand nothing is written that a struct keeps.
    let refused = staff.dynamic().delete("Sales", "empid_000003").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
    Ok(())
}
