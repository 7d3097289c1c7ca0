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
        let listed = |department: &'static str, name: &'static str| {
            let staff = staff.clone();
            async move { staff.run(move |staff| staff.list(Employee::by_last_name(department, name))).await }
        };
        let jones = listed("Sales", "Jones").await?;
        let ids = jones.entities().map(|one| Ok(one?.id)).collect::<table_core::Result<Vec<_>>>()?;
        assert_eq!((jones.len(), ids), (2, vec![3, 7]));
        let married = employee("Sales", 7, "Cao", Some("apollo"));
        staff.egt(Employee::partition("Sales")).put(&married).commit().await?;
        assert_eq!(listed("Sales", "Cao").await?.len(), 2);
        assert_eq!(jones.entities().filter_map(Result::ok).count(), 2);

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
        assert_eq!(listed("Sales", "Smith").await?.len(), 400);
        staff.delete(Employee::key("Sales", 3)).await?;
        assert!(listed("Sales", "Jones").await?.is_empty());

        let wrong = DynamicEntity::new("Sales", "last_Cao").with("Ids", "000005");
        let refused = staff.dynamic().merge(&wrong, IfMatch::Any).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
        staff.dynamic().raw().merge(&wrong, IfMatch::Any).await?;
        let unlisted = staff.run(|staff| {
            let unlisted = staff.check()?.unlisted;
            staff.repair()?.run()?;
            assert!(staff.check()?.is_sound());
            Ok(unlisted)
        });
        assert_eq!(unlisted.await?, 1);
        assert_eq!(listed("Sales", "Cao").await?.len(), 2);
        Ok(())
    });
}
