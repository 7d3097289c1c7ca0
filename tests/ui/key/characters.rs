use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "emp/id/{id:06}")]
struct Slash {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "dep\t{department}", row = "{id:06}")]
struct Tab {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{at:%d/%m}_{id}")]
struct Time {
    department: String,
    id: u32,
    at: u64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_id, row = "{{#{id}}}")]
struct Index {
    department: String,
    id: u32,
}

fn main() {}
