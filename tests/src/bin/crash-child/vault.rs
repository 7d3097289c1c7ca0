//! A process that rotates keys without end while others of its threads write.

use std::path::Path;

use integration_tests::random::Random;
use integration_tests::vault;

use crate::say;

/// `vault DIRECTORY SEED`: says `seen ROWS GENERATION` after each step of a job, until the process is killed; `error ..`
/// if anything is refused that should not be.
pub fn run(arguments: &[&str]) {
    let [dir, seed] = arguments else { panic!("arguments") };
    let store = vault::open(Path::new(dir)).unwrap();
    let seed: u64 = seed.parse().unwrap();
    say("ready");
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (table, mut random) = (store.table().unwrap(), Random::new(seed * 10 + writer));
            scope.spawn(move || {
                loop {
                    if let Err(error) = vault::write(&table, &mut random) {
                        say(format!("error {error}"));
                    }
                }
            });
        }
        loop {
            if let Err(error) =
                vault::rotate(&store, |seen, generation| say(format!("seen {seen} {generation}")))
            {
                say(format!("error {error}"));
            }
        }
    });
}
