//! A process that damages a store's keys, uses them, and may die of it.

mod forms;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use integration_tests::random::Random;
use integration_tests::relaxed;
use table_core::crypt::{KeyRing, Secret};
use table_core::store::{Progress, Propagate};
use table_core::{Entity, Error, ErrorKind, Store, Table};

use crate::say;

#[derive(Entity, Clone)]
#[entity(table = "Club", kind = "member")]
#[key(partition = "{branch}", row = "member_{id:04}")]
#[index(by_number, row = "number_{number:blind}", unique)]
struct Member {
    branch: String,
    id: u32,
    #[encrypt(blind, scope = partition)]
    number: Secret<String>,
}

const BRANCHES: u32 = 24;

fn member(id: u32) -> Member {
    Member { branch: format!("branch {}", id % BRANCHES), id, number: format!("number {id}").into() }
}

fn members() -> impl Iterator<Item = Member> {
    (0..2 * BRANCHES).map(member)
}

fn open(ring: &Path, store: &Path) -> table_core::Result<Store> {
    // What is to follow does so when it is asked to.
    relaxed().propagate(Propagate::Manual).encryption(Arc::new(KeyRing::open(ring)?)).open(store)
}

/// Several keys of each scope, some of them destroyed, and pages that were in use before.
fn build(ring: &Path, path: &Path) {
    drop(KeyRing::create(ring).unwrap());
    let store = open(ring, path).unwrap();
    let (table, encryption) = (store.table::<Member>().unwrap(), store.encryption().unwrap());
    for member in members() {
        table.insert(&member).unwrap();
        if member.id == BRANCHES {
            forms::begin(&store).unwrap();
            encryption.rotate_all().unwrap();
            table.reencrypt().unwrap().run().unwrap();
            encryption.destroy_unused().unwrap();
        }
    }
    encryption.rotate_all().unwrap();
    forms::end(&store).unwrap();
    for job in ["one", "two"] {
        encryption.save_progress(job, Some(&Progress::default())).unwrap();
    }
    assert!(store.check().unwrap().problems.is_empty());
}

/// What came of everything that the keys are needed for.
#[derive(Default)]
struct Found {
    errors: u64,
    wrong: Vec<String>,
}

impl Found {
    fn add(&mut self, what: &str, id: u32, outcome: Result<bool, Error>) {
        use ErrorKind::{Corrupt, DecryptionFailed, Incompatible, KeyUnavailable};
        match outcome {
            Ok(true) => {}
            Ok(false) => self.wrong.push(format!("{what} {id}")),
            Err(error) => {
                self.errors += 1;
                if ![Corrupt, DecryptionFailed, Incompatible, KeyUnavailable].contains(&error.kind()) {
                    self.wrong.push(format!("{what} {id}: {error}"));
                }
            }
        }
    }
}

fn use_all(store: &Store, table: &Table<Member>) -> Found {
    let mut found = Found::default();
    let is = |read: Option<&Member>, member: &Member| {
        read.is_some_and(|read| read.id == member.id && read.number.expose() == member.number.expose())
    };
    for member in members() {
        let id = member.id;
        found.add(
            "key",
            id,
            table.get(Member::key(&member.branch, id)).map(|read| is(read.as_deref(), &member)),
        );
        let by_number = Member::by_number(&member.branch, member.number.expose().as_str());
        found.add("token", id, table.get(by_number).map(|read| is(read.as_deref(), &member)));
        let taken = match table.insert(&Member { id: id + 5_000, ..member.clone() }) {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == ErrorKind::UniqueConflict => Ok(true),
            Err(error) => Err(error),
        };
        found.add("unique", id, taken);
    }
    forms::use_all(store, &mut found);
    let encryption = store.encryption().unwrap();
    for job in ["one", "two"] {
        found.add("job", 0, encryption.progress(job).map(|progress| progress == Some(Progress::default())));
    }
    found.add("rewrap", 0, encryption.rewrap().map(|_| true));
    for member in members() {
        let id = member.id;
        found.add(
            "again",
            id,
            table.get(Member::key(&member.branch, id)).map(|read| is(read.as_deref(), &member)),
        );
    }
    found
}

/// `key-flips DIRECTORY SEED FIRST STEP END`: flips a bit of the keys of a copy of a store for each number, and uses them.
///
/// It says `flip NUMBER OFFSET BIT`, then `refused NUMBER KIND` or `used NUMBER ERRORS PROBLEMS WRONG`.
pub fn run(arguments: &[&str]) {
    let [dir, seed, first, step, end] = arguments else { panic!("arguments") };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (seed, first, step, end) = (number(seed), number(first), number(step), number(end));
    let (ring, whole) = (Path::new(dir).join("ring"), Path::new(dir).join("whole"));
    if !ring.exists() {
        build(&ring, &whole);
    }
    let files = |dir: &Path| -> Vec<_> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_file() && !path.ends_with("lock.mdb")).collect()
    };
    let bytes = fs::read(whole.join("keys/data.mdb")).unwrap();
    // Where nothing is, a bit mostly says nothing.
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    say(format!("bytes {} used {}", bytes.len(), used.len()));
    let mut number = first;
    while number < end {
        let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9));
        let below = |random: &mut Random, end: usize| usize::try_from(random.below(end as u64)).unwrap();
        let at = match number % 4 {
            0 => below(&mut random, bytes.len()),
            _ => used[below(&mut random, used.len())],
        };
        let bit = random.below(8);
        say(format!("flip {number} {at} {bit}"));
        let place = Path::new(dir).join(number.to_string());
        fs::create_dir_all(place.join("keys")).unwrap();
        for from in files(&whole).into_iter().chain(files(&whole.join("keys"))) {
            fs::copy(&from, place.join(from.strip_prefix(&whole).unwrap())).unwrap();
        }
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << bit;
        fs::write(place.join("keys/data.mdb"), damaged).unwrap();
        let opened = open(&ring, &place).and_then(|store| Ok((store.table::<Member>()?, store)));
        match opened {
            Err(error) => say(format!("refused {number} {:?}", error.kind())),
            Ok((table, store)) => {
                let problems = store.check().unwrap().problems.len();
                let found = use_all(&store, &table);
                say(format!("used {number} {} {problems} {}", found.errors, found.wrong.join(" | ")));
            }
        }
        fs::remove_dir_all(&place).unwrap();
        number += step;
    }
    say("end");
}
