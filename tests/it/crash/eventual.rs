//! Processes that are killed while they write entities whose copies follow, and while they settle: what they have left is
//! settled by whoever comes next, and every copy is then what the entities say.

use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::child::Child;
use integration_tests::eventual;
use integration_tests::random::Random;
use table_core::Store;
use table_core::typed::Settlement;

use super::{child, seed, size};

#[test]
fn what_is_to_follow_follows_after_each_kill() {
    let cycles = size("CRASH_EVENTUAL_KILLS", 60);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    Store::open(&path).unwrap().table::<eventual::Employee>().unwrap();
    let (mut random, mut done, mut left) = (Random::new(seed()), 0, 0);
    for cycle in 0..cycles {
        let start = |seed: u64| {
            let mut child: Child = child("eventual", &[path.to_str().unwrap(), &seed.to_string(), "2"]);
            child.expect("ready");
            child
        };
        let children = [start(seed() + 2 * cycle), start(seed() + 2 * cycle + 1)];
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        done += children.into_iter().map(|child| child.kill().len()).sum::<usize>();
        let options = Store::options().verify_first(true).settling(table_core::store::Settling::Manual);
        let store = options.open(&path).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        left += report.unsettled;
        let table = store.table::<eventual::Employee>().unwrap();
        let copies = table.check().unwrap();
        assert!(copies.is_sound(), "{copies} {:#?}", copies.problems);
        assert_eq!(store.settle().unwrap(), Settlement::Settled);
        eventual::check(&store).unwrap();
    }
    println!("{cycles} kills of two processes, {done} changes acknowledged, {left} entries left to others");
    assert!(done > 0);
}
