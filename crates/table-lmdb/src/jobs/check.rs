//! The check: a look at everything in a store.

mod optional;
mod report;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use table_engine::contents::BlobId;
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::row::dict::Dict;

pub use self::report::{CheckReport, Problem};
use super::copies;
use crate::Store;
use crate::lmdb::{self, Databases};
use crate::open::{self, OptionalDb};
use crate::records::catalog::{self, Entry};
use crate::records::counts::{self, Counts};
use crate::records::features::Feature;
use crate::records::kinds::{self, DeclaredKind};
use crate::records::meta::{META_KEY, Meta};
use crate::records::{index_states, layouts, names, record_digest, service};
use crate::state::StoreState;

/// The problem that a check ends with if it looks at pages alone.
const PAGES_ALONE: &str = "tables, queues and blobs were not looked at: LMDB may end the process that has it go over a \
                           damaged page; take the store from a backup";

/// Problems after which a check gives up: one damaged page makes thousands of wrong rows.
const MOST_PROBLEMS: usize = 1_000;

impl Store {
    /// Reads the whole store and tells everything that is wrong with it.
    ///
    /// Every checksum is compared; rows must stand in order, and a search for each row's key must find it; each table's
    /// counts and dictionary must fit its rows; each message of a queue has its entry, and its queue counts it; each
    /// blob has its segments, and each that a row refers to is there; no entry of the outbox is missing; each page is
    /// used once, and is not among the free ones, and its keys are between those that lead there; each database is as
    /// deep as LMDB's record of it says, and has as many entries. It reads one snapshot and holds up no writer. Where
    /// the entries of a page are not where it says, only pages are looked at: LMDB may end the process that goes over
    /// them. Beside that, copies are compared with their entities, as far as the store knows how those are declared
    /// ([`wrong_copies`](CheckReport::wrong_copies)).
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let company = store.create_table("Company")?;
    /// # company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
    /// let report = store.check()?;
    /// assert!(report.problems.is_empty(), "{:#?}", report.problems);
    /// assert_eq!(report.rows, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn check(&self) -> Result<CheckReport> {
        let run = || {
            let inner = self.shared();
            inner.writer.check_running()?;
            // Before the snapshot is taken, which could not look into a database that is opened after it.
            let queues = inner.optional_db(OptionalDb::Queues);
            let blobs = inner.optional_db(OptionalDb::Blobs);
            let txn = inner.environment.read_txn()?;
            let mut check = Check::new(inner, &txn);
            let pages = inner.environment.reader.check_pages(&txn);
            for problem in pages.problems {
                check.problem(None, &lmdb::damage(problem));
            }
            if pages.are_whole {
                check.run();
                check.queues(queues);
                check.blobs(blobs);
            } else {
                check.problem(None, &corrupt(PAGES_ALONE.to_owned()));
            }
            let of_keys = inner.keys.check(&inner.environment)?;
            let problem = |what| Problem { table: None, row: None, what };
            check.report.problems.extend(of_keys.into_iter().map(problem));
            if check.report.problems.is_empty() {
                inner.environment.reader.meet_all();
            }
            Ok(check.report)
        };
        let checked = self.shared().run_job("check", run);
        let report = checked.map_err(|e: Error| e.attempted("check the store"))?;
        let damaged: BTreeSet<_> = report.problems.iter().map(|problem| problem.table.as_deref()).collect();
        for table in damaged {
            self.shared().telemetry.damaged(ErrorKind::Corrupt, table.unwrap_or_default());
        }
        Ok(report)
    }
}

/// A table as the check finds it.
struct Table {
    name: Option<Box<str>>,
    dict: Arc<Dict>,
    /// How many layouts, states of kinds, jobs and service records there are.
    layouts: usize,
    /// The shapes that some row has.
    shapes: BTreeSet<u16>,
    /// The kinds of rows that structs declare.
    declared: Vec<DeclaredKind>,
    found: Counts,
}

struct Check<'t> {
    inner: &'t StoreState,
    dbs: &'t Databases,
    txn: &'t heed::RoTxn<'t>,
    tables: BTreeMap<u32, Table>,
    tombstones: BTreeSet<u32>,
    /// Whether the store has had blobs that rows may refer to: then the references of rows are counted.
    refers: bool,
    references: BTreeMap<BlobId, u32>,
    report: CheckReport,
}

impl<'t> Check<'t> {
    fn new(inner: &'t StoreState, txn: &'t heed::RoTxn<'t>) -> Self {
        let dbs = &inner.environment.dbs;
        Self {
            inner,
            dbs,
            txn,
            tables: BTreeMap::new(),
            tombstones: BTreeSet::new(),
            refers: false,
            references: BTreeMap::new(),
            report: CheckReport::default(),
        }
    }

    #[inline]
    fn problem(&mut self, table: Option<&str>, error: &Error) {
        if self.report.problems.len() < MOST_PROBLEMS {
            self.report.problems.push(Problem::of(table, error));
        }
    }

    /// Notes an error, and goes on without the thing that could not be read.
    #[inline]
    fn noted<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.problem(None, &error)).ok()
    }

    #[inline]
    fn run(&mut self) {
        let Some(meta) = self.noted(Meta::read(self.dbs.main, self.txn)) else { return };
        self.refers = meta.features.has(Feature::BlobRows);
        let entries = self.entries(self.dbs.catalog, catalog::decode);
        self.noted(self.inner.check_lookup(self.txn, &meta));
        let tombstones = self.entries(self.dbs.tombstones, catalog::decode_tombstone);
        // First each record is looked at, and then their number.
        self.noted(catalog::list(self.dbs, self.txn, &meta));
        self.noted(catalog::tombstones(self.dbs, self.txn, &meta));
        self.tombstones = tombstones.into_iter().map(|entry| entry.id).collect();
        let authenticated = self.inner.verify_tables(self.txn, &meta);
        self.noted(authenticated);
        for entry in &entries {
            self.table(entry, &meta);
        }
        let seen = self.rows();
        if let Some(seen) = self.noted(seen) {
            let stored = self.dbs.data.len(self.txn).map_err(lmdb::error);
            if self.noted(stored).is_some_and(|stored| stored != seen) {
                let what = format!("a walk over all rows came to {seen}, which is not what LMDB counts");
                self.problem(None, &corrupt(what));
            }
        }
        for entry in &entries {
            self.counts(entry);
        }
        for table in self.tables.values() {
            let (all, used) = (table.dict.len().shapes, table.shapes.len());
            self.report.shapes += u64::try_from(all).unwrap_or(u64::MAX);
            self.report.unused_shapes += u64::try_from(all.saturating_sub(used)).unwrap_or(u64::MAX);
        }
        let wrong = &mut self.report.wrong_copies;
        let compared = copies::compare(self.inner, self.txn, &entries, &mut |table, error| {
            wrong.push(Problem::of(Some(table), &error));
            wrong.len() < MOST_PROBLEMS
        });
        if let Some(compared) = self.noted(compared) {
            self.report.copies = compared.copies;
            self.report.untold = compared.untold.into_iter().collect();
        }
        let names = service::check(self.dbs, self.txn, &meta, service::STORE).and_then(|own| self.names(own));
        self.noted(names);
        let main = self.main(&meta, &entries);
        self.noted(main);
    }

    /// Returns the records of the catalog, or of the dropped tables, that can be read.
    #[inline]
    fn entries(&mut self, db: lmdb::Db, decode: fn(&[u8], &[u8]) -> Result<Option<Entry>>) -> Vec<Entry> {
        let mut entries = Vec::new();
        match db.iter(self.txn).map_err(lmdb::error) {
            Ok(pairs) => {
                for pair in pairs {
                    let entry = pair.map_err(lmdb::error).and_then(|(key, record)| decode(key, record));
                    match entry {
                        Ok(entry) => entries.extend(entry),
                        Err(error) if self.report.problems.len() < MOST_PROBLEMS => {
                            self.problem(None, &error);
                        }
                        Err(_) => break,
                    }
                }
            }
            Err(error) => self.problem(None, &error),
        }
        entries
    }

    /// Checks the table's own records.
    #[inline]
    fn table(&mut self, entry: &Entry, meta: &Meta) {
        self.report.tables += 1;
        let found = catalog::find(self.dbs, self.txn, meta, &entry.name);
        if let Err(error) = found.and_then(|_| self.inner.verify_table(self.txn, meta, entry)) {
            self.problem(Some(&entry.name), &error);
        }
        let mut known = self.inner.new_dict(entry);
        let read = names::read_new(&mut known, self.dbs, self.txn, entry.id)
            .and_then(|()| names::check(&known, self.dbs, self.txn, entry.id));
        if let Err(error) = read {
            self.problem(Some(&entry.name), &error);
        }
        if entry.id >= meta.next_table || self.tombstones.contains(&entry.id) {
            self.problem(
                Some(&entry.name),
                &corrupt("the table's number is not one that was given out".into()),
            );
        }
        let records = layouts::check(self.dbs, self.txn, entry.id)
            .and_then(|layouts| Ok(layouts + index_states::check(self.dbs, self.txn, entry.id)?))
            .and_then(|noted| Ok(noted + service::check(self.dbs, self.txn, meta, entry.id)?));
        let layouts = match records {
            Ok(layouts) => layouts,
            Err(error) => {
                self.problem(Some(&entry.name), &error);
                0
            }
        };
        let (dict, found) = (Arc::new(known), Counts::default());
        let shapes = BTreeSet::new();
        // The damage that keeps them from being read is among the problems.
        let declared = kinds::declared(self.dbs, self.txn, entry.id).unwrap_or_default();
        let table = Table { name: Some(entry.name.clone()), dict, layouts, shapes, declared, found };
        if self.tables.insert(entry.id, table).is_some() {
            self.problem(Some(&entry.name), &corrupt("two tables have one number".into()));
        }
    }

    /// Compares a table's counts with the rows found.
    #[inline]
    fn counts(&mut self, entry: &Entry) {
        let stored = Counts::read(self.dbs.main, self.txn, entry.id);
        let found = self.tables.get(&entry.id).map(|table| table.found);
        match (stored, found) {
            (Err(error), _) => self.problem(Some(&entry.name), &error),
            (Ok(stored), Some(found)) if stored != found => {
                let what = format!(
                    "the table counts {} entities of {} bytes, and {} of {} were found, or not the same ones",
                    stored.entities, stored.bytes, found.entities, found.bytes
                );
                self.problem(Some(&entry.name), &corrupt(what));
            }
            _ => {}
        }
    }

    /// Checks that the unnamed database holds nothing but the store's record, the tables' and LMDB's own. A feature
    /// that this library does not know may have databases.
    #[inline]
    fn main(&mut self, meta: &Meta, entries: &[Entry]) -> Result<()> {
        let may_be_named =
            |key: &[u8]| meta.features.has_unknown() && key.first().is_some_and(u8::is_ascii_alphabetic);
        let mut known = BTreeSet::from([META_KEY.to_vec()]);
        for entry in entries {
            known.insert(counts::key(entry.id).to_vec());
            known.insert(record_digest::key(entry.id).to_vec());
        }
        if meta.features.has(Feature::ServiceRecords) {
            known.insert(record_digest::key(service::STORE).to_vec());
        }
        known.extend(open::NAMES.map(|name| name.as_bytes().to_vec()));
        let late = OptionalDb::ALL.into_iter().filter(|late| meta.features.has(late.feature()));
        known.extend(late.map(|late| late.name().as_bytes().to_vec()));
        for key in self.dbs.main.iter(self.txn).map_err(lmdb::error)? {
            let (key, _) = key.map_err(lmdb::error)?;
            if !known.remove(key) && !may_be_named(key) {
                let what =
                    format!("a record of the store's own is none that it has: `{}`", key.escape_ascii());
                self.problem(None, &corrupt(what));
            }
        }
        for key in known {
            let what = format!("a record of the store's own is missing: `{}`", key.escape_ascii());
            self.problem(None, &corrupt(what));
        }
        Ok(())
    }

    /// Checks that the dictionaries hold nothing but the tables' entries, and the store's own, which are so many.
    #[inline]
    fn names(&mut self, own: usize) -> Result<()> {
        let mut entries = BTreeMap::<u32, usize>::new();
        for pair in self.dbs.names.iter(self.txn).map_err(lmdb::error)? {
            let (key, _) = pair.map_err(lmdb::error)?;
            let table = key.first_chunk::<4>().map_or(u32::MAX, |table| u32::from_be_bytes(*table));
            *entries.entry(table).or_default() += 1;
        }
        for (table, found) in entries {
            let expected = match table {
                service::STORE => Some(own),
                _ => self.tables.get(&table).map(|table| names::entries(&table.dict) + table.layouts),
            };
            if expected.is_some_and(|expected| expected != found)
                || expected.is_none() && !self.tombstones.contains(&table)
            {
                let name = self.tables.get(&table).and_then(|table| table.name.clone());
                let what =
                    format!("the dictionary of table number {table} has {found} entries it should not");
                self.problem(name.as_deref(), &corrupt(what));
            }
        }
        Ok(())
    }
}

#[cold]
fn corrupt(what: String) -> Error {
    Error::new(ErrorKind::Corrupt).because(what)
}
