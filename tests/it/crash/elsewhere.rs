//! Processes that are killed while they write entities whose copies lie in other partitions and tables: every copy is what
//! the entities say, and no entity is without one.

use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::child::Child;
use integration_tests::elsewhere;
use integration_tests::random::Random;
use table_core::Store;

use super::{child, seed, size};

#[test]
fn copies_elsewhere_are_right_after_each_kill() {
    let cycles = size("CRASH_ELSEWHERE_KILLS", 60);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    Store::open(&path).unwrap().table::<elsewhere::Employee>().unwrap();
    let (mut random, mut done) = (Random::new(seed()), 0);
    for cycle in 0..cycles {
        let start = |seed: u64| {
            let mut child: Child = child("elsewhere", &[path.to_str().unwrap(), &seed.to_string(), "2"]);
            child.expect("ready");
            child
        };
        let children = [start(seed() + 2 * cycle), start(seed() + 2 * cycle + 1)];
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        done += children.into_iter().map(|child| child.kill().len()).sum::<usize>();
        let store = Store::options().verify_first(true).open(&path).unwrap();
        elsewhere::check(&store).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
    }
    println!("{cycles} kills of two processes, {done} changes acknowledged");
    assert!(done > 0);
}
