//! A process that is killed while it rotates keys and seals anew, and while others of its threads write: every value
//! opens, copies hold what their entities hold, and the job goes on where it was.

use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::random::Random;
use integration_tests::vault;

use super::{child, seed, size};

#[test]
fn every_value_opens_after_each_kill_and_the_job_goes_on() {
    let cycles = size("CRASH_VAULT_KILLS", 30);
    let scratch = Scratch::new();
    let dir = scratch.path();
    vault::prepare(&vault::open(dir).unwrap()).unwrap();
    let mut random = Random::new(seed());
    let (mut steps, mut resumed, mut rotations) = (0, 0, 0);
    for cycle in 0..cycles {
        let mut child = child("vault", &[dir.to_str().unwrap(), &(seed() + cycle).to_string()]);
        child.expect("ready");
        // Half of the time it has made a step, however slow the machine is.
        let mut lines = if cycle % 2 == 0 { vec![child.line()] } else { Vec::new() };
        std::thread::sleep(Duration::from_micros(random.below(300_000)));
        lines.extend(child.kill());
        let mut last = None;
        for line in &lines {
            let words: Vec<&str> = line.split(' ').collect();
            let ["seen", seen, generation] = *words else { panic!("{line}") };
            last = Some((seen.parse::<u64>().unwrap(), generation.parse::<u64>().unwrap()));
            steps += 1;
        }

        let store = vault::open(dir).unwrap();
        let entities = vault::check(&store).unwrap();
        assert!(entities >= usize::try_from(vault::ACCOUNTS).unwrap(), "{entities} after kill {cycle}");
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        // What was said to be seen is not looked at again, unless the job had come to its end, or its keys were rotated
        // once more, and it had no time to say so. A report counts what earlier runs have changed, too.
        let generation = store.encryption().unwrap().generation().unwrap();
        if let Some((seen, _)) = last.filter(|(_, then)| *then == generation) {
            let before = store.jobs().unwrap().first().map_or(0, |job| job.changed);
            let mut job = store.table::<vault::Account>().unwrap().reencrypt().unwrap();
            let goes_on = job.step().unwrap() && job.report().seen > seen;
            resumed += u64::from(goes_on);
            if !goes_on {
                let report = job.run().unwrap();
                assert_eq!(report.changed, before, "{seen} rows were seen before kill {cycle}");
            }
        }
        if cycle % 4 == 3 {
            vault::finish(&store, drop).unwrap();
            assert_eq!(store.encryption().unwrap().keys().unwrap().len(), 1);
            vault::check(&store).unwrap();
        }
        rotations = generation;
    }
    println!("{cycles} kills, {steps} steps, {resumed} times gone on, at generation {rotations}");
    assert!(resumed > 0 || cycles < 30, "no kill came between two steps");
}
