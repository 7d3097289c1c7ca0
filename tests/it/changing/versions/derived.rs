//! Entities with copies in other partitions and tables, lists and summaries become another version.

use integration_tests::migrated::{self, Staff, after, assert_rows, before, fill, first, second};
use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::store::Propagate;
use table_core::typed::{Job, Propagation};
use table_core::{Entity, ErrorKind, Store};

/// Steps: `TABLE_CORE_VERSIONS`.
fn steps() -> u64 {
    std::env::var("TABLE_CORE_VERSIONS").map_or(4_000, |text| text.parse().expect("a number"))
}

fn manual(scratch: &Scratch) -> Store {
    relaxed().propagate(Propagate::Manual).open(scratch.path().join("store")).unwrap()
}

fn propagate(store: &Store) {
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
}

#[test]
fn whatever_a_change_brings_about_is_made_anew() {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let mut staff = fill(&store, 700);
    propagate(&store);
    assert_rows(&store, &staff, 1);
    // Some copies are still to follow when it begins.
    let older = store.table::<first::Employee>().unwrap();
    for id in 0..50 {
        let at = (["Legal", "Sales"][id as usize % 2].to_owned(), id);
        let one = staff.get_mut(&at).unwrap();
        one[1] = "l9".into();
        older.put(&before(&at, one)).unwrap();
    }
    let table = store.table::<second::Employee>().unwrap();
    let migration = store.migration::<second::Employee>().unwrap();
    assert!(migration.to_string().contains("`in_team`"), "{migration}");
    let mut job = migration.steps().unwrap();
    // The former release writes no more, nor does it propagate; this one does both.
    let error = older.put(&before(&("Legal".into(), 0), &staff[&("Legal".into(), 0)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    job.step().unwrap();
    for id in (50..60).chain(600..610) {
        let at = (["Legal", "Sales"][id as usize % 2].to_owned(), id);
        let one = staff.get_mut(&at).unwrap();
        one[2] = "t9".into();
        table.put(&after(&at, one)).unwrap();
    }
    propagate(&store);
    let reads = [
        table.get(second::Employee::by_email("7@contoso.com")).map(drop),
        table.by_first().first_name("f1").count().map(drop),
        table.by_name().last_name("l1").count().map(drop),
        table.list(second::Employee::in_team("t1")).map(drop),
        store.table::<second::Total>().unwrap().get(second::Total::key("t1")).map(drop),
    ];
    for error in reads.into_iter().map(Result::unwrap_err) {
        let kinds = [ErrorKind::MigrationPending, ErrorKind::IndexBuilding];
        assert!(kinds.contains(&error.kind()), "{error}");
    }
    job.run().unwrap();
    propagate(&store);
    assert_rows(&store, &staff, 2);
    let report = table.check().unwrap();
    assert!(report.is_sound() && report.entities == 700, "{report}");
    assert_eq!(table.list(second::Employee::in_team("t9")).unwrap().len(), 20);
    let total = store.table::<second::Total>().unwrap().get(second::Total::key("t9")).unwrap().unwrap();
    assert_eq!(total.employees, 20);
    // The table that no index lies in any more is anybody's.
    assert_eq!(store.dynamic_table("Teams").unwrap().query(&table_core::Query::new()).unwrap().count(), 0);
    let row = table_core::DynamicEntity::new("lists", "t1").with("EntityType", "employee.in_team");
    store.dynamic_table("Teams").unwrap().insert(&row).unwrap();
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
}

/// Two claim an e-mail while nobody keeps it unique: they are named, in whatever departments they are.
#[test]
fn two_who_claim_one_key_over_all_partitions_are_named() {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let mut staff = fill(&store, 40);
    let job = store.migration::<second::Employee>().unwrap().steps().unwrap();
    let table = store.table::<second::Employee>().unwrap();
    let at = ("Sales".to_owned(), 7);
    staff.get_mut(&at).unwrap()[3] = "12@contoso.com".into();
    table.put(&after(&at, &staff[&at])).unwrap();
    let error = job.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
    assert!(
        error.to_string().contains("empid_000007") && error.to_string().contains("empid_000012"),
        "{error}"
    );
    staff.get_mut(&at).unwrap()[3] = "7@contoso.com".into();
    table.put(&after(&at, &staff[&at])).unwrap();
    store.migration::<second::Employee>().unwrap().run().unwrap();
    propagate(&store);
    assert_rows(&store, &staff, 2);
}

/// Its summary is left behind: nobody could tell its rows from others.
#[test]
fn a_summary_that_a_version_leaves_behind_is_dropped_first() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee", version = 2, from = second::EmployeeV1)]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    struct Bare {
        department: String,
        id: u32,
    }

    impl From<second::EmployeeV1> for Bare {
        fn from(former: second::EmployeeV1) -> Self {
            let second::Employee { department, id, .. } = former.try_into().unwrap();
            Self { department, id }
        }
    }

    let scratch = Scratch::new();
    let store = manual(&scratch);
    fill(&store, 10);
    propagate(&store);
    for summary in ["payroll", "total"] {
        let error = store.migration::<Bare>().unwrap().run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LayoutConflict, "{error}");
        let advice = format!("Table::drop_index(\"{summary}\")");
        assert!(error.to_string().contains(&advice), "{error}");
        // Nothing was begun.
        assert!(store.jobs().unwrap().is_empty());
        let older = store.table::<first::Employee>().unwrap();
        older.drop_index(summary).unwrap().run().unwrap();
    }
    store.migration::<Bare>().unwrap().run().unwrap();
    let mut rows = 0;
    for table in migrated::TABLES.into_iter().filter(|table| store.dynamic_table(table).is_ok()) {
        rows += store.dynamic_table(table).unwrap().query(&table_core::Query::new()).unwrap().count();
    }
    assert_eq!(rows, 10);
    assert_sound(&store);
}

/// A release's writers, the jobs of both, kills and propagators in random order.
struct World {
    store: Store,
    staff: Staff,
    random: Random,
    jobs: Vec<Job<'static>>,
    /// Whether the migration is begun.
    is_begun: bool,
}

impl World {
    fn any(&mut self) -> ((String, u32), [String; 4]) {
        let mut below = |end| self.random.below(end);
        let at = (["Legal", "Sales", "all"][below(3) as usize].to_owned(), below(8) as u32);
        let [first, last, team] =
            [format!("f{}", below(2)), format!("l{}", below(4)), format!("t{}", below(3))];
        (at, [first, last, team, format!("{}@contoso.com", below(40))])
    }

    fn is_taken(&self, at: &(String, u32), email: &str) -> bool {
        self.staff.iter().any(|(other, one)| other != at && one[3] == email)
    }

    fn write(&mut self) {
        let (at, one) = self.any();
        let is_first = self.random.below(2) == 0;
        let deletes = self.random.below(4) == 0;
        let store = &self.store;
        let outcome = if is_first {
            store.table::<first::Employee>().and_then(|table| {
                let key = first::Employee::key(&*at.0, at.1);
                if deletes { table.delete(key) } else { table.put(&before(&at, &one)).map(drop) }
            })
        } else {
            store.table::<second::Employee>().and_then(|table| {
                let key = second::Employee::key(&*at.0, at.1);
                if deletes { table.delete(key) } else { table.put(&after(&at, &one)).map(drop) }
            })
        };
        match outcome.as_ref().map_err(table_core::Error::kind) {
            Ok(()) if deletes => drop(self.staff.remove(&at)),
            Ok(()) => drop(self.staff.insert(at, one)),
            Err(ErrorKind::LayoutChanged) => assert!(is_first && self.is_begun),
            Err(ErrorKind::MigrationPending) => assert!(!is_first && !self.is_begun),
            Err(ErrorKind::UniqueConflict) => assert!(self.is_taken(&at, &one[3]), "{outcome:?}"),
            Err(ErrorKind::EntityNotFound) => assert!(deletes && !self.staff.contains_key(&at)),
            Err(_) => panic!("{at:?} {one:?}: {outcome:?}"),
        }
    }

    fn read(&mut self) {
        let (at, one) = self.any();
        let table = self.store.table::<second::Employee>().unwrap();
        let found = table.get(second::Employee::key(&*at.0, at.1)).unwrap();
        let expected = self.staff.get(&at).map(|one| after(&at, one));
        assert_eq!(found.map(table_core::Stored::into_inner), expected);
        let waits = |error: &table_core::Error| {
            matches!(error.kind(), ErrorKind::MigrationPending | ErrorKind::IndexBuilding)
        };
        match table.get(second::Employee::by_email(&*one[3])) {
            Ok(found) => {
                let has = self.staff.iter().find(|(_, other)| other[3] == one[3]).map(|(at, _)| at.clone());
                assert_eq!(found.map(|found| (found.department.clone(), found.id)), has);
            }
            Err(error) => assert!(waits(&error), "{error}"),
        }
        match table.list(second::Employee::in_team(&*one[2])) {
            Ok(list) => {
                assert_eq!(list.len(), self.staff.values().filter(|other| other[2] == one[2]).count())
            }
            Err(error) => assert!(waits(&error), "{error}"),
        }
        match self.store.table::<second::Payroll>().unwrap().get(second::Payroll::key(&*at.0)) {
            Ok(found) => {
                let many = self.staff.keys().filter(|other| other.0 == at.0).count() as u64;
                // Before the migration it is kept by the first release.
                assert_eq!(found.map_or(0, |found| found.employees), many);
            }
            Err(error) => assert!(waits(&error), "{error}"),
        }
    }

    fn step(&mut self) {
        if self.jobs.len() < 3 && self.random.below(8) == 0 {
            let job = self.store.migration::<second::Employee>().unwrap().steps().unwrap();
            self.jobs.push(job.steps_of(self.random.below(20)));
            self.is_begun = true;
        }
        if self.jobs.is_empty() {
            return;
        }
        let at = self.random.below(self.jobs.len() as u64) as usize;
        match self.jobs[at].step() {
            // It is killed now and then.
            Ok(true) if self.random.below(6) > 0 => {}
            Ok(_) => drop(self.jobs.swap_remove(at)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
                drop(self.jobs.swap_remove(at));
            }
        }
    }

    /// Brings the migration to its end, changing who stands in the way, compares the rows, and begins anew.
    fn end(&mut self) {
        self.jobs.clear();
        let table = self.store.table::<second::Employee>().unwrap();
        loop {
            match self.store.migration::<second::Employee>().unwrap().run() {
                Ok(_) => break,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
                    let (partition, row) = (error.partition_key().unwrap(), error.row_key().unwrap());
                    let id: u32 = row.trim_start_matches("empid_").parse().unwrap();
                    table.delete(second::Employee::key(partition, id)).unwrap();
                    self.staff.remove(&(partition.to_owned(), id)).unwrap();
                }
            }
        }
        propagate(&self.store);
        assert_rows(&self.store, &self.staff, 2);
        assert!(table.check().unwrap().is_sound() && self.store.jobs().unwrap().is_empty());
        assert_sound(&self.store);
        let there = self.store.tables().unwrap();
        let names: Vec<_> = there.iter().map(String::as_str).collect();
        self.store.drop_tables(&names).unwrap();
        (self.staff, self.is_begun) = (fill(&self.store, 24), false);
    }
}

#[test]
fn whatever_comes_in_between_all_becomes_what_the_entities_say() {
    let seed = std::env::var("TABLE_CORE_SEED").map_or(20_261_123, |text| text.parse().expect("a number"));
    println!("seed {seed}");
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let staff = fill(&store, 24);
    let mut world = World { store, staff, random: Random::new(seed), jobs: Vec::new(), is_begun: false };
    let mut ends = 0;
    for _ in 0..steps() {
        match world.random.below(100) {
            0..55 => world.write(),
            55..70 => world.read(),
            70..76 => drop(world.store.propagate()),
            76..98 => world.step(),
            _ if world.random.below(3) == 0 => {
                world.end();
                ends += 1;
            }
            _ => {}
        }
    }
    world.end();
    println!("{ends} migrations");
}
