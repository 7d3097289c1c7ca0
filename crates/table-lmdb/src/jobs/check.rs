//! The check: a look at everything in a store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use table_engine::contents::{BlobId, reference};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::row::dict::Dict;
use table_engine::row::key::StoredKey;
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row, key};
use table_engine::sealing::sign;

use super::copies;
use super::missing_blobs::MissingBlobs;
use crate::lmdb::{self, Databases};
use crate::open::{self, OptionalDb};
use crate::queues::check;
use crate::records::catalog::{self, Entry};
use crate::records::counts::{self, Counts};
use crate::records::features::Feature;
use crate::records::kinds::{self, DeclaredKind};
use crate::records::meta::{META_KEY, Meta};
use crate::records::{index_states, layouts, names, record_digest};
use crate::scan::read;
use crate::state::StoreState;
use crate::{Store, blobs};

/// What [`Store::check`] found.
#[derive(Clone, Debug, Default)]
#[must_use = "what is wrong is in `problems` and `wrong_copies`, and nowhere else"]
#[non_exhaustive]
pub struct CheckReport {
    /// How many tables there are.
    pub tables: u64,
    /// How many rows were read, those of dropped tables aside.
    pub rows: u64,
    /// How many shapes of rows the tables have numbered: one for each kind of entity and each index, and one more for each
    /// time that what its rows hold was declared anew.
    pub shapes: u64,
    /// How many of the [`shapes`](Self::shapes) no row has any more. They stay: rows are read by their numbers.
    pub unused_shapes: u64,
    /// How many queues there are.
    pub queues: u64,
    /// How many messages there are in the queues.
    pub messages: u64,
    /// How many containers there are.
    pub containers: u64,
    /// How many blobs there are that something leads to.
    pub blobs: u64,
    /// How many copies were compared with the entities that they are of, in indexes that are ready.
    pub copies: u64,
    /// Indexes and summaries, by the kinds of their rows, of which the store can't tell which copies are missing: only the
    /// struct says which entities have one, or where; or they are being made. [`Table::check`](table_engine::Table::check) looks
    /// at those, too.
    pub untold: Vec<String>,
    /// The copies that are not as their entities say, or missing, or of none, as far as the store knows their declaration, and
    /// parts of wide entities that are missing or of none: not damage, but what raw writes leave.
    /// [`Table::repair`](table_engine::Table::repair) mends them, but what a missing part held is lost.
    pub wrong_copies: Vec<Problem>,
    /// How many entities there are whose copies are to follow: see
    /// [`Store::pending_propagation`](table_engine::Tables::pending_propagation).
    pub pending_propagation: u64,
    /// What is wrong; nothing, if the store is sound.
    pub problems: Vec<Problem>,
}

/// Something that is wrong with a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The table it is in, if that can be told.
    pub table: Option<String>,
    /// The row, if it is one's: partition key and row key.
    pub row: Option<(String, String)>,
    /// What is wrong.
    pub what: String,
}

impl Problem {
    #[inline]
    fn of(table: Option<&str>, error: &Error) -> Self {
        let row = error.partition_key().zip(error.row_key());
        Self {
            table: table.or_else(|| error.table_name()).map(Into::into),
            row: row.map(|(partition, row)| (partition.into(), row.into())),
            what: error.to_string(),
        }
    }
}

impl fmt::Display for Problem {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "table `{}`", table.escape_debug())?;
        }
        if let Some((partition, row)) = &self.row {
            let separator = if self.table.is_some() { ", " } else { "" };
            write!(f, "{separator}partition `{}`, row `{}`", partition.escape_debug(), row.escape_debug())?;
        }
        if self.table.is_some() || self.row.is_some() {
            f.write_str(": ")?;
        }
        f.write_str(&self.what)
    }
}

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
        run().map_err(|e: Error| e.attempted("check the store"))
    }
}

/// A table as the check finds it.
struct Table {
    name: Option<Box<str>>,
    dict: Arc<Dict>,
    /// How many layouts, states of kinds and jobs are noted.
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
        let names = self.names();
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
            .and_then(|layouts| Ok(layouts + index_states::check(self.dbs, self.txn, entry.id)?));
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

    /// Walks over all rows; returns how many there are, those of dropped tables among them.
    #[inline]
    fn rows(&mut self) -> Result<u64> {
        let (mut seen, mut last, mut leaf) = (0, None::<&[u8]>, None);
        for pair in self.dbs.data.iter(self.txn).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            seen += 1;
            let place = self.dbs.pages.place(key);
            if leaf != Some(place) {
                leaf = Some(place);
                self.dbs.pages.check_leaf(key).map_err(|e| key::locate(lmdb::damage(e), key))?;
            }
            if last.is_some_and(|last| last >= key) {
                return Err(key::locate(read::out_of_order(), key));
            }
            last = Some(key);
            // A record that is said to be longer may reach beyond the end of the file.
            if self.dbs.pages.check_value(bytes).is_ok() {
                let references = &mut self.references;
                reference::each_in(bytes, |_, id, _| *references.entry(id).or_default() += 1);
            }
            if let Err(error) = self.row(key, bytes) {
                let name = StoredKey::parse(key).and_then(|key| self.tables.get(&key.table)?.name.clone());
                self.problem(name.as_deref(), &key::locate(error, key));
            }
        }
        Ok(seen)
    }

    #[inline]
    fn row(&mut self, key: &[u8], bytes: &[u8]) -> Result<()> {
        let unreadable = || corrupt("the row's key can't be read".into());
        let parsed = StoredKey::parse(key).ok_or_else(unreadable)?;
        let (Some(partition), Some(row_key)) = (parsed.partition(), parsed.row()) else {
            return Err(unreadable());
        };
        let found = self.dbs.data.get(self.txn, key).map_err(lmdb::error)?;
        self.dbs.pages.check_value(bytes).map_err(lmdb::damage)?;
        if found.is_none_or(|found| !std::ptr::eq(found, bytes)) {
            return Err(corrupt("a search for the row's key does not find it".into()));
        }
        let row = Row::parse(bytes)?;
        if self.tombstones.contains(&parsed.table) {
            // No read comes to a row of a dropped table, but until its space is freed, searches and writes of the rows
            // beside it look at it.
            return Ok(row.verify(row::key_seed(key))?);
        }
        self.report.rows += 1;
        let Some(table) = self.tables.get_mut(&parsed.table) else {
            return Err(corrupt(format!("the row is of table number {}, which is no table's", parsed.table)));
        };
        table.found.add(key.len() + bytes.len(), row.checksum());
        let seed = row::key_seed(key);
        if !view::covers(&table.dict, &row) {
            // What it says may be damaged.
            row.verify(seed)?;
            return Err(corrupt("the row has a property, or a shape, that the dictionary lacks".into()));
        }
        row.verify_whole(seed, &table.dict)?;
        key::check(&partition, &row_key)?;
        if let Some(shape) = row.shape() {
            table.shapes.insert(shape);
        }
        let view = RowView::new(key, row, &*table.dict, true);
        // Without keys the rest is checked.
        if !row.is_signed() {
            kinds::check_unsigned(&table.declared, &view)?;
        } else if table.dict.vault().is_some() {
            sign::verify(&view)?;
        }
        view.to_entity().map(|_| ())
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

    /// Looks at the queues.
    #[inline]
    fn queues(&mut self, database: Result<Option<lmdb::Db>>) {
        let Some(Some(database)) = self.noted(database) else { return };
        let mut problems = Vec::new();
        let counted = check::check(&self.inner.environment, self.txn, database, |queue, error| {
            if problems.len() < MOST_PROBLEMS {
                let queue = queue.map(|queue| format!("queue `{queue}`: ")).unwrap_or_default();
                problems.push(Problem { table: None, row: None, what: format!("{queue}{error}") });
            }
        });
        self.report.problems.extend(problems);
        let Some(counted) = self.noted(counted) else { return };
        (self.report.queues, self.report.messages) = (counted.queues, counted.messages);
        self.report.pending_propagation = counted.entries;
        for table in counted.tables {
            if !self.tables.contains_key(&table) && !self.tombstones.contains(&table) {
                let what =
                    format!("copies are to follow entities of table number {table}, which is no table's");
                self.problem(None, &corrupt(what));
            }
        }
    }

    /// Looks at the blobs.
    #[inline]
    fn blobs(&mut self, database: Result<Option<lmdb::Db>>) {
        let Some(database) = self.noted(database) else { return };
        // Where no blob was for rows, none is there that they refer to, and none counts them.
        let all = std::mem::take(&mut self.references);
        let (of_rows, mut missing) =
            if self.refers { (all, BTreeMap::new()) } else { (BTreeMap::new(), all) };
        if let Some(database) = database {
            missing.extend(self.counted_blobs(database, &of_rows));
        }
        let blobs =
            MissingBlobs { dbs: self.dbs, txn: self.txn, store: self.inner.identity(), blobs: missing };
        let mut problems = Vec::new();
        let room = MOST_PROBLEMS.saturating_sub(self.report.problems.len());
        let table = |number| {
            let table = self.tables.get(&number)?;
            Some((table.name.as_deref()?, &*table.dict))
        };
        let told = blobs.report(table, |problem| {
            problems.push(problem);
            problems.len() < room
        });
        self.report.problems.extend(problems.into_iter().take(room));
        self.noted(told);
    }

    /// Looks at the records of blobs, and returns those that rows refer to and that are missing.
    #[inline]
    fn counted_blobs(
        &mut self,
        database: lmdb::Db,
        of_rows: &BTreeMap<BlobId, u32>,
    ) -> BTreeMap<BlobId, u32> {
        let mut problems = Vec::new();
        let counted = blobs::check::check(&self.inner.environment, self.txn, database, of_rows, |error| {
            if problems.len() < MOST_PROBLEMS {
                problems.push(Problem { table: None, row: None, what: error.to_string() });
            }
        });
        self.report.problems.extend(problems);
        let Some(counted) = self.noted(counted) else { return BTreeMap::new() };
        (self.report.containers, self.report.blobs) = (counted.containers, counted.blobs);
        counted.missing
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

    /// Checks that the dictionaries hold nothing but the tables' entries.
    #[inline]
    fn names(&mut self) -> Result<()> {
        let mut entries = BTreeMap::<u32, usize>::new();
        for pair in self.dbs.names.iter(self.txn).map_err(lmdb::error)? {
            let (key, _) = pair.map_err(lmdb::error)?;
            let table = key.first_chunk::<4>().map_or(u32::MAX, |table| u32::from_be_bytes(*table));
            *entries.entry(table).or_default() += 1;
        }
        for (table, found) in entries {
            let expected = self.tables.get(&table).map(|table| names::entries(&table.dict) + table.layouts);
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
