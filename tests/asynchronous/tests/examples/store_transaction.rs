//! The example `store_transaction`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/store_transaction.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let (staff, departments) = (tables.table::<Employee>().await?, tables.table::<Department>().await?);
        let formers = tables.table::<Former>().await?;
        for (name, people) in [("Sales", vec![employee("Sales", 7, "Ann")]), ("Legal", vec![])] {
            let department =
                Department { name: name.into(), head_count: u32::try_from(people.len()).unwrap() };
            let transaction = tables.transaction().insert(&department);
            people.iter().fold(transaction, |all, one| all.insert(one)).commit().await?;
        }
        let ann = staff.get(Employee::key("Sales", 7)).await?.unwrap();
        let moved = Employee { department: "Legal".into(), ..(*ann).clone() };
        let change = |by: i32| {
            move |department: &mut Department| {
                department.head_count = department.head_count.saturating_add_signed(by);
            }
        };
        let transaction = || {
            tables
                .transaction()
                .delete_if(Employee::key("Sales", 7), Stored::etag(&ann))
                .insert(&moved)
                .update(Department::key("Sales"), change(-1))
                .update(Department::key("Legal"), change(1))
        };
        transaction().commit().await?;
        assert_eq!(departments.get(Department::key("Legal")).await?.unwrap().head_count, 1);
        let refused = transaction().commit().await.unwrap_err();
        assert_eq!((refused.kind(), refused.index()), (ErrorKind::EntityNotFound, Some(0)));
        assert_eq!(departments.get(Department::key("Legal")).await?.unwrap().head_count, 1);

        let former = Former { year: 2026, id: 7, name: ann.name.clone() };
        let leaves = tables
            .transaction()
            .insert(&former)
            .delete(Employee::key("Legal", 7))
            .update(Department::key("Legal"), change(-1));
        let committed = leaves.commit().await?;
        let stored = formers.get(Former::key(2026, 7)).await?.unwrap();
        let legal = departments.get(Department::key("Legal")).await?.unwrap();
        assert_eq!((&*stored, legal.head_count), (&former, 0));
        assert_eq!([Stored::etag(&stored), Stored::etag(&legal)], [committed.etag(0), committed.etag(2)]);
        assert!(staff.get(Employee::by_email("Legal", "ann@contoso.com")).await?.is_none());
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
