use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    ssn_token: Vec<u8>,
    #[encrypt(blind)]
    ssn: String,
}

fn main() {}
