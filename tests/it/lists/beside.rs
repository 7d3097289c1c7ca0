//! Many who write entities of one list at one time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use integration_tests::{Scratch, assert_sound};
use table_core::IfMatch;

use super::{Employee, assert_listed, employee};

const WRITERS: u32 = 8;
const EACH: u32 = 40;

#[test]
fn writers_of_one_list_are_never_in_each_others_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (begin, is_over) = (Barrier::new(WRITERS as usize + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (store, begin) = (store.clone(), &begin);
                scope.spawn(move || {
                    let staff = store.table::<Employee>().unwrap();
                    begin.wait();
                    let mut planned = 0;
                    for at in 0..EACH {
                        let id = writer * EACH + at;
                        staff.insert(&employee("Sales", id, "Jones")).unwrap();
                        // A closure that runs twice has lost to somebody: none has the entity but this thread.
                        staff
                            .update(Employee::key("Sales", id), |one| {
                                planned += 1;
                                one.team = Some("red".into());
                            })
                            .unwrap();
                        if at % 4 == 0 {
                            staff.delete(Employee::key("Sales", id), IfMatch::Any).unwrap();
                        }
                    }
                    planned
                })
            })
            .collect();
        scope.spawn(|| {
            let staff = store.table::<Employee>().unwrap();
            begin.wait();
            while !is_over.load(Ordering::Relaxed) {
                let snapshot = store.snapshot().unwrap();
                let count = staff.at(&snapshot).rows().department("Sales").count().unwrap();
                let list = staff.at(&snapshot).list(Employee::by_last_name("Sales", "Jones")).unwrap();
                assert_eq!(list.len() as u64, count);
                assert!(list.entities().all(|one| one.unwrap().last_name == "Jones"));
            }
        });
        let planned: Vec<u32> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(planned, vec![EACH; WRITERS as usize], "somebody has planned again");
    });
    let left = (0..WRITERS * EACH).filter(|id| !(id % EACH).is_multiple_of(4));
    let left: Vec<_> =
        left.map(|id| Employee { team: Some("red".into()), ..employee("Sales", id, "Jones") }).collect();
    assert_listed(&store, &left);
    assert_sound(&store);
}
