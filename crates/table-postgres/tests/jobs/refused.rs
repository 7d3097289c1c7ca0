//! What jobs refuse, and in which words.

use table_core::ErrorKind;

use table_postgres::PostgresTables;

use crate::releases::{Two, by_email, connect, employee, fill, first, key, second};
use crate::support;

#[test]
fn two_entities_that_claim_one_key_stop_the_job() {
    let Two { ours, theirs } = Two::open();
    let old = fill(&ours, 40);
    old.update(first::Employee::key("Sales", 30), |one| one.email = "3@example.com".into()).unwrap();
    let error = second(&ours).rebuild().unwrap().run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
    for part in ["`by_email`", "empid_000003", "empid_000030", "email_3@example.com"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    // The states say so to every process.
    let staff = second(&theirs);
    let error = by_email(&staff, "3@example.com").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    assert!(error.to_string().contains("empid_000030"), "{error}");
    let condition = theirs.kinds().unwrap()[0].indexes()[0].condition.clone().unwrap();
    assert!(condition.to_string().starts_with("blocked: in partition `Sales`"), "{condition}");
    staff.update(key(30), |one| one.email = "30@example.com".into()).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(by_email(&staff, "30@example.com").unwrap(), Some(30));
    assert!(staff.check().unwrap().is_sound());
}

#[test]
fn an_index_that_is_not_there_is_named_with_those_that_are() {
    let Two { ours, .. } = Two::open();
    fill(&ours, 3);
    let refused = |name: &str| second(&ours).drop_index(name).map(drop).unwrap_err();
    assert!(refused("by_email").to_string().contains("was not made yet"), "{}", refused("by_email"));
    second(&ours).rebuild().unwrap().run().unwrap();
    let error = refused("by_phone");
    assert_eq!(error.kind(), ErrorKind::EntityNotFound, "{error}");
    assert!(error.to_string().contains("in the store it has `by_email`"), "{error}");
}

#[test]
fn what_waits_for_a_writer_for_long_says_so_and_changes_nothing() {
    let schema = support::schema();
    let ours = connect(&PostgresTables::options().schema(&schema));
    fill(&ours, 3);
    // Another connection holds the table.
    let mut held = support::hold(&format!("{schema}.rows_1"));
    let error = second(&ours).rebuild().map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreBusy, "{error}");
    assert!(error.to_string().contains("`Company`"), "{error}");
    held.kill().unwrap();
    held.wait().unwrap();
    assert!(ours.jobs().unwrap().is_empty());
    ours.table::<first::Employee>().unwrap().insert(&employee(9)).unwrap();
    second(&ours).rebuild().unwrap().run().unwrap();
}

#[test]
fn a_job_over_a_table_that_is_gone_says_so() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 60);
    let mut job = second(&theirs).rebuild().unwrap().steps_of(10);
    assert!(job.step().unwrap());
    ours.drop_table("Company").unwrap();
    let error = job.step().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotFound, "{error}");
    assert!(theirs.jobs().unwrap().is_empty());
    // A table of the same name begins anew.
    fill(&theirs, 5);
    assert!(theirs.jobs().unwrap().is_empty());
    second(&theirs).rebuild().unwrap().run().unwrap();
}
