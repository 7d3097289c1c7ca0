//! The example `eventual_transaction`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/eventual_transaction.rs"));

use table_core::asynchronous::AsyncTable;

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
        let leaves: Queue<Leave> = tables.run(|tables| tables.queue("leaves")).await?;
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
        let receive = || {
            let leaves = leaves.clone();
            async move {
                loop {
                    let leaves = leaves.clone();
                    match smol::unblock(move || leaves.receive(VISIBILITY)).await? {
                        Some(leave) => break Ok::<_, table_core::Error>(leave),
                        None => smol::Timer::after(Duration::from_millis(5)).await,
                    };
                }
            }
        };
        let leave = receive().await?;
        archived(&current, &former, &leave).await?;
        drop(leave);
        assert!(current.get(Employee::key("Sales", 1)).await?.is_some());
        assert!(former.get(Former::key("Sales", 1)).await?.is_some());

        let leave: Received<Leave> = receive().await?;
        archived(&current, &former, &leave).await?;
        let step = current.egt(Employee::partition(&leave.department));
        step.delete(Employee::key(&leave.department, leave.id)).complete(&leave).commit().await?;
        assert!(current.get(Employee::key("Sales", 1)).await?.is_none());
        let moved = former.get(Former::key("Sales", 1)).await?.unwrap();
        assert_eq!(moved.name, "Jones");
        let stats = smol::unblock(move || leaves.stats()).await?;
        assert_eq!((stats.ready + stats.hidden, stats.completed), (0, 1));
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
