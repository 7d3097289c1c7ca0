//! A copy of the entity itself, in the place of some of its fields.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[copied_into(Desk)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "desk")]
#[key(partition = "{department}", row = "desk_{id:06}")]
struct Desk {
    department: String,
    id: u32,
    #[copy_of(Employee, key(department, id))]
    who: Option<Employee>,
}

fn main() {}
