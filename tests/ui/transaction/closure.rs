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

fn hire(store: &Store, ann: &Employee, bob: &Employee) -> Result<()> {
    store.transaction(|tx| {
        tx.insert(ann)?;
        tx.insert(bob)?;
        Ok(())
    })?;
    Ok(())
}

fn main() {}
