//! A call that fails while space is freed in the background: others are told so by this library's own words, and a store that is
//! opened anew works.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{ERRORS, Sweep, Told};
use crate::power::size;

/// The calls by which a commit reaches the disk, with the ways in which each fails.
const CALLS: [(&str, &[&str]); 4] = [
    ("pwrite", &["once", "ever", "short", "late"]),
    ("sync", &["once", "ever", "late"]),
    ("writev", &["once", "ever", "short", "late"]),
    ("write", &["once", "ever", "short", "late"]),
];

/// Within this a store is opened anew, the thread in the background having ended.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_write_that_fails_in_the_background_is_told_in_words_of_ours_and_opening_anew_mends_it() {
    let errors: Vec<_> = ERRORS.into_iter().filter(|(name, _)| ["EIO", "ENOSPC"].contains(name)).collect();
    let sweep =
        Sweep { work: "reclaimed", stride: size("FAULT_RECLAIM_STRIDE", 3), calls: &CALLS, errors: &errors };
    let mut answers = BTreeMap::<_, u64>::new();
    let mut bad = Vec::new();
    let mut slowest = 0;
    let count = sweep.each(|fault, recording, told| {
        let all: Vec<_> = told.before.iter().chain(&told.since).cloned().collect();
        let was_open = all.iter().take_while(|line| *line != "anew").any(|line| line.contains(": error"));
        let was_stopped = all.iter().any(|line| line.contains("error OutcomeUnknown"));
        let answer = match (was_open, was_stopped) {
            (true, true) => "said by the open store, which had stopped",
            (true, false) => "said by the open store",
            (false, _) if all.iter().any(|line| line.contains(": error")) => "told later",
            (false, _) => "nobody told",
        };
        *answers.entry(answer).or_default() += 1;
        if let Some(line) = all.iter().find(|line| !is_typed(line)) {
            bad.push(format!("{fault}: {line}"));
        }
        // Where the call failed before the store was opened anew, all is well from there on.
        let first = told.since.iter().position(|line| line == "anew").unwrap_or(told.since.len());
        let later = &told.since[first..];
        if !fault.ends_with("ever")
            && later.iter().any(|line| line.contains(": ") && !line.ends_with(": clean"))
        {
            bad.push(format!("{fault}: {later:#?}"));
        }
        let slow = Told::of(later, "took ").map(|took| took.parse::<u64>().unwrap()).max().unwrap_or(0);
        slowest = slowest.max(slow);
        if Duration::from_millis(slow) > SOON || all.last().map(String::as_str) != Some("end") {
            bad.push(format!("{fault}: {all:#?}"));
        }
        if let Err(text) = recording.look_at_rest() {
            bad.push(format!("{fault}, afterwards: {text}"));
        }
    });
    println!("{count} processes with a call that failed: {answers:?}; opened anew within {slowest} ms");
    assert!(bad.is_empty(), "{} of {count}: {bad:#?}", bad.len());
    assert!(answers.contains_key("said by the open store, which had stopped"), "{answers:?}");
}

/// Whether what was said is that all is well, or an error of this library with words of its own.
fn is_typed(line: &str) -> bool {
    let Some((_, outcome)) = line.split_once(": ") else { return true };
    let kinds = ["Io", "DiskFull", "OutcomeUnknown"].map(|kind| format!("error {kind} "));
    outcome == "clean" || kinds.iter().any(|kind| outcome.starts_with(kind)) && !outcome.contains("MDB_")
}
