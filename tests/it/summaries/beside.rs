//! Many who write entities of one summary at one time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use integration_tests::{Scratch, assert_sound};
use table_core::IfMatch;

use super::{Employee, Payroll, assert_summarized, employee};

const WRITERS: u32 = 8;
const EACH: u32 = 40;

#[test]
fn writers_of_one_summary_are_never_in_each_others_way() {
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
                        staff.insert(&employee("Sales", id, 5, 3)).unwrap();
                        // A closure that runs twice has lost to somebody: none has the entity but this thread.
                        staff
                            .update(Employee::key("Sales", id), |one| {
                                planned += 1;
                                one.salary += 1;
                                one.level = 3;
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
            let payrolls = store.table::<Payroll>().unwrap();
            let staff = store.table::<Employee>().unwrap();
            begin.wait();
            while !is_over.load(Ordering::Relaxed) {
                let snapshot = store.snapshot().unwrap();
                let count = staff.at(&snapshot).rows().department("Sales").count().unwrap();
                let said = payrolls.at(&snapshot).get(Payroll::key("Sales")).unwrap();
                assert_eq!(said.map_or(0, |said| said.employees), count);
            }
        });
        let planned: Vec<u32> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(planned, vec![EACH; WRITERS as usize], "somebody has planned again");
    });
    let left =
        (0..WRITERS * EACH).filter(|id| !(id % EACH).is_multiple_of(4)).map(|id| employee("Sales", id, 3, 4));
    assert_summarized(&store, &left.collect::<Vec<_>>());
    assert_sound(&store);
}
