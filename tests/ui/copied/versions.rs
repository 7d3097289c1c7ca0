//! What is made from a former version of itself is no part of a copy.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(kind = "employee", version = 1, former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV1 {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[copied_into(Department)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

impl From<EmployeeV1> for Employee {
    fn from(EmployeeV1 { department, id, name }: EmployeeV1) -> Self {
        Self { department, id, name }
    }
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Contact {
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
#[index(by_manager, row = "manager_{manager_id:06}", copy = keys)]
struct Department {
    name: String,
    manager_id: Option<u32>,
    #[copy_of(Employee, key(name, manager_id))]
    manager: Option<Contact>,
}

fn main() {}
