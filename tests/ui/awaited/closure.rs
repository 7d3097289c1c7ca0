use std::cell::Cell;
use std::rc::Rc;

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

async fn count(staff: &AsyncTable<Employee>) -> Result<()> {
    let birthdays = Rc::new(Cell::new(0));
    staff
        .update(Employee::key("Sales", 1), |employee| {
            birthdays.set(birthdays.get() + 1);
            employee.age += 1;
        })
        .await?;
    Ok(())
}

fn main() {}
