//! A release that is rolled out and back, while programs of both write in processes of their own: nothing is lost, and what
//! each can't do it is told.

use std::path::Path;

use integration_tests::child::Child;
use integration_tests::rolling::{Staff, fill, first, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{ErrorKind, Store};

/// Writes of each program in each part.
const TIMES: u32 = 150;

/// A program of a release.
fn program(path: &Path, release: u32, thread: u32) -> Child {
    let arguments = [path.to_str().unwrap().to_owned(), release.to_string(), thread.to_string()];
    let mut child = Child::start(env!("CARGO_BIN_EXE_crash-child"), "rolling", &arguments);
    child.expect("ready");
    child
}

/// Has programs write at one time, takes in what they have written, and says how often each was refused.
fn written(programs: &mut [&mut Child], staff: &mut Staff, meanwhile: impl FnOnce()) -> Vec<u32> {
    for program in &mut *programs {
        program.say(&TIMES.to_string());
    }
    meanwhile();
    let mut refused = vec![0; programs.len()];
    for (program, refused) in programs.iter_mut().zip(&mut refused) {
        loop {
            let line = program.line();
            if line == "done" {
                break;
            }
            if let Some(why) = line.strip_prefix("refused ") {
                assert!(why.contains("by_age"), "{why}");
                *refused += 1;
                continue;
            }
            let words: Vec<_> = line.split(' ').collect();
            let one = staff.get_mut(&words[0].parse().unwrap()).unwrap();
            (one.0, one.1) = (words[1].to_owned(), words[2].parse().unwrap());
            // What a program doesn't know it leaves.
            if let Some(phone) = words.get(3).filter(|phone| !phone.is_empty()) {
                one.2 = Some((*phone).to_owned());
            }
        }
    }
    refused
}

/// Each entity, and each copy, is what was written last, for whichever release reads.
fn assert_staff(store: &Store, staff: &Staff) {
    let newer = store.table::<second::Employee>().unwrap();
    let found: Staff = newer
        .all()
        .into_iter()
        .map(|row| row.map(|e| (e.id, (e.email.clone(), e.age, e.phone.clone()))).unwrap())
        .collect();
    assert_eq!(&found, staff);
    let older = store.table::<first::Employee>().unwrap();
    for (id, (email, age, phone)) in staff {
        let one = older.get(first::Employee::by_email("Sales", &**email)).unwrap().unwrap();
        assert_eq!((one.id, one.age), (*id, *age));
        let copy = newer.get(second::Employee::by_email("Sales", &**email)).unwrap().unwrap();
        assert_eq!((copy.id, &copy.phone), (*id, phone));
    }
    assert!(newer.check().unwrap().is_sound());
    assert_sound(store);
}

#[test]
fn a_release_is_rolled_out_and_back_while_both_write() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let mut staff = fill(&store);
    let (mut old, mut other) = (program(&path, 1, 0), program(&path, 1, 1));
    assert_eq!(written(&mut [&mut old, &mut other], &mut staff, || {}), [0, 0]);

    // One of two is replaced. Its field is new and its index is not made yet: the other goes on.
    other.finish();
    let mut new = program(&path, 2, 2);
    assert_eq!(written(&mut [&mut old, &mut new], &mut staff, || {}), [0, 0]);
    assert_staff(&store, &staff);
    let table = store.table::<second::Employee>().unwrap();
    let by_age = || table.by_age().department("Sales").age(30).count();
    assert_eq!(by_age().unwrap_err().kind(), ErrorKind::IndexBuilding);

    // The index is made while both write: the older program can't keep it, and is told so once it is being filled.
    let refused = written(&mut [&mut old, &mut new], &mut staff, || {
        table.rebuild().unwrap().gentle().run().unwrap();
    });
    assert_eq!(refused[1], 0);
    assert_eq!(written(&mut [&mut old, &mut new], &mut staff, || {}), [TIMES, 0]);
    let of_age = staff.values().filter(|(_, age, _)| *age == 30).count() as u64;
    assert_eq!(by_age().unwrap(), of_age);
    assert_staff(&store, &staff);

    // And back: the index goes, the older program writes again, and leaves what it doesn't know.
    new.finish();
    table.drop_index("by_age").unwrap().run().unwrap();
    let mut other = program(&path, 1, 2);
    assert_eq!(written(&mut [&mut old, &mut other], &mut staff, || {}), [0, 0]);
    assert!(staff.iter().any(|(id, (_, _, phone))| id % 4 == 2 && phone.is_some()));
    assert_staff(&store, &staff);

    // A program of the newer release that was left behind reads and writes as well, but for the index.
    let mut late = program(&path, 2, 3);
    assert_eq!(written(&mut [&mut old, &mut late], &mut staff, || {}), [0, 0]);
    assert_eq!(by_age().unwrap_err().kind(), ErrorKind::IndexBuilding);
    assert_staff(&store, &staff);
}
