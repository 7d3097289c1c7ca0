//! A store to be damaged, and reading all of it in every way.

use std::collections::BTreeMap;

use table_core::{DynamicEntity, DynamicTable, ErrorKind, Query, Result, RowView, Store};

use crate::random::Random;

/// Tables, with their partitions and the rows of each in a hundred of the store's.
const TABLES: [(&str, usize, usize); 2] = [("First", 20, 3), ("Second", 5, 8)];

/// Makes the store: several partitions, some rows written many times over in transactions of their own, so that
/// pages with former versions lie about, some values large, some rows and a table gone.
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
                0 => batch.insert_or_replace(entity(partition, rows + row, round, &mut random)),
                1 if table.get(&partition_key(partition), &row_key(row))?.is_some() => {
                    batch.delete(row_key(row), table_core::IfMatch::Any)
                }
                _ => batch.insert_or_replace(entity(partition, row, round, &mut random)),
            };
        }
        batch.commit()?;
    }
    Ok(())
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

/// What stands in the store: every row of each table, in order.
#[derive(Debug)]
pub struct Truth(Vec<(String, Vec<DynamicEntity>)>);

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
}

impl Findings {
    fn note(&mut self, note: impl FnOnce() -> String) {
        if self.notes.len() < 4 {
            self.notes.push(note());
        }
    }

    fn error(&mut self, error: &table_core::Error) {
        self.errors += 1;
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
        Ok(Self(tables))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.0.iter().map(|(_, rows)| rows.len()).sum()
    }

    /// Reads the store in every way and compares.
    pub fn compare(&self, store: &Store, random: &mut Random) -> Findings {
        let mut findings = Findings::default();
        let names: Vec<_> = self.0.iter().map(|(name, _)| name.clone()).collect();
        match store.tables() {
            Ok(tables) if tables != names => {
                findings.short += 1;
                findings.note(|| format!("the tables are {tables:?}"));
            }
            Ok(_) => {}
            Err(error) => findings.error(&error),
        }
        for (name, rows) in &self.0 {
            match store.dynamic_table(name) {
                Ok(table) => compare_table(store, &table, rows, random, &mut findings),
                // That a table is missing is said, if wrongly.
                Err(error) => findings.error(&error),
            }
        }
        findings.problems = store.check().ok().map(|report| report.problems.len());
        findings
    }
}

fn compare_table(
    store: &Store,
    table: &DynamicTable,
    rows: &[DynamicEntity],
    random: &mut Random,
    findings: &mut Findings,
) {
    let all: Vec<&DynamicEntity> = rows.iter().collect();
    let mut partitions = BTreeMap::<&str, Vec<&DynamicEntity>>::new();
    for row in rows {
        partitions.entry(row.partition_key()).or_default().push(row);
    }
    compare_scan(store, table, Query::new(), &all, findings);
    for (key, rows) in &partitions {
        compare_scan(store, table, Query::new().partition(key), rows, findings);
        // A range within the partition.
        let (from, to) = (below(random, rows.len()), below(random, rows.len()));
        let range = &rows[from.min(to)..=from.max(to)];
        let query = Query::new().partition(key).rows(range[0].row_key()..=range[range.len() - 1].row_key());
        compare_scan(store, table, query, range, findings);
    }
    let keys: Vec<&str> = partitions.keys().copied().collect();
    let (from, to) = (below(random, keys.len()), below(random, keys.len()));
    let (from, to) = (keys[from.min(to)], keys[from.max(to)]);
    let range: Vec<_> =
        all.iter().copied().filter(|row| (from..=to).contains(&row.partition_key())).collect();
    compare_scan(store, table, Query::new().partitions(from..=to), &range, findings);
    let tens: Vec<_> =
        all.iter().copied().filter(|row| row.partition_key().starts_with("partition 0")).collect();
    compare_scan(store, table, Query::new().partition_prefix("partition 0"), &tens, findings);
    compare_pages(table, &all, findings);

    let snapshot = match store.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return findings.error(&error),
    };
    for row in rows {
        match snapshot.view(table, row.partition_key(), row.row_key()) {
            Ok(Some(view)) => compare_row(&view, row, findings),
            Ok(None) => {
                findings.missed += 1;
                findings.note(|| format!("no {} {} {}", table.name(), row.partition_key(), row.row_key()));
            }
            Err(error) => findings.error(&error),
        }
        // A row that never was.
        match snapshot.view(table, row.partition_key(), &format!("{}x", row.row_key())) {
            Ok(Some(view)) => {
                findings.wrong += 1;
                findings.note(|| format!("invented {view:?}"));
            }
            Ok(None) => {}
            Err(error) => findings.error(&error),
        }
    }
}

/// Compares a row that was found by its key.
fn compare_row(view: &RowView<'_>, row: &DynamicEntity, findings: &mut Findings) {
    match same(view, row) {
        Ok(true) => {}
        Ok(false) => {
            findings.wrong += 1;
            findings.note(|| format!("{view:?} in place of {row:?}"));
        }
        Err(error) => findings.error(&error),
    }
}

fn same(view: &RowView<'_>, row: &DynamicEntity) -> Result<bool> {
    if view.partition_key() != row.partition_key()
        || view.row_key() != row.row_key()
        || Some(view.etag()) != row.etag()
        || view.len() != row.properties().len()
    {
        return Ok(false);
    }
    for (property, (name, value)) in view.properties().zip(row.properties()) {
        let (found, read) = property?;
        if found != name || read != value.as_value_ref() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Scans both ways.
fn compare_scan(
    store: &Store,
    table: &DynamicTable,
    query: Query,
    expected: &[&DynamicEntity],
    findings: &mut Findings,
) {
    let snapshot = match store.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return findings.error(&error),
    };
    for reverse in [false, true] {
        let query = if reverse { query.clone().rev() } else { query.clone() };
        let views = match snapshot.views(table, &query) {
            Ok(views) => views,
            Err(error) => {
                findings.error(&error);
                continue;
            }
        };
        let mut expected: Box<dyn Iterator<Item = &&DynamicEntity>> =
            if reverse { Box::new(expected.iter().rev()) } else { Box::new(expected.iter()) };
        let (mut failed, mut passed) = (false, 0);
        for view in views {
            let view = match view {
                Ok(view) => view,
                Err(error) => {
                    findings.error(&error);
                    failed = true;
                    break;
                }
            };
            // A row that is passed over makes the scan short, unless an error follows; a row that should not be there
            // is wrong even then.
            let right = loop {
                match expected.next() {
                    None => break None,
                    Some(row)
                        if view.row_key() == row.row_key() && view.partition_key() == row.partition_key() =>
                    {
                        break Some(row);
                    }
                    Some(_) => passed += 1,
                }
            };
            match right {
                Some(row) => compare_row(&view, row, findings),
                None => {
                    findings.wrong += 1;
                    findings.note(|| format!("{view:?} in a scan"));
                    failed = true;
                    break;
                }
            }
        }
        let left = expected.count();
        if !failed && passed + left > 0 {
            findings.short += 1;
            findings.note(|| format!("{passed} rows passed over and {left} missing at the end of {query:?}"));
        }
    }
}

/// Reads page by page, as a service would.
fn compare_pages(table: &DynamicTable, expected: &[&DynamicEntity], findings: &mut Findings) {
    let (mut after, mut expected) = (None, expected.iter());
    loop {
        let page = match table.page(&Query::new(), 130, after.as_ref()) {
            Ok(page) => page,
            Err(error) => return findings.error(&error),
        };
        for entity in &page.entities {
            match expected.next() {
                Some(row) if entity == *row && entity.etag() == row.etag() => {}
                Some(row)
                    if entity.row_key() > row.row_key() || entity.partition_key() > row.partition_key() =>
                {
                    findings.short += 1;
                    findings.note(|| format!("a page has {entity:?} in place of {row:?}"));
                    return;
                }
                row => {
                    findings.wrong += 1;
                    findings.note(|| format!("a page has {entity:?} in place of {row:?}"));
                    return;
                }
            }
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let left = expected.count();
    if left > 0 {
        findings.short += 1;
        findings.note(|| format!("{left} rows missing at the end of the pages"));
    }
}
