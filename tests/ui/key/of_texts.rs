use table_core::typed::Partition;
use table_core::{Entity, Key, Result, Table};

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

fn ann(staff: &Table<Employee>) -> Result<()> {
    println!("{:?}", staff.get(Key::new("Sales", "empid_000001"))?.map(|ann| ann.age));
    staff.egt(Partition::new("Sales")).commit()?;
    Ok(())
}

fn main() {}
