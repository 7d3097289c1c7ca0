//! The example `eventual_index`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/eventual_index.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        drop(store);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let store = Store::options().propagate(Propagate::Manual).open(&path)?;
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        let ann = employee("Sales", 223, "Ann", "Jones");
        let first = staff.egt(Employee::partition("Sales")).insert(&ann).commit().await?.etag(0);
        staff.insert(&employee("Legal", 7, "Bob", "Jones")).await?;
        assert_eq!(staff.by_name().last_name("Jones").count().await?, 0);
        assert_eq!(tables.propagate().await?, Propagation::Complete);
        let row = staff.by_name().last_name("Jones").department("Sales").first().await?.unwrap();
        assert_eq!(Eventual::as_of(&row), first);

        staff.update(Employee::key("Sales", 223), |ann| ann.last_name = "Hall".into()).await?;
        staff.delete(Employee::key("Legal", 7)).await?;
        assert_eq!(staff.by_name().last_name("Jones").count().await?, 2);
        assert_eq!(staff.by_name().last_name("Jones").entities().count().await?, 0);
        drop((staff, tables, store));
        let store = Store::open(&path)?;
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        while tables.pending_propagation().await?.entities > 0 {
            smol::Timer::after(std::time::Duration::from_millis(1)).await;
        }
        assert_eq!(staff.by_name().last_name("Hall").count().await?, 1);
        assert_eq!(staff.by_name().last_name("Jones").count().await?, 0);
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
