use std::collections::HashMap;

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    tags: HashMap<String, String>,
    nick: Option<Option<String>>,
    size: usize,
}

fn main() {}
