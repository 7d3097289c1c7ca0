//! Bits of what the store notes of jobs and of kinds' states, each flipped: reading it is an error, and nothing is taken for
//! absent. A job does not begin anew, an index that is being made is not read, and nobody writes past it.
//!
//! `JOB_FLIPS` is one of how many bits is flipped: 7 otherwise, and 1 is all.

use std::fs;
use std::path::Path;

use integration_tests::releases::{first, second};
use integration_tests::{Scratch, relaxed};
use table_core::{Error, ErrorKind, Store};

use super::{filled, key};

fn stride() -> usize {
    std::env::var("JOB_FLIPS").map_or(7, |text| text.parse().expect("a number"))
}

/// The places of a record: of its key, in front of which stand the number of the table and the sort, and how long it is with
/// its key.
fn places(file: &[u8], sort: u8, name: &str) -> Vec<(usize, usize)> {
    let tail = [&[sort], name.as_bytes()].concat();
    let places = file.windows(tail.len()).enumerate().filter(|(_, found)| *found == tail);
    let place = |(at, _): (usize, &[u8])| {
        // LMDB's head of the entry: the length of the record, flags, the length of the key.
        let begins = at.checked_sub(4)?;
        let head = file.get(begins.checked_sub(8)?..begins)?;
        let number = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let (data, keys) = (number(0), number(6));
        (number(2) == 0 && keys == 4 + tail.len() && data < 2_000).then_some((begins, keys + data))
    };
    places.filter_map(place).collect()
}

/// Flips each bit of a record and its key, or one of so many, and has `look` see what becomes of it.
fn flipped(path: &Path, sort: u8, name: &str, look: impl Fn(&Store, &str)) {
    let file = path.join("data.mdb");
    let sound = fs::read(&file).unwrap();
    let places = places(&sound, sort, name);
    let most = places.iter().map(|(_, length)| *length).max().expect("the record is there");
    assert!(most > name.len() + 12);
    for bit in (0..most * 8).step_by(stride()) {
        let mut damaged = sound.clone();
        // Former states of the page have it as well.
        for (begins, _) in places.iter().filter(|(_, length)| bit / 8 < *length) {
            damaged[begins + bit / 8] ^= 1 << (bit % 8);
        }
        fs::write(&file, damaged).unwrap();
        let store = relaxed().open(path).unwrap();
        look(&store, &format!("bit {bit} of `{name}`"));
        let report = store.check().unwrap();
        assert!(!report.problems.is_empty(), "bit {bit} of `{name}` is found by no check");
    }
    fs::write(&file, sound).unwrap();
}

fn is_corrupt<T>(what: &str, outcome: Result<T, Error>) {
    let kind = outcome.err().map(|error| error.kind());
    assert_eq!(kind, Some(ErrorKind::Corrupt), "{what}");
}

/// Begins an index that is half filled then, a repair, and a deletion.
fn begun(path: &Path) {
    let store = relaxed().open(path).unwrap();
    filled(&store, 60);
    let table = store.table::<second::Employee>().unwrap();
    let mut job = table.rebuild().unwrap().steps_of(10);
    while store.jobs().unwrap()[0].changed < 20 {
        job.step().unwrap();
    }
    table.repair().unwrap().steps_of(10).step().unwrap();
    table.delete_partition(second::Employee::partition("Legal")).map(drop).unwrap();
    let names: Vec<_> = store.jobs().unwrap().into_iter().map(|job| job.name).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn a_job_whose_record_is_damaged_is_told_and_does_not_begin_anew() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    begun(&path);
    let deletes = relaxed().open(&path).unwrap().jobs().unwrap().remove(0).name;
    assert!(deletes.starts_with("delete-partition employee "), "{deletes}");
    for name in ["rebuild employee by_email", "repair employee", &deletes] {
        flipped(&path, 7, name, |store, what| {
            is_corrupt(what, store.jobs());
            let table = match store.table::<second::Employee>() {
                Ok(table) => table,
                // By its key it is one of the states of a kind now.
                Err(error) => return is_corrupt(what, Err::<(), _>(error)),
            };
            is_corrupt(what, table.rebuild().and_then(|mut job| job.step()));
            is_corrupt(what, table.repair().and_then(|mut job| job.step()));
            let legal = || second::Employee::partition("Legal");
            is_corrupt(what, table.delete_partition(legal()).and_then(|mut job| job.step()));
            is_corrupt(what, table.drop_index("by_email"));
            // The states are as they were: the index is not read, and writers keep it.
            let unread = table.get(second::Employee::by_email("Sales", "7@contoso.com")).unwrap_err();
            assert!(
                matches!(unread.kind(), ErrorKind::IndexBuilding | ErrorKind::Corrupt),
                "{what}: {unread}"
            );
            let old = store.table::<first::Employee>().unwrap();
            let refused = old.update(first::Employee::key("Sales", 3), |_| {}).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{what}");
            table.update(key(3), |e| e.age += 1).unwrap();
            assert_eq!(table.rows().department("Sales").count().unwrap(), 60);
        });
    }
}

#[test]
fn states_of_a_kind_that_are_damaged_are_told_by_everything_that_goes_by_them() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    begun(&path);
    flipped(&path, 6, "employee", |store, what| {
        let table = match store.table::<second::Employee>() {
            Ok(table) => table,
            Err(error) => return is_corrupt(what, Err::<(), _>(error)),
        };
        is_corrupt(what, table.get(second::Employee::by_email("Sales", "7@contoso.com")));
        is_corrupt(what, table.by_age().department("Sales").count());
        is_corrupt(what, table.update(key(3), |e| e.age += 1));
        is_corrupt(
            what,
            table
                .bulk_insert([second::Employee {
                    department: "Sales".into(),
                    id: 99,
                    email: "99@contoso.com".into(),
                    age: 1,
                }])
                .map(|report| report.failures.into_iter().next().map_or(Ok(()), |failure| Err(failure.error)))
                .and_then(|first| first),
        );
        is_corrupt(what, table.rebuild().and_then(|mut job| job.step()));
        is_corrupt(what, table.repair().and_then(|mut job| job.step()));
        is_corrupt(what, table.check());
        is_corrupt(what, table.drop_index("by_email"));
        let old = store.table::<first::Employee>();
        is_corrupt(what, old.and_then(|old| old.update(first::Employee::key("Sales", 3), |_| {})));
    });
}
