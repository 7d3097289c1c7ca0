//! Random transfers by threads on each executor that has store transactions: what was refused changed nothing, and in
//! every snapshot there is as much money.

use integration_tests::MapStore;
use integration_tests::bank::{self, Clerk, TOTAL};
use integration_tests::{Scratch, relaxed};
use table_core::{ErrorKind, Tables};

fn run(store: &Tables, steps: u64) {
    bank::prepare(store).unwrap();
    let totals = std::thread::scope(|scope| {
        let clerks: Vec<_> = (0..4)
            .map(|seed| {
                let mut clerk = Clerk::new(store, 20_261_122 + seed);
                scope.spawn(move || {
                    let totals = (0..steps).map(|step| {
                        clerk.step();
                        if step % 8 == 0 { bank::total(clerk.store()).unwrap() } else { TOTAL }
                    });
                    totals.filter(|total| *total != TOTAL).count()
                })
            })
            .collect();
        clerks.into_iter().map(|clerk| clerk.join().unwrap()).sum::<usize>()
    });
    assert_eq!(totals, 0, "sums that were wrong");
    bank::check(store).unwrap();
    assert_eq!(bank::never_met(store).unwrap_err().kind(), ErrorKind::ConditionNotMet);
    assert_eq!(bank::total(store).unwrap(), TOTAL);
}

#[test]
fn money_is_as_much_in_every_snapshot() {
    let scratch = Scratch::new();
    run(&relaxed().open(scratch.path().join("store")).unwrap(), 300);
    run(&MapStore::new().tables(), 300);
}
