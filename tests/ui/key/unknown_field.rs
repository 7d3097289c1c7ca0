use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{departmnt}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{Department}", row = "empid_{id:06}")]
struct Property {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{mail}")]
struct Index {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{self.department}", row = "{}")]
struct Path {
    department: String,
    id: u32,
}

fn main() {}
