//! The example `eventual_transaction`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/eventual_transaction.rs"));

use std::sync::Arc;

use table_core::asynchronous::{AsyncQueue, AsyncReceived, AsyncTable};

async fn archived(
    current: &AsyncTable<Employee>,
    former: &AsyncTable<Former>,
    leave: &Leave,
) -> table_core::Result<()> {
    let Some(found) = current.get(Employee::key(&leave.department, leave.id)).await? else { return Ok(()) };
    let Employee { department, id, name, .. } = Stored::into_inner(found);
    former.put(&Former { department, id, name }).await.map(drop)
}

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let (current, former) = (tables.table::<Employee>().await?, tables.table::<Former>().await?);
        let leaves: AsyncQueue<Leave> = tables.queue("leaves").await?;
        for (id, name) in [(1, "Jones"), (2, "Hall")] {
            let employee = Employee { department: "Sales".into(), id, name: name.into(), leaves: false };
            current.insert(&employee).await?;
        }
        current
            .egt(Employee::partition("Sales"))
            .update(Employee::key("Sales", 1), |e| e.leaves = true)
            .send(&leaves, &Leave { department: "Sales".into(), id: 1 })
            .commit()
            .await?;

        // The first worker goes away between the steps: the message shows again.
        let leave = leaves.receive(VISIBILITY).await?;
        archived(&current, &former, &leave).await?;
        drop(leave);
        assert!(current.get(Employee::key("Sales", 1)).await?.is_some());
        assert!(former.get(Former::key("Sales", 1)).await?.is_some());
        assert!(leaves.try_receive(VISIBILITY).await?.is_none());

        // Another one does both steps, and ends when its message is completed.
        let is_completed = async {
            while leaves.stats().await.is_ok_and(|stats| stats.completed < 1) {
                smol::Timer::after(Duration::from_millis(5)).await;
            }
        };
        let both = async |leave: Arc<AsyncReceived<Leave>>| {
            archived(&current, &former, &leave).await?;
            let step = current.egt(Employee::partition(&leave.department));
            let step = step.delete(Employee::key(&leave.department, leave.id));
            step.complete(&leave).commit().await.map(drop)
        };
        leaves.worker().concurrency(2).run_until(is_completed, both).await?;
        assert!(current.get(Employee::key("Sales", 1)).await?.is_none());
        let moved = former.get(Former::key("Sales", 1)).await?.unwrap();
        assert_eq!(moved.name, "Jones");
        let stats = leaves.stats().await?;
        assert_eq!((stats.ready + stats.hidden, stats.completed), (0, 1));

        // What nobody can deal with goes aside, with the reason.
        leaves.send(&Leave { department: "Marketing".into(), id: 404 }).await?;
        for _ in 0..5 {
            let leave = leaves.receive(VISIBILITY).await?;
            leave.fail(format!("there is no employee {}", leave.id), Duration::ZERO).await?;
        }
        let poison: AsyncQueue<Leave> = tables.queue("leaves-poison").await?;
        assert_eq!(poison.peek(1).await?[0].last_error(), Some("there is no employee 404"));
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
