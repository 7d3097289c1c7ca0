use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "id_{id:06}")]
#[index(by_badge, row = "id_{badge:06}", unique)]
struct Employee {
    department: String,
    id: u32,
    badge: u32,
}

fn main() {}
