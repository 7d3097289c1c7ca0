//! Executors with one thread: what a task waits for never needs that thread.

use std::time::Duration;

use asynchronous_tests::{all, until};
use table_core::asynchronous::{AsyncTables, Reads, block_on};
use table_core::{Result, Store};
use tokio::runtime::Builder;

use super::{Employee, employee};

async fn everything(tables: AsyncTables, first: u32) -> Result<()> {
    for reads in [Reads::Inline, Reads::Spawned] {
        let staff = tables.clone().reads(reads).table::<Employee>().await?;
        let written = all((first..first + 100).map(|id| {
            let staff = staff.clone();
            async move {
                staff.put(&employee(id)).await?;
                staff.update(Employee::key("Sales", id), |one| one.age += 1).await?;
                staff.rows().department("Sales").count().await.map(drop)
            }
        }));
        written.await.into_iter().collect::<Result<()>>()?;
        let mut rows = staff.all().stream().held_for(Duration::from_secs(5));
        let mut count = 0;
        while rows.try_next().await?.is_some() {
            count += 1;
        }
        assert!(count >= 100);
        staff.run(|staff| staff.check().map(drop)).await?;
    }
    Ok(())
}

#[test]
fn a_runtime_of_one_thread_waits_for_nothing_of_its_own() {
    let store = Store::temporary().unwrap();
    let tables = store.to_async();
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let done = runtime.block_on(async {
        let done = everything(tables.clone(), 0).await;
        // Calls that block, and futures that are blocked on, in the only thread there is.
        let staff = tables.table::<Employee>().await?;
        staff.blocking().insert(&employee(10_000))?;
        block_on(staff.insert(&employee(10_001)))?;
        block_on(staff.update(Employee::key("Sales", 10_001), |one| one.age += 1))?;
        let rows = block_on(staff.rows().department("Sales").stream().try_collect())?;
        assert_eq!(rows.len(), 102);
        let far = tokio::time::timeout(Duration::from_secs(60), everything(tables.clone(), 20_000)).await;
        far.expect("it waits for itself")?;
        done
    });
    done.unwrap();
    smol::block_on(until("no snapshot is held", || store.snapshots().is_empty()));
}

#[test]
fn no_runtime_is_needed() {
    let store = Store::temporary().unwrap();
    let tables = store.to_async();
    block_on(async {
        let staff = tables.table::<Employee>().await?;
        staff.insert(&employee(1)).await?;
        assert_eq!(staff.rows().department("Sales").count().await?, 1);
        assert_eq!(staff.all().stream().try_collect().await?.len(), 1);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
