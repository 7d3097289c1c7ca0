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

fn ages(staff: &Table<Employee>) -> Result<()> {
    for employee in staff.rows().department("Sales").iter() {
        println!("{}", employee?.age);
    }
    let emails: Vec<String> = staff.all().iter().map(|e| Ok(e?.email.clone())).collect::<Result<_>>()?;
    println!("{emails:?}");
    Ok(())
}

fn main() {}
