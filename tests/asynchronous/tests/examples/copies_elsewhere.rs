//! The example `copies_elsewhere`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/copies_elsewhere.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        let ann = employee("Sales", 223, "Ann", "Jones");
        staff.egt(Employee::partition("Sales")).insert(&ann).commit().await?;
        staff.insert(&employee("Legal", 7, "Bob", "Jones")).await?;
        staff.insert(&employee("Legal", 8, "Eve", "Hall")).await?;
        let bob = staff.get(Employee::by_email("bob@contoso.com")).await?.unwrap();
        let bob = staff.get(bob.key()).await?.unwrap();
        assert_eq!((&*bob.department, bob.id), ("Legal", 7));
        assert_eq!(staff.by_name().last_name("Jones").count().await?, 2);
        let taken = Employee { email: "bob@contoso.com".into(), ..employee("Sales", 224, "Rob", "Hill") };
        assert_eq!(staff.insert(&taken).await.unwrap_err().kind(), ErrorKind::UniqueConflict);
        staff.update(Employee::key("Sales", 223), |ann| ann.last_name = "Hall".into()).await?;
        assert_eq!(staff.by_name().last_name("Hall").entities().try_collect().await?.len(), 2);

        tables.drop_table("Names").await?;
        let staff = tables.table::<Employee>().await?;
        let unread = staff.by_name().last_name("Hall").count().await.unwrap_err();
        assert_eq!(unread.kind(), ErrorKind::IndexBuilding);
        staff.rebuild().await?.run().await?;
        assert_eq!(staff.by_name().last_name("Hall").count().await?, 2);
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        tables.drop_tables(&["Company", "Names"]).await?;
        assert!(tables.tables().await?.is_empty());
        Ok(())
    });
}
