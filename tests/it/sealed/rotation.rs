//! Keys that are rotated: a job seals anew what they sealed, and then they go.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use integration_tests::{assert_sound, on_executors_with_jobs};
use table_core::crypt::{KeyHandle, Scope};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Stored, Table, Tables, ValueRef};

use super::{Employee, Scratch, assert_copies_agree, employee, handles, key, kind, refused, rows, staff};

/// Returns how many rows the table has.
fn rows_of(store: &Tables) -> u64 {
    store.dynamic_table("Payroll").unwrap().query(&Query::new()).unwrap().count() as u64
}

/// Returns the keys that values of the table are sealed with.
fn keys_in_use(table: &Table<Employee>) -> BTreeSet<KeyHandle> {
    let rows = rows(table.dynamic());
    rows.iter().flat_map(|row| handles(row)).map(|(_, handle)| handle).collect()
}

#[test]
fn a_job_seals_everything_anew_and_changes_no_entity() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    for id in 0..40 {
        staff.insert(&employee(id)).unwrap();
    }
    // What the struct does not know stays too.
    let note = DynamicEntity::new("Sales", "empid_000001").with("Other", 7);
    staff.dynamic().raw().merge(&note, IfMatch::Any).unwrap();
    let before = rows(staff.dynamic());
    let encryption = store.encryption().unwrap();
    let old = encryption.keys().unwrap()[0].handle;
    let new = encryption.rotate(&Scope::store()).unwrap();

    let error = refused(encryption.destroy(old));
    assert_eq!(error.kind(), ErrorKind::KeyInUse);
    assert_eq!(error.table_name(), Some("Payroll"));
    let values = before.iter().map(|row| handles(row).len() as u64).sum::<u64>();
    assert!(error.to_string().contains(&format!("{values} values are still sealed")), "{error}");
    let first = before.iter().find(|row| !handles(row).is_empty()).unwrap();
    assert_eq!(error.row_key(), Some(first.row_key()));
    if let Some(store) = store.lmdb() {
        let [of_old] = &store.sealed_values().unwrap()[..] else { panic!("one key is in use") };
        assert_eq!((of_old.values, of_old.first.1.as_str()), (values, first.row_key()));
    }

    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed, report.left), (40, 0, 0));
    assert_eq!(report.seen, before.len() as u64);
    let after = rows(staff.dynamic());
    assert_eq!(after.len(), before.len());
    for (was, is) in before.iter().zip(&after) {
        assert_eq!((was.row_key(), was.etag()), (is.row_key(), is.etag()));
        let sealed = handles(is);
        assert!(sealed.iter().all(|(_, handle)| *handle == new));
        for (property, value) in was.properties() {
            let is_sealed = sealed.iter().any(|(name, _)| *name == property);
            assert_eq!(is.get(property) != Some(value), is_sealed, "{}: {property}", is.row_key());
        }
    }
    assert_copies_agree(staff.dynamic());
    for id in 0..40 {
        assert_eq!(*staff.get(key(id)).unwrap().unwrap(), employee(id));
    }
    encryption.destroy(old).unwrap();
    assert_sound(&store);

    // There is nothing left to do.
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.seen), (0, after.len() as u64));
    assert_eq!(rows(staff.dynamic()), after);
}

#[test]
fn an_editor_keeps_the_version_that_was_read() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let read = staff.get(key(1)).unwrap().unwrap();
    store.encryption().unwrap().rotate(&Scope::store()).unwrap();
    assert_eq!(staff.reencrypt().unwrap().run().unwrap().changed, 1);
    let etag = Stored::etag(&read);
    let mut edited = Stored::into_inner(read);
    edited.age = 41;
    staff.replace(&edited, etag).unwrap();
    assert_eq!(kind(staff.replace(&edited, etag)), ErrorKind::ConditionNotMet);
    assert_eq!(*staff.get(key(1)).unwrap().unwrap(), edited);
}

/// The bytes that a writer carries over are those that it read: sealed anew meanwhile under one and the same ETag, they
/// must not come back.
#[test]
fn a_writer_does_not_put_former_bytes_back() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    staff.insert(&employee(2)).unwrap();
    let encryption = store.encryption().unwrap();
    let old = encryption.keys().unwrap()[0].handle;
    let mut tries = 0;
    staff
        .update(key(2), |e| {
            tries += 1;
            if tries == 1 {
                encryption.rotate(&Scope::store()).unwrap();
                assert_eq!(staff.reencrypt().unwrap().run().unwrap().changed, 1);
            }
            e.age = 50;
        })
        .unwrap();
    assert_eq!(tries, 2);
    assert_copies_agree(staff.dynamic());
    encryption.destroy(old).unwrap();
    assert_eq!(staff.get(key(2)).unwrap().unwrap().age, 50);

    // And one that removes is not told that the entity is another.
    let etag = Stored::etag(&staff.get(key(2)).unwrap().unwrap());
    encryption.rotate(&Scope::store()).unwrap();
    staff.reencrypt().unwrap().run().unwrap();
    staff.delete_if(key(2), etag).unwrap();
    assert_eq!(rows(staff.dynamic()).len(), 0);
}

/// While others write by every way, each key has nothing left under it when the job has ended: none slips in late.
#[test]
fn nothing_is_left_under_a_key_while_others_write() {
    const ENTITIES: u32 = 24;
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    for id in 0..ENTITIES {
        staff.insert(&employee(id)).unwrap();
    }
    let (is_over, writes) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..3 {
            let (staff, is_over, writes) = (staff.clone(), &is_over, &writes);
            scope.spawn(move || {
                let mut round = 0_u32;
                while !is_over.load(Ordering::Relaxed) {
                    round += 1;
                    let id = (round * 7 + thread) % ENTITIES;
                    let done = match round % 6 {
                        0 => staff.update(key(id), |e| e.salary += 1).map(drop),
                        1 => staff.update(key(id), |e| e.age = e.age.wrapping_add(1)).map(drop),
                        2 => staff.put(&employee(id)).map(drop),
                        3 => staff.delete(key(id)),
                        4 => staff.bulk_insert([employee(id)]).map(drop),
                        _ => staff
                            .move_to(key(id), |e| {
                                (e.id, e.badge) = ((id + 9) % ENTITIES, 500 + e.badge % 500)
                            })
                            .map(drop),
                    };
                    if let Err(error) = done {
                        let expected = [
                            ErrorKind::EntityNotFound,
                            ErrorKind::EntityAlreadyExists,
                            ErrorKind::UniqueConflict,
                            ErrorKind::ConditionNotMet,
                        ];
                        assert!(expected.contains(&error.kind()), "{error}");
                    }
                    writes.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let encryption = store.encryption().unwrap();
        for _ in 0..12 {
            let old = encryption.keys().unwrap().into_iter().find(|key| key.current).unwrap();
            encryption.rotate(&Scope::store()).unwrap();
            let report = staff.reencrypt().unwrap().run().unwrap();
            assert_eq!(report.failed, 0, "{:?}", report.failures);
            if let Err(error) = encryption.destroy(old.handle) {
                is_over.store(true, Ordering::Relaxed);
                panic!("{error}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    println!("{} writes", writes.into_inner());
    assert_copies_agree(staff.dynamic());
    assert!(staff.rows().department("Sales").into_iter().all(|e| e.is_ok()));
    assert_sound(&store);
}

#[test]
fn a_job_goes_on_where_it_was_stopped_and_again_after_a_rotation() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let table = staff(&store);
    let report = table.bulk_insert((0..1_300).map(employee)).unwrap();
    assert!(report.failures.is_empty());
    let total = rows_of(&store);
    let encryption = store.encryption().unwrap();
    let first = encryption.rotate(&Scope::store()).unwrap();
    let mut job = table.reencrypt().unwrap().steps_of(100);
    // Copies for age, badge, desk and e-mail stand before the entities themselves, and a step looks at what time lets it.
    while job.report().changed == 0 {
        assert!(job.step().unwrap());
    }
    let (seen, changed) = (job.report().seen, job.report().changed);
    assert!(seen >= 3_900 + changed && (1..=100).contains(&changed), "{}", job.report());
    assert_eq!((job.report().left, job.progress().done), (total - seen, seen));
    let text = format!("{seen} rows seen, {} left; {changed} entities sealed anew, 0 failed", total - seen);
    assert_eq!(job.report().to_string(), text);
    drop((job, table, store));

    let store = scratch.open();
    let (table, encryption) = (staff(&store), store.encryption().unwrap());
    let mut job = table.reencrypt().unwrap();
    assert!(job.step().unwrap() && job.step().unwrap());
    let now = (job.report().seen, job.report().changed);
    assert!(now > (seen, changed) && now.1 <= 1_100, "{now:?}");
    // A further rotation: what is done already has to be done again, which this very job does at its end.
    let second = encryption.rotate(&Scope::store()).unwrap();
    let report = job.run().unwrap();
    assert_eq!((report.seen, report.changed, report.failed), (total, 1_300 + now.1, 0));
    encryption.destroy(first).unwrap();
    assert_eq!(keys_in_use(&table), BTreeSet::from([second]));

    // One that was stopped before another rotation does not go on from there.
    encryption.rotate(&Scope::store()).unwrap();
    let mut job = table.reencrypt().unwrap().steps_of(100);
    while job.report().changed == 0 {
        assert!(job.step().unwrap());
    }
    drop(job);
    encryption.rotate(&Scope::store()).unwrap();
    let report = table.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.seen, report.changed), (total, 1_300));
    assert_eq!(keys_in_use(&table).len(), 1);
    assert_eq!(table.reencrypt().unwrap().run().unwrap().changed, 0);
}

#[test]
fn what_can_not_be_sealed_anew_is_told_and_stops_nothing() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    for id in 0..10 {
        staff.insert(&employee(id)).unwrap();
    }
    let other = staff.dynamic().get("Sales", "empid_000002").unwrap().unwrap();
    let change = |value| DynamicEntity::new("Sales", "empid_000003").with("Salary", value);
    staff.dynamic().raw().merge(&change(other.get("Salary").unwrap().clone()), IfMatch::Any).unwrap();
    let encryption = store.encryption().unwrap();
    let old = encryption.keys().unwrap()[0].handle;
    encryption.rotate(&Scope::store()).unwrap();
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (9, 1));
    assert_eq!(report.failures[0].kind(), ErrorKind::DecryptionFailed);
    assert_eq!(report.failures[0].row_key(), Some("empid_000003"));
    assert_eq!(kind(encryption.destroy(old)), ErrorKind::KeyInUse);

    // A value that somebody put there plain is not passed off as one that was sealed.
    staff.dynamic().raw().merge(&change(table_core::Value::Int64(1)), IfMatch::Any).unwrap();
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (0, 1));
    assert_eq!(report.failures[0].kind(), ErrorKind::DecryptionFailed);
    staff.put(&employee(3)).unwrap();
    encryption.destroy(old).unwrap();
}

#[test]
fn a_report_counts_every_failure_and_keeps_the_first_hundred() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    let many: Vec<_> = (0..101).map(employee).collect();
    assert!(staff.bulk_insert(&many).unwrap().failures.is_empty());
    for id in 0..101 {
        let plain = DynamicEntity::new("Sales", format!("empid_{id:06}")).with("Salary", 1_i64);
        staff.dynamic().raw().merge(&plain, IfMatch::Any).unwrap();
    }
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.failed, report.failures.len()), (101, 100));
    assert_eq!(report.failures[99].row_key(), Some("empid_000099"));
}

#[test]
fn keys_that_seal_nothing_go_at_once_and_others_stay() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    let encryption = store.encryption().unwrap();
    for id in 0..4 {
        staff.insert(&employee(id)).unwrap();
        encryption.rotate(&Scope::store()).unwrap();
    }
    // The first key goes with its entity; three are in use, and the fourth is current and seals nothing.
    staff.delete(key(0)).unwrap();
    assert_eq!(encryption.destroy_unused().unwrap(), 1);
    assert_eq!(encryption.destroy_unused().unwrap(), 0);
    for id in 1..4 {
        assert_eq!(*staff.get(key(id)).unwrap().unwrap(), employee(id));
    }
    staff.reencrypt().unwrap().run().unwrap();
    assert_eq!(encryption.destroy_unused().unwrap(), 3);
    assert_eq!(encryption.keys().unwrap().len(), 1);
    assert!(staff.rows().department("Sales").into_iter().all(|e| e.is_ok()));
}

#[test]
fn a_key_is_kept_for_whatever_row_it_sealed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    let table = store.create_table("Anything").unwrap();
    let cell = table.cell("p", "r", "Secret").unwrap();
    let sealed = encryption.seal(&cell, ValueRef::String("text")).unwrap();
    let old = KeyHandle::of(&sealed).unwrap();
    table.insert(&DynamicEntity::new("p", "r").with("Secret", sealed).with("Other", vec![7_u8; 80])).unwrap();
    encryption.rotate(&Scope::store()).unwrap();
    let error = refused(encryption.destroy(old));
    assert_eq!((error.kind(), error.table_name()), (ErrorKind::KeyInUse, Some("Anything")));
    assert_eq!((error.partition_key(), error.row_key()), (Some("p"), Some("r")));

    // Without any key the count is the same.
    let expected = store.sealed_values().unwrap();
    assert_eq!(expected.len(), 1);
    drop((table, store));
    let store = scratch.without_provider();
    assert_eq!(store.sealed_values().unwrap(), expected);
    drop(store);

    // What is dropped can't be read any more.
    let store = scratch.store();
    store.drop_table("Anything").unwrap();
    assert_eq!(store.sealed_values().unwrap(), []);
    store.encryption().unwrap().destroy(old).unwrap();
    // Keys outlive their store; what is to be looked at first does not.
    let keys = store.encryption().unwrap().clone();
    let another = keys.rotate(&Scope::store()).unwrap();
    keys.rotate(&Scope::store()).unwrap();
    drop(store);
    assert_eq!(kind(keys.destroy(another)), ErrorKind::KeyUnavailable);
}

#[test]
fn a_job_needs_keys_and_says_so() {
    let scratch = Scratch::new();
    staff(&scratch.open()).insert(&employee(1)).unwrap();
    let store = scratch.open_without_provider();
    let error = refused(staff(&store).reencrypt());
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert!(error.to_string().starts_with("cannot re-encrypt in table `Payroll`"), "{error}");
    if let Some(store) = store.lmdb() {
        assert_eq!(store.stats().unwrap().tables[0].entities, 4);
    }
}

#[test]
fn a_job_keeps_how_far_it_is_with_each_step_though_it_finds_nothing_to_do() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let staff = staff(&store);
    // Rows that each step looks at and passes by.
    let table = staff.dynamic();
    let batches = (0..106).map(|batch| {
        let rows = (0..100).map(|row| DynamicEntity::new("Others", format!("{batch:03}{row:02}")));
        rows.fold(table.batch("Others"), table_core::Batch::insert)
    });
    assert!(store.bulk(batches).unwrap().failures.is_empty());
    // At most forty times as many as it may change.
    let seen_after = |steps: u64| {
        let mut job = staff.reencrypt().unwrap().steps_of(50);
        assert_eq!(job.report().seen, 0);
        (0..steps).for_each(|_| assert!(job.step().unwrap()));
        job.report().seen
    };
    let first = seen_after(3);
    assert!((150..=6_000).contains(&first), "{first}");
    let second = seen_after(1);
    assert!((first + 50..=first + 2_000).contains(&second), "{first} {second}");
    let [begun] = &store.jobs().unwrap()[..] else { panic!() };
    assert_eq!((&*begun.name, &*begun.table, begun.done), ("re-encrypt employee", "Payroll", second));

    let mut job = staff.reencrypt().unwrap();
    while job.step().unwrap() {}
    assert_eq!((job.report().seen, job.report().left), (10_600, 0));
    // It is over, and the next begins at the start.
    assert!(!job.step().unwrap());
    assert_eq!(job.report().seen, 10_600);
    assert!(store.jobs().unwrap().is_empty());
    assert!(seen_after(1) <= 2_000);
    // One that is given up begins at the start, too.
    staff.reencrypt().unwrap().cancel().unwrap();
    assert!(store.jobs().unwrap().is_empty());
    assert!(seen_after(1) <= 2_000);
}

#[test]
fn a_job_on_what_is_never_sealed_is_over_at_once_and_asks_for_no_keys() {
    #[derive(Entity)]
    #[entity(table = "Plain", kind = "plain")]
    #[key(partition = "p", row = "{id:03}")]
    struct Plain {
        id: u16,
    }

    let scratch = Scratch::new();
    let store = scratch.open_without_provider();
    let table = store.table::<Plain>().unwrap();
    table.insert(&Plain { id: 1 }).unwrap();
    let mut job = table.reencrypt().unwrap();
    assert!(!job.step().unwrap());
    assert_eq!(job.report().seen, 0);
}

on_executors_with_jobs! {
    a_job_seals_everything_anew_and_changes_no_entity
    an_editor_keeps_the_version_that_was_read
    a_writer_does_not_put_former_bytes_back
    nothing_is_left_under_a_key_while_others_write
    a_job_goes_on_where_it_was_stopped_and_again_after_a_rotation
    what_can_not_be_sealed_anew_is_told_and_stops_nothing
    a_report_counts_every_failure_and_keeps_the_first_hundred
    keys_that_seal_nothing_go_at_once_and_others_stay
    a_job_needs_keys_and_says_so
    a_job_keeps_how_far_it_is_with_each_step_though_it_finds_nothing_to_do
    a_job_on_what_is_never_sealed_is_over_at_once_and_asks_for_no_keys
}
