//! Processes that write typed entities.

use integration_tests::staff::Worker;
use table_core::Store;

use crate::{hear, say};

/// `staff STORE SEED THREADS STEPS`: so many steps in each thread; says `hits BEATEN DONE` when all are done.
pub fn work(arguments: &[&str]) {
    let [path, seed, threads, steps] = arguments else { panic!("arguments") };
    let store = integration_tests::relaxed().open(path).unwrap();
    let (seed, threads, steps): (u64, u64, u64) =
        (seed.parse().unwrap(), threads.parse().unwrap(), steps.parse().unwrap());
    say("ready");
    hear();
    let threads: Vec<_> = (0..threads)
        .map(|thread| {
            let mut worker = Worker::new(&store, seed * 100 + thread).unwrap();
            std::thread::spawn(move || {
                let hits: u64 = (0..steps).map(|_| worker.step()).sum();
                (hits, worker.beaten, worker.done)
            })
        })
        .collect();
    for thread in threads {
        let (hits, beaten, done) = thread.join().unwrap();
        say(format!("{hits} {beaten} {done}"));
    }
}

/// `staff-forever STORE SEED THREADS`: says how many hits each step added, until the process is killed.
pub fn forever(arguments: &[&str]) {
    let [path, seed, threads] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let (seed, threads): (u64, u64) = (seed.parse().unwrap(), threads.parse().unwrap());
    say("ready");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let mut worker = Worker::new(&store, seed * 100 + thread).unwrap();
            scope.spawn(move || {
                loop {
                    match worker.step() {
                        0 => {}
                        hits => say(format!("hits {hits}")),
                    }
                }
            });
        }
    });
}
