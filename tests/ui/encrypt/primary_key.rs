use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{ssn:blind}")]
struct Employee {
    department: String,
    #[encrypt(blind)]
    ssn: String,
}

fn main() {}
