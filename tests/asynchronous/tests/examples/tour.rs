//! The example `tour`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/tour.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        let key = || Employee::key("Sales", 2);
        let rows =
            || async { staff.dynamic().query(&Query::new()).try_collect().await.map(|rows| rows.len()) };
        staff.insert(&employee(1, "Hall", 34)).await?;
        staff.insert(&employee(2, "Kwok", 23)).await?;
        staff.update(key(), |employee| employee.email = "ken@contoso.com".into()).await?;
        assert!(staff.get(Employee::by_email("Sales", "kwok@contoso.com")).await?.is_none());
        let clash = Employee { email: "hall@contoso.com".into(), ..employee(3, "Jones", 41) };
        assert_eq!(staff.insert(&clash).await.unwrap_err().kind(), ErrorKind::UniqueConflict);
        assert_eq!(rows().await?, 6);

        let departments = tables.table::<Department>().await?;
        departments.insert(&Department { name: "Sales".into(), head_count: 2 }).await?;
        tables
            .egt::<Company>(Employee::partition("Sales"))
            .insert(&employee(3, "Jones", 41))
            .update(Department::key("Sales"), |department| department.head_count += 1)
            .commit()
            .await?;
        let company = tables.set::<Company>().await?;
        assert_eq!(company.partition(Department::partition("Sales")).try_collect().await?.len(), 4);

        let sales = || staff.rows().department("Sales");
        assert_eq!(staff.get(key()).await?.map(|e| e.age), Some(23));
        assert_eq!(staff.get(Employee::by_email("Sales", "ken@contoso.com")).await?.map(|e| e.id), Some(2));
        assert_eq!(sales().id(2..=3).count().await?, 2);
        let names = staff.by_name().department("Sales").last_name(prefix("J")).try_collect().await?;
        assert_eq!(names.iter().map(|row| row.id).collect::<Vec<_>>(), [3]);
        assert_eq!(sales().filter(|e| e.age.ge(40)).count().await?, 1);

        let version = Stored::etag(&staff.get(key()).await?.unwrap());
        staff.merge(key(), Employee::patch().age(24), version).await?;
        let late = staff.merge(key(), Employee::patch().age(25), version).await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::ConditionNotMet);
        tables
            .egt::<Company>(Employee::partition("Sales"))
            .delete(key())
            .update(Department::key("Sales"), |department| department.head_count -= 1)
            .commit()
            .await?;
        assert_eq!(rows().await?, 7);
        tables.drop_table("Company").await?;
        assert_eq!(staff.get(key()).await.unwrap_err().kind(), ErrorKind::TableNotFound);
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
