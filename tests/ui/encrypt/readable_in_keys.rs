use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn}", unique)]
struct Employee {
    department: String,
    id: u32,
    #[encrypt]
    ssn: String,
}

fn main() {}
