//! Processes that move money between partitions.

use integration_tests::bank::Clerk;
use integration_tests::relaxed;
use table_core::Store;

use crate::say;

/// `bank STORE SEED THREADS`: says `moved` for each transfer that was made, until the process is killed. `bank STORE SEED THREADS
/// EVERY`: commits without flushing, and says it for every so many transfers of a thread.
pub fn forever(arguments: &[&str]) {
    let (path, seed, threads, every) = match arguments {
        [path, seed, threads] => (path, seed, threads, None),
        [path, seed, threads, every] => (path, seed, threads, Some(every.parse::<u64>().unwrap())),
        _ => panic!("arguments"),
    };
    let store = if every.is_some() { relaxed().open(path) } else { Store::open(path) };
    let (store, every) = (store.unwrap(), every.unwrap_or(1));
    let (seed, threads): (u64, u64) = (seed.parse().unwrap(), threads.parse().unwrap());
    say("ready");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let mut clerk = Clerk::new(&store, seed * 100 + thread);
            scope.spawn(move || {
                loop {
                    if clerk.step() && clerk.done.is_multiple_of(every) {
                        say("moved");
                    }
                }
            });
        }
    });
}
