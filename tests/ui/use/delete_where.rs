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

fn retire(staff: &Table<Employee>) -> Result<()> {
    staff.delete_where(staff.rows().department("Sales").filter(|e| e.age.ge(67)))?.run()?;
    staff.delete_where(staff.by_email().department("Sales"))?.run()?;
    Ok(())
}

fn main() {}
