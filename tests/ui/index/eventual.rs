use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, eventual)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn main() {}
