use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", table = "Other")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct InOne {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[key(row = "{id}")]
struct InTwo {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, unique)]
struct Flag {
    department: String,
    id: u32,
    email: String,
}

fn main() {}
