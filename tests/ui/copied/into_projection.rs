//! The projection is named that says what is copied, in the place of the entity that holds the copy.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[copied_into(Name)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Name {
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "desk")]
#[key(partition = "{department}", row = "desk_{id:06}")]
struct Desk {
    department: String,
    id: u32,
    #[copy_of(Employee, key(department, id))]
    who: Option<Name>,
}

fn main() {}
