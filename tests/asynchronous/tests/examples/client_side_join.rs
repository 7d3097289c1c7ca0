//! The example `client_side_join`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/client_side_join.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let store = store.to_async();
        let (departments, staff) = (store.table::<Department>().await?, store.table::<Employee>().await?);
        for (name, floor, manager) in [("Sales", 3, 2), ("Legal", 4, 4)] {
            departments
                .insert(&Department { region: "west".into(), name: name.into(), floor, manager })
                .await?;
        }
        let people = [
            (1, "Ann", "Sales"),
            (2, "Bob", "Sales"),
            (3, "Cleo", ""),
            (4, "Dan", "Legal"),
            (5, "Eve", "Press"),
        ];
        let people = people.map(|(id, name, department)| Employee {
            region: "west".into(),
            id,
            name: name.into(),
            department: (!department.is_empty()).then(|| department.into()),
        });
        staff.bulk_insert(people).await?.into_result()?;

        // A snapshot may be held over an `await`; what is read in it blocks, on a thread of the pool.
        let snapshot = store.snapshot().await?;
        departments.update(Department::key("west", "Sales"), |sales| sales.floor = 9).await?;
        departments.delete(Department::key("west", "Legal")).await?;
        let floors = store.run(move |store| {
            let (then, now) = (store.table::<Department>()?, store.table::<Employee>()?);
            let (then, rows) = (then.at(&snapshot), now.at(&snapshot).rows().region("west"));
            let department_of = |employee: &table_core::Stored<Employee>| {
                Some(Department::key(&*employee.region, employee.department.as_ref()?))
            };
            let joined = then.join(rows, department_of);
            joined.map(|pair| Ok(pair?.1.map(|found| found.floor))).collect::<table_core::Result<Vec<_>>>()
        });
        assert_eq!(floors.await?, [Some(3), Some(3), None, Some(4), None]);
        assert_eq!(departments.get(Department::key("west", "Sales")).await?.unwrap().floor, 9);
        Ok(())
    });
}
