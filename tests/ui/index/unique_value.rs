//! `unique` with a value.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique(all))]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{department}", row = "guest_{id:06}")]
#[index(by_email, row = "email_{email}", unique = true)]
struct Guest {
    department: String,
    id: u32,
    email: String,
}

fn main() {}
