//! Handles that know what was so before: they learn of indexes that come and go with what they read and write.

use table_core::ErrorKind;

use crate::releases::{Two, by_email, connect, email, employee, fill, first, key, second, third};
use crate::support::options;

#[test]
fn a_reader_learns_that_an_index_is_dropped_with_what_it_reads() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 30);
    second(&ours).rebuild().unwrap().run().unwrap();
    let staff = second(&theirs);
    // It knows that the index is ready, and reads by it without asking.
    assert_eq!(by_email(&staff, "7@example.com").unwrap(), Some(7));
    assert_eq!(staff.by_email().department("Sales").count().unwrap(), 30);
    let before = theirs.snapshot().unwrap();
    let dropped = second(&ours).drop_index("by_email").unwrap();
    for round in 0..2 {
        let error = by_email(&staff, "7@example.com").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{round}: {error}");
        let error = staff.by_email().department("Sales").count().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{round}: {error}");
        let now = theirs.snapshot().unwrap();
        let error = staff.at(&now).by_email().department("Sales").count().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{round}: {error}");
    }
    dropped.run().unwrap();
    // The snapshot sees the index as it was, whatever is known by now.
    assert_eq!(staff.at(&before).by_email().department("Sales").count().unwrap(), 30);
    let found = staff.at(&before).get(second::Employee::by_email("Sales", "7@example.com")).unwrap();
    assert_eq!(found.unwrap().id, 7);
    drop(before);
    second(&ours).rebuild().unwrap().run().unwrap();
    assert_eq!(by_email(&staff, "7@example.com").unwrap(), Some(7));
}

#[test]
fn a_snapshot_from_before_an_index_was_whole_does_not_read_it() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 30);
    let staff = second(&theirs);
    let before = theirs.snapshot().unwrap();
    second(&ours).rebuild().unwrap().run().unwrap();
    assert_eq!(staff.by_email().department("Sales").count().unwrap(), 30);
    let then = staff.at(&before);
    let error = then.by_email().department("Sales").count().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    let error = then.get(second::Employee::by_email("Sales", email(7))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    assert_eq!(then.rows().department("Sales").count().unwrap(), 30);
}

#[test]
fn a_writer_of_the_first_release_is_refused_when_it_would_leave_copies_out() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 30);
    let old = theirs.table::<first::Employee>().unwrap();
    let change = |to: &str| old.update(first::Employee::key("Sales", 3), |one| one.email = to.into());
    change("three@example.com").unwrap();
    let mut job = second(&ours).rebuild().unwrap();
    // No writer keeps the index yet: rows of former times are removed first.
    change("drei@example.com").unwrap();
    while ours.jobs().unwrap()[0].changed == 0 {
        assert!(job.step().unwrap());
    }
    let error = change("trois@example.com").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("`by_email`"), "{error}");
    for refused in [
        old.insert(&employee(99)).map(drop),
        old.delete(first::Employee::key("Sales", 4)).map(drop),
        old.bulk_insert([employee(98)]).unwrap().into_result().map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::LayoutChanged);
    }
    // It reads as ever.
    assert_eq!(old.get(first::Employee::key("Sales", 3)).unwrap().unwrap().email, "drei@example.com");
    job.run().unwrap();
    let staff = second(&ours);
    assert_eq!(by_email(&staff, "drei@example.com").unwrap(), Some(3));
    assert!(staff.check().unwrap().is_sound());
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 30);
    staff.drop_index("by_email").unwrap().run().unwrap();
    change("three@example.com").unwrap();
}

#[test]
fn a_writer_of_the_second_release_keeps_an_index_from_when_it_is_filled() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 30);
    let staff = second(&theirs);
    staff.update(key(1), |one| one.email = "one@example.com".into()).unwrap();
    let mut job = second(&ours).rebuild().unwrap().steps_of(5);
    while ours.jobs().unwrap()[0].changed == 0 {
        assert!(job.step().unwrap());
    }
    // It planned by former states, and plans again.
    staff.update(key(2), |one| one.email = "two@example.com".into()).unwrap();
    staff.insert(&second::Employee { department: "Sales".into(), id: 500, email: email(500) }).unwrap();
    staff.delete(key(3)).unwrap();
    let taken = second::Employee { department: "Sales".into(), id: 501, email: "one@example.com".into() };
    let error = staff.insert(&taken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
    job.run().unwrap();
    for (address, id) in
        [("two@example.com", Some(2)), ("500@example.com", Some(500)), ("3@example.com", None)]
    {
        assert_eq!(by_email(&second(&ours), address).unwrap(), id, "{address}");
    }
    assert!(staff.check().unwrap().is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn awaited_reads_are_of_an_index_that_is_whole() {
    let options = options();
    let (ours, theirs) = (connect(&options), connect(&options));
    fill(&ours, 30);
    second(&ours).rebuild().unwrap().run().unwrap();
    let staff = theirs.to_async().table::<second::Employee>().await.unwrap();
    let drop_it = || second(&ours).drop_index("by_email").unwrap().run().unwrap();
    for _ in 0..3 {
        assert_eq!(staff.by_email().department("Sales").count().await.unwrap(), 30);
        let found = staff.get(second::Employee::by_email("Sales", email(7))).await.unwrap();
        assert_eq!(found.unwrap().id, 7);
        drop_it();
        let error = staff.get(second::Employee::by_email("Sales", email(7))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        second(&ours).rebuild().unwrap().run().unwrap();
        assert_eq!(staff.by_email().department("Sales").count().await.unwrap(), 30);
        drop_it();
        let error = staff.by_email().department("Sales").count().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        second(&ours).rebuild().unwrap().run().unwrap();
    }
}

#[test]
fn a_program_that_knows_no_later_version_learns_of_it_with_what_it_writes() {
    let Two { ours, theirs } = Two::open();
    let old = fill(&theirs, 10);
    let new = ours.table::<third::Employee>().unwrap();
    let error = new.update(third::Employee::key("Sales", 1), |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
    ours.migration::<third::Employee>().unwrap().run().unwrap();
    for refused in [
        old.insert(&employee(99)).map(drop),
        old.update(first::Employee::key("Sales", 1), |_| {}).map(drop),
        old.get(first::Employee::key("Sales", 1)).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    }
}
