use table_core::typed::SetTable;
use table_core::{Entity, EntitySet, Result};

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

#[derive(EntitySet)]
enum Company {
    Employee(Employee),
}

fn hire(company: &SetTable<Company>, ann: &Employee) -> Result<()> {
    company.insert(ann)?;
    company.put(ann)?;
    company.update(Employee::key("Sales", 1), |ann| ann.age += 1)?;
    company.delete(Employee::key("Sales", 1))?;
    Ok(())
}

fn main() {}
