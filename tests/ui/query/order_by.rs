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

fn eldest(staff: &Table<Employee>) -> Result<()> {
    let eldest = staff.rows().department("Sales").order_by(|e| e.age).first()?;
    println!("{}", eldest.is_some());
    let first = staff.all().order_by("Age").first()?;
    println!("{}", first.is_some());
    Ok(())
}

fn main() {}
