use table_core::asynchronous::{AsyncTable, AsyncTables};
use table_core::{Entity, Result};

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

fn spawned(future: impl Future<Output = Result<()>> + Send + 'static) {
    drop(future);
}

async fn told(age: u8) {
    println!("{age}");
}

async fn ages(store: AsyncTables, staff: AsyncTable<Employee>) -> Result<()> {
    let snapshot = store.snapshot().await?;
    for employee in staff.blocking().at(&snapshot).rows().department("Sales").views() {
        told(employee?.age()?).await;
    }
    Ok(())
}

fn uses(store: AsyncTables, staff: AsyncTable<Employee>) {
    spawned(ages(store, staff));
}

fn main() {}
