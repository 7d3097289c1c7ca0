//! A process that rotates keys without end while others of its threads write.

use std::path::Path;

use integration_tests::random::Random;
use integration_tests::vault;
use table_core::crypt::Scope;

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

/// `destroy DIRECTORY HOW`: seals everything anew with a new key and says `sealed`, then destroys the old one, or shreds a
/// scope, and says what came of it, how many keys there are and how many entities open.
pub fn destroy(arguments: &[&str]) {
    let [dir, how] = arguments else { panic!("arguments") };
    let store = vault::open(Path::new(dir)).unwrap();
    let (table, encryption) = (store.table::<vault::Account>().unwrap(), store.encryption().unwrap());
    encryption.rotate(&Scope::store()).unwrap();
    table.reencrypt().unwrap().run().unwrap();
    say("sealed");
    let old = encryption.keys().unwrap().into_iter().find(|key| !key.current).unwrap();
    let done = match *how {
        "one" => encryption.destroy(old.handle),
        "unused" => encryption.destroy_unused().map(drop),
        _ => encryption.shred(&table.dynamic().partition_key_scope("nobody").unwrap()).map(drop),
    };
    match done {
        Ok(()) => say("done"),
        Err(error) => say(format!("{:?} {error}", error.kind())),
    }
    say(format!("keys {}", encryption.keys().unwrap().len()));
    say(format!("opened {}", vault::check(&store).unwrap()));
}
