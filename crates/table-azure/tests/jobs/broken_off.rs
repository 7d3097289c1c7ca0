//! Jobs that are broken off, given up, or shared, and what keeps one from its end.

use table_core::{ErrorKind, Query};

use super::Shared;
use super::releases::{fill, first, second, staff_of_first, staff_of_second};

#[test]
fn another_program_goes_on_with_a_job_where_it_is() {
    let shared = Shared::new();
    fill(&shared.connect(), 100);
    let mut changed = 0;
    let mut steps = 0;
    loop {
        let tables = shared.connect();
        let mut job = staff_of_second(&tables).rebuild().unwrap().steps_of(30);
        let more = job.step().unwrap();
        assert!(job.progress().changed <= changed + 30);
        changed = job.progress().changed;
        steps += 1;
        if !more {
            break;
        }
    }
    assert!(steps >= 4, "{steps}");
    let tables = shared.connect();
    assert_eq!(staff_of_second(&tables).by_email().department("Sales").count().unwrap(), 100);
    assert!(tables.jobs().unwrap().is_empty());
}

#[test]
fn a_rebuild_that_is_given_up_leaves_an_index_that_nobody_keeps() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 60);
    let staff = staff_of_second(&tables);
    let mut job = staff.rebuild().unwrap().steps_of(20);
    while job.progress().changed == 0 {
        assert!(job.step().unwrap());
    }
    job.cancel().unwrap();
    let [left] = &tables.jobs().unwrap()[..] else { panic!("its drop has begun") };
    assert!(left.name.starts_with("drop "), "{}", left.name);
    // The first release may write again, and what was made goes.
    let old = first::Employee { department: "Sales".into(), id: 1, email: "new@contoso.com".into() };
    staff_of_first(&shared.connect()).put(&old).unwrap();
    staff.drop_index("by_email").unwrap().run().unwrap();
    let rows = tables.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
    assert_eq!(rows, 60);
}

#[test]
fn two_that_claim_one_key_stop_the_job_until_one_of_them_changes() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 20);
    let old = first::Employee { department: "Sales".into(), id: 7, email: "3@contoso.com".into() };
    staff_of_first(&tables).put(&old).unwrap();
    let staff = staff_of_second(&tables);
    let error = staff.rebuild().unwrap().run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
    assert!(error.to_string().contains("empid_000007") && error.to_string().contains("empid_000003"));
    let read = staff.get(second::Employee::by_email("Sales", "5@contoso.com")).unwrap_err();
    assert_eq!(read.kind(), ErrorKind::IndexBuilding);
    staff.update(second::Employee::key("Sales", 7), |one| one.email = "7@contoso.com".into()).unwrap();
    staff_of_second(&shared.connect()).rebuild().unwrap().run().unwrap();
    assert_eq!(staff.get(second::Employee::by_email("Sales", "7@contoso.com")).unwrap().unwrap().id, 7);
}

#[test]
fn a_table_that_is_dropped_takes_its_jobs_along() {
    let shared = Shared::new();
    let tables = shared.connect();
    fill(&tables, 40);
    let mut job = staff_of_second(&tables).rebuild().unwrap().steps_of(10);
    job.step().unwrap();
    tables.drop_table("Company").unwrap();
    assert_eq!(job.step().unwrap_err().kind(), ErrorKind::TableNotFound);
    fill(&tables, 1);
    assert!(tables.jobs().unwrap().is_empty());
    // Nothing is left of the states of the table before.
    staff_of_first(&tables)
        .put(&first::Employee { department: "Sales".into(), id: 2, email: "2@contoso.com".into() })
        .unwrap();
}
