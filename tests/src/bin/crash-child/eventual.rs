//! Processes that write entities whose copies follow, and settle them.

use integration_tests::eventual::Worker;
use table_core::Store;

use crate::say;

/// `eventual STORE SEED THREADS`: says `done` after each step that was made, until the process is killed. Copies are settled in
/// the background.
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
                    if worker.step() {
                        say("done");
                    }
                }
            });
        }
    });
}
