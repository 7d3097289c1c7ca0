//! Tables get other names, with what is noted of kinds and jobs there.

use integration_tests::assert_sound;
use integration_tests::elsewhere::Employee;
use table_core::{Entity, ErrorKind, Store, Tables};

use super::{company, employee, seen};

/// The employees, as they are to be declared when two of their tables have other names.
mod after {
    use table_core::Entity;

    #[expect(clippy::duplicated_attributes, reason = "each index says for itself when its copies come")]
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Firm", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, partition = "all", row = "email_{email}", atomic, unique)]
    #[index(
        by_name,
        table = "People",
        partition = "name_{last_name}",
        row = "{department}_{id:06}",
        copy(email),
        atomic
    )]
    #[index(by_badge, table = "People", partition = "badges", row = "{badge:05}", copy = keys, when = Employee::is_inside, unique, atomic)]
    #[index(by_skill, table = "Skills", partition = "{department}", row = "{skills[]}_{id:06}", copy = keys, as = skill, atomic)]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) last_name: String,
        pub(super) email: String,
        pub(super) badge: Option<u32>,
        pub(super) is_inside: bool,
        #[property(json)]
        pub(super) skills: Vec<String>,
        pub(super) age: u32,
    }

    impl Employee {
        fn is_inside(&self) -> bool {
            self.is_inside
        }
    }
}

fn rename_both(store: &Tables) {
    store.rename_table("Company", "Firm").unwrap();
    store.rename_table("names", "People").unwrap();
}

#[test]
fn a_renamed_table_is_the_same_by_another_name() {
    let (_scratch, store) = company();
    let before: Vec<_> = seen(&store).into_iter().map(|(_, row)| row).collect();
    let former = store.table::<Employee>().unwrap();
    rename_both(&store);
    assert_eq!(store.tables().unwrap(), ["Firm", "People", "Skills"]);
    assert_eq!(seen(&store).into_iter().map(|(_, row)| row).collect::<Vec<_>>(), before);
    let gone = former.get(Employee::key("Sales", 1)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::TableNotFound);
    assert!(gone.to_string().contains("the table is called `Firm` now"), "{gone}");

    let staff = store.table::<after::Employee>().unwrap();
    assert_eq!(staff.get(after::Employee::by_badge(2)).unwrap().map(|found| found.id), Some(2));
    assert_eq!(staff.by_name().last_name("n1").entities().into_iter().map(Result::unwrap).count(), 2);
    staff.update(after::Employee::key("Sales", 1), |e| e.last_name = "new".into()).unwrap();
    assert_eq!(staff.by_name().last_name("new").count().unwrap(), 1);
    assert!(staff.check().unwrap().is_sound());
    // Their rows are still their struct's.
    let copy = table_core::DynamicEntity::new("x", "y").with("EntityType", "employee.by_name");
    let refused = store.dynamic_table("People").unwrap().insert(&copy).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
    // A drop finds the other side by its new name.
    store.drop_table("People").unwrap();
    let staff = store.table::<after::Employee>().unwrap();
    assert_eq!(staff.get(after::Employee::by_badge(2)).unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.rebuild().unwrap().run().unwrap();
    assert!(staff.check().unwrap().is_sound());
    assert_eq!(after::Employee::SCHEMA.indexes.len(), 5);
    assert_sound(&store);
}

/// A job whose tables get other names goes on.
#[test]
fn a_job_goes_on_in_tables_that_were_renamed() {
    let (_scratch, store) = company();
    store.drop_table("Names").unwrap();
    let mut job = store.table::<Employee>().unwrap().rebuild().unwrap();
    job.step().unwrap();
    let begun = store.jobs().unwrap();
    rename_both(&store);
    let names =
        |jobs: Vec<table_core::typed::JobInfo>| jobs.into_iter().map(|job| job.name).collect::<Vec<_>>();
    assert_eq!(job.step().unwrap_err().kind(), ErrorKind::TableNotFound);
    let now = store.jobs().unwrap();
    assert!(now.iter().all(|job| job.table == "Firm"));
    assert_eq!(names(now), names(begun));
    let staff = store.table::<after::Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(staff.get(after::Employee::by_badge(2)).unwrap().map(|found| found.id), Some(2));
    assert!(staff.check().unwrap().is_sound());
    assert!(store.jobs().unwrap().is_empty());
}

#[test]
fn a_name_that_is_taken_or_none_is_refused_and_nothing_changes() {
    let (scratch, store) = company();
    let before = seen(&store);
    for (table, name, kind) in [
        ("Company", "skills", ErrorKind::TableAlreadyExists),
        ("Nowhere", "Somewhere", ErrorKind::TableNotFound),
        ("Company", "no name", ErrorKind::InvalidTableName),
        ("Company", "x", ErrorKind::TableNameLength),
    ] {
        let refused = store.rename_table(table, name).unwrap_err();
        assert_eq!(
            (refused.kind(), refused.to_string().contains("cannot rename table")),
            (kind, true),
            "{refused}"
        );
    }
    assert_eq!(seen(&store), before);
    // Another case is another name.
    store.rename_table("Skills", "SKILLS").unwrap();
    assert_eq!(store.tables().unwrap(), ["Company", "Names", "SKILLS"]);
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("New", 9, "9@contoso.com")).unwrap();
    assert_eq!(staff.by_skill().department("New").count().unwrap(), 2);
    drop((staff, store));
    let store = Store::open(scratch.path().join("store")).unwrap();
    assert_eq!(store.tables().unwrap(), ["Company", "Names", "SKILLS"]);
    assert_sound(&store);
}
