use table_core::{Entity, Properties};

struct Plain {
    city: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Flattened {
    department: String,
    id: u32,
    #[flatten]
    address: Plain,
}

#[derive(Properties)]
struct Nested {
    #[flatten]
    address: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Json {
    department: String,
    id: u32,
    #[property(json)]
    address: Plain,
}

fn main() {}
