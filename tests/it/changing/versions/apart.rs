//! Two versions of a struct in two processes, their migrations, dropped tables and real kills in random order: every answer is
//! right for the version that asks, or a typed error; at the end everything is of the last version, and its copies are what they
//! are to be. The processes take turns as `jobs::apart` says.

use std::collections::BTreeMap;
use std::time::Duration;

use integration_tests::apart::versions::{One, Versions, filled};
use integration_tests::apart::{Answer, Pair};
use integration_tests::random::Random;
use integration_tests::versions::{first, second};
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{ErrorKind, Query, Store};

/// Steps: `TABLE_CORE_APART`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_APART").map_or(10_000, |text| text.parse().expect("a number"))
}

/// So many that a step is not all of the work.
const MANY: u64 = 120;
/// What is said instead of an answer to a version that is behind or ahead.
const NOT_NOW: [ErrorKind; 3] =
    [ErrorKind::LayoutChanged, ErrorKind::MigrationPending, ErrorKind::IndexBuilding];

struct World {
    pair: Pair<Versions>,
    /// To look by, whatever the programs do.
    store: Store,
    staff: BTreeMap<u32, One>,
    random: Random,
    seen: BTreeMap<String, u64>,
}

/// A change: how it is asked for, by which version, of whom, and what becomes of them.
#[derive(Clone)]
struct Write {
    line: String,
    what: &'static str,
    version: u64,
    id: u32,
    becomes: Option<One>,
}

impl World {
    fn below(&mut self, end: u64) -> u64 {
        self.random.below(end)
    }

    fn who(&mut self) -> usize {
        self.below(2) as usize
    }

    fn note(&mut self, what: &str, version: u64, answer: &Answer) {
        let outcome = answer.outcome().map_or_else(ToOwned::to_owned, |_| "done".to_owned());
        *self.seen.entry(format!("{what} by {version}: {outcome}")).or_default() += 1;
    }

    /// Whether the first version has left them so that they can't be converted, for one that would have to.
    fn is_bad(&self, version: u64, id: u32) -> bool {
        version == 2 && self.staff.get(&id).is_some_and(|(last, _)| last.is_none())
    }

    fn a_write(&mut self, what: &'static str) -> Write {
        let (version, id) = (1 + self.below(2), self.below(MANY) as u32);
        let last = (version == 2 || self.below(15) > 0).then(|| format!("Cao{}", self.below(4)));
        let age = 20 + self.below(9) as u8;
        let (line, becomes) = match what {
            "delete" => (format!("{version} delete {id}"), None),
            what => {
                let name = last.as_deref().unwrap_or("-");
                (format!("{version} {what} {id} {name} {age}"), Some((last.clone(), age)))
            }
        };
        Write { line, what, version, id, becomes }
    }

    fn any_write(&mut self) -> Write {
        let what = ["insert", "put", "update", "delete"][self.below(4) as usize];
        self.a_write(what)
    }

    fn judge(&mut self, write: Write, answer: &Answer) {
        let Write { line, what, version, id, becomes } = write;
        self.note(what, version, answer);
        if answer.outcome().is_ok() {
            let was = match becomes {
                Some(becomes) => self.staff.insert(id, becomes),
                None => self.staff.remove(&id),
            };
            assert!(what == "put" || was.is_some() == (what != "insert"), "{line}");
        } else if answer.is(ErrorKind::NotConverted) {
            assert!(self.is_bad(version, id), "{line}: {answer:?}");
        } else if answer.is(ErrorKind::EntityAlreadyExists) {
            assert!(what == "insert" && self.staff.contains_key(&id), "{line}: {answer:?}");
        } else if answer.is(ErrorKind::EntityNotFound) {
            assert!(matches!(what, "update" | "delete" | "planned again"), "{line}: {answer:?}");
            assert!(!self.staff.contains_key(&id), "{line}: {answer:?}");
        } else {
            assert!(answer.is_any(&NOT_NOW), "{line}: {answer:?}");
        }
    }

    fn write(&mut self) {
        let (who, write) = (self.who(), self.any_write());
        let answer = self.pair.ask(who, &write.line);
        self.judge(write, &answer);
    }

    /// The line by which a migration is begun: to the second version less often, since from there on the first can't write.
    fn a_job(&mut self) -> String {
        format!("{} migrate {}", 1 + u64::from(self.below(3) == 0), [3, 10, 50][self.below(3) as usize])
    }

    fn a_step(&mut self) -> String {
        format!("step {} {}", self.below(4), 1 + self.below(20))
    }

    fn judge_job(&mut self, line: &str, answer: &Answer) {
        self.note(if line.starts_with("step") { "step" } else { "begin" }, 0, answer);
        let is_known = answer.outcome().is_ok()
            || answer.is_any(&NOT_NOW)
            || answer.is_any(&[ErrorKind::NotConverted, ErrorKind::TableNotFound]);
        assert!(is_known, "{line}: {answer:?}");
    }

    fn job(&mut self) {
        let (who, line) = (self.who(), self.a_job());
        let answer = self.pair.ask(who, &line);
        self.judge_job(&line, &answer);
        if answer.outcome().is_ok_and(|many| many.parse::<u64>().unwrap() > 3) {
            assert!(self.pair.ask(who, "forget").outcome().is_ok());
        }
    }

    fn step(&mut self) {
        let (who, line) = (self.who(), self.a_step());
        let answer = self.pair.ask(who, &line);
        self.judge_job(&line, &answer);
    }

    /// The other process does something after one has read an entity and before its change is carried out.
    fn overtake(&mut self) {
        let (who, write) = (self.who(), self.a_write("update"));
        let (mut done, mut other_write) = (Vec::new(), None);
        let lines = match self.below(3) {
            0 => {
                let other = self.any_write();
                let line = other.line.clone();
                other_write = Some(other);
                vec![line]
            }
            1 => vec![self.a_job(), self.a_step()],
            _ => vec![self.a_step()],
        };
        let answer = self.pair.ask_with(who, &write.line, |other| {
            done.extend(lines.iter().map(|line| (line.clone(), other.ask(line, &mut || ()))));
        });
        for (line, answer) in done {
            match other_write.take() {
                Some(other) => self.judge(other, &answer),
                None => self.judge_job(&line, &answer),
            }
        }
        let again = answer.outcome().is_ok_and(|times| times.parse::<u64>().unwrap() > 1);
        let id = write.id;
        self.judge(Write { what: if again { "planned again" } else { "update" }, ..write }, &answer);
        self.look(id);
    }

    /// Whether a version may say so instead of answering.
    fn judge_read(&mut self, what: &str, version: u64, answer: &Answer) -> Option<String> {
        self.note(what, version, answer);
        match answer.outcome() {
            Ok(found) => Some(found.to_owned()),
            Err(_) => {
                assert!(answer.is_any(&NOT_NOW), "{what} by {version}: {answer:?}");
                None
            }
        }
    }

    /// Looks for one by the key.
    fn look(&mut self, id: u32) {
        let (who, version) = (self.who(), 1 + self.below(2));
        let answer = self.pair.ask(who, &format!("{version} get {id}"));
        if answer.is(ErrorKind::NotConverted) {
            assert!(self.is_bad(version, id), "{answer:?}");
            return self.note("get", version, &answer);
        }
        if let Some(found) = self.judge_read("get", version, &answer) {
            let shown = |(last, age): &One| format!("{} {age}", last.as_deref().unwrap_or("-"));
            let expected = self.staff.get(&id).map_or_else(|| "nobody".to_owned(), shown);
            assert_eq!(found, expected, "{id} by {version}");
        }
    }

    fn read(&mut self) {
        let id = self.below(MANY) as u32;
        self.look(id);
        let (who, version) = (self.who(), 1 + self.below(2));
        match self.below(3) {
            0 => {
                let age = 20 + self.below(9) as u8;
                let answer = self.pair.ask(who, &format!("{version} of-age {age}"));
                if let Some(found) = self.judge_read("of-age", version, &answer) {
                    let is_bad = |world: &Self, id: &u32| world.is_bad(version, *id);
                    let (bad, good): (Vec<_>, Vec<_>) = self.staff.keys().partition(|id| is_bad(self, id));
                    let good: Vec<_> = good.into_iter().filter(|id| self.staff[id].1 == age).collect();
                    assert_eq!(found, format!("{} {good:?}", bad.len()), "{age} by {version}");
                }
            }
            1 => {
                let last = format!("Cao{}", self.below(4));
                let answer = self.pair.ask(who, &format!("{version} of-name {last}"));
                if let Some(found) = self.judge_read("of-name", version, &answer) {
                    let of_name = self.staff.iter().filter(|(_, (of, _))| of.as_ref() == Some(&last));
                    let expected = format!("{:?}", of_name.map(|(id, _)| *id).collect::<Vec<_>>());
                    assert_eq!(found, expected, "{last} by {version}");
                }
            }
            _ => {
                let answer = self.pair.ask(who, &format!("{version} check"));
                if let Some(found) = self.judge_read("check", version, &answer) {
                    assert_eq!(found, "sound");
                }
            }
        }
    }

    /// The entity as its row has it.
    fn row(&self, id: u32) -> Option<One> {
        let row =
            self.store.dynamic_table("Company").unwrap().get("Sales", &format!("empid_{id:06}")).unwrap()?;
        let text = |name| row.get(name).and_then(|value| value.as_str()).map(ToOwned::to_owned);
        let last = match text("LastName") {
            Some(last) => Some(last),
            None => text("Name").unwrap().strip_prefix("Jun ").map(ToOwned::to_owned),
        };
        let age = row.get("Age").and_then(|age| age.as_i64()).unwrap();
        Some((last, u8::try_from(age).unwrap()))
    }

    /// The other process is killed: while it waits, between its read and its write, or in the middle of what it does.
    fn kill(&mut self) {
        match self.below(4) {
            0 => self.pair.kill(),
            1 => {
                let write = self.a_write("update");
                if let Some(answer) = self.pair.killed_meanwhile(&write.line) {
                    self.judge(write, &answer);
                } else {
                    assert_eq!(self.row(write.id), self.staff.get(&write.id).cloned(), "{}", write.line);
                }
            }
            2 => {
                let (write, after) = (self.any_write(), Duration::from_micros(self.below(150)));
                if write.what == "update" {
                    // It would wait for what comes in between.
                    return self.pair.kill();
                }
                match self.pair.killed_during(&write.line, after) {
                    Some(answer) => self.judge(write, &answer),
                    None => {
                        let (now, was) = (self.row(write.id), self.staff.get(&write.id).cloned());
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
                let after = Duration::from_micros(self.below(3_000));
                if let Some(answer) = self.pair.killed_during("step 3 1000", after) {
                    self.judge_job("step", &answer);
                }
            }
        }
        *self.seen.entry("kills".to_owned()).or_default() += 1;
    }

    /// Brings everything to the second version, and compares it with what is known.
    fn propagate(&mut self) {
        for who in 0..2 {
            assert!(self.pair.ask(who, "forget").outcome().is_ok());
        }
        let who = self.who();
        loop {
            let answer = self.pair.ask(who, "2 finish");
            let Answer::Refused(_, (_, row), _) = &answer else { break };
            assert!(answer.is(ErrorKind::NotConverted), "{answer:?}");
            let id: u32 = row.trim_start_matches("empid_").parse().unwrap();
            assert!(self.is_bad(2, id), "{answer:?}");
            // Given anew, or deleted.
            let write = if self.below(2) == 0 {
                let becomes = Some((Some("Cao0".to_owned()), 20));
                Write { line: format!("2 put {id} Cao0 20"), what: "put", version: 2, id, becomes }
            } else {
                Write { line: format!("2 delete {id}"), what: "delete", version: 2, id, becomes: None }
            };
            let answer = self.pair.ask(1 - who, &write.line);
            assert!(answer.outcome().is_ok(), "{answer:?}");
            self.judge(write, &answer);
        }
        let table = self.store.table::<second::Employee>().unwrap();
        let found: BTreeMap<_, One> = table
            .all()
            .into_iter()
            .map(|row| row.map(|e| (e.id, (Some(e.last_name.clone()), e.age))).unwrap())
            .collect();
        assert_eq!(found, self.staff);
        let rows = self.store.dynamic_table("Company").unwrap().query(&Query::new()).unwrap().count();
        assert_eq!(rows, 2 * self.staff.len());
        let report = table.check().unwrap();
        assert!(report.is_sound() && report.copies == self.staff.len() as u64, "{report}");
        assert!(self.store.jobs().unwrap().is_empty(), "{:?}", self.store.jobs());
        assert_sound(&self.store);
    }

    fn begin_anew(&mut self) {
        let (who, other) = (self.who(), self.who());
        for (who, line) in [(who, "anew".to_owned()), (other, format!("fill {}", MANY * 3 / 4))] {
            assert!(self.pair.ask(who, &line).outcome().is_ok(), "{line}");
        }
        self.staff = (0..MANY as u32 * 3 / 4).map(|id| (id, filled(id))).collect();
    }
}

#[test]
fn two_processes_of_two_versions_are_right_each() {
    let seed = std::env::var("TABLE_CORE_SEED").map_or(20_261_124, |text| text.parse().expect("a number"));
    println!("seed {seed}");
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    drop(store.table::<first::Employee>().unwrap());
    let command = [env!("CARGO_BIN_EXE_crash-child"), "apart", path.to_str().unwrap(), "versions"];
    let pair = Pair::new(Versions::new(store.clone()), &command);
    let (staff, random, seen) = (BTreeMap::new(), Random::new(seed), BTreeMap::new());
    let mut world = World { pair, store, staff, random, seen };
    world.begin_anew();
    for number in 0..steps() {
        match world.below(1_000) {
            0..480 => world.write(),
            480..570 => world.overtake(),
            570..800 => world.read(),
            800..820 => world.job(),
            820..985 => world.step(),
            985..990 => world.kill(),
            990..993 => world.propagate(),
            _ => world.begin_anew(),
        }
        if number % 1_000 == 999 {
            assert_sound(&world.store);
        }
    }
    world.propagate();
    println!("{:#?}", world.seen);
    for what in [
        "put by 1: done",
        "put by 1: LayoutChanged",
        "put by 2: done",
        "put by 2: MigrationPending",
        "update by 2: done",
        "get by 1: done",
        "get by 1: LayoutChanged",
        "get by 2: done",
        "get by 2: NotConverted",
        "of-age by 1: done",
        "of-age by 2: done",
        "of-name by 2: done",
        "step by 0: NotConverted",
        "kills",
    ] {
        assert!(world.seen.contains_key(what), "{what} was never seen");
    }
}
