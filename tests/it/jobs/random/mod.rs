//! Three releases of a program, their jobs, kills and dropped tables in random order: every answer is right for the release
//! that asks, or a typed error; at the end everything can be made ready, and the rows are what a plain look expects.

use integration_tests::begun::Begun;
use integration_tests::random::Random;
use integration_tests::releases::{Copies, Staff, assert_rows, first, second, third};
use integration_tests::{Scratch, assert_sound};
use table_core::typed::Job;
use table_core::{Error, ErrorKind, Store};

/// Steps: `TABLE_CORE_JOBS`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_JOBS").map_or(10_000, |text| text.parse().expect("a number"))
}

const DEPARTMENTS: [&str; 2] = ["Legal", "Sales"];
/// Rows that a job changes in a step, at most: so few that it has mostly passed some of them, and not the others.
const SIZES: u64 = 12;

/// So many that two of a department have the same one now and then, and mostly not.
const EMAILS: u64 = 60;

struct World {
    store: Store,
    staff: Staff,
    random: Random,
    /// The release that most programs are of.
    era: u64,
    jobs: Vec<Begun>,
    /// How often each outcome was seen.
    seen: std::collections::BTreeMap<String, u64>,
}

/// Does something with the table of one of the releases.
macro_rules! with_release {
    ($release:expr, $store:expr, |$table:ident, $kind:ident| $body:expr) => {
        match $release {
            0 => {
                #[allow(unused_imports, reason = "some ask for the table alone")]
                use first as $kind;
                let $table = $store.table::<first::Employee>().unwrap();
                $body
            }
            1 => {
                #[allow(unused_imports, reason = "some ask for the table alone")]
                use second as $kind;
                let $table = $store.table::<second::Employee>().unwrap();
                $body
            }
            _ => {
                #[allow(unused_imports, reason = "some ask for the table alone")]
                use third as $kind;
                let $table = $store.table::<third::Employee>().unwrap();
                $body
            }
        }
    };
}

mod mend;

impl World {
    fn any(&mut self) -> (String, u32) {
        let department = DEPARTMENTS[self.random.below(2) as usize].to_owned();
        (department, self.random.below(12) as u32)
    }

    /// The release of somebody: mostly of that which most are of, since releases that contend keep each other from writing.
    fn release(&mut self) -> u64 {
        if self.random.below(3) == 0 { self.random.below(3) } else { self.era }
    }

    fn note(&mut self, what: &str, outcome: &Result<(), Error>) {
        let kind = outcome.as_ref().map_or_else(|error| format!("{:?}", error.kind()), |()| "done".into());
        *self.seen.entry(format!("{what}: {kind}")).or_default() += 1;
    }

    /// Whether somebody else of the department has this e-mail.
    fn is_taken(&self, at: &(String, u32), email: &str) -> bool {
        self.staff.iter().any(|(other, (of, _))| other.0 == at.0 && other.1 != at.1 && of == email)
    }

    /// Checks that a writer was told what can be true of the entities as they are.
    fn judge(&mut self, what: &str, at: &(String, u32), email: &str, outcome: &Result<(), Error>) {
        self.note(what, outcome);
        match outcome.as_ref().map_err(Error::kind) {
            Ok(()) | Err(ErrorKind::LayoutChanged) => {}
            Err(ErrorKind::UniqueConflict) => {
                assert!(self.is_taken(at, email), "{at:?} {email}: {outcome:?}")
            }
            Err(ErrorKind::EntityAlreadyExists) => assert!(self.staff.contains_key(at), "{outcome:?}"),
            Err(ErrorKind::EntityNotFound) => assert!(!self.staff.contains_key(at), "{outcome:?}"),
            Err(_) => panic!("{what} {at:?}: {outcome:?}"),
        }
    }

    fn write(&mut self) {
        let at = self.any();
        let (release, what) = (self.release(), self.random.below(5));
        let email = format!("{}@contoso.com", self.random.below(EMAILS));
        let age = 20 + self.random.below(20) as u8;
        let (department, id) = (at.0.clone(), at.1);
        let store = self.store.clone();
        let outcome = with_release!(release, store, |table, of| {
            let one = of::Employee { department: department.clone(), id, email: email.clone(), age };
            let key = || of::Employee::key(&*department, id);
            match what {
                0 => table.insert(&one).map(drop),
                1 => table.put(&one).map(drop),
                2 => table.update(key(), |e| e.email.clone_from(&email)).map(drop),
                3 => table.update(key(), |e| e.age = age).map(drop),
                _ => table.delete(key()),
            }
        });
        let now = self.staff.get(&at).cloned();
        let wants = if what < 3 { email.clone() } else { now.clone().unwrap_or_default().0 };
        self.judge(["insert", "put", "update", "age", "delete"][what as usize], &at, &wants, &outcome);
        if outcome.is_ok() {
            match what {
                0 | 1 => drop(self.staff.insert(at, (email, age))),
                2 => self.staff.get_mut(&at).unwrap().0 = email,
                3 => self.staff.get_mut(&at).unwrap().1 = age,
                _ => drop(self.staff.remove(&at)),
            }
        }
    }

    /// A job moves, or is begun, after a writer has read an entity and before its change is carried out: some steps, or all.
    fn overtake(&mut self) {
        let at = self.any();
        let (email, age) =
            (format!("{}@contoso.com", self.random.below(EMAILS)), 20 + self.random.below(20) as u8);
        let (release, begins) = (self.release(), self.release());
        let mut job = if self.jobs.is_empty() || self.random.below(2) == 0 {
            None
        } else {
            let at = self.random.below(self.jobs.len() as u64) as usize;
            Some(self.jobs.swap_remove(at))
        };
        let moves = if self.random.below(2) == 0 { 1_000 } else { self.random.below(12) };
        let (size, store, mut calls, mut more) = (self.random.below(SIZES), self.store.clone(), 0, true);
        let outcome = with_release!(release, store, |table, of| {
            let key = of::Employee::key(&*at.0, at.1);
            let changed = table.update(key, |e| {
                calls += 1;
                if calls == 1 {
                    if job.is_none() {
                        let begun = with_release!(begins, store, |table, _of| table.rebuild());
                        job = begun.ok().map(|job| Begun::Job(job).steps_of(size));
                    }
                    if let Some(job) = &mut job {
                        for _ in 0..moves {
                            // An error is told again by the step that comes next.
                            let moved = job.step();
                            more = !matches!(moved, Ok(false));
                            if !matches!(moved, Ok(true)) {
                                break;
                            }
                        }
                    }
                }
                e.email.clone_from(&email);
                e.age = age;
            });
            changed.map(drop)
        });
        self.jobs.extend(job.filter(|_| more));
        self.judge(if calls > 1 { "planned again" } else { "overtaken" }, &at, &email, &outcome);
        if outcome.is_ok() {
            let (department, id) = at;
            let before = self.staff.insert((department.clone(), id), (email.clone(), age)).unwrap();
            self.look_by_age(release, &department, before.1);
            self.look_by_age(release, &department, age);
            self.look_by_email(&department, &before.0);
            self.look_by_email(&department, &email);
        }
    }

    /// Two exchange their e-mails in one transaction.
    fn exchange(&mut self) {
        let (a, b) = (self.any(), self.random.below(12) as u32);
        let other = (a.0.clone(), b);
        let (Some(first), Some(second)) = (self.staff.get(&a).cloned(), self.staff.get(&other).cloned())
        else {
            return;
        };
        if a.1 == b {
            return;
        }
        let (release, store) = (self.release(), self.store.clone());
        let outcome = with_release!(release, store, |table, of| {
            table
                .egt(of::Employee::partition(&*a.0))
                .update(of::Employee::key(&*a.0, a.1), |e| e.email.clone_from(&second.0))
                .update(of::Employee::key(&*a.0, b), |e| e.email.clone_from(&first.0))
                .commit()
                .map(drop)
        });
        self.note("exchange", &outcome);
        match outcome.map_err(|error| error.kind()) {
            Ok(()) => {
                self.staff.get_mut(&a).unwrap().0.clone_from(&second.0);
                self.staff.get_mut(&other).unwrap().0.clone_from(&first.0);
            }
            Err(ErrorKind::LayoutChanged) => {}
            Err(ErrorKind::UniqueConflict) => {
                let taken = self.is_taken(&a, &first.0) || self.is_taken(&other, &second.0);
                assert!(taken || first.0 == second.0, "{a:?} {b}");
            }
            Err(kind) => panic!("{kind:?}"),
        }
    }

    fn read(&mut self) {
        let (at, release, store) = (self.any(), self.release(), self.store.clone());
        let found = with_release!(release, store, |table, of| {
            let found = table.get(of::Employee::key(&*at.0, at.1)).unwrap();
            found.map(|found| (found.email.clone(), found.age))
        });
        assert_eq!(found, self.staff.get(&at).cloned());
        let age = 20 + self.random.below(20) as u8;
        self.look_by_age(release, &at.0, age);
        let email = format!("{}@contoso.com", self.random.below(EMAILS));
        self.look_by_email(&at.0, &email);
    }

    fn look_by_age(&mut self, release: u64, department: &str, age: u8) {
        let of_department = self.staff.iter().filter(|(known, _)| known.0 == department);
        let of_age = of_department.filter(|(_, (_, of))| *of == age).count() as u64;
        let store = self.store.clone();
        let by_age = with_release!(release, store, |table, _of| {
            table.by_age().department(department).age(age).count()
        });
        let outcome = by_age.as_ref().map(drop).map_err(Error::kind);
        assert!(matches!(outcome, Ok(()) | Err(ErrorKind::IndexBuilding)), "{by_age:?}");
        if let Ok(count) = &by_age {
            assert_eq!(*count, of_age);
        }
        let read = by_age.map(drop);
        self.note("by_age", &read);
    }

    fn look_by_email(&mut self, department: &str, email: &str) {
        let table = self.store.table::<second::Employee>().unwrap();
        let found = table.get(second::Employee::by_email(department, email));
        if let Ok(found) = &found {
            let of_email: Vec<_> = self
                .staff
                .iter()
                .filter(|(known, (of, _))| known.0 == department && *of == email)
                .map(|(known, _)| known.1)
                .collect();
            assert_eq!(found.as_ref().map(|found| found.id).into_iter().collect::<Vec<_>>(), of_email);
        }
        let read = found.map(drop);
        assert!(matches!(read.as_ref().map_err(Error::kind), Ok(()) | Err(ErrorKind::IndexBuilding)));
        self.note("by_email", &read);
    }

    fn job(&mut self) {
        let (release, store) = (self.release(), self.store.clone());
        let begun = if self.random.below(4) == 0 {
            let index = ["by_age", "by_email", "by_youth", "by_nothing"][self.random.below(4) as usize];
            with_release!(release, store, |table, _of| table.drop_index(index)).map(Begun::Job)
        } else if self.random.below(4) == 0 {
            with_release!(release, store, |table, _of| table.repair()).map(Begun::Repair)
        } else {
            with_release!(release, store, |table, _of| table.rebuild()).map(Begun::Job)
        };
        match begun {
            Ok(job) => self.jobs.push(job.steps_of(self.random.below(SIZES))),
            Err(error) => {
                let is_known = matches!(error.kind(), ErrorKind::EntityNotFound | ErrorKind::LayoutChanged);
                assert!(is_known, "{error}");
            }
        }
        if self.jobs.len() > 3 {
            // It is killed.
            let at = self.random.below(self.jobs.len() as u64) as usize;
            drop(self.jobs.swap_remove(at));
        }
    }

    fn step(&mut self) {
        if self.jobs.is_empty() {
            return;
        }
        let at = self.random.below(self.jobs.len() as u64) as usize;
        match self.jobs[at].step() {
            Ok(true) => {}
            Ok(false) => drop(self.jobs.swap_remove(at)),
            Err(error) => {
                let outcome = Err(error);
                self.note("step", &outcome);
                let Err(error) = outcome else { return };
                let kinds = [ErrorKind::UniqueConflict, ErrorKind::TableNotFound, ErrorKind::LayoutChanged];
                assert!(kinds.contains(&error.kind()), "{error}");
                drop(self.jobs.swap_remove(at));
            }
        }
    }

    /// Makes every index of a release ready, changing who stands in the way, and compares the rows.
    fn propagate(&mut self, release: usize) {
        self.jobs.clear();
        let store = self.store.clone();
        // What the release does not know is in its way.
        for index in ["by_age", "by_email", "by_youth"] {
            let known: &[&str] =
                [&["by_age"][..], &["by_age", "by_email"], &["by_age", "by_email", "by_youth"]][release];
            if !known.contains(&index) {
                match with_release!(release, store, |table, _of| table.drop_index(index)) {
                    Ok(job) => drop(job.run().unwrap()),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::EntityNotFound, "{error}"),
                }
            }
        }
        for _ in 0..100 {
            let run = with_release!(release, store, |table, _of| table.rebuild().and_then(Job::run));
            match run {
                Ok(_) => break,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
                    let at = (error.partition_key().unwrap(), error.row_key().unwrap());
                    let id: u32 = at.1.trim_start_matches("empid_").parse().unwrap();
                    store
                        .table::<second::Employee>()
                        .unwrap()
                        .delete(second::Employee::key(at.0, id))
                        .unwrap();
                    self.staff.remove(&(at.0.to_owned(), id)).unwrap();
                }
            }
        }
        let found = with_release!(release, store, |table, _of| table.repair().and_then(Job::run)).unwrap();
        assert_eq!((found.wrong(), found.mended), (0, 0), "{found}");
        let table = store.dynamic_table("Company").unwrap();
        assert_rows(&table, &self.staff, Copies::OF[release]);
        assert!(store.jobs().unwrap().is_empty());
        assert_sound(&store);
    }
}

#[test]
fn whatever_comes_in_between_each_answer_is_right_and_all_becomes_ready() {
    let seed = std::env::var("TABLE_CORE_SEED").map_or(20_261_122, |text| text.parse().expect("a number"));
    println!("seed {seed}");
    let scratch = Scratch::new();
    let store = scratch.store_with(&integration_tests::relaxed());
    store.table::<first::Employee>().unwrap();
    let mut world = World {
        store,
        staff: Staff::new(),
        random: Random::new(seed),
        era: 0,
        jobs: Vec::new(),
        seen: Default::default(),
    };
    // Which of two releases is held up by the other hangs on the clock, too: a run that has not seen all goes on.
    let enough =
        ["put: LayoutChanged", "put: UniqueConflict", "mended meanwhile: done", "planned again: done"];
    for number in 0..4 * steps() {
        if number >= steps() && enough.iter().all(|what| world.seen.contains_key(*what)) {
            break;
        }
        if world.random.below(100) == 0 {
            world.era = world.random.below(3);
        }
        match world.random.below(100) {
            0..46 => world.write(),
            46..49 => world.exchange(),
            49..57 => world.overtake(),
            57..75 => world.read(),
            75..80 => world.job(),
            80..97 => world.step(),
            97 | 98 => world.mend(),
            _ if world.random.below(8) == 0 => {
                world.store.drop_table("Company").unwrap();
                world.store.create_table("Company").unwrap();
                world.staff.clear();
            }
            _ if world.random.below(3) == 0 => {
                let release = world.random.below(3) as usize;
                world.propagate(release);
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
    for what in
        ["by_age: done", "by_age: IndexBuilding", "by_email: done", "by_email: IndexBuilding", "put: done"]
    {
        assert!(world.seen.contains_key(what), "{what} was never seen");
    }
    assert!(world.seen.contains_key("put: LayoutChanged") && world.seen.contains_key("put: UniqueConflict"));
    assert!(world.seen.contains_key("mended: done") && world.seen.contains_key("mended meanwhile: done"));
    assert!(world.seen.contains_key("overtaken: done") && world.seen.contains_key("planned again: done"));
}
