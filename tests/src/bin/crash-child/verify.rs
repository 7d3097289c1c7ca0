//! A process that opens damaged stores, looked through first or not, and uses all of LMDB on them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use integration_tests::pages;
use integration_tests::random::Random;
use table_core::crypt::KeyRing;
use table_core::{DynamicEntity, Query, Store};

use crate::say;

/// `verify STORE WORK RING VERIFY RANDOM FIRST STEP`: flips bits of copies of the store, and uses what opens.
///
/// In `data.mdb` and `keys/data.mdb` each bit of LMDB's own is flipped, and then `RANDOM` others. Of those, each `STEP`th
/// from `FIRST` on. It says `flip NUMBER FILE OFFSET BIT`, then `refused`, `failed` or `sound`; and `end`.
pub fn run(arguments: &[&str]) {
    let [store, work, ring, verify, random, first, step] = arguments else { panic!("arguments") };
    let number = |text: &str| text.parse::<usize>().unwrap();
    let files =
        ["data.mdb", "keys/data.mdb"].map(|name| (name, fs::read(Path::new(store).join(name)).unwrap()));
    let flips = flips(&files, number(random));
    for (number, (file, at, bit)) in flips.into_iter().enumerate().skip(number(first)).step_by(number(step)) {
        say(format!("flip {number} {file} {at} {bit}"));
        let place = Path::new(work).join(number.to_string());
        copy(Path::new(store), &place);
        let damaged = place.join(file);
        let mut bytes = fs::read(&damaged).unwrap();
        bytes[at] ^= 1 << bit;
        fs::write(damaged, bytes).unwrap();
        say(match open(&place, ring, *verify == "true") {
            Err(_) => "refused",
            Ok(store) if exercise(&store) => "sound",
            Ok(_) => "failed",
        });
        fs::remove_dir_all(&place).unwrap();
    }
    say("end");
}

fn flips(files: &[(&'static str, Vec<u8>)], random: usize) -> Vec<(&'static str, usize, u32)> {
    let mut flips = Vec::new();
    for (name, bytes) in files {
        let own = pages::places(bytes).into_iter().enumerate();
        let own = own.filter(|(_, place)| place.is_structure()).map(|(at, _)| at);
        flips.extend(own.flat_map(|at| (0..8).map(move |bit| (*name, at, bit))));
    }
    let mut chance = Random::new(7);
    for number in 0..random {
        let (name, bytes) = &files[number % files.len()];
        let at = usize::try_from(chance.below(bytes.len() as u64)).unwrap();
        flips.push((name, at, u32::try_from(chance.below(8)).unwrap()));
    }
    flips
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else if entry.file_name() != "lock.mdb" {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn open(place: &Path, ring: &str, verify: bool) -> table_core::Result<Store> {
    let options =
        integration_tests::relaxed().verify_first(verify).encryption(Arc::new(KeyRing::open(ring)?));
    options.map_size(64 << 20).open(place)
}

/// Reads all there is, changes it, makes tables and keys and drops them. Whether all of it went well.
fn exercise(store: &Store) -> bool {
    let mut good = store.check().is_ok_and(|report| report.problems.is_empty());
    let mut note = |done: bool| good &= done;
    for name in store.tables().unwrap_or_default() {
        let Ok(table) = store.dynamic_table(&name) else {
            note(false);
            continue;
        };
        note(table.query(&Query::new()).is_ok_and(|mut rows| rows.all(|row| row.is_ok())));
        for row in 0..60 {
            let (old, new) = (format!("{row:03}"), DynamicEntity::new("p", format!("{row:03} new")));
            note(table.put(&new.with("Text", "z".repeat(row * 97))).is_ok());
            note(table.get("p", &old).is_ok());
            // The others never were.
            if row % 3 == 0 && row < 40 {
                note(table.delete("p", &old).is_ok());
            }
        }
    }
    note(store.create_table("Another").is_ok());
    if let Ok(encryption) = store.encryption() {
        note(encryption.keys().is_ok());
        note(encryption.rotate_all().is_ok());
        note(encryption.rewrap().is_ok());
    }
    note(store.drop_table("Table").is_ok());
    note(store.reclaim().is_ok());
    note(store.stats().is_ok());
    good
}
