//! Key templates that are no literals.

use table_core::Entity;

const ROW: &str = "empid_{id:06}";

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = ROW)]
struct Employee {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{department}", row = concat!("guest_", "{id:06}"))]
struct Guest {
    department: String,
    id: u32,
}

fn main() {}
