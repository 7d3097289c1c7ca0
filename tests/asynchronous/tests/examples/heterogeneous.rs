//! The example `heterogeneous`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/heterogeneous.rs"));

use table_core::asynchronous::AsyncTables;

async fn hired(store: &AsyncTables, employee: &Employee) -> table_core::Result<()> {
    let department = employee.department.as_str();
    store
        .egt::<Company>(Employee::partition(department))
        .update(Department::key(department), |department| department.head_count += 1)
        .insert(employee)
        .commit()
        .await
        .map(drop)
}

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let company = tables.set::<Company>().await?;
        let departments = tables.table::<Department>().await?;
        departments.insert(&Department { name: "Sales".into(), head_count: 0 }).await?;
        let employee = |id, last_name: &str| {
            let email = format!("{}@contoso.com", last_name.to_lowercase());
            Employee { department: "Sales".into(), id, last_name: last_name.into(), email }
        };
        hired(&tables, &employee(1, "Hall")).await?;
        hired(&tables, &employee(2, "Kwok")).await?;
        let refused = hired(&tables, &employee(3, "Hall")).await.unwrap_err();
        assert_eq!((refused.kind(), refused.index()), (ErrorKind::UniqueConflict, Some(1)));

        let sales = || company.partition(Department::partition("Sales"));
        let (mut counted, mut found, mut entities) = (0, 0, sales().stream());
        while let Some(entity) = entities.try_next().await? {
            match &*entity {
                Company::Department(department) => counted = department.head_count,
                Company::Employee(_) => found += 1,
            }
        }
        assert_eq!((counted, found), (2, 2));
        let first = sales().page(2, None).await?;
        let rest = sales().page(2, first.next.as_ref()).await?;
        assert_eq!((first.entities.len(), rest.entities.len(), rest.next), (2, 1, None));

        let moment = tables.snapshot().await?;
        hired(&tables, &employee(3, "Smith")).await?;
        let then = company.blocking();
        let before = smol::unblock(move || {
            let then = then.at(&moment);
            let head_count = then.get(Department::key("Sales"))?.map(|department| department.head_count);
            Ok::<_, table_core::Error>((then.partition(Department::partition("Sales")).count()?, head_count))
        });
        assert_eq!(before.await?, (3, Some(2)));
        assert_eq!(sales().count().await?, 4);
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
