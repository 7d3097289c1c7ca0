//! The example `denormalized`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/denormalized.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let store = store.to_async();
        let (staff, departments) = (store.table::<Employee>().await?, store.table::<Department>().await?);
        let projects = store.table::<Project>().await?;
        for (id, name) in [(1, "Ann"), (2, "Bob")] {
            let (department, email) = ("Sales".into(), format!("{}@contoso.com", name.to_lowercase()));
            staff.insert(&Employee { department, id, name: name.into(), email, salary: 5_000 }).await?;
        }
        departments.insert(&Department { name: "Sales".into(), manager_id: Some(1), manager: None }).await?;
        for title in ["Autumn", "Spring"] {
            let project = Project { title: title.into(), department: "Sales".into(), lead_id: 1, lead: None };
            projects.insert(&project).await?;
        }
        let moves = |e: &mut Employee| e.email = "cao@contoso.com".into();
        store.transaction().update(Employee::key("Sales", 1), moves).commit().await?;
        let sales = departments.get(Department::key("Sales")).await?.unwrap();
        assert_eq!(sales.manager.as_ref().map(|manager| &*manager.email), Some("cao@contoso.com"));
        assert_eq!(projects.get(Project::key("Spring")).await?.unwrap().lead, sales.manager);
        staff
            .egt(Employee::partition("Sales"))
            .update(Employee::key("Sales", 1), |e| e.salary += 500)
            .commit()
            .await?;
        let sales = departments.update(Department::key("Sales"), |sales| sales.manager_id = Some(2)).await?;
        assert_eq!(sales.manager.as_ref().map(|manager| &*manager.name), Some("Bob"));
        staff.delete(Employee::key("Sales", 1)).await?;
        let mut left = projects.all().stream();
        while let Some(project) = left.try_next().await? {
            assert_eq!(project.lead, None);
        }
        let (name, email) = ("Cleo".to_owned(), "cleo@contoso.com".to_owned());
        let contact = Contact { name: name.clone(), email: email.clone() };
        let cleo = Employee { department: "Sales".into(), id: 3, name, email, salary: 6_000 };
        store
            .transaction()
            .insert(&cleo)
            .update(Project::key("Spring"), |project| project.lead_id = 3)
            .commit()
            .await?;
        assert_eq!(projects.get(Project::key("Spring")).await?.unwrap().lead, Some(contact));
        let refused = staff.dynamic().delete("Sales", "empid_000003").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
        Ok(())
    });
}
