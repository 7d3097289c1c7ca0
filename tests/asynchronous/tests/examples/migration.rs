//! The example `migration`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/migration.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let one = tables.table::<first::Employee>().await?;
        let employees = (0..1_000).map(|id| first::Employee {
            department: "Sales".into(),
            id,
            name: format!("Jun Cao{}", id % 10),
            email: format!("{id}@contoso.com"),
        });
        one.bulk_insert(employees).await?.into_result()?;
        let two = tables.table::<second::Employee>().await?;
        two.update(second::Employee::key("Sales", 7), |jun| jun.phone = Some("555-0007".into())).await?;
        one.update(first::Employee::key("Sales", 7), |jun| jun.name = "Jun Jones".into()).await?;
        let jun = two.get(second::Employee::key("Sales", 7)).await?.unwrap();
        assert_eq!((&*jun.name, jun.phone.as_deref()), ("Jun Jones", Some("555-0007")));

        let three = tables.table::<third::Employee>().await?;
        let key = |id| -> Key<third::Employee> { third::Employee::key("Sales", id) };
        assert_eq!(three.get(key(7)).await?.unwrap().last_name, "Jones");
        assert_eq!(three.rows().department("Sales").filter(|e| e.last_name.eq("Cao3")).count().await?, 100);
        one.update(first::Employee::key("Sales", 8), |e| e.name = "Ann Smith".into()).await?;
        let refused = three.update(key(8), |e| e.last_name = "Miller".into()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::MigrationPending);
        {
            let mut job = tables.migrate::<third::Employee>().await?;
            assert!(job.next().await?.is_some());
        }
        three.update(key(8), |e| e.last_name = "Miller".into()).await?;
        let refused = one.update(first::Employee::key("Sales", 999), |e| e.name.clear()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::LayoutChanged);
        assert_eq!(one.get(first::Employee::key("Sales", 999)).await?.unwrap().name, "Jun Cao9");
        assert!(one.get(first::Employee::key("Sales", 8)).await.is_err());
        // A stream of progress: it goes on from where the first was left.
        let (mut job, mut steps) = (tables.migrate::<third::Employee>().await?, 0);
        while job.next().await?.is_some() {
            steps += 1;
        }
        assert!(steps > 0 && tables.jobs().await?.is_empty());
        assert_eq!(three.by_name().department("Sales").last_name("Miller").count().await?, 1);
        let jun = three.get(third::Employee::by_email("Sales", "7@contoso.com")).await?.unwrap();
        assert_eq!((&*jun.first_name, jun.phone.as_deref()), ("Jun", Some("555-0007")));
        assert!(three.check().await?.is_sound());
        Ok(())
    });
}
