use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{last_name:06}")]
struct Employee {
    department: String,
    last_name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "claim")]
#[key(partition = "{department}", row = "claim_{number:ticks}")]
struct Claim {
    department: String,
    number: u32,
}

fn main() {}
