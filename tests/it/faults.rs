//! Every n-th system call of a kind is made to fail, in every way: the recorder does it. A process that does
//! [a little of everything](integration_tests::power::mixed) must end by itself, and another finds all that it has
//! acknowledged.

#![cfg(target_os = "linux")]

use integration_tests::power::log::Note;

use crate::power::{Recording, seed, size};

/// The calls, each with the ways in which it fails.
const CALLS: [(&str, &[&str]); 13] = [
    ("open", &["once", "ever"]),
    ("read", &["once", "ever"]),
    ("write", &["once", "ever", "short", "late"]),
    ("pwrite", &["once", "ever", "short", "late"]),
    ("writev", &["once", "ever", "short", "late"]),
    ("sync", &["once", "ever", "late"]),
    ("truncate", &["once", "ever"]),
    ("link", &["once", "ever", "late"]),
    ("rename", &["once", "ever"]),
    ("unlink", &["once", "ever"]),
    ("mkdir", &["once", "ever"]),
    ("rmdir", &["once", "ever"]),
    ("mmap", &["once", "ever"]),
];

const ERRORS: [(&str, u32); 6] =
    [("EIO", 5), ("ENOSPC", 28), ("EINTR", 4), ("ENOMEM", 12), ("EMFILE", 24), ("EACCES", 13)];

/// What the processes do, one of these for each call, way and error; `FAULT_WORK` chooses by how they begin.
const WORKS: [&str; 10] = [
    "mixed durable",
    "mixed relaxed",
    "compact durable",
    "compact relaxed",
    "begun durable",
    "begun relaxed",
    "blobs durable",
    "blobs relaxed",
    "shapes durable",
    "shapes relaxed",
];

/// What became of processes with one call made to fail.
#[derive(Debug, Default)]
struct Runs {
    count: u64,
    /// Those that came to their end all the same.
    ended: u64,
    bad: Vec<String>,
}

impl Runs {
    /// Runs one; `false` if the call never came.
    fn run(&mut self, work: &str, fault: &str) -> bool {
        let recording = Recording::of(work, seed(), Some(fault));
        let came = recording.count(|note| matches!(note, Note::Fault(_))) > 0;
        self.count += u64::from(came);
        let said = |words: &str| recording.count(|note| *note == Note::Ack(words.into())) > 0;
        self.ended += u64::from(came && said("end"));
        let outcome = if recording.status.success() {
            recording.look_at_rest()
        } else {
            // Neither a panic, nor a signal, nor the abort of one that hangs.
            Err(recording.status.to_string())
        };
        match outcome {
            Ok(0) => {}
            // Nobody cut the power.
            Ok(lost) => self.bad.push(format!("{work}, {fault}: {lost} commits lost")),
            Err(text) => self.bad.push(format!("{work}, {fault}: {text}")),
        }
        came
    }
}

#[test]
fn a_call_that_fails_is_an_error_and_costs_nothing_that_was_acknowledged() {
    let stride = size("FAULT_STRIDE", 40);
    let chosen = std::env::var("FAULT_WORK").unwrap_or_default();
    let works: Vec<_> = WORKS.into_iter().filter(|work| work.starts_with(&chosen)).collect();
    assert!(!works.is_empty(), "`FAULT_WORK` is the beginning of one of {WORKS:?}");
    let mut runs = Runs::default();
    let mut turn = seed();
    for (call, modes) in CALLS {
        for mode in modes {
            for (error, number) in ERRORS {
                // A call that is interrupted for ever is tried for ever, and one that is interrupted has done nothing; half
                // a call fails with no number.
                if error == "EINTR" && ["ever", "late"].contains(mode) || *mode == "short" && error != "EIO" {
                    continue;
                }
                // Where not all are tried, each error gets others.
                turn += 7;
                let mut place = 1 + turn % stride;
                let work = works[usize::try_from(turn).unwrap() % works.len()];
                while runs.run(work, &format!("{call}:{place}:{number}:{mode}")) {
                    place += stride;
                }
            }
        }
    }
    println!("{} processes with a call that failed, of which {} came to their end", runs.count, runs.ended);
    assert!(runs.bad.is_empty(), "{} of {}: {:#?}", runs.bad.len(), runs.count, runs.bad);
    assert!(runs.count > 100 && runs.ended > 0, "{runs:?}");
}
