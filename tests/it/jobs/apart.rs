//! Three releases of a program in two processes, their jobs, dropped tables and real kills in random order: every answer is right
//! for the release that asks, or a typed error; at the end everything can be made ready, and the rows are what a plain look
//! expects.
//!
//! The processes act one after another, and one in the middle of the other's change, so that a run comes again with its seed.
//! Only a kill in the middle of a transaction comes at another moment each time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use integration_tests::apart::releases::Releases;
use integration_tests::apart::{Answer, Pair};
use integration_tests::random::Random;
use integration_tests::releases::{Copies, Staff, assert_rows, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{ErrorKind, Store};

/// Steps: `TABLE_CORE_APART`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_APART").map_or(10_000, |text| text.parse().expect("a number"))
}

const DEPARTMENTS: [&str; 2] = ["Legal", "Sales"];
/// Numbers of a department.
const MANY: u64 = 12;
/// So many that two of a department have the same one now and then, and mostly not.
const EMAILS: u64 = 60;
/// Rows that a job changes in a step, at most: so few that it has mostly passed some of them, and not the others.
const SIZES: u64 = 12;
/// The indexes of each release.
const INDEXES: [&[&str]; 3] = [&["by_age"], &["by_age", "by_email"], &["by_age", "by_email", "by_youth"]];

type At = (String, u32);
/// E-mail and age.
type One = (String, u8);

/// What a program is told to write, and what that makes of the entity: nothing, if it goes.
#[derive(Clone)]
struct Write {
    line: String,
    what: &'static str,
    at: At,
    becomes: Option<One>,
}

struct World {
    pair: Pair<Releases>,
    /// To look by, whatever the programs do.
    store: Store,
    staff: Staff,
    random: Random,
    /// The release that most programs are of.
    era: u64,
    /// Of which department and age entities are being deleted by jobs that were begun.
    deleted: BTreeSet<(String, u8)>,
    /// How often each outcome was seen.
    seen: BTreeMap<String, u64>,
}

impl World {
    fn below(&mut self, end: u64) -> u64 {
        self.random.below(end)
    }

    /// Whether here or there.
    fn who(&mut self) -> usize {
        self.below(2) as usize
    }

    fn release(&mut self) -> u64 {
        if self.below(3) == 0 { self.below(3) } else { self.era }
    }

    fn any(&mut self) -> At {
        (DEPARTMENTS[self.below(2) as usize].to_owned(), self.below(MANY) as u32)
    }

    fn email(&mut self) -> String {
        format!("{}@contoso.com", self.below(EMAILS))
    }

    fn age(&mut self) -> u8 {
        20 + self.below(20) as u8
    }

    fn note(&mut self, what: &str, outcome: Result<&str, &str>) {
        let outcome = outcome.map_or_else(ToOwned::to_owned, |_| "done".to_owned());
        *self.seen.entry(format!("{what}: {outcome}")).or_default() += 1;
    }

    fn is_taken(&self, key: &At, email: &str) -> bool {
        self.staff.iter().any(|(at, (of, _))| at.0 == key.0 && at.1 != key.1 && of == email)
    }

    fn a_write(&mut self, what: &'static str) -> Write {
        let (release, at, email, age) = (self.release(), self.any(), self.email(), self.age());
        let (department, id) = &at;
        let line = match what {
            "delete" => format!("{release} delete {department} {id}"),
            what => format!("{release} {what} {department} {id} {email} {age}"),
        };
        let now = self.staff.get(&at).cloned().unwrap_or_default();
        let becomes = match what {
            "delete" => None,
            "update" => Some((email, now.1)),
            "age" => Some((now.0, age)),
            _ => Some((email, age)),
        };
        Write { line, what, at, becomes }
    }

    fn any_write(&mut self) -> Write {
        let what = ["insert", "put", "update", "age", "delete"][self.below(5) as usize];
        self.a_write(what)
    }

    /// What may be said to who writes, and what it makes of what is known.
    fn judge(&mut self, write: Write, answer: &Answer) {
        let Write { what, at, becomes, line } = write;
        self.note(what, answer.outcome());
        let email = becomes.as_ref().map_or("", |(email, _)| email);
        if answer.outcome().is_ok() {
            match becomes {
                Some(becomes) => {
                    let was = self.staff.insert(at, becomes);
                    assert_eq!(was.is_some(), what != "insert" && (what != "put" || was.is_some()), "{line}");
                }
                None => drop(self.staff.remove(&at).unwrap_or_else(|| panic!("{line}: who was that"))),
            }
        } else if answer.is(ErrorKind::UniqueConflict) {
            assert!(self.is_taken(&at, email), "{line}: {answer:?}");
        } else if answer.is(ErrorKind::EntityAlreadyExists) {
            assert!(what == "insert" && self.staff.contains_key(&at), "{line}: {answer:?}");
        } else if answer.is(ErrorKind::EntityNotFound) {
            assert!(what != "insert" && what != "put" && !self.staff.contains_key(&at), "{line}: {answer:?}");
        } else {
            assert!(answer.is(ErrorKind::LayoutChanged), "{line}: {answer:?}");
        }
    }

    fn write(&mut self) {
        let (who, write) = (self.who(), self.any_write());
        let answer = self.pair.ask(who, &write.line);
        self.judge(write, &answer);
    }

    /// The line by which a job is begun.
    fn a_job(&mut self) -> String {
        let (release, size) = (self.release(), 1 + self.below(SIZES));
        match self.below(8) {
            0 | 1 => {
                let index = ["by_age", "by_email", "by_youth", "by_nothing"][self.below(4) as usize];
                format!("{release} drop-index {index} {size}")
            }
            2 => {
                let (department, age) = (self.any().0, self.age());
                self.deleted.insert((department.clone(), age));
                format!("{release} delete-where {department} {age} {size}")
            }
            3 => format!("{release} repair {size}"),
            _ => format!("{release} rebuild {size}"),
        }
    }

    fn a_step(&mut self) -> String {
        let times = if self.below(8) == 0 { 1_000 } else { 1 + self.below(3) };
        format!("step {} {times}", self.below(4))
    }

    /// What may be said of a job.
    fn judge_job(&mut self, line: &str, answer: &Answer) {
        let what = line.split(' ').find(|word| word.parse::<u64>().is_err()).unwrap();
        self.note(what, answer.outcome());
        let kinds: &[ErrorKind] = match what {
            "rebuild" | "delete-where" => &[],
            "drop-index" => &[ErrorKind::EntityNotFound],
            "repair" => &[ErrorKind::LayoutChanged],
            "cancel" => &[ErrorKind::Unsupported, ErrorKind::TableNotFound],
            _ => &[ErrorKind::UniqueConflict, ErrorKind::TableNotFound, ErrorKind::LayoutChanged],
        };
        assert!(answer.outcome().is_ok() || answer.is_any(kinds), "{line}: {answer:?}");
        self.look_for_deleted();
    }

    /// Takes in what jobs have deleted: nothing but what they may.
    fn look_for_deleted(&mut self) {
        let table = self.store.dynamic_table("Company").unwrap();
        let deleted = &self.deleted;
        self.staff.retain(|(department, id), (_, age)| {
            !deleted.contains(&(department.clone(), *age))
                || table.get(department, &format!("empid_{id:06}")).unwrap().is_some()
        });
    }

    fn job(&mut self) {
        let (who, line) = (self.who(), self.a_job());
        let answer = self.pair.ask(who, &line);
        self.judge_job(&line, &answer);
        if let Ok(many) = answer.outcome()
            && many.parse::<u64>().unwrap() > 3
        {
            assert!(self.pair.ask(who, "forget").outcome().is_ok());
        }
    }

    fn step(&mut self) {
        let who = self.who();
        let line = if self.below(40) == 0 { "cancel".to_owned() } else { self.a_step() };
        let answer = self.pair.ask(who, &line);
        self.judge_job(&line, &answer);
    }

    /// Two exchange their e-mails in one transaction: the line, who, and what each becomes.
    fn an_exchange(&mut self) -> Option<(String, [(At, One); 2])> {
        let a = self.any();
        let b = (a.0.clone(), self.below(MANY) as u32);
        let (of_a, of_b) = (self.staff.get(&a)?.clone(), self.staff.get(&b)?.clone());
        if a.1 == b.1 {
            return None;
        }
        let line = format!(
            "{} exchange {} {} {} {} {} {} {}",
            self.release(),
            a.0,
            a.1,
            b.1,
            of_a.0,
            of_b.0,
            of_a.1,
            of_b.1
        );
        Some((line, [(a, (of_b.0, of_a.1)), (b, (of_a.0, of_b.1))]))
    }

    fn exchange(&mut self) {
        let (who, Some((line, becomes))) = (self.who(), self.an_exchange()) else { return };
        let answer = self.pair.ask(who, &line);
        self.note("exchange", answer.outcome());
        if answer.outcome().is_ok() {
            self.staff.extend(becomes);
        } else if answer.is(ErrorKind::UniqueConflict) {
            let is_taken = |world: &Self, one: &(At, One), other: &At| {
                let others = world.staff.iter().filter(|(at, _)| at.0 == one.0.0 && **at != *other);
                others.into_iter().any(|(at, (email, _))| *at != one.0 && *email == one.1.0)
            };
            let [a, b] = &becomes;
            assert!(
                a.1.0 == b.1.0 || is_taken(self, a, &b.0) || is_taken(self, b, &a.0),
                "{line}: {answer:?}"
            );
        } else {
            assert!(answer.is(ErrorKind::LayoutChanged), "{line}: {answer:?}");
        }
    }

    /// The other process does something after one has read an entity and before its change is carried out: a job is begun or
    /// moves, or the entity is written.
    fn overtake(&mut self) {
        let (who, write) = (self.who(), self.a_write("both"));
        let (mut done, mut other_write) = (Vec::new(), None);
        let lines = match self.below(3) {
            0 => {
                let mut other = self.any_write();
                if self.below(2) == 0 {
                    // The same one.
                    let mut words: Vec<_> = other.line.split(' ').map(ToOwned::to_owned).collect();
                    (words[2], words[3]) = (write.at.0.clone(), write.at.1.to_string());
                    let (at, now) =
                        (write.at.clone(), self.staff.get(&write.at).cloned().unwrap_or_default());
                    let becomes = other.becomes.map(|(email, age)| match other.what {
                        "update" => (email, now.1),
                        "age" => (now.0, age),
                        _ => (email, age),
                    });
                    other = Write { line: words.join(" "), what: other.what, at, becomes };
                }
                let line = other.line.clone();
                other_write = Some(other);
                vec![line]
            }
            1 => vec![self.a_job(), "step 0 1000".to_owned()],
            _ => (0..1 + self.below(4)).map(|_| self.a_step()).collect(),
        };
        let answer = self.pair.ask_with(who, &write.line, |other| {
            done.extend(lines.iter().map(|line| (line.clone(), other.ask(line, &mut || ()))));
        });
        // What came in between came first.
        for (line, answer) in done {
            match other_write.take() {
                Some(other) => self.judge(other, &answer),
                None => self.judge_job(&line, &answer),
            }
        }
        let again = answer.outcome().is_ok_and(|times| times.parse::<u64>().unwrap() > 1);
        let before = self.staff.get(&write.at).cloned();
        let (department, becomes) = (write.at.0.clone(), write.becomes.clone());
        self.judge(Write { what: if again { "planned again" } else { "both" }, ..write }, &answer);
        if answer.outcome().is_ok() {
            for (email, age) in before.into_iter().chain(becomes) {
                self.look(&department, &email, age);
            }
        }
    }

    /// Reads by the indexes.
    fn look(&mut self, department: &str, email: &str, age: u8) {
        let (who, release) = (self.who(), self.release());
        let of_department = |world: &Self, is: &dyn Fn(&One) -> bool| {
            let all = world.staff.iter().filter(|(at, one)| at.0 == department && is(one));
            all.map(|(at, _)| at.1).collect::<Vec<_>>()
        };
        let of_age = of_department(self, &|one| one.1 == age);
        let of_email = of_department(self, &|one| one.0 == email);
        let answer = self.pair.ask(who, &format!("{release} of-age {department} {age}"));
        self.judge_read("of-age", &answer, &of_age.len().to_string());
        // A page here, and the next one there.
        let (mut paged, mut after, mut who) = (Vec::new(), "-".to_owned(), who);
        loop {
            let answer = self.pair.ask(who, &format!("{release} page {department} {age} 2 {after}"));
            let Ok(found) = answer.outcome() else {
                self.judge_read("page", &answer, "");
                break;
            };
            let (next, ids) = found.split_once(' ').unwrap();
            let ids = ids.trim_matches(['[', ']']).split(", ").filter(|id| !id.is_empty());
            paged.extend(ids.map(|id| id.parse::<u32>().unwrap()));
            (after, who) = (next.to_owned(), 1 - who);
            if after == "-" {
                paged.sort_unstable();
                assert_eq!(paged, of_age, "{release}");
                self.note("page", Ok(""));
                break;
            }
        }
        let answer = self.pair.ask(who, &format!("{release} of-email {department} {email}"));
        let expected = if release == 0 { "-".to_owned() } else { format!("{of_email:?}") };
        self.judge_read("of-email", &answer, &expected);
    }

    /// What may be said to who reads.
    fn judge_read(&mut self, what: &str, answer: &Answer, expected: &str) {
        self.note(what, answer.outcome());
        match answer.outcome() {
            Ok(found) => assert_eq!(found, expected, "{what}"),
            Err(_) => assert!(answer.is(ErrorKind::IndexBuilding), "{what}: {answer:?}"),
        }
    }

    fn read(&mut self) {
        let (who, release, at, age) = (self.who(), self.release(), self.any(), self.age());
        let answer = self.pair.ask(who, &format!("{release} get {} {}", at.0, at.1));
        let expected =
            self.staff.get(&at).map_or_else(|| "-".to_owned(), |(email, age)| format!("{email} {age}"));
        assert_eq!(answer, Answer::Done(expected), "{at:?}");
        match self.below(6) {
            0 => {
                let of_age = self.staff.iter().filter(|(known, (_, of))| known.0 == at.0 && *of == age);
                let expected = format!("{:?}", of_age.map(|(at, _)| at.1).collect::<Vec<_>>());
                let answer = self.pair.ask(who, &format!("{release} filtered {} {age}", at.0));
                assert_eq!(answer, Answer::Done(expected));
            }
            1 => {
                let of_department = self.staff.iter().filter(|(known, _)| known.0 == at.0);
                let expected =
                    format!("{:?}", of_department.map(|(at, one)| (at.1, one.1)).collect::<Vec<_>>());
                assert_eq!(self.pair.ask(who, &format!("badges {}", at.0)), Answer::Done(expected));
            }
            2 => {
                let rows = self.pair.ask(who, "rows");
                assert_eq!(rows, Answer::Done(self.staff.len().to_string()));
            }
            3 => {
                let answer = self.pair.ask(who, &format!("{release} check"));
                assert!(
                    answer.outcome().map_or_else(|_| answer.is(ErrorKind::LayoutChanged), |is| is == "sound")
                );
            }
            _ => {
                let email = self.email();
                self.look(&at.0, &email, age);
            }
        }
    }

    /// The other process is killed: while it waits, between its read and its write, or in the middle of what it does.
    fn kill(&mut self) {
        match self.below(4) {
            0 => self.pair.kill(),
            1 => {
                let write = self.a_write("both");
                let before = self.row(&write.at);
                match self.pair.killed_meanwhile(&write.line) {
                    Some(answer) => self.judge(write, &answer),
                    None => assert_eq!(self.row(&write.at), before, "{}", write.line),
                }
            }
            2 => {
                let (write, after) = (self.any_write(), Duration::from_micros(self.below(150)));
                match self.pair.killed_during(&write.line, after) {
                    Some(answer) => self.judge(write, &answer),
                    None => {
                        let (now, was) = (self.row(&write.at), self.staff.get(&write.at).cloned());
                        self.note("killed", if now == was { Err("nothing written") } else { Ok("") });
                        if now != was {
                            // Committed, and nobody was told.
                            assert_eq!(now, write.becomes, "{}", write.line);
                            self.judge(write, &Answer::Done(String::new()));
                        }
                    }
                }
            }
            _ => {
                let begun = self.a_job();
                let answer = self.pair.ask(1, &begun);
                self.judge_job(&begun, &answer);
                let after = Duration::from_micros(self.below(1_500));
                let line = "step 3 1000";
                match self.pair.killed_during(line, after) {
                    Some(answer) => self.judge_job(line, &answer),
                    None => self.look_for_deleted(),
                }
            }
        }
        *self.seen.entry("kills".to_owned()).or_default() += 1;
    }

    /// The entity as its row has it.
    fn row(&self, key: &At) -> Option<One> {
        let (department, id) = key;
        let table = self.store.dynamic_table("Company").unwrap();
        let row = table.get(department, &format!("empid_{id:06}")).unwrap()?;
        let email = row.get("Email").and_then(|email| email.as_str()).unwrap().to_owned();
        Some((email, u8::try_from(row.get("Age").and_then(|age| age.as_i32()).unwrap()).unwrap()))
    }

    /// Runs the last job of a program to its end.
    fn run_out(&mut self, who: usize) -> Answer {
        let answer = self.pair.ask(who, "step 0 100000");
        self.look_for_deleted();
        if answer.outcome().is_ok() {
            assert_eq!(answer.outcome(), Ok("over 0"));
        }
        answer
    }

    /// Makes every index of a release ready, changing who stands in the way, and compares the rows.
    fn propagate(&mut self, release: usize) {
        for who in 0..2 {
            assert!(self.pair.ask(who, "forget").outcome().is_ok());
        }
        let who = self.who();
        // What the release does not know is in its way.
        for index in INDEXES[2].iter().filter(|index| !INDEXES[release].contains(index)) {
            let answer = self.pair.ask(who, &format!("{release} drop-index {index} 500"));
            if answer.outcome().is_ok() {
                assert!(self.run_out(who).outcome().is_ok());
            } else {
                assert!(answer.is(ErrorKind::EntityNotFound), "{answer:?}");
            }
        }
        for _ in 0..100 {
            let answer = self.pair.ask(1 - who, &format!("{release} finish"));
            let Answer::Refused(_, (department, row), _) = &answer else { break };
            assert!(answer.is(ErrorKind::UniqueConflict), "{answer:?}");
            let id: u32 = row.trim_start_matches("empid_").parse().unwrap();
            let table = self.store.table::<second::Employee>().unwrap();
            table.delete(second::Employee::key(&**department, id)).unwrap();
            self.staff.remove(&(department.clone(), id)).unwrap();
        }
        // Whatever was begun.
        assert!(self.pair.ask(who, &format!("{release} repair 500")).outcome().is_ok());
        assert!(self.run_out(who).outcome().is_ok());
        for (department, age) in std::mem::take(&mut self.deleted) {
            let begun = self.pair.ask(who, &format!("{release} delete-where {department} {age} 5"));
            assert!(begun.outcome().is_ok(), "{begun:?}");
            self.deleted.insert((department.clone(), age));
            assert!(self.run_out(who).outcome().is_ok());
            self.deleted.clear();
            assert!(!self.staff.iter().any(|(at, one)| at.0 == department && one.1 == age));
        }
        let table = self.store.dynamic_table("Company").unwrap();
        assert_rows(&table, &self.staff, Copies::OF[release]);
        assert!(self.store.jobs().unwrap().is_empty(), "{:?}", self.store.jobs());
        for who in 0..2 {
            assert_eq!(self.pair.ask(who, &format!("{release} check")), Answer::Done("sound".to_owned()));
        }
        assert_sound(&self.store);
    }
}

#[test]
fn two_processes_of_three_releases_are_right_each_and_all_becomes_ready() {
    let seed = std::env::var("TABLE_CORE_SEED").map_or(20_261_124, |text| text.parse().expect("a number"));
    println!("seed {seed}");
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    drop(store.table::<integration_tests::releases::first::Employee>().unwrap());
    let command = [env!("CARGO_BIN_EXE_crash-child"), "apart", path.to_str().unwrap(), "releases"];
    let mut world = World {
        pair: Pair::new(Releases::new(store.clone()), &command),
        store,
        staff: Staff::new(),
        random: Random::new(seed),
        era: 0,
        deleted: BTreeSet::new(),
        seen: BTreeMap::new(),
    };
    for number in 0..steps() {
        if world.below(100) == 0 {
            world.era = world.below(3);
        }
        match world.below(1_000) {
            0..440 => world.write(),
            440..470 => world.exchange(),
            470..560 => world.overtake(),
            560..750 => world.read(),
            750..800 => world.job(),
            800..990 => world.step(),
            990..994 => world.kill(),
            994..996 => {
                let release = world.below(3) as usize;
                world.propagate(release);
            }
            _ if world.below(3) == 0 => {
                let who = world.who();
                assert!(world.pair.ask(who, "anew").outcome().is_ok());
                world.staff.clear();
                world.deleted.clear();
            }
            _ => {}
        }
        if number % 1_000 == 999 {
            assert_sound(&world.store);
        }
    }
    for release in 0..3 {
        world.propagate(release);
    }
    println!("{:#?}", world.seen);
    // Each release has been refused, and has written; both indexes have been read, and not been there.
    for what in [
        "of-age: done",
        "of-age: IndexBuilding",
        "of-email: done",
        "of-email: IndexBuilding",
        "page: done",
        "put: done",
        "put: LayoutChanged",
        "put: UniqueConflict",
        "both: done",
        "planned again: done",
        "step: UniqueConflict",
        "repair: done",
        "kills",
    ] {
        assert!(world.seen.contains_key(what), "{what} was never seen");
    }
}
