use table_core::{Result, Store, Table};

struct Employee {
    id: u32,
}

fn hire(staff: &Table<Employee>, employee: &Employee) -> Result<()> {
    staff.insert(employee)?;
    Ok(())
}

fn first(store: &Store) -> Result<()> {
    let staff = store.table::<Employee>()?;
    staff.insert(&Employee { id: 1 })?;
    Ok(())
}

fn main() {}
