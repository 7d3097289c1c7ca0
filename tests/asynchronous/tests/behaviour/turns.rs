//! Many tasks that change one entity: each change counts, and a slow one is not starved.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use asynchronous_tests::{all, on_executors, spawn};
use table_core::Result;

use super::{Employee, employee};

#[test]
fn each_of_many_updates_counts_and_a_long_plan_comes_to_its_end() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        staff.insert(&Employee { age: 0, ..employee(1) }).await?;
        let attempts = Arc::new(AtomicU32::new(0));
        let long = {
            let (tables, attempts) = (tables.clone(), attempts.clone());
            spawn(async move {
                let others: Vec<_> = (100..140).map(employee).collect();
                // Longer than a commit takes: whatever it has read is old when it is handed over.
                let slowly = |one: &mut Employee| {
                    attempts.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                    one.age += 1_000;
                };
                let transaction = tables.transaction().update(Employee::key("Sales", 1), slowly);
                let transaction = others.iter().fold(transaction, |all, one| all.insert(one));
                transaction.commit().await.map(drop)
            })
        };
        let updates = all((0..64).map(|_| {
            let staff = staff.clone();
            async move {
                for _ in 0..10 {
                    staff.update(Employee::key("Sales", 1), |one| one.age += 1).await?;
                }
                Ok::<(), table_core::Error>(())
            }
        }));
        updates.await.into_iter().collect::<Result<()>>()?;
        long.await?;
        assert_eq!(staff.get(Employee::key("Sales", 1)).await?.unwrap().age, 1_640);
        assert_eq!(staff.rows().department("Sales").count().await?, 41);
        let attempts = attempts.load(Ordering::Relaxed);
        assert!(attempts < 50, "it was planned {attempts} times");
        Ok(())
    });
}
