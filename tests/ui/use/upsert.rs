use table_core::{Entity, Result, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
}

fn save(staff: &Table<Employee>, employee: &Employee) -> Result<()> {
    staff.upsert(employee)?;
    Ok(())
}

fn main() {}
