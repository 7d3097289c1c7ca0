//! Jobs that are given up, and those that were on their way when the store was copied.

use integration_tests::releases::{Copies, assert_rows, first, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{Entity, ErrorKind};

use super::{filled, key};

#[test]
fn a_rebuild_that_is_given_up_leaves_an_index_that_nobody_keeps() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = filled(&store, 1_500);
    let (old, new) = (store.table::<first::Employee>().unwrap(), store.table::<second::Employee>().unwrap());
    // While it is swept, and when it is half filled.
    for is_filled in [false, true] {
        let mut other = new.rebuild().unwrap();
        let mut job = new.rebuild().unwrap();
        assert!(job.step().unwrap());
        while is_filled && store.jobs().unwrap()[0].changed == 0 {
            assert!(job.step().unwrap());
        }
        let may_write = old.update(first::Employee::key("Sales", 3), |_| {});
        assert_eq!(may_write.err().map(|error| error.kind()), is_filled.then_some(ErrorKind::LayoutChanged));
        job.cancel().unwrap();
        // Who runs it elsewhere finds it ended.
        assert!(!other.step().unwrap());
        old.update(first::Employee::key("Sales", 3), |_| {}).unwrap();
        let unread = new.get(second::Employee::by_email("Sales", "7@contoso.com")).unwrap_err();
        assert_eq!(unread.kind(), ErrorKind::IndexBuilding, "{unread}");
        let [left] = &store.jobs().unwrap()[..] else { panic!() };
        assert_eq!(left.name, "drop employee by_email");
        // Another may give nothing up any more.
        let unfit = old.drop_index("by_email").unwrap().cancel().unwrap_err();
        assert_eq!(unfit.kind(), ErrorKind::Unsupported, "{unfit}");
        old.drop_index("by_email").unwrap().run().unwrap();
        assert_rows(new.dynamic(), &staff, Copies::OF[0]);
        assert!(store.jobs().unwrap().is_empty());
    }
    // It can be made again, also at once.
    let mut job = new.rebuild().unwrap();
    job.step().unwrap();
    job.cancel().unwrap();
    new.rebuild().unwrap().run().unwrap();
    assert_rows(new.dynamic(), &staff, Copies::OF[1]);
    // What is through is not given up.
    new.rebuild().unwrap().cancel().unwrap();
    assert_eq!(new.get(second::Employee::by_email("Sales", "7@contoso.com")).unwrap().unwrap().id, 7);
    assert_sound(&store);
}

#[test]
fn a_deletion_that_is_given_up_leaves_the_rest() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    filled(&store, 1_300);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    let delete = || table.delete_partition(second::Employee::partition("Sales")).unwrap();
    let (mut job, mut other) = (delete(), delete());
    // A step ends by its time, too, and copies come first.
    let gone = || store.jobs().unwrap()[0].changed;
    while gone() == 0 {
        job.step().unwrap();
    }
    let gone = gone();
    assert!(gone < 1_300, "{gone}");
    job.cancel().unwrap();
    assert!(!other.step().unwrap());
    assert!(store.jobs().unwrap().is_empty());
    assert_eq!(table.all().count().unwrap(), 1_300 - gone);
    assert!(table.check().unwrap().is_sound());
    // It begins from the start when it is asked for again.
    assert_eq!(delete().run().unwrap().changed, 1_300 - gone);
}

/// What was begun when a store was copied goes on in the copy, and in the original, each for itself.
#[test]
fn a_copy_goes_on_with_what_was_begun() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut staff = filled(&store, 1_500);
    let table = store.table::<second::Employee>().unwrap();
    let mut job = table.rebuild().unwrap();
    while store.jobs().unwrap()[0].changed == 0 {
        job.step().unwrap();
    }
    let begun = store.jobs().unwrap();
    assert!(begun[0].changed > 0 && begun[0].changed < 1_500, "{begun:?}");
    let path = scratch.path().join("copy");
    store.copy_to(&path).unwrap();
    // The original goes on, and its entities change.
    table.update(key(7), |e| e.email = "seven@contoso.com".into()).unwrap();
    job.run().unwrap();

    let copy = relaxed().verify_first(true).open(&path).unwrap();
    assert_eq!(copy.jobs().unwrap(), begun);
    let restored = copy.table::<second::Employee>().unwrap();
    let by_email = |email: &str| restored.get(second::Employee::by_email("Sales", email));
    assert_eq!(by_email("7@contoso.com").unwrap_err().kind(), ErrorKind::IndexBuilding);
    let old = copy.table::<first::Employee>().unwrap();
    let refused = old.update(first::Employee::key("Sales", 3), |_| {}).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged);
    // None is done twice: it ends with as many as there are.
    assert_eq!(restored.rebuild().unwrap().run().unwrap().changed, 1_500);
    assert_rows(restored.dynamic(), &staff, Copies::OF[1]);
    assert_eq!(by_email("7@contoso.com").unwrap().unwrap().id, 7);
    // Readers of snapshots see the index, too: a copy has the numbers of its original's states.
    let snapshot = copy.snapshot().unwrap();
    assert_eq!(restored.at(&snapshot).by_email().department("Sales").count().unwrap(), 1_500);
    staff.get_mut(&("Sales".to_owned(), 7)).unwrap().0 = "seven@contoso.com".into();
    assert_rows(table.dynamic(), &staff, Copies::OF[1]);
    // And an index that was ready when it was copied.
    let path = scratch.path().join("second copy");
    store.copy_to(&path).unwrap();
    let copy = relaxed().open(&path).unwrap();
    let restored = copy.table::<second::Employee>().unwrap();
    let snapshot = copy.snapshot().unwrap();
    let found = restored.at(&snapshot).get(second::Employee::by_email("Sales", "seven@contoso.com")).unwrap();
    assert_eq!(found.map(|found| found.id), Some(7));
    assert_eq!(second::Employee::SCHEMA.indexes.len(), 2);
    assert_sound(&copy);
}

/// A program that lists what was begun can give it up, without the query or the struct.
#[test]
fn what_is_listed_is_given_up_by_its_name() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    filled(&store, 1_300);
    let table = store.table::<second::Employee>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    // By its time each of these is another job.
    let older = |age: u8| table.rows().department("Sales").filter(|e| e.age.ge(age)).entities();
    for age in [60, 61] {
        table.delete_where(older(age)).unwrap().steps_of(10).step().unwrap();
    }
    table.delete_partition(second::Employee::partition("Legal")).map(drop).unwrap();
    table.repair().map(drop).unwrap();
    let listed = store.jobs().unwrap();
    assert_eq!(listed.len(), 4, "{listed:?}");
    let asked: Vec<_> = listed.iter().map(|job| job.asked.as_str()).collect();
    assert!(asked.iter().any(|asked| asked.contains("Age ge 60")), "{asked:?}");
    assert!(asked.iter().any(|asked| asked.contains("Age ge 61")), "{asked:?}");
    assert!(asked.contains(&"partition `Legal`") && asked.contains(&""), "{asked:?}");
    // One that has ended and was begun again is not the one that was listed.
    let repair = listed.iter().find(|job| job.name == "repair employee").unwrap();
    table.repair().unwrap().run().unwrap();
    let again = table.repair().unwrap();
    store.cancel_job(repair).unwrap();
    assert_eq!(store.jobs().unwrap().len(), 4);
    again.run().unwrap();
    let mut broken_off = table.delete_where(older(60)).unwrap();
    for job in &store.jobs().unwrap() {
        store.cancel_job(job).unwrap();
        store.cancel_job(job).unwrap();
    }
    assert!(store.jobs().unwrap().is_empty());
    assert!(!broken_off.step().unwrap());
    assert!(table.check().unwrap().is_sound());

    // What changes the states of a kind is not given up by a name alone.
    table.drop_index("by_email").unwrap().step().unwrap();
    let [dropping] = &store.jobs().unwrap()[..] else { panic!() };
    let refused = store.cancel_job(dropping).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.table_name()),
        (ErrorKind::Unsupported, Some("Company")),
        "{refused}"
    );
    table.rebuild().unwrap().step().unwrap();
    let [making] = &store.jobs().unwrap()[..] else { panic!() };
    assert_eq!(store.cancel_job(making).unwrap_err().kind(), ErrorKind::Unsupported);
    // It has ended by then.
    store.cancel_job(dropping).unwrap();
    let making = making.clone();
    store.drop_table("Company").unwrap();
    assert_eq!(store.cancel_job(&making).unwrap_err().kind(), ErrorKind::TableNotFound);
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    a_rebuild_that_is_given_up_leaves_an_index_that_nobody_keeps
    a_deletion_that_is_given_up_leaves_the_rest
    what_is_listed_is_given_up_by_its_name
}
