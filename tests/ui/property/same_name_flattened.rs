use table_core::{Entity, Properties};

#[derive(Properties)]
struct Address {
    city: String,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[flatten]
    address: Address,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Moving {
    department: String,
    id: u32,
    #[flatten]
    from: Address,
    #[flatten]
    to: Address,
}

fn main() {}
