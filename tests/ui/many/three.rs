use table_derive::Entity;

// Three mistakes, three errors, and no fourth.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee", versoin = 2)]
#[key(partition = "{department}", row = "empid_{idd:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    #[property(rename = "Email")]
    mail: String,
}

fn main() {}
