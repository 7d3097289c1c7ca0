//! One who writes entities of periods, and drops periods, until it is killed.

use integration_tests::periods::Worker;
use table_core::Store;

use crate::say;

/// `periods STORE SEED DAY`: says what was done after each step, until the process is killed.
pub fn forever(arguments: &[&str]) {
    let [path, seed, day] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let mut worker = Worker::new(&store, seed.parse().unwrap(), day.parse().unwrap()).unwrap();
    say("ready");
    loop {
        if let Some(done) = worker.step() {
            say(&done);
        }
    }
}
