use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}")]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

fn main() {}
