use table_core::{Entity, Table};

#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: u8,
    retired: bool,
}

// A filter in the words of Rust's conditions.
fn uses(staff: &Table<Employee>) -> Result<(), table_core::Error> {
    let sales = staff.rows().department("Sales");
    sales.clone().filter(|e| e.age == 40).count()?;
    sales.clone().filter(|e| e.name != "Cao").count()?;
    sales.clone().filter(|e| e.age > 40).count()?;
    sales.clone().filter(|e| e.age.ge(40) && e.age.lt(50)).count()?;
    sales.clone().filter(|e| e.age.ge(40) || e.retired.is_true()).count()?;
    sales.clone().filter(|e| e.name.contains("a")).count()?;
    sales.clone().filter(|_| true).count()?;
    // Right: `!` and `&`, and the column of a `bool` by itself.
    sales.clone().filter(|e| !(e.age.eq(40) & e.retired.is_true())).count()?;
    sales.filter(|e| e.retired).count()?;
    Ok(())
}

fn main() {}
