//! Denormalised copies: fields of another entity that an entity holds, kept by every change of either.

mod concurrent;
mod declared;
mod following;
mod random;

use std::collections::BTreeMap;

use table_core::{Entity, Projection, Stored, Tables};

/// Somebody, with a boss in the same department, who shows where the department is.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_boss, row = "boss_{boss_id:06}_{id:06}", copy = keys)]
#[index(by_name, row = "name_{name}_{id:06}")]
#[copied_into(Department, Project, Employee)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) email: Option<String>,
    pub(crate) salary: i64,
    pub(crate) boss_id: Option<u32>,
    #[copy_of(Employee, key(department, boss_id))]
    pub(crate) boss: Option<Contact>,
    #[copy_of(Department, key(department))]
    pub(crate) home: Option<Home>,
}

/// What is shown of an employee.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Employee)]
pub(crate) struct Contact {
    pub(crate) name: String,
    pub(crate) email: Option<String>,
}

/// What is shown of a department.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Department)]
pub(crate) struct Home {
    pub(crate) city: String,
}

/// A department, with a copy of the manager; the manager has one of it.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
#[index(by_manager, row = "manager_{manager_id:06}", unique, copy = keys)]
#[copied_into(Employee)]
pub(crate) struct Department {
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) manager_id: Option<u32>,
    #[copy_of(Employee, key(name, manager_id))]
    #[property(rename = "Head")]
    pub(crate) manager: Option<Contact>,
}

/// A project, in another table, with two copies of employees.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Projects", kind = "project")]
#[key(partition = "{region}", row = "project_{title}")]
#[index(by_lead, partition = "leads", row = "lead_{department}_{lead_id:06}_{region}_{title}", copy = keys, atomic)]
#[index(by_deputy, table = "Deputies", partition = "{department}", row = "{deputy_id:06}_{region}_{title}", copy = keys, atomic)]
#[index(by_title, row = "title_{title}", copy(lead_id))]
pub(crate) struct Project {
    pub(crate) region: String,
    pub(crate) title: String,
    pub(crate) department: String,
    pub(crate) lead_id: u32,
    pub(crate) deputy_id: Option<u32>,
    #[copy_of(Employee, key(department, lead_id), atomic)]
    pub(crate) lead: Option<Contact>,
    #[copy_of(Employee, key(department, deputy_id), atomic)]
    pub(crate) deputy: Option<Contact>,
}

pub(crate) fn employee(department: &str, id: u32) -> Employee {
    Employee {
        department: department.into(),
        id,
        name: format!("n{id}"),
        email: id.is_multiple_of(2).then(|| format!("e{id}")),
        salary: 10,
        boss_id: None,
        boss: None,
        home: None,
    }
}

pub(crate) fn department(name: &str, manager_id: Option<u32>) -> Department {
    Department { name: name.into(), city: format!("c{name}"), manager_id, manager: None }
}

pub(crate) fn project(title: &str, department: &str, lead_id: u32, deputy_id: Option<u32>) -> Project {
    let region = "west".into();
    Project {
        region,
        title: title.into(),
        department: department.into(),
        lead_id,
        deputy_id,
        lead: None,
        deputy: None,
    }
}

/// Every entity of a type, whole.
pub(crate) fn all<E: Entity + table_core::typed::InOneTable>(store: &Tables) -> Vec<E> {
    let table = store.table::<E>().unwrap();
    table.all().into_iter().map(|one| Stored::into_inner(one.unwrap())).collect()
}

/// Each copy is what a plain look at its source finds; the tables have been checked.
pub(crate) fn assert_copied(store: &Tables) {
    let staff: BTreeMap<(String, u32), Employee> =
        all::<Employee>(store).into_iter().map(|one| ((one.department.clone(), one.id), one)).collect();
    let departments: BTreeMap<String, Department> =
        all::<Department>(store).into_iter().map(|one| (one.name.clone(), one)).collect();
    let contact = |department: &str, id: Option<u32>| {
        let one = staff.get(&(department.to_owned(), id?))?;
        Some(Contact { name: one.name.clone(), email: one.email.clone() })
    };
    for one in staff.values() {
        assert_eq!(one.boss, contact(&one.department, one.boss_id), "{one:?}");
        let home = departments.get(&one.department).map(|department| Home { city: department.city.clone() });
        assert_eq!(one.home, home, "{one:?}");
    }
    for one in departments.values() {
        assert_eq!(one.manager, contact(&one.name, one.manager_id), "{one:?}");
    }
    for one in all::<Project>(store) {
        assert_eq!(one.lead, contact(&one.department, Some(one.lead_id)), "{one:?}");
        assert_eq!(one.deputy, contact(&one.department, one.deputy_id), "{one:?}");
    }
    let reports = [
        store.table::<Employee>().unwrap().check().unwrap(),
        store.table::<Department>().unwrap().check().unwrap(),
        store.table::<Project>().unwrap().check().unwrap(),
    ];
    assert!(reports.iter().all(|report| report.is_sound()), "{reports:?}");
}
