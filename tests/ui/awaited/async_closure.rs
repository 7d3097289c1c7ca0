use table_core::asynchronous::AsyncTable;
use table_core::{Entity, Result};

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

async fn raise() -> u8 {
    1
}

async fn grow(staff: &AsyncTable<Employee>) -> Result<()> {
    staff.update(Employee::key("Sales", 1), |employee| async { employee.age += raise().await }).await?;
    Ok(())
}

fn main() {}
