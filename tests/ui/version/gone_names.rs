//! What is to go, named as a field.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", gone(phone))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

fn main() {}
