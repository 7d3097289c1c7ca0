//! Typed entities that threads and processes write at one time, and a process that is killed while it does: every
//! copy is what the entities say, and every update counted.

use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::staff::{self, Worker};
use integration_tests::{Scratch, relaxed};
use table_core::Store;

use super::{child, seed, size};

fn assert_sound(store: &Store, hits: u64) {
    assert_eq!(staff::check(store).unwrap(), hits, "every update counts once");
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[test]
fn copies_are_right_and_updates_count_with_threads_that_write_at_one_time() {
    let steps = size("CRASH_STAFF", 3_000);
    let scratch = Scratch::new();
    let store = relaxed().open(scratch.path().join("store")).unwrap();
    staff::prepare(&store).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let mut worker = Worker::new(&store, seed() + thread).unwrap();
            std::thread::spawn(move || {
                let hits: u64 = (0..steps).map(|_| worker.step()).sum();
                println!("{hits} hits, {} done, beaten {} times", worker.done, worker.beaten);
                hits
            })
        })
        .collect();
    let hits = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_sound(&store, hits);
}

#[test]
fn copies_are_right_and_updates_count_with_processes_that_write_at_one_time() {
    let steps = size("CRASH_STAFF", 3_000);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    staff::prepare(&store).unwrap();
    let start = |number: u64| {
        let seed = (seed() + number).to_string();
        child("staff", &[path.to_str().unwrap().to_owned(), seed, "4".to_owned(), (steps / 2).to_string()])
    };
    let mut children: Vec<Child> = (0..2).map(start).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(|child| child.say("go"));
    let mut hits = 0;
    for child in children {
        for line in child.finish() {
            println!("hits, beaten, done: {line}");
            hits += line.split(' ').next().unwrap().parse::<u64>().unwrap();
        }
    }
    assert_sound(&store, hits);
}

#[test]
fn copies_are_right_after_each_kill() {
    const THREADS: u64 = 3;
    let cycles = size("CRASH_STAFF_KILLS", 200);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    staff::prepare(&Store::open(&path).unwrap()).unwrap();
    let mut random = Random::new(seed());
    let (mut before, mut unsure) = (0, 0);
    for cycle in 0..cycles {
        let seed = (seed() + cycle).to_string();
        let mut child = child("staff-forever", &[path.to_str().unwrap(), &seed, &THREADS.to_string()]);
        child.expect("ready");
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        let said = child.kill();
        let said: u64 =
            said.iter().map(|line| line.strip_prefix("hits ").unwrap().parse::<u64>().unwrap()).sum();

        let store = Store::options().verify_first(true).open(&path).unwrap();
        let hits = staff::check(&store).unwrap();
        // What was acknowledged is there; of each thread one change more may be.
        let most = before + said + 2 * THREADS;
        assert!((before + said..=most).contains(&hits), "{before} and {said} are {hits} after kill {cycle}");
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        unsure += hits - before - said;
        before = hits;
    }
    println!("{cycles} kills, {before} hits, {unsure} of them done and not acknowledged");
}

/// However many write one entity, none of them is always the one that loses.
#[test]
fn many_threads_that_update_one_entity_all_get_on() {
    let (threads, times) = (size("CRASH_STAFF_THREADS", 8), size("CRASH_STAFF_UPDATES", 200));
    for durability in [table_core::Durability::Relaxed, table_core::Durability::Durable] {
        // On a disk, if there is one: the slower the commits, the more share one.
        let dir = tempfile::tempdir().unwrap();
        let store = Store::options().durability(durability).open(dir.path().join("store")).unwrap();
        staff::prepare(&store).unwrap();
        let count = || {
            let mut worker = Worker::new(&store, 0).unwrap();
            (0..times).map(|_| worker.hit_first()).sum::<u64>()
        };
        let hits: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        println!("{durability:?}: {hits} of {} updates", threads * times);
        assert_sound(&store, hits);
        assert_eq!(hits, threads * times, "{durability:?}");
    }
}
