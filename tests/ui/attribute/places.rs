use table_derive::Entity;

#[derive(Entity)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[entity]
struct Bare {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[entity = "Company"]
struct Value {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[property(rename = "X")]
struct OnStruct {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct OnField {
    department: String,
    #[key(partition = "x")]
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(row = "id_{id}")]
#[index("by_id", row = "id_{id}")]
#[index()]
#[index(name = by_id, row = "id_{id}")]
struct Unnamed {
    department: String,
    id: u32,
}

fn main() {}
