//! Processes that move money between partitions.

use integration_tests::bank::Clerk;
use table_core::Store;

use crate::say;

/// `bank STORE SEED THREADS`: says `moved` for each transfer that was made, until the process is killed.
pub fn forever(arguments: &[&str]) {
    let [path, seed, threads] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let (seed, threads): (u64, u64) = (seed.parse().unwrap(), threads.parse().unwrap());
    say("ready");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let mut clerk = Clerk::new(&store, seed * 100 + thread);
            scope.spawn(move || {
                loop {
                    if clerk.step() {
                        say("moved");
                    }
                }
            });
        }
    });
}
