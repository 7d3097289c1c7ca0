//! The power goes at any moment of some work.

use integration_tests::power::log::Note;

use super::{Recording, Seen, seed, size};

/// Images of one recording: another has its calls in another order.
const EACH: u64 = 1_000;

/// Records some work, as often as so many images need, and has them looked at.
fn cuts(work: &str, usual: u64) -> Seen {
    let count = size("POWER_IMAGES", usual);
    let mut seen = Seen::default();
    for round in 0..count.div_ceil(EACH) {
        let recording = Recording::of(work, seed() + round, None);
        assert!(recording.status.success(), "{work}: {}", recording.status);
        recording.assert_complete();
        seen.add(recording.images(EACH.min(count - round * EACH), false));
    }
    seen
}

#[test]
fn a_durable_store_loses_nothing() {
    let seen = cuts("batches durable", 150);
    seen.assert_good("batches, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn a_relaxed_store_loses_the_last_commit_at_most() {
    let seen = cuts("batches relaxed", 150);
    seen.assert_good("batches, relaxed");
    assert!(seen.lost > 0, "the case that this is about");
}

#[test]
fn sealed_values_of_a_durable_store_are_there_and_open() {
    let seen = cuts("sealed durable", 100);
    seen.assert_good("sealed, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn sealed_values_of_a_relaxed_store_open_whatever_keys_were_destroyed() {
    cuts("sealed relaxed", 100).assert_good("sealed, relaxed");
}

#[test]
fn a_store_that_was_opened_is_there_and_one_that_was_not_can_be_made() {
    cuts("creation", 200).assert_good("creation");
}

#[test]
fn a_copy_is_whole_with_its_keys_or_not_there() {
    cuts("copies", 100).assert_good("copies");
}

#[test]
fn a_store_that_is_compacted_loses_nothing() {
    let seen = cuts("compact durable", 100);
    seen.assert_good("compaction, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn a_relaxed_store_that_is_compacted_loses_the_last_commit_at_most() {
    cuts("compact relaxed", 100).assert_good("compaction, relaxed");
}

#[test]
fn jobs_and_queues_of_a_durable_store_go_on_where_they_were() {
    let seen = cuts("begun durable", 100);
    seen.assert_good("jobs and queues, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn jobs_and_queues_of_a_relaxed_store_lose_the_last_commit_at_most() {
    cuts("begun relaxed", 100).assert_good("jobs and queues, relaxed");
}

#[test]
fn blobs_and_logs_of_a_durable_store_are_there_whole() {
    let seen = cuts("blobs durable", 100);
    seen.assert_good("blobs and logs, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn blobs_and_logs_of_a_relaxed_store_lose_the_last_commit_at_most() {
    cuts("blobs relaxed", 100).assert_good("blobs and logs, relaxed");
}

#[test]
fn sealed_blobs_of_a_durable_store_are_there_whole_and_open() {
    let seen = cuts("scans durable", 60);
    seen.assert_good("sealed blobs, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn sealed_blobs_of_a_relaxed_store_lose_the_last_commit_at_most() {
    cuts("scans relaxed", 60).assert_good("sealed blobs, relaxed");
}

#[test]
fn long_lists_of_a_durable_store_agree_with_their_entities() {
    let seen = cuts("rolls durable", 60);
    seen.assert_good("long lists, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn long_lists_of_a_relaxed_store_lose_the_last_commit_at_most() {
    cuts("rolls relaxed", 60).assert_good("long lists, relaxed");
}

#[test]
fn periods_and_what_follows_of_a_durable_store_are_there() {
    let seen = cuts("shapes durable", 100);
    seen.assert_good("periods and what follows, durable");
    assert_eq!(seen.lost, 0);
}

#[test]
fn periods_and_what_follows_of_a_relaxed_store_lose_the_last_commit_at_most() {
    cuts("shapes relaxed", 100).assert_good("periods and what follows, relaxed");
}

/// A disk that lies is found out: the images are worth something.
#[test]
fn without_flushes_most_images_are_bad() {
    let works = [
        "batches durable",
        "sealed durable",
        "creation",
        "copies",
        "begun durable",
        "blobs durable",
        "shapes durable",
    ];
    for work in works {
        let recording = Recording::of(work, seed(), None);
        recording.assert_complete();
        assert!(recording.count(|note| matches!(note, Note::SyncDirectory { .. })) > 0);
        let seen = recording.images(size("POWER_CONTROL", 24), true);
        println!("{work} without flushes: {} of {} images bad", seen.bad, seen.images);
        assert!(seen.bad * 2 > seen.images, "{work}: {seen:#?}");
    }
}
