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
