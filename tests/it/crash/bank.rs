//! Money that is moved between partitions and tables while others count it, and while processes are killed: in every
//! snapshot it is as much as there was.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use integration_tests::bank::{self, Clerk, TOTAL};
use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::{Scratch, relaxed};
use table_core::Store;

use super::{child, seed, size};

#[test]
fn money_is_as_much_in_every_snapshot_while_threads_and_processes_move_it() {
    let (steps, seconds) = (size("CRASH_BANK", 400), size("CRASH_BANK_SECONDS", 300));
    let (processes, threads) = (size("CRASH_BANK_PROCESSES", 2), size("CRASH_BANK_THREADS", 4));
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    bank::prepare(&store).unwrap();
    let (stop, begun) = (AtomicBool::new(false), Instant::now());
    // So many transfers of a thread of theirs are told at once.
    let every = (steps / 100).max(1);
    let start = |number: u64| {
        let (seed, threads) = ((seed() + number).to_string(), threads.to_string());
        let mut other = child("bank", &[path.to_str().unwrap(), &seed, &threads, &every.to_string()]);
        other.expect("ready");
        other
    };
    let others: Vec<_> = (1..processes).map(start).collect();
    let (counted, moved) = std::thread::scope(|scope| {
        let counter = scope.spawn(|| {
            let mut counted = 0_u64;
            while !stop.load(Ordering::Relaxed) || counted == 0 {
                assert_eq!(bank::total(&store).unwrap(), TOTAL);
                counted += 1;
            }
            counted
        });
        let clerks: Vec<_> = (0..threads)
            .map(|number| {
                let mut clerk = Clerk::new(&store, seed() + number);
                scope.spawn(move || {
                    while clerk.done < steps && begun.elapsed().as_secs() < seconds {
                        clerk.step();
                    }
                    println!("{} transfers, {} refused", clerk.done, clerk.refused);
                    clerk.done
                })
            })
            .collect();
        let moved: u64 = clerks.into_iter().map(|clerk| clerk.join().unwrap()).sum();
        stop.store(true, Ordering::Relaxed);
        (counter.join().unwrap(), moved)
    });
    let took = begun.elapsed();
    let others: u64 = others.into_iter().map(|other| other.kill().len() as u64 * every).sum();
    println!(
        "{moved} transfers here and {others} in {} other processes in {took:?}, {:.0} a second, counted {counted} times",
        processes - 1,
        (moved + others) as f64 / took.as_secs_f64()
    );
    assert!(others > 0, "another process moved some");
    assert_eq!(bank::total(&store).unwrap(), TOTAL);
    bank::check(&store).unwrap();
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[test]
fn money_is_as_much_after_each_kill() {
    let cycles = size("CRASH_BANK_KILLS", 60);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    bank::prepare(&Store::open(&path).unwrap()).unwrap();
    let (mut random, mut moved) = (Random::new(seed()), 0);
    for cycle in 0..cycles {
        let start = |seed: u64| {
            let mut child: Child = child("bank", &[path.to_str().unwrap(), &seed.to_string(), "2"]);
            child.expect("ready");
            child
        };
        let children = [start(seed() + 2 * cycle), start(seed() + 2 * cycle + 1)];
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        moved += children.into_iter().map(|child| child.kill().len()).sum::<usize>();
        let store = Store::options().verify_first(true).open(&path).unwrap();
        assert_eq!(bank::total(&store).unwrap(), TOTAL, "after kill {cycle}");
        bank::check(&store).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
    }
    println!("{cycles} kills of two processes, {moved} transfers acknowledged");
    assert!(moved > 0);
}
