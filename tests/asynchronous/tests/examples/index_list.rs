//! The example `index_list`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/index_list.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let staff = store.to_async().table::<Employee>().await?;
        for one in [
            employee("Sales", 7, "Jones", Some("apollo")),
            employee("Sales", 3, "Jones", None),
            employee("Sales", 5, "Cao", None),
            employee("Legal", 4, "Jones", Some("apollo")),
        ] {
            staff.insert(&one).await?;
        }
        let listed = |name: &'static str| staff.list(Employee::by_last_name("Sales", name));
        let count = |name| async move { Ok::<_, table_core::Error>(listed(name).try_collect().await?.len()) };
        let jones = listed("Jones").try_collect().await?;
        assert_eq!(jones.iter().map(|one| one.id).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(staff.list_keys(Employee::by_project("apollo")).await?.len(), 2);
        let mut begun = listed("Jones");
        assert_eq!(begun.try_next().await?.unwrap().id, 3);
        let married = employee("Sales", 7, "Cao", Some("apollo"));
        staff.egt(Employee::partition("Sales")).put(&married).commit().await?;
        assert_eq!(count("Cao").await?, 2);
        // A list that is being read stays as it was.
        assert_eq!(begun.try_next().await?.unwrap().id, 7);
        assert!(begun.try_next().await?.is_none());

        let hired = all((0..16).map(|task| {
            let staff = staff.clone();
            async move {
                for id in 0..25 {
                    staff.insert(&employee("Sales", 1_000 + 25 * task + id, "Smith", None)).await?;
                }
                Ok::<(), table_core::Error>(())
            }
        }));
        hired.await.into_iter().collect::<table_core::Result<()>>()?;
        assert_eq!(count("Smith").await?, 400);
        staff.delete(Employee::key("Sales", 3)).await?;
        assert_eq!(count("Jones").await?, 0);

        let wrong = DynamicEntity::new("Sales", "last_Cao").with("Ids", "000005");
        let refused = staff.dynamic().merge(&wrong, IfMatch::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
        staff.dynamic().raw().merge(&wrong, IfMatch::Any).await?;
        assert_eq!(staff.check().await?.unlisted, 1);
        staff.repair().await?.run().await?;
        assert!(staff.check().await?.is_sound());
        assert_eq!(count("Cao").await?, 2);
        Ok(())
    });
}
