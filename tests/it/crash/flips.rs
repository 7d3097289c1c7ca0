//! Bits flip in the data file. What is read then is right, or an error.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::{Scratch, damage};

use super::{PROGRAM, seed, size};

/// What a flip came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Unaffected,
    Error,
    Refused,
    Crash,
    Hang,
    Missed,
    Short,
    Wrong,
}

const OUTCOMES: [Outcome; 8] = [
    Outcome::Unaffected,
    Outcome::Error,
    Outcome::Refused,
    Outcome::Crash,
    Outcome::Hang,
    Outcome::Missed,
    Outcome::Short,
    Outcome::Wrong,
];

#[derive(Debug, Default)]
struct Tally {
    flips: u64,
    by_place: BTreeMap<String, BTreeMap<Outcome, u64>>,
    /// Flips that changed some answer, and a check says nothing.
    unchecked: u64,
    /// Flips after which everything was read right, and a check finds something.
    only_checked: u64,
    notes: Vec<String>,
}

impl Tally {
    fn add(&mut self, place: &str, outcome: Outcome) {
        self.flips += 1;
        *self.by_place.entry(place.to_owned()).or_default().entry(outcome).or_default() += 1;
    }

    fn count(&self, outcome: Outcome) -> u64 {
        self.by_place.values().filter_map(|outcomes| outcomes.get(&outcome)).sum()
    }

    fn print(&self, aim: &str) {
        println!("{} flips, aim: {aim}", self.flips);
        let cells = |cells: &[String]| cells.iter().map(|cell| format!("{cell:>11}")).collect::<String>();
        let head: Vec<_> = OUTCOMES.iter().map(|outcome| format!("{outcome:?}")).collect();
        println!("{:14}{}", "", cells(&head));
        for (place, outcomes) in &self.by_place {
            let row: Vec<_> =
                OUTCOMES.iter().map(|o| outcomes.get(o).copied().unwrap_or(0).to_string()).collect();
            println!("{place:14}{}", cells(&row));
        }
        let sums: Vec<_> = OUTCOMES.iter().map(|outcome| self.count(*outcome).to_string()).collect();
        println!("{:14}{}", "", cells(&sums));
        println!(
            "found by a check alone: {}; changed an answer and not found by a check: {}",
            self.only_checked, self.unchecked
        );
        for note in &self.notes {
            println!("  {note}");
        }
    }
}

/// What no flip may come to. A child may die of what LMDB makes of a damaged page; that is counted.
fn assert_nothing_is_silent(tally: &Tally) {
    let [wrong, short, missed, hang] =
        [Outcome::Wrong, Outcome::Short, Outcome::Missed, Outcome::Hang].map(|outcome| tally.count(outcome));
    assert_eq!((wrong, short, missed, hang, tally.unchecked), (0, 0, 0, 0, 0));
}

#[test]
fn after_a_flipped_bit_reads_and_writes_are_right_or_fail() {
    let flips = size("CRASH_FLIPS", if cfg!(debug_assertions) { 400 } else { 2_000 });
    assert_nothing_is_silent(&flip("data.mdb", "any", flips));
}

/// Aimed at what LMDB goes by, which is a few hundredths of a file; `CRASH_AIM` names one kind of place.
#[test]
fn after_a_flipped_bit_in_the_structure_reads_and_writes_are_right_or_fail() {
    let aim = std::env::var("CRASH_AIM").unwrap_or("structure".into());
    let flips = size("CRASH_STRUCTURE_FLIPS", if cfg!(debug_assertions) { 400 } else { 2_000 });
    assert_nothing_is_silent(&flip("data.mdb", &aim, flips));
}

/// Flips bits of a file in copies of one store, in as many processes as there are processors.
fn flip(file: &str, aim: &str, flips: u64) -> Tally {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = damage::open(&path).unwrap();
    // Without optimisation a read takes ten times as long.
    let rows = size("CRASH_FLIP_ROWS", if cfg!(debug_assertions) { 800 } else { 3_000 });
    damage::build(&store, seed(), usize::try_from(rows).unwrap()).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    drop(store);
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get() as u64);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let (path, work) = (&path, scratch.path().join(part.to_string()));
                let first = size("CRASH_FIRST", 0);
                let flips =
                    Flips { store: path, file, aim, first: first + part, step: threads, end: first + flips };
                scope.spawn(move || flip_some(&work, flips))
            })
            .collect();
        for part in parts {
            let part = part.join().unwrap();
            tally.flips += part.flips;
            tally.unchecked += part.unchecked;
            tally.only_checked += part.only_checked;
            tally.notes.extend(part.notes);
            for (place, outcomes) in part.by_place {
                let known = tally.by_place.entry(place).or_default();
                outcomes.into_iter().for_each(|(outcome, count)| *known.entry(outcome).or_default() += count);
            }
        }
    });
    tally.print(&format!("{aim} of {file}"));
    assert_eq!(tally.flips, flips);
    tally
}

/// Every `step`th of some flips of a store's file.
struct Flips<'a> {
    store: &'a Path,
    file: &'a str,
    aim: &'a str,
    first: u64,
    step: u64,
    end: u64,
}

/// Does these flips. A child does them until it dies; then the next goes on.
fn flip_some(work: &Path, flips: Flips<'_>) -> Tally {
    let Flips { store, file, aim, first: mut next, step, end } = flips;
    let mut tally = Tally::default();
    while next < end {
        let mut command = Command::new(PROGRAM);
        command.arg("flips").args([store, work]).args([&seed().to_string(), aim]);
        command.args([next, step, end].map(|number| number.to_string())).arg(file);
        // LMDB tells there what it dies of, and a panic where it was.
        let errors = work.with_extension("errors");
        let stderr = File::create(&errors).unwrap();
        let mut child = Child::spawn(command.env("CRASH_CHILD_SECONDS", "3600").stderr(stderr));
        let mut flipped: Option<Vec<String>> = None;
        let mut last: Option<String> = None;
        loop {
            let line = match child.next_within(Duration::from_secs(30)) {
                Ok(Some(line)) => line,
                // It died, or does not come to an end.
                died => {
                    if died.is_ok() {
                        // LMDB dies of a signal; a panic is this library's or the survey's.
                        assert_ne!(
                            child.status().code(),
                            Some(101),
                            "a child panicked: {flipped:?}, after {last:?}: {}",
                            fs::read_to_string(&errors).unwrap_or_default()
                        );
                    }
                    let Some(words) = flipped.take() else {
                        // A thread of the store that was closed last has met its damage: that one's answers are known.
                        let place = last.take().expect("a child dies of a flip alone");
                        assert!(died.is_ok(), "a child hangs after a flip of {place}");
                        *tally.by_place.entry(place).or_default().entry(Outcome::Crash).or_default() += 1;
                        break;
                    };
                    let outcome = if died.is_ok() { Outcome::Crash } else { Outcome::Hang };
                    tally.add(&words[2], outcome);
                    if outcome == Outcome::Hang {
                        tally.notes.push(format!("{outcome:?} {}", words.join(" ")));
                    }
                    next += step;
                    break;
                }
            };
            let words: Vec<String> = line.splitn(8, ' ').map(str::to_owned).collect();
            match &*words[0] {
                "rows" => {}
                "flip" => {
                    last = Some(words[2].clone());
                    flipped = Some(words);
                }
                "refused" => {
                    tally.add(&flipped.take().unwrap()[2], Outcome::Refused);
                    next += step;
                }
                "read" => {
                    let flip = flipped.take().unwrap();
                    let number = |at: usize| words[at].parse::<u64>().unwrap();
                    let worst = [
                        (number(3), Outcome::Wrong),
                        (number(4), Outcome::Short),
                        (number(5), Outcome::Missed),
                        (number(2), Outcome::Error),
                    ];
                    let outcome = worst.into_iter().find(|(count, _)| *count > 0);
                    let outcome = outcome.map_or(Outcome::Unaffected, |(_, outcome)| outcome);
                    tally.add(&flip[2], outcome);
                    let unsound = words[6] != "0";
                    tally.unchecked += u64::from(outcome != Outcome::Unaffected && !unsound);
                    tally.only_checked += u64::from(outcome == Outcome::Unaffected && unsound);
                    let unchecked = outcome != Outcome::Unaffected && !unsound;
                    if outcome >= Outcome::Missed || unchecked || !words[7].is_empty() {
                        tally.notes.push(format!("{outcome:?} {} -> {line}", flip.join(" ")));
                    }
                    next += step;
                }
                "end" => return tally,
                _ => panic!("{line}"),
            }
        }
    }
    tally
}
