//! Jobs that seal anew, whose process is killed: each entity is sealed anew once, and what is written meanwhile opens.

use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound, vault};
use table_core::crypt::Scope;

#[test]
fn a_job_that_seals_anew_and_is_killed_goes_on() {
    let kills = std::env::var("CRASH_JOBS").map_or(8, |text| text.parse().expect("a number"));
    let scratch = Scratch::new();
    let store = vault::open(scratch.path()).unwrap();
    vault::prepare(&store).unwrap();
    let (mut random, mut accounts) = (Random::new(23), vault::ACCOUNTS);
    let (mut current, mut many, mut last, mut halves, mut ended) = (None, 0, 0, 0, 0);
    let add = |accounts: &mut u32| {
        vault::add(&store, *accounts).unwrap();
        *accounts += 1;
    };
    for kill in 0.. {
        if store.jobs().unwrap().is_empty() {
            current = Some(store.encryption().unwrap().rotate(&Scope::store()).unwrap());
            (many, last) = (u64::from(accounts), 0);
        }
        let path = scratch.path().to_str().unwrap();
        let mut child = Child::start(env!("CARGO_BIN_EXE_crash-child"), "reencrypt", &[path]);
        child.expect("ready");
        for _ in 0..2 {
            add(&mut accounts);
        }
        std::thread::sleep(Duration::from_micros(random.below(80_000)));
        // From the last on none is killed, so that the job ends.
        let said = if kill < kills {
            child.kill()
        } else {
            vec![child.next_within(Duration::from_secs(120)).unwrap().unwrap()]
        };
        // Who dies between LMDB's meta page and the count in its lock has committed, and others see it with their next write.
        add(&mut accounts);
        let jobs = store.jobs().unwrap();
        let changed = jobs.first().map_or(many, |job| job.changed);
        assert!(changed >= last, "it went back from {last} to {changed}");
        // Those that it says to have sealed anew are, and no others.
        assert_eq!(vault::sealed_otherwise(&store, current.unwrap()).unwrap(), many - changed);
        halves += u64::from(changed > 0 && changed < many);
        last = changed;
        if let Some(said) = said.first() {
            assert!(jobs.is_empty());
            assert_eq!(*said, format!("done {many}"), "something was done twice, or left out");
            ended += 1;
        }
        if kill >= kills {
            break;
        }
    }
    assert_eq!(vault::check(&store).unwrap(), usize::try_from(accounts).unwrap());
    store.encryption().unwrap().destroy_unused().unwrap();
    assert_eq!(store.encryption().unwrap().keys().unwrap().len(), 1);
    vault::check(&store).unwrap();
    assert_sound(&store);
    println!("re-encrypt: {kills} kills, {halves} of them in the midst of it, {ended} ends were told");
}
