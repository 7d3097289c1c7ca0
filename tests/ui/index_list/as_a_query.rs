use table_core::{Entity, Result, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index_list(by_age, row = "age_{age:03}", of = id)]
struct Employee {
    department: String,
    id: u32,
    age: u8,
}

fn forty(staff: &Table<Employee>) -> Result<()> {
    let found = staff.by_age().department("Sales").age(40).count()?;
    println!("{found}");
    Ok(())
}

fn main() {}
