use table_core::{Entity, Error, Result, Store, Table};

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

fn hire(store: &Store, staff: &Table<Employee>) -> Result<()> {
    let worker = store.queue::<u32>("birthdays")?.worker().run(|id| {
        staff.update(Employee::key("Sales", **id), |e| e.age += 1)?;
        Ok::<(), Error>(())
    })?;
    worker.stop();
    Ok(())
}

fn main() {}
