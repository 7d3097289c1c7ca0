//! Processes that send messages and deal with them are killed: no message is lost, and none is dealt with twice.

use std::collections::BTreeSet;
use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::queued::{Done, dealt_with, queue};
use integration_tests::random::Random;
use table_core::Store;

use super::{child, seed, size};

/// The numbers in a partition.
fn numbers(store: &Store, part: &str) -> BTreeSet<u64> {
    let table = store.table::<Done>().unwrap();
    table.rows().part(part).into_iter().map(|row| row.unwrap().number).collect()
}

#[test]
fn no_message_is_lost_and_none_is_dealt_with_twice_however_often_its_workers_are_killed() {
    let cycles = size("CRASH_QUEUE_KILLS", 40);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = Store::open(&path).unwrap();
    queue(&store);
    store.table::<Done>().unwrap();
    drop(store);
    let mut random = Random::new(seed());
    let mut sent = BTreeSet::new();
    for cycle in 0..cycles {
        // Two at a time: each deals with what the other has sent, and with what those before have left.
        let start = |number: u64| {
            let first = (cycle * 2 + number) * 1_000_000;
            child("queue-work", &[path.to_str().unwrap().to_owned(), first.to_string()])
        };
        let mut children = [start(0), start(1)];
        children.iter_mut().for_each(|child| child.expect("ready"));
        for child in children {
            std::thread::sleep(Duration::from_micros(random.below(40_000)));
            for line in child.kill() {
                let number = line.strip_prefix("sent ").unwrap_or_else(|| panic!("{line}"));
                sent.insert(number.parse::<u64>().unwrap());
            }
        }
        let store = Store::options().verify_first(true).open(&path).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "kill {cycle}: {:#?}", report.problems);
        let (stats, done) = (queue(&store).stats().unwrap(), numbers(&store, "done"));
        assert_eq!(stats.completed, u64::try_from(done.len()).unwrap(), "what is done is completed");
        assert_eq!(stats.sent, stats.completed + stats.ready + stats.hidden, "and nothing else is gone");
        assert!(stats.sent >= u64::try_from(sent.len()).unwrap(), "what was acknowledged was sent");
    }

    // What is left shows again, and is dealt with.
    let store = Store::open(&path).unwrap();
    let (queue, table) = (queue(&store), store.table::<Done>().unwrap());
    let left = queue.stats().unwrap();
    while let Some(number) = queue.wait(Duration::from_millis(500), Duration::from_secs(60)).unwrap() {
        dealt_with(&table, &number).unwrap();
    }
    let done = numbers(&store, "done");
    let stats = queue.stats().unwrap();
    assert_eq!((stats.ready, stats.hidden, stats.completed), (0, 0, stats.sent));
    assert!(sent.is_subset(&done), "lost: {:?}", sent.difference(&done).collect::<Vec<_>>());
    assert!(numbers(&store, "sent").is_subset(&done), "a change that was made sent its message");
    assert_eq!(u64::try_from(done.len()).unwrap(), stats.completed);
    println!(
        "{} kills, {} messages, {} of them acknowledged, {} left at the end",
        cycles * 2,
        stats.sent,
        sent.len(),
        left.ready + left.hidden
    );
    assert!(sent.len() as u64 > cycles, "too little was done");
    assert!(store.queues().unwrap().len() == 1);
}
