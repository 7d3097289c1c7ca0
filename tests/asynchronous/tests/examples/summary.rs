//! The example `summary`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/summary.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let (staff, payrolls) = (tables.table::<Employee>().await?, tables.table::<Payroll>().await?);
        let levels = tables.table::<Level>().await?;
        for (department, id, level, salary) in
            [("Sales", 1, 5, 5_000), ("Sales", 2, 3, 3_000), ("Legal", 3, 5, 6_000)]
        {
            staff.insert(&Employee { department: department.into(), id, level, salary }).await?;
        }
        assert_eq!(payrolls.get(Payroll::key("Sales")).await?.unwrap().salaries, 8_000);
        let moved = Employee { department: "Legal".into(), id: 2, level: 3, salary: 3_200 };
        tables.transaction().delete(Employee::key("Sales", 2)).insert(&moved).commit().await?;
        let legal = payrolls.get(Payroll::key("Legal")).await?.unwrap();
        assert_eq!((legal.employees, legal.seniors, legal.salaries), (2, 1, 9_200));

        let hired = all((0..16).map(|task| {
            let staff = staff.clone();
            async move {
                for id in 0..25 {
                    let id = 1_000 + 25 * task + id;
                    staff.insert(&Employee { department: "Sales".into(), id, level: 1, salary: 10 }).await?;
                }
                Ok::<(), table_core::Error>(())
            }
        }));
        hired.await.into_iter().collect::<table_core::Result<()>>()?;
        let sales = payrolls.get(Payroll::key("Sales")).await?.unwrap();
        assert_eq!((sales.employees, sales.salaries), (401, 9_000));
        let first = levels.get(Level::key(1)).await?.unwrap();
        assert_eq!((first.level, first.employees), (1, 400));
        let refused = payrolls.update(Payroll::key("Sales"), |sales| sales.employees += 1).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
        let wrong = DynamicEntity::new("Sales", "payroll").with("Employees", 7_i64);
        staff.dynamic().raw().merge(&wrong, IfMatch::Any).await?;
        assert_eq!(staff.check().await?.miscounted, 1);
        staff.repair().await?.run().await?;
        assert!(staff.check().await?.is_sound());
        assert_eq!(payrolls.get(Payroll::key("Sales")).await?.unwrap().employees, 401);
        Ok(())
    });
}
