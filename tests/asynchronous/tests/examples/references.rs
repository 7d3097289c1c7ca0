//! The example `references`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/references.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let store = store.to_async();
        let (staff, projects) = (store.table::<Employee>().await?, store.table::<Project>().await?);
        let mut manager = None;
        for (department, id, name) in [("Board", 1, "Ann"), ("Sales", 2, "Bob"), ("Sales", 3, "Cleo")] {
            let (department, name) = (department.into(), name.into());
            let employee = Employee { department, id, name, manager: manager.clone() };
            staff.insert(&employee).await?;
            manager.get_or_insert(Ref::to(&employee));
        }
        let bob = || Ref::from(Employee::key("Sales", 2));
        projects.insert(&Project { name: "Autumn".into(), lead: bob(), deputy: None }).await?;
        projects.insert(&Project { name: "Spring".into(), lead: bob(), deputy: manager.clone() }).await?;
        let spring = projects.get(Project::key("Spring")).await?.unwrap();
        let lead = staff.get(spring.lead.clone()).await?.unwrap();
        let above = staff.get(lead.manager.clone().unwrap()).await?.unwrap();
        assert_eq!((&*lead.name, &*above.name), ("Bob", "Ann"));
        assert_eq!(spring.deputy, Some(Ref::to(&*above)));
        assert_eq!(staff.all().filter(|e| e.manager.eq(Employee::key("Board", 1))).count().await?, 2);
        assert_eq!(projects.all().filter(|p| p.deputy.is_none()).count().await?, 1);
        let leads = projects.all().select::<Lead>().try_collect().await?;
        assert!(leads.len() == 2 && leads.iter().all(|project| project.lead == bob()));
        staff.delete(spring.lead.key()).await?;
        assert!(staff.get(spring.lead.clone()).await?.is_none());
        assert_eq!(projects.all().count().await?, 2);
        Ok(())
    });
}
