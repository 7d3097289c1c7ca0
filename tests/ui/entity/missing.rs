use table_derive::Entity;

#[derive(Entity)]
struct Nothing {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct NoTable {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct NoKind {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}")]
struct NoRow {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(row = "{id}")]
struct NoPartition {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_id, unique)]
struct NoIndexRow {
    department: String,
    id: u32,
}

fn main() {}
