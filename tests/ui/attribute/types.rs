use table_core::typed::{At, OwnRows};
use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types(by_phone))]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy = keys)]
struct NoSuchIndex {
    department: String,
    id: u32,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types(patch, by_nam, query))]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy = keys)]
struct Misspelt {
    department: String,
    id: u32,
    last_name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types(rows))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct NoIndexes {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types(patch, patch = Change))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Twice {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types(patch = Taken, view = Shown, query = Shown))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Taken {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types())]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Empty {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types = patch)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Equals {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types(patch = "Change"))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Text {
    department: String,
    id: u32,
}

// What is named right is there, whatever else is wrong.
fn uses(_: MisspeltPatch, _: MisspeltQuery<OwnRows<Misspelt>, At<1>>) {}

fn main() {}
