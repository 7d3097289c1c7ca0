use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{last_name}{id:06}")]
struct Employee {
    department: String,
    last_name: String,
    id: u32,
}

fn main() {}
