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

fn birthday(staff: &Table<Employee>) -> Result<()> {
    staff.update(Employee::by_email("Sales", "ann@contoso.com"), |e| e.age += 1)?;
    Ok(())
}

fn main() {}
