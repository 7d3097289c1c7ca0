use table_core::{Entity, Properties};

#[derive(Properties)]
struct Person {
    ssn_token: Vec<u8>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt(blind)]
    ssn: String,
    #[flatten]
    person: Person,
}

fn main() {}
