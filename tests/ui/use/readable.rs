use table_core::Entity;
use table_core::crypt::Secret;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn}", unique)]
#[index(by_salary, row = "salary_{salary:012}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt]
    salary: u64,
}

fn main() {}
