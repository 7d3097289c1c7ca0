//! Indexes whose copies lie in another table, and tables that get another name while a job is on its way.

use table_core::ErrorKind;

use crate::releases::{Two, email, fill};

mod badged {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, table = "Emails", partition = "all", row = "email_{email}", atomic, unique)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) email: String,
    }
}

mod renamed {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, table = "Addresses", partition = "all", row = "email_{email}", atomic, unique)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) email: String,
    }
}

#[test]
fn an_index_in_another_table_is_made_and_read_by_all() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 120);
    ours.create_table("Emails").unwrap();
    let (staff, late) =
        (ours.table::<badged::Employee>().unwrap(), theirs.table::<badged::Employee>().unwrap());
    let by = |id: u32| badged::Employee::by_email(email(id));
    assert_eq!(late.get(by(7)).unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(late.get(by(7)).unwrap().unwrap().id, 7);
    assert_eq!(late.by_email().count().unwrap(), 120);
    // A read of the other table shows that the index goes.
    let mut job = staff.drop_index("by_email").unwrap().steps_of(10);
    assert_eq!(late.get(by(7)).unwrap_err().kind(), ErrorKind::IndexBuilding);
    assert_eq!(late.by_email().count().unwrap_err().kind(), ErrorKind::IndexBuilding);
    while job.step().unwrap() {}
    assert_eq!(ours.dynamic_table("Emails").unwrap().query(&table_core::Query::new()).unwrap().count(), 0);
    late.rebuild().unwrap().run().unwrap();
    assert!(staff.check().unwrap().is_sound());
    assert_eq!(staff.get(by(120)).unwrap().unwrap().id, 120);
}

#[test]
fn a_job_goes_on_when_the_table_of_the_copies_has_another_name() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 120);
    ours.create_table("Emails").unwrap();
    let staff = ours.table::<badged::Employee>().unwrap();
    let mut job = staff.rebuild().unwrap().steps_of(20);
    while ours.jobs().unwrap()[0].changed == 0 {
        assert!(job.step().unwrap());
    }
    theirs.rename_table("Emails", "Addresses").unwrap();
    let error = job.step().unwrap_err();
    assert!([ErrorKind::TableNotFound, ErrorKind::LayoutChanged].contains(&error.kind()), "{error}");
    let late = theirs.table::<renamed::Employee>().unwrap();
    let done = late.rebuild().unwrap().run().unwrap();
    assert_eq!(done.changed, 120);
    assert_eq!(late.get(renamed::Employee::by_email(email(120))).unwrap().unwrap().id, 120);
    assert!(late.check().unwrap().is_sound() && ours.jobs().unwrap().is_empty());
}

#[test]
fn a_table_of_copies_is_dropped_alone_and_its_index_is_made_again() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 120);
    let staff = ours.table::<badged::Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    let late = theirs.table::<badged::Employee>().unwrap();
    assert_eq!(late.by_email().count().unwrap(), 120);
    // Nothing goes if one of them is not there.
    let error = theirs.drop_tables(&["Emails", "Nowhere"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotFound, "{error}");
    assert_eq!(ours.tables().unwrap(), ["Company", "Emails"]);

    let mut job = staff.drop_index("by_email").unwrap().steps_of(50);
    assert!(job.step().unwrap());
    theirs.drop_table("emails").unwrap();
    while job.step().unwrap() {}
    let staff = ours.table::<badged::Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    theirs.drop_table("Emails").unwrap();
    for tables in [&ours, &theirs] {
        let staff = tables.table::<badged::Employee>().unwrap();
        let error = staff.get(badged::Employee::by_email(email(7))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    }
    // It is kept all the while.
    let staff = ours.table::<badged::Employee>().unwrap();
    staff.delete(badged::Employee::key("Sales", 9)).unwrap();
    let error = staff.update(badged::Employee::key("Sales", 8), |one| one.email = email(8)).map(drop);
    assert!(error.is_ok(), "{error:?}");
    let late = theirs.table::<badged::Employee>().unwrap();
    late.rebuild().unwrap().run().unwrap();
    assert_eq!(late.by_email().count().unwrap(), 119);
    assert!(staff.check().unwrap().is_sound());
}

#[test]
fn copies_of_a_table_that_was_dropped_are_of_nobody() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 40);
    let staff = ours.table::<badged::Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    theirs.drop_table("Company").unwrap();
    let late = ours.table::<badged::Employee>().unwrap();
    let by = |id: u32| badged::Employee::by_email(email(id));
    for round in 0..2 {
        let snapshot = ours.snapshot().unwrap();
        for error in [
            late.get(by(7)).unwrap_err(),
            late.at(&snapshot).get(by(7)).unwrap_err(),
            late.by_email().count().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{round}: {error}");
        }
        let new = badged::Employee { department: "Sales".into(), id: round + 1, email: email(round + 1) };
        late.insert(&new).unwrap();
    }
    let staff = theirs.table::<badged::Employee>().unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(staff.by_email().count().unwrap(), 2);
    assert!(late.get(by(7)).unwrap().is_none());
    assert!(staff.check().unwrap().is_sound());
    // Together they leave nothing.
    ours.drop_tables(&["Emails", "COMPANY"]).unwrap();
    assert!(theirs.tables().unwrap().is_empty());
    let staff = theirs.table::<badged::Employee>().unwrap();
    assert!(staff.get(by(1)).unwrap().is_none());
}
