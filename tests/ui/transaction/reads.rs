use table_core::{Entity, Result, Store};

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

fn move_age(store: &Store) -> Result<()> {
    let tx = store.transaction();
    let found = tx.get(Employee::key("Sales", 1))?;
    println!("{:?}", found.map(|employee| employee.age));
    Ok(())
}

fn in_one_partition(store: &Store) -> Result<()> {
    let egt = store.table::<Employee>()?.egt(Employee::partition("Sales"));
    let found = egt.get(Employee::key("Sales", 1))?;
    println!("{:?}", found.map(|employee| employee.age));
    Ok(())
}

fn main() {}
