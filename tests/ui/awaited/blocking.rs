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

async fn ages(staff: &Table<Employee>) -> Result<()> {
    let mut employees = staff.rows().department("Sales").stream();
    while let Some(employee) = employees.try_next().await? {
        println!("{}", employee.age);
    }
    staff.all().stream();
    staff.rows().department("Sales").first().await?;
    Ok(())
}

fn main() {}
