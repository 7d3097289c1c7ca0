//! A store to be damaged, reading all of it in every way, and writing to it.

pub(crate) mod begun;
mod blobs;
pub(crate) mod fleet;
pub(crate) mod held;
pub(crate) mod letters;
mod people;
mod rolls;
mod rows;
pub(crate) mod tides;
mod writes;

use std::path::Path;
use std::sync::Arc;

use table_core::crypt::KeyRing;
use table_core::store::Propagate;
use table_core::{DynamicEntity, ErrorKind, Query, Result, Store};

use self::begun::Begun;
use self::people::People;
use crate::random::Random;

/// The store in this directory, whose keys lie in a ring beside the directory.
pub fn open(dir: &Path) -> Result<Store> {
    let ring = dir.with_file_name("ring");
    let ring = if ring.exists() { KeyRing::open(ring) } else { KeyRing::create(ring) };
    // What is to follow does so when the survey says.
    crate::relaxed().propagate(Propagate::Manual).encryption(Arc::new(ring?)).open(dir)
}

/// Puts into a store what is on its way: jobs that have begun, copies in another table and copies that are to follow, queues
/// with messages, blobs, periods, and what follows from other entities. The store must not propagate by itself.
pub fn begin(store: &Store) -> Result<()> {
    begun::build(store)
}

/// Makes sure that all of that is there, as it was.
pub fn check_begun(store: &Store) -> Result<()> {
    begun::Begun::read(store).map(drop)
}

/// Tables, with their partitions and the rows of each in a hundred of the store's.
const TABLES: [(&str, usize, usize); 2] = [("First", 20, 3), ("Second", 5, 8)];

/// Makes the store: several partitions, some rows written many times over in transactions of their own, so that
/// pages with older versions lie about, some values large, some rows and a table gone.
pub fn build(store: &Store, seed: u64, rows: usize) -> Result<()> {
    let mut random = Random::new(seed);
    let tables = TABLES.map(|(name, partitions, hundredths)| (name, partitions, rows * hundredths / 100));
    for (name, partitions, rows) in tables {
        let table = store.create_table(name)?;
        for partition in 0..partitions {
            let mut row = 0;
            while row < rows {
                let mut batch = table.batch(partition_key(partition));
                for _ in 0..50.min(rows - row) {
                    batch = batch.insert(entity(partition, row, 0, &mut random));
                    row += 1;
                }
                batch.commit()?;
            }
        }
    }
    let gone = store.create_table("Gone")?;
    for row in 0..rows / 10 {
        gone.insert(&entity(row % 3, row, 0, &mut random))?;
    }
    store.drop_table("Gone")?;
    store.reclaim()?;
    for round in 1..=120 {
        let (name, partitions, rows) = tables[usize::from(random.below(3) == 0)];
        let table = store.dynamic_table(name)?;
        // Half of the rounds fall on few rows.
        let hot = random.below(2) == 0;
        let partition = below(&mut random, if hot { 2 } else { partitions });
        let mut batch = table.batch(partition_key(partition));
        let first = below(&mut random, if hot { 8 } else { rows });
        let last = first + below(&mut random, 6);
        for row in first..=last {
            batch = match random.below(12) {
                // Rows that are deleted come again, or not.
                0 => batch.put(entity(partition, rows + row, round, &mut random)),
                1 if table.get(&partition_key(partition), &row_key(row))?.is_some() => {
                    batch.delete(row_key(row))
                }
                _ => batch.put(entity(partition, row, round, &mut random)),
            };
        }
        batch.commit()?;
    }
    people::build(store)?;
    begun::build(store)
}

fn below(random: &mut Random, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).unwrap_or_default()
}

fn partition_key(partition: usize) -> String {
    format!("partition {partition:02}")
}

fn row_key(row: usize) -> String {
    format!("row {row:04}")
}

fn entity(partition: usize, row: usize, round: i32, random: &mut Random) -> DynamicEntity {
    let length = match random.below(60) {
        0 => 3_000 + below(random, 9_000),
        1 => 400,
        _ => below(random, 100),
    };
    DynamicEntity::new(partition_key(partition), row_key(row))
        .with("EntityType", ["odd", "even"][usize::from(row.is_multiple_of(2))])
        .with("Round", round)
        .with("Number", i64::try_from(random.number() >> 1).unwrap_or_default())
        .with("Text", "abcdefghij".repeat(length / 10))
}

/// What stands in the store.
#[derive(Debug)]
pub struct Truth {
    /// Every row of each table, in order.
    tables: Vec<(String, Vec<DynamicEntity>)>,
    people: People,
    begun: Begun,
}

/// What reading a damaged store came to.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Reads that gave an error.
    pub errors: u64,
    /// Rows that are not what was written, or were never written: never to be seen.
    pub wrong: u64,
    /// Scans that ended early without an error: never to be seen.
    pub short: u64,
    /// Rows that a read by key did not find, without an error.
    pub missed: u64,
    /// The problems that a check finds, or `None` where it gives an error.
    pub problems: Option<usize>,
    /// What was found first of each kind.
    pub notes: Vec<String>,
    /// The first read that gave an error.
    pub first_error: Option<String>,
}

impl Findings {
    fn note(&mut self, note: impl FnOnce() -> String) {
        if self.notes.len() < 4 {
            self.notes.push(note());
        }
    }

    fn wrong(&mut self, note: impl FnOnce() -> String) {
        self.wrong += 1;
        self.note(note);
    }

    fn missed(&mut self, note: impl FnOnce() -> String) {
        self.missed += 1;
        self.note(note);
    }

    fn error(&mut self, error: &table_core::Error) {
        self.errors += 1;
        self.first_error.get_or_insert_with(|| format!("{:?}: {error}", error.kind()));
        // Damage is all that is wrong here.
        let expected = [ErrorKind::Corrupt, ErrorKind::Incompatible, ErrorKind::TableNotFound, ErrorKind::Io];
        if !expected.contains(&error.kind()) {
            self.note(|| format!("{:?}: {error}", error.kind()));
        }
    }
}

impl Truth {
    /// Reads what stands in a sound store.
    pub fn read(store: &Store) -> Result<Self> {
        let mut tables = Vec::new();
        for name in store.tables()? {
            let rows = store.dynamic_table(&name)?.query(&Query::new())?.collect::<Result<Vec<_>>>()?;
            tables.push((name, rows));
        }
        Ok(Self { tables, people: People::read(store)?, begun: Begun::read(store)? })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.tables.iter().map(|(_, rows)| rows.len()).sum()
    }

    /// Writes to a store that was just opened, whose check has found so many problems: what it writes is read again, and where
    /// nothing was wrong nothing is afterwards.
    pub fn write_first(&self, store: &Store, random: &mut Random, problems: Option<usize>) -> Findings {
        let mut findings = Findings { problems, ..Findings::default() };
        self.write(store, random, &mut findings);
        if problems == Some(0) {
            match store.check() {
                Ok(report) if report.problems.is_empty() => {}
                Ok(report) => findings.wrong(|| format!("after the writes: {:?}", report.problems)),
                Err(error) => findings.error(&error),
            }
        }
        findings
    }

    /// Reads the store in every way and compares, lets it be checked, and then writes to it.
    pub fn compare(&self, store: &Store, random: &mut Random) -> Findings {
        let mut findings = Findings::default();
        let names: Vec<_> = self.tables.iter().map(|(name, _)| name.clone()).collect();
        match store.tables() {
            Ok(tables) if tables != names => {
                findings.short += 1;
                findings.note(|| format!("the tables are {tables:?}"));
            }
            Ok(_) => {}
            Err(error) => findings.error(&error),
        }
        for (name, rows) in &self.tables {
            match store.dynamic_table(name) {
                Ok(table) => rows::compare_table(store, &table, rows, random, &mut findings),
                // That a table is missing is said, if wrongly.
                Err(error) => findings.error(&error),
            }
        }
        self.people.compare(store, &mut findings);
        self.begun.compare(store, &mut findings);
        findings.problems = store.check().ok().map(|report| report.problems.len());
        self.write(store, random, &mut findings);
        findings
    }
}
