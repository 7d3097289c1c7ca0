//! A process that damages a store, reads it, and may die of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use integration_tests::damage::{self, Truth};
use integration_tests::pages::{self, Place};
use integration_tests::random::Random;

use crate::say;

/// `flips STORE DIRECTORY SEED AIM FIRST STEP END FILE`: flips a bit of that file in a copy of the store for each number,
/// reads all, lets it be checked, and writes; or, every other time, lets it be checked, opens it again, and writes.
///
/// It says `flip NUMBER PLACE OFFSET BIT`, then `refused NUMBER KIND` or
/// `read NUMBER ERRORS WRONG SHORT MISSED PROBLEMS NOTES`.
pub fn run(arguments: &[&str]) {
    let [store, directory, seed, aim, first, step, end, damaged] = arguments else { panic!("arguments") };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (seed, first, step, end) = (number(seed), number(first), number(step), number(end));
    let files = read_files(Path::new(store));
    let directory = Path::new(directory);
    fs::create_dir_all(directory).unwrap();
    fs::copy(Path::new(store).with_file_name("ring"), directory.join("ring")).unwrap();
    let target = Path::new(damaged);
    let file = &files.iter().find(|(path, _)| path == target).expect("the store has the file").1;
    let places = pages::places(file);
    let aims: Vec<usize> = match aim.strip_prefix("rows of ") {
        Some(tables) => pages::rows_of(file, tables),
        None => (0..file.len()).filter(|at| aimed(aim, places[*at])).collect(),
    };
    assert!(!aims.is_empty(), "nothing is {aim}");
    let aimed_at = aims.len();
    // Of many kinds, each has its turn: there are thousands of bytes of keys for each one of a header.
    let mut by_kind = BTreeMap::<Option<Place>, Vec<usize>>::new();
    for at in aims {
        let kind = (*aim == "structure").then_some(places[at]);
        by_kind.entry(kind).or_default().push(at);
    }
    let kinds: Vec<_> = by_kind.into_values().collect();
    let truth = {
        let whole = directory.join("whole");
        write_files(&whole, &files);
        Truth::read(&damage::open(&whole).unwrap()).unwrap()
    };
    say(format!("rows {} bytes {} aimed at {aimed_at}", truth.rows(), file.len()));
    let mut number = first;
    while number < end {
        let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9));
        let aims = &kinds[usize::try_from(number).unwrap() % kinds.len()];
        let at = aims[usize::try_from(random.below(aims.len() as u64)).unwrap()];
        let bit = random.below(8);
        say(format!("flip {number} {} {at} {bit}", places[at]));
        // A place of its own: threads of the previous store may still run.
        let place = directory.join(number.to_string());
        write_files(&place, &files);
        let mut flipped = file.clone();
        flipped[at] ^= 1 << bit;
        fs::write(place.join(target), flipped).unwrap();
        match damage::open(&place) {
            Err(error) => say(format!("refused {number} {:?}", error.kind())),
            Ok(store) => {
                let found = if (number / kinds.len() as u64).is_multiple_of(2) {
                    truth.compare(&store, &mut random)
                } else {
                    let problems = store.check().ok().map(|report| report.problems.len());
                    drop(store);
                    match damage::open(&place) {
                        Ok(store) => truth.write_first(&store, &mut random, problems),
                        Err(error) => panic!("it opened before: {error}"),
                    }
                };
                let notes =
                    found.notes.iter().chain(found.first_error.iter().filter(|_| found.problems == Some(0)));
                let notes = notes.map(String::as_str).collect::<Vec<_>>().join(" | ").replace('\n', " ");
                let problems = found.problems.map_or("failed".into(), |problems| problems.to_string());
                let counts = [found.errors, found.wrong, found.short, found.missed];
                let counts: Vec<_> = counts.iter().map(u64::to_string).collect();
                say(format!("read {number} {} {problems} {notes}", counts.join(" ")));
            }
        }
        // Threads of the store may still be about, and make files there.
        drop(fs::remove_dir_all(&place));
        number += step;
    }
    say("end");
}

/// The files of a store but those of its locks, by their paths in it.
fn read_files(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [Path::new(""), Path::new("keys")] {
        for entry in fs::read_dir(store.join(folder)).unwrap() {
            let (path, name) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
            if path.is_file() && name != "lock.mdb" {
                files.push((folder.join(name), fs::read(path).unwrap()));
            }
        }
    }
    files
}

fn write_files(store: &Path, files: &[(PathBuf, Vec<u8>)]) {
    fs::create_dir_all(store.join("keys")).unwrap();
    for (path, bytes) in files {
        fs::write(store.join(path), bytes).unwrap();
    }
}

/// Whether the places of this kind are aimed at.
fn aimed(aim: &str, place: Place) -> bool {
    match aim {
        "any" => true,
        "structure" => place.is_structure(),
        aim => format!("{place:?}") == aim,
    }
}
