//! Processes that write entities of which copies and more follow, and propagate them.

use integration_tests::random::Random;
use integration_tests::{derived, eventual};
use table_core::Store;
use table_core::store::Propagate;

use crate::say;

/// `eventual STORE SEED THREADS`: says `done` after each step that was made, until the process is killed. Copies are propagated in
/// the background.
pub fn forever(arguments: &[&str]) {
    let worker = |store: &Store, seed| {
        let mut worker = eventual::Worker::new(store, seed).unwrap();
        move || worker.step()
    };
    work(arguments, worker);
}

/// `left STORE`: one who comes, and propagates nothing.
pub fn left(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = Store::options().propagate(Propagate::Manual).open(path).unwrap();
    let mut employee = eventual::employee(&mut Random::new(1));
    employee.last_name = "Left".into();
    store.table::<eventual::Employee>().unwrap().insert(&employee).unwrap();
    say("done");
}

/// `derived STORE SEED THREADS`: the same of entities of which everything is derived that there is.
pub fn derived_forever(arguments: &[&str]) {
    let worker = |store: &Store, seed| {
        let mut worker = derived::Worker::new(store, seed).unwrap();
        move || worker.step()
    };
    work(arguments, worker);
}

fn work<W: FnMut() -> bool + Send>(arguments: &[&str], worker: impl Fn(&Store, u64) -> W) {
    let [path, seed, threads] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let (seed, threads): (u64, u64) = (seed.parse().unwrap(), threads.parse().unwrap());
    say("ready");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let mut step = worker(&store, seed * 100 + thread);
            scope.spawn(move || {
                loop {
                    if step() {
                        say("done");
                    }
                }
            });
        }
    });
}
