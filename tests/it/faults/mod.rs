//! Every n-th system call of a kind is made to fail, in every way: the recorder does it. A process that does
//! [a little of everything](integration_tests::power::mixed) must end by itself, and another finds all that it has
//! acknowledged.

#![cfg(target_os = "linux")]

mod checked;
mod reclaimed;

use integration_tests::power::log::Note;

use crate::power::{Recording, seed, size};

/// The calls, each with the ways in which it fails.
const CALLS: [(&str, &[&str]); 15] = [
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
    ("seek", &["once", "ever"]),
    ("stat", &["once", "ever"]),
];

/// The number of `EIO`.
const EIO: u32 = 5;

const ERRORS: [(&str, u32); 6] =
    [("EIO", EIO), ("ENOSPC", 28), ("EINTR", 4), ("ENOMEM", 12), ("EMFILE", 24), ("EACCES", 13)];

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

/// What a process has said, in order, of which a call was made to fail.
struct Told {
    /// Before the call failed.
    before: Vec<String>,
    /// Since then; nothing if it never failed.
    since: Vec<String>,
}

impl Told {
    fn by(recording: &Recording) -> Self {
        let failed = recording.notes.iter().position(|note| matches!(note, Note::Fault(_)));
        let (before, since) = recording.notes.split_at(failed.unwrap_or(recording.notes.len()));
        let [before, since] = [before, since].map(|notes| {
            let said = notes
                .iter()
                .filter_map(|note| if let Note::Ack(line) = note { Some(line.clone()) } else { None });
            said.collect()
        });
        Self { before, since }
    }

    /// The lines that begin so, with what follows.
    fn of<'l>(lines: &'l [String], start: &'l str) -> impl Iterator<Item = &'l str> {
        lines.iter().filter_map(move |line| line.strip_prefix(start))
    }
}

/// Processes with one call each that fails.
struct Sweep<'s> {
    work: &'s str,
    /// One of so many calls of a kind is tried.
    stride: u64,
    /// The kinds, each with the ways in which it fails.
    calls: &'s [(&'s str, &'s [&'s str])],
    errors: &'s [(&'s str, u32)],
}

impl Sweep<'_> {
    /// Runs them, has each looked at whose call came, and returns how many those were.
    fn each(&self, mut judge: impl FnMut(&str, &Recording, &Told)) -> u64 {
        let (mut turn, mut count) = (seed(), 0);
        for (call, modes) in self.calls {
            for mode in *modes {
                for (_, number) in self.errors {
                    // Half a call fails with no number.
                    if *mode == "short" && *number != EIO {
                        continue;
                    }
                    turn += 7;
                    let mut place = 1 + turn % self.stride;
                    while self.one(&format!("{call}:{place}:{number}:{mode}"), &mut judge) {
                        count += 1;
                        place += self.stride;
                    }
                }
            }
        }
        count
    }

    /// Runs one; `false` if the call never came.
    fn one(&self, fault: &str, judge: &mut impl FnMut(&str, &Recording, &Told)) -> bool {
        let recording = Recording::of(self.work, seed(), Some(fault));
        // Neither a panic, nor a signal, nor the abort of one that hangs.
        assert!(recording.status.success(), "{fault}: {}", recording.status);
        let came = recording.count(|note| matches!(note, Note::Fault(_))) > 0;
        if came {
            judge(fault, &recording, &Told::by(&recording));
        }
        came
    }
}
