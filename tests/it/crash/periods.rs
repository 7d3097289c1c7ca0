//! Processes that are killed while they write entities of periods, make their tables and drop them.

use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::child::Child;
use integration_tests::periods::Known;
use integration_tests::random::Random;
use table_core::Store;

use super::{child, seed, size};

#[test]
fn periods_are_whole_after_each_kill() {
    let cycles = size("CRASH_PERIOD_KILLS", 40);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    drop(Store::open(&path).unwrap());
    let (mut random, mut known, mut done, mut there) = (Random::new(seed()), Known::default(), 0, 0);
    for cycle in 0..cycles {
        let start = |number: u64| {
            let (seed, day) = ((seed() + 2 * cycle + number).to_string(), (100 + cycle).to_string());
            let mut child: Child = child("periods", &[path.to_str().unwrap(), &seed, &day]);
            child.expect("ready");
            child
        };
        let children = [start(0), start(1)];
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        for line in children.into_iter().flat_map(Child::kill) {
            known.hear(&line);
            done += 1;
        }
        let store = Store::options().verify_first(true).open(&path).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty() && report.wrong_copies.is_empty(), "{report:#?}");
        (there, _) = known.check(&store).unwrap();
    }
    println!("{cycles} kills of two processes, {done} changes acknowledged, {there} entities left");
    assert!(done > 0 && known.floor > 0);
}
