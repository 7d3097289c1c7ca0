//! Processes that are killed while they write entities of which something follows, and while they propagate: what they have left
//! is propagated by the next process, and every copy is then what the entities say. What does not follow is right at once.

use std::time::{Duration, Instant};

use integration_tests::Scratch;
use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::{derived, eventual};
use table_core::Store;
use table_core::typed::{Propagation, Table};

use super::{child, seed, size};

#[test]
fn what_is_to_follow_follows_after_each_kill() {
    let check = |store: &Store| {
        let table = store.table::<eventual::Employee>().unwrap();
        let copies = table.check().unwrap();
        assert!(copies.is_sound(), "{copies} {:#?}", copies.problems);
    };
    let done = kill("eventual", size("CRASH_EVENTUAL_KILLS", 60), check, |store| {
        eventual::check(store).unwrap();
    });
    assert!(done > 0);
}

/// Summaries, lists and copies that change with their source are exact after each kill, to the last unit; copies that follow
/// once they are propagated.
#[test]
fn what_is_derived_is_exact_after_each_kill() {
    let check = |store: &Store| {
        derived::open(store).unwrap();
        derived::check(store).unwrap();
    };
    let done = kill("derived", size("CRASH_DERIVED_KILLS", 60), check, |store| {
        derived::check_propagated(store).unwrap();
    });
    assert!(done > 0);
}

/// A process that only reads hears nothing of what others write. What they leave is propagated all the same, since it reads.
#[test]
fn what_a_dead_process_has_left_is_propagated_by_one_that_only_reads() {
    propagated_by(|staff, _| staff.by_name().last_name("Left").count().unwrap() > 0);
}

#[test]
fn it_is_propagated_by_one_that_only_reads_by_key() {
    propagated_by(|staff, left| {
        let key = eventual::Employee::by_name(&*left.last_name, &*left.department, left.id);
        staff.get(key).unwrap().is_some()
    });
}

/// Whether an entity's copy is there comes to be true of a store that is read alone, after a dead process has left the copy.
fn propagated_by(is_there: impl Fn(&Table<eventual::Employee>, &eventual::Employee) -> bool) {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<eventual::Employee>().unwrap();
    let path = scratch.path().join("store");
    let mut other = child("left", &[path.to_str().unwrap()]);
    other.expect("done");
    other.finish();
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    let mut left = eventual::employee(&mut Random::new(1));
    left.last_name = "Left".into();
    let begun = Instant::now();
    while !is_there(&staff, &left) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", store.pending_propagation().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
}

/// Kills two processes in this role so often, and looks at the store after each time, before it is propagated and after. How many
/// changes were acknowledged.
fn kill(role: &str, cycles: u64, check: impl Fn(&Store), check_propagated: impl Fn(&Store)) -> usize {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    check(&Store::open(&path).unwrap());
    let (mut random, mut done, mut left) = (Random::new(seed()), 0, 0);
    for cycle in 0..cycles {
        let start = |seed: u64| {
            let mut child: Child = child(role, &[path.to_str().unwrap(), &seed.to_string(), "2"]);
            child.expect("ready");
            child
        };
        let children = [start(seed() + 2 * cycle), start(seed() + 2 * cycle + 1)];
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        done += children.into_iter().map(|child| child.kill().len()).sum::<usize>();
        let options = Store::options().verify_first(true).propagate(table_core::store::Propagate::Manual);
        let store = options.open(&path).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        left += report.pending_propagation;
        check(&store);
        assert_eq!(
            store.propagate().unwrap(),
            Propagation::Complete,
            "{:?}",
            store.pending_propagation().unwrap()
        );
        check_propagated(&store);
    }
    println!("{cycles} kills of two processes, {done} changes acknowledged, {left} entries left to others");
    done
}
