//! The example `intra_partition_index`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/intra_partition_index.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let staff = store.to_async().table::<Employee>().await?;
        staff.insert(&employee(223, "Ann", "Jones")).await?;
        staff.insert(&employee(224, "Bob", "Hall")).await?;
        let by_id = staff.get(Employee::key("Sales", 223)).await?.unwrap();
        let by_email = staff.get(Employee::by_email("Sales", "jones@contoso.com")).await?.unwrap();
        assert_eq!(by_email, *by_id);
        let query = staff.rows().department("Sales").id(223);
        assert_eq!(query.explain()?.class(), QueryClass::Point);
        let mut rows = staff.by_name().department("Sales").last_name("Jones").stream();
        while let Some(row) = rows.try_next().await? {
            let whole = staff.get(row.key()).await?.unwrap();
            assert_eq!((&*row.first_name, &*whole.email), ("Ann", "jones@contoso.com"));
        }
        let jones = staff.update(Employee::key("Sales", 223), |e| e.email = "ann@contoso.com".into()).await?;
        assert!(staff.get(Employee::by_email("Sales", "jones@contoso.com")).await?.is_none());
        let taken = Employee { email: "ann@contoso.com".into(), ..employee(225, "Eve", "Li") };
        assert_eq!(staff.insert(&taken).await.unwrap_err().kind(), ErrorKind::UniqueConflict);
        staff.delete_if(Employee::key("Sales", 223), Stored::etag(&jones)).await?;
        assert_eq!(staff.dynamic().query(&Query::new()).try_collect().await?.len(), 3);
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
