use table_core::{Entity, Projection, Result, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy(age))]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
}

fn read<P: Projection<Entity = Employee>>(staff: &Table<Employee>) -> Result<Vec<P>> {
    staff.by_email().department("Sales").select::<P>().into_iter().collect()
}

fn main() {}
