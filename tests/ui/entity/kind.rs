use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee.old")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Dot {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Empty {
    department: String,
    id: u32,
}

fn main() {}
