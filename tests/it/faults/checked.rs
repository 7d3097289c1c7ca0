//! A call that fails while a store is opened and checked is an error of the call, and no problem of the store.

use std::collections::BTreeMap;

use super::{CALLS, ERRORS, Sweep};
use crate::power::size;

#[test]
fn a_call_that_fails_is_an_error_of_the_check_and_no_problem_of_the_store() {
    let errors: Vec<_> = ERRORS.into_iter().filter(|(name, _)| *name != "EINTR").collect();
    let sweep =
        Sweep { work: "checked", stride: size("FAULT_CHECK_STRIDE", 20), calls: &CALLS, errors: &errors };
    let mut answers = BTreeMap::<_, u64>::new();
    let mut bad = Vec::new();
    let count = sweep.each(|fault, recording, told| {
        let all: Vec<_> = told.before.iter().chain(&told.since).map(String::as_str).collect();
        let answer = if all.iter().any(|line| !is_typed(line)) {
            "wrong"
        } else if all.iter().any(|line| line.starts_with("check") && line.contains(": error")) {
            "error of the check"
        } else if all.iter().any(|line| line.starts_with("open") && line.contains(": error")) {
            "error of the opening"
        } else {
            "clean"
        };
        *answers.entry((answer, fault.ends_with("ever"))).or_default() += 1;
        // Where one call fails, one thing fails, and it goes when it is tried again.
        let failed = all.iter().filter(|line| line.contains(": error")).count();
        let again = fault.ends_with("once") && failed > 1;
        if answer == "wrong" || again || all.last() != Some(&"end") {
            bad.push(format!("{fault}: {all:#?}"));
        }
        if let Err(text) = recording.look_at_rest() {
            bad.push(format!("{fault}, afterwards: {text}"));
        }
    });
    println!("{count} processes with a call that failed: {answers:?} (answer, for ever)");
    assert!(bad.is_empty(), "{} of {count}: {bad:#?}", bad.len());
    let of =
        |answer| answers.iter().filter(|((known, _), _)| *known == answer).map(|(_, many)| many).sum::<u64>();
    assert!(of("error of the check") > 0 && of("clean") > 0, "{answers:?}");
}

/// Whether what was said is that all is well, or an error that says which call of the system failed.
fn is_typed(line: &str) -> bool {
    let Some((_, outcome)) = line.split_once(": ") else { return line == "end" };
    outcome == "clean" || ["error Io ", "error DiskFull "].iter().any(|start| outcome.starts_with(start))
}
