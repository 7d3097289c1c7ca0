//! A process that damages a store, reads it, and may die of it.

use std::fs;
use std::path::Path;

use integration_tests::damage::Truth;
use integration_tests::pages::{self, Place};
use integration_tests::random::Random;
use table_core::Store;

use crate::say;

/// `flips STORE DIRECTORY SEED AIM FIRST STEP END`: flips a bit of a copy of the store for each number, and reads all.
///
/// It says `flip NUMBER PLACE OFFSET BIT`, then `refused NUMBER KIND` or
/// `read NUMBER ERRORS WRONG SHORT MISSED PROBLEMS NOTES`.
pub fn run(arguments: &[&str]) {
    let [store, directory, seed, aim, first, step, end] = arguments else { panic!("arguments") };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (seed, first, step, end) = (number(seed), number(first), number(step), number(end));
    let file = fs::read(Path::new(store).join("data.mdb")).unwrap();
    let places = pages::places(&file);
    let aims: Vec<usize> = (0..file.len()).filter(|at| aimed(aim, places[*at])).collect();
    let truth = {
        let whole = Path::new(directory).join("whole");
        fs::create_dir_all(&whole).unwrap();
        fs::write(whole.join("data.mdb"), &file).unwrap();
        Truth::read(&Store::open(&whole).unwrap()).unwrap()
    };
    say(format!("rows {} bytes {} aimed at {}", truth.rows(), file.len(), aims.len()));
    let mut number = first;
    while number < end {
        let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9));
        let at = aims[usize::try_from(random.below(aims.len() as u64)).unwrap()];
        let bit = random.below(8);
        say(format!("flip {number} {} {at} {bit}", places[at]));
        let mut damaged = file.clone();
        damaged[at] ^= 1 << bit;
        // A place of its own: threads of the former store may still be about.
        let place = Path::new(directory).join(number.to_string());
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("data.mdb"), damaged).unwrap();
        match Store::open(&place) {
            Err(error) => say(format!("refused {number} {:?}", error.kind())),
            Ok(store) => {
                let found = truth.compare(&store, &mut random);
                let problems = found.problems.map_or("failed".into(), |problems| problems.to_string());
                let notes = found.notes.join(" | ").replace('\n', " ");
                let counts = [found.errors, found.wrong, found.short, found.missed];
                let counts: Vec<_> = counts.iter().map(u64::to_string).collect();
                say(format!("read {number} {} {problems} {notes}", counts.join(" ")));
            }
        }
        fs::remove_dir_all(&place).unwrap();
        number += step;
    }
    say("end");
}

/// Whether the places of this kind are aimed at.
fn aimed(aim: &str, place: Place) -> bool {
    match aim {
        "any" => true,
        "structure" => place.is_structure(),
        aim => format!("{place:?}") == aim,
    }
}
