//! Any sequence of operations gives what it gives on sorted maps.
//!
//! `TABLE_CORE_SEED` repeats a run that failed; `TABLE_CORE_STEPS` makes it longer or shorter.

mod oracle;
mod random;
mod search;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Instant, SystemTime};

use integration_tests::Scratch;
use table_core::{
    Batch, Continuation, Durability, DynamicEntity, DynamicTable, ETag, Error, ErrorKind, Result,
    Rows as Iter, Snapshot, Store, Ticks,
};

use self::oracle::{Entity, Operation, Refusal, Rows, Table, Verb};
use self::random::{PARTITIONS, Place, ROWS, Random, partition, row};
use self::search::Search;

#[test]
fn a_store_does_what_sorted_maps_do() {
    let number = |name| std::env::var(name).ok().map(|text: String| text.parse::<u64>().unwrap());
    let seed = number("TABLE_CORE_SEED").unwrap_or_else(|| {
        SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64 & 0xffff_ffff)
    });
    let steps = number("TABLE_CORE_STEPS").unwrap_or(100_000);
    let begun = Instant::now();
    let mut run = Run::new(seed);
    while run.step < steps {
        run.step += 1;
        run.one();
    }
    run.whole();
    println!(
        "seed {seed}: {steps} operations in {:.1} s, no difference; {}",
        begun.elapsed().as_secs_f64(),
        run.counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
    );
}

/// Tables that are there at a time.
const TABLES: [&str; 4] = ["Company", "Logins", "a00", "Zebra"];
/// What is kept open at a time, of each sort.
const KEPT: usize = 4;

/// A store and what it must be.
struct Run {
    seed: u64,
    step: u64,
    random: Random,
    counts: BTreeMap<&'static str, u64>,
    // Before the store's directory, which is removed when the scratch is dropped.
    snapshots: Vec<(Snapshot, BTreeMap<u32, Table>)>,
    readings: Vec<Reading>,
    pagings: Vec<Paging>,
    /// A handle for each table that there is, and for some that were dropped.
    handles: BTreeMap<u32, DynamicTable>,
    store: Store,
    path: PathBuf,
    scratch: Scratch,
    /// By a number of their own, which is never used again.
    tables: BTreeMap<u32, Table>,
    created: u32,
    /// The time of the last write.
    last: Ticks,
    etags: VecDeque<ETag>,
}

/// An iterator that is not at its end, and what is to come.
struct Reading {
    rows: Iter,
    left: VecDeque<(Place, Rc<Entity>)>,
    select: Option<Vec<&'static str>>,
}

/// A query of which some pages were read.
struct Paging {
    table: u32,
    search: Search,
    token: Option<Token>,
    after: Option<Place>,
    left: Option<usize>,
}

enum Token {
    Held(Continuation),
    Text(String),
}

impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("TABLE_CORE_SEED={} failed at step {}", self.seed, self.step);
        }
    }
}

/// Compares an answer with what it must be.
fn answers<T: Debug>(expected: Option<Refusal>, actual: Result<T>, what: &impl Debug) -> Option<T> {
    let found = |error: &Error| Refusal { kind: error.kind(), index: error.index() };
    match (&expected, actual) {
        (None, Ok(answer)) => Some(answer),
        (Some(refusal), Err(error)) if found(&error) == *refusal => None,
        (_, actual) => panic!("expected {expected:?}, got {actual:?} from {what:?}"),
    }
}

fn no_table<T: Debug>(result: Result<T>) {
    assert_eq!(result.unwrap_err().kind(), ErrorKind::TableNotFound);
}

impl Run {
    fn new(seed: u64) -> Self {
        let scratch = Scratch::new();
        let path = scratch.path().join("store");
        Self {
            seed,
            step: 0,
            random: Random::new(seed),
            counts: BTreeMap::new(),
            snapshots: Vec::new(),
            readings: Vec::new(),
            pagings: Vec::new(),
            handles: BTreeMap::new(),
            store: Store::open(&path).unwrap(),
            path,
            scratch,
            tables: BTreeMap::new(),
            created: 0,
            last: Ticks::MIN,
            etags: VecDeque::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// One operation of any sort.
    fn one(&mut self) {
        match self.random.below(2_000) {
            0 => self.reopen(),
            1 => self.check(),
            2..10 => self.create(),
            10..14 => self.drop_table(),
            14..18 => drop(self.store.reclaim().unwrap()),
            18..30 => self.bulk(),
            30..60 => self.stats(),
            60..100 => self.take_snapshot(),
            100..180 => self.read_snapshot(),
            180..220 => self.begin_reading(),
            220..350 => self.go_on_reading(),
            350..380 => self.begin_paging(),
            380..560 => self.page(),
            560..760 => self.search(),
            760..900 => self.get(),
            900..1_150 => self.batch(),
            _ => self.write(),
        }
    }

    /// A table, mostly one that is there.
    fn table(&mut self) -> u32 {
        if self.tables.is_empty() {
            self.create();
        }
        let all: Vec<u32> = if self.random.once_in(30) {
            self.handles.keys().copied().collect()
        } else {
            self.tables.keys().copied().collect()
        };
        match all.as_slice() {
            [] => self.table(),
            all => *self.random.pick(all),
        }
    }

    fn rows(&self, table: u32) -> Option<&Rows> {
        self.tables.get(&table).map(|table| &*table.rows)
    }

    fn random_operation(&mut self, table: u32, place: Place) -> Operation {
        let there = self.rows(table).and_then(|rows| rows.get(&place)).cloned();
        let old = self.etags.make_contiguous();
        Operation::random(&mut self.random, place, there.as_deref(), old)
    }

    /// Takes note of a write: its time is after that of every other.
    fn written(&mut self, etag: ETag) {
        assert!(etag.timestamp() > self.last, "{} is not after {}", etag.timestamp(), self.last);
        self.last = etag.timestamp();
        self.etags.push_back(etag);
        if self.etags.len() > 50 {
            self.etags.pop_front();
        }
    }

    fn write(&mut self) {
        let table = self.table();
        let place = self.random.place();
        let operation = self.random_operation(table, place);
        let expected = oracle::refuses(self.rows(table), &operation);
        self.count(if expected.is_some() { "writes refused" } else { "writes" });
        if let Some(etag) = answers(expected, operation.run(&self.handles[&table]), &operation) {
            assert_eq!(etag.is_none(), operation.verb == Verb::Delete);
            if let Some(etag) = etag {
                self.written(etag);
            }
            let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
            operation.apply(rows, etag);
        }
    }

    /// Some operations on one partition, mostly on distinct rows.
    fn random_batch(&mut self, table: u32) -> (usize, Vec<Operation>, Batch) {
        let partition_key = self.random.below(PARTITIONS.len());
        let length = match self.random.below(60) {
            0 => 0,
            1 => 101,
            2 => 40,
            _ => 1 + self.random.below(5),
        };
        let mut operations = Vec::<Operation>::new();
        let mut batch = self.handles[&table].batch(PARTITIONS[partition_key].as_str());
        while operations.len() < length {
            let (other, row_key) = self.random.place();
            let taken = operations.iter().any(|operation| operation.place.1 == row_key);
            if taken && operations.len() < ROWS.len() && !self.random.once_in(30) {
                continue;
            }
            let place = (if self.random.once_in(200) { other } else { partition_key }, row_key);
            let operation = self.random_operation(table, place).in_batch_of(partition_key);
            batch = operation.join(batch);
            operations.push(operation);
        }
        assert_eq!((batch.len(), batch.partition_key()), (length, PARTITIONS[partition_key].as_str()));
        (partition_key, operations, batch)
    }

    fn batch(&mut self) {
        let table = self.table();
        let (partition_key, operations, batch) = self.random_batch(table);
        let expected = oracle::refuses_batch(self.rows(table), partition_key, &operations);
        self.count(if expected.is_some() { "batches refused" } else { "batches" });
        match answers(expected, batch.commit(), &operations) {
            Some(etag) => {
                self.written(etag);
                let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
                for operation in &operations {
                    operation.apply(rows, Some(etag));
                }
            }
            None => self.compare_partition(table, partition_key),
        }
    }

    /// Nothing of a batch that failed is there.
    fn compare_partition(&self, table: u32, partition_key: usize) {
        let Some(rows) = self.rows(table) else { return };
        let query = table_core::Query::new().partition(&PARTITIONS[partition_key]);
        let read: Vec<_> = self.handles[&table].query(&query).unwrap().map(Result::unwrap).collect();
        let expected = rows.range((partition_key, 0)..(partition_key + 1, 0));
        assert_eq!(expected.clone().count(), read.len());
        assert!(expected.zip(&read).all(|((place, entity), read)| entity.is(*place, read, None)));
    }

    fn bulk(&mut self) {
        self.count("bulk loads");
        let (mut batches, mut expected) = (Vec::new(), Vec::new());
        // The batches that wrote each row last, and the tables as they will be.
        let mut writers = BTreeMap::<(u32, Place), usize>::new();
        for number in 0..=self.random.below(20) {
            let table = self.table();
            let (partition_key, operations, batch) = self.random_batch(table);
            let refusal = oracle::refuses_batch(self.rows(table), partition_key, &operations);
            if refusal.is_none() {
                let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
                for operation in &operations {
                    operation.apply(rows, None);
                    writers.insert((table, operation.place), number);
                }
            }
            batches.push(batch);
            expected.push(refusal);
        }
        let report = self.store.bulk(batches).unwrap();
        let failures = report.failures.iter().map(|failure| {
            let refusal = Refusal { kind: failure.error.kind(), index: failure.error.index() };
            (failure.batch as usize, refusal)
        });
        let refused: Vec<_> =
            expected.iter().enumerate().filter_map(|(at, refusal)| Some((at, (*refusal)?))).collect();
        assert_eq!(failures.collect::<Vec<_>>(), refused);
        assert_eq!(report.committed as usize, expected.len() - refused.len());
        self.learn_etags(&writers);
    }

    /// A bulk load does not say the times of its batches: they rise from batch to batch.
    fn learn_etags(&mut self, writers: &BTreeMap<(u32, Place), usize>) {
        let mut times = BTreeMap::<usize, ETag>::new();
        for (&(table, place), &number) in writers {
            let read = self.handles[&table].get(partition(place), row(place)).unwrap();
            let rows = Rc::make_mut(&mut self.tables.get_mut(&table).unwrap().rows);
            let Some(entity) = rows.get_mut(&place) else {
                assert_eq!(read, None);
                continue;
            };
            let etag = read.as_ref().and_then(DynamicEntity::etag).unwrap();
            assert_eq!(*times.entry(number).or_insert(etag), etag);
            Rc::make_mut(entity).etag = Some(etag);
            assert!(entity.is(place, &read.unwrap(), None));
        }
        for etag in times.into_values() {
            self.written(etag);
        }
    }

    fn create(&mut self) {
        let name = *self.random.pick(&TABLES);
        let name = if self.random.once_in(2) { name.to_ascii_uppercase() } else { name.to_owned() };
        let there = self.find(&name);
        let handle = match (there, self.random.below(3)) {
            (Some(_), 0) => {
                let error = self.store.create_table(&name).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TableAlreadyExists);
                return;
            }
            (Some(_), 1) => self.store.dynamic_table(&name).unwrap(),
            (None, 0) => {
                no_table(self.store.dynamic_table(&name));
                self.store.create_table(&name).unwrap()
            }
            (None, 1) => self.store.create_table(&name).unwrap(),
            _ => self.store.create_table_if_missing(&name).unwrap(),
        };
        let id = there.unwrap_or_else(|| {
            self.count("tables created");
            self.created += 1;
            self.tables.insert(self.created, Table { name, rows: Rc::default() });
            self.created
        });
        assert_eq!(handle.name(), self.tables[&id].name);
        self.handles.insert(id, handle);
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.tables.iter().find(|(_, table)| table.name.eq_ignore_ascii_case(name)).map(|(id, _)| *id)
    }

    fn drop_table(&mut self) {
        let name = self.random.pick(&TABLES).to_ascii_lowercase();
        match self.find(&name) {
            None => no_table(self.store.drop_table(&name)),
            Some(id) => {
                self.count("tables dropped");
                self.store.drop_table(&name).unwrap();
                self.tables.remove(&id);
                // Some handles are kept, to see that they fail.
                let dropped: Vec<u32> =
                    self.handles.keys().filter(|id| !self.tables.contains_key(id)).copied().collect();
                if dropped.len() > KEPT {
                    self.handles.remove(&dropped[0]);
                }
            }
        }
    }

    fn get(&mut self) {
        self.count("gets");
        let (table, place) = (self.table(), self.random.place());
        let read = self.handles[&table].get(partition(place), row(place));
        match self.rows(table) {
            None => no_table(read),
            Some(rows) => assert_row(rows, place, read.unwrap().as_ref()),
        }
    }

    fn random_search(&mut self) -> Search {
        Search::random(&mut self.random, self.etags.make_contiguous())
    }

    fn search(&mut self) {
        self.count("queries");
        let (table, search) = (self.table(), self.random_search());
        let found = self.handles[&table].query(&search.query());
        match self.rows(table) {
            None => no_table(found),
            Some(rows) => assert_found(rows, &search, found.unwrap()),
        }
    }

    fn begin_reading(&mut self) {
        let (table, search) = (self.table(), self.random_search());
        let Some(rows) = self.rows(table) else { return };
        let found = search.find(rows, None, search.top.unwrap_or(usize::MAX));
        let left = found.into_iter().map(|place| (place, rows[&place].clone())).collect();
        let rows = self.handles[&table].query(&search.query()).unwrap();
        keep(&mut self.readings, Reading { rows, left, select: search.select });
    }

    fn go_on_reading(&mut self) {
        let Some(reading) = choose(&mut self.random, &mut self.readings) else { return };
        for _ in 0..self.random.below(12) {
            let read = reading.rows.next().map(Result::unwrap);
            match (reading.left.pop_front(), read) {
                (None, None) => {}
                (Some((place, entity)), Some(read)) if entity.is(place, &read, reading.select.as_deref()) => {
                }
                (left, read) => panic!("expected {left:?}, read {read:?}"),
            }
        }
        self.count("iterators resumed");
    }

    fn begin_paging(&mut self) {
        let (table, search) = (self.table(), self.random_search());
        let left = search.top;
        keep(&mut self.pagings, Paging { table, search, token: None, after: None, left });
    }

    fn page(&mut self) {
        if self.pagings.is_empty() {
            self.begin_paging();
        }
        let at = self.random.below(self.pagings.len());
        let mut paging = self.pagings.swap_remove(at);
        let Some(handle) = self.handles.get(&paging.table) else { return };
        let token = paging.token.as_ref().map(|token| match token {
            Token::Held(token) => token.clone(),
            Token::Text(text) => text.parse().unwrap(),
        });
        let size = [1, 2, 3, 10, 1_000][self.random.below(5)];
        let page = handle.page(&paging.search.query(), size, token.as_ref());
        let Some(rows) = self.rows(paging.table) else { return no_table(page) };
        let page = page.unwrap();
        let left = paging.left.unwrap_or(usize::MAX);
        let found = paging.search.find(rows, paging.after, left);
        let (here, later) = found.split_at(found.len().min(size));
        assert_entities(rows, here, &page.entities, &paging.search);
        match &page.next {
            None => assert!(later.is_empty(), "the pages end before {later:?} in {:?}", paging.search),
            Some(_) => {
                assert!(
                    here.len() == size && left > size,
                    "a page more than there can be: {:?}",
                    paging.search
                );
                assert!(!paging.search.is_exact() || !later.is_empty(), "an empty page: {:?}", paging.search);
            }
        }
        self.count("pages");
        if let (Some(next), Some(last)) = (page.next, here.last()) {
            paging.token =
                Some(if self.random.once_in(2) { Token::Text(next.to_string()) } else { Token::Held(next) });
            paging.after = Some(*last);
            paging.left = paging.left.map(|left| left - here.len());
            self.pagings.push(paging);
        }
    }

    fn take_snapshot(&mut self) {
        self.count("snapshots");
        let snapshot = self.store.snapshot().unwrap();
        keep(&mut self.snapshots, (snapshot, self.tables.clone()));
    }

    /// A snapshot has the tables of its moment, whatever became of them.
    fn read_snapshot(&mut self) {
        let (table, place, search) = (self.table(), self.random.place(), self.random_search());
        let Some(handle) = self.handles.get(&table) else { return };
        let kind = self.random.below(4);
        let Some((snapshot, tables)) = choose(&mut self.random, &mut self.snapshots) else { return };
        let rows = tables.get(&table).map(|table| &*table.rows);
        match (kind, rows) {
            (0, None) => no_table(snapshot.query(handle, &search.query())),
            (1, None) => no_table(snapshot.page(handle, &search.query(), 7, None)),
            (_, None) => no_table(snapshot.get(handle, partition(place), row(place))),
            (0, Some(rows)) => {
                assert_row(rows, place, snapshot.get(handle, partition(place), row(place)).unwrap().as_ref());
                let view = snapshot.view(handle, partition(place), row(place)).unwrap();
                assert_row(rows, place, view.map(|view| view.to_entity().unwrap()).as_ref());
            }
            (1, Some(rows)) => {
                let page = snapshot.page(handle, &search.query(), 7, None).unwrap();
                let found = search.find(rows, None, search.top.unwrap_or(usize::MAX).min(7));
                assert_entities(rows, &found, &page.entities, &search);
            }
            (2, Some(rows)) => {
                // What is left out is not hidden from a view.
                let mut search = search;
                search.select = None;
                let views = snapshot.views(handle, &search.query()).unwrap();
                assert_found(rows, &search, views.map(|view| view.and_then(|view| view.to_entity())));
            }
            (_, Some(rows)) => assert_found(rows, &search, snapshot.query(handle, &search.query()).unwrap()),
        }
        self.count("snapshots read");
    }

    fn stats(&mut self) {
        let stats = self.store.stats().unwrap();
        let counted = stats.tables.iter().map(|table| (table.name.clone(), table.entities as usize));
        let mut tables: Vec<_> =
            self.tables.values().map(|table| (table.name.clone(), table.rows.len())).collect();
        tables.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        assert_eq!(counted.collect::<Vec<_>>(), tables);
        let names: Vec<_> = tables.into_iter().map(|(name, _)| name).collect();
        assert_eq!(self.store.tables().unwrap(), names);
        let living = self.snapshots.len() + self.readings.len();
        assert_eq!(self.store.snapshots().len(), living);
    }

    fn check(&mut self) {
        self.count("checks");
        let report = self.store.check().unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        assert_eq!(report.tables as usize, self.tables.len());
        assert_eq!(report.rows as usize, self.tables.values().map(|table| table.rows.len()).sum::<usize>());
    }

    /// Compares everything there is.
    fn whole(&mut self) {
        self.check();
        self.stats();
        for (id, table) in &self.tables {
            let found = self.handles[id].query(&table_core::Query::new()).unwrap();
            let found: Vec<_> = found.map(Result::unwrap).collect();
            assert!(oracle::compare(&table.rows, found.iter()));
        }
    }

    /// Opens the store with any options: none of them changes what it does.
    fn open(&mut self) -> Store {
        let durability = *self.random.pick(&[Durability::Durable, Durability::Relaxed]);
        let options = Store::options().durability(durability).verify_reads(!self.random.once_in(4));
        let options = options.group_limit(*self.random.pick(&[1, 256]));
        loop {
            match options.open(&self.path) {
                // A thread that frees space has it open still.
                Err(error) if error.kind() == ErrorKind::OptionsConflict => std::thread::yield_now(),
                opened => return opened.unwrap(),
            }
        }
    }

    /// Closes the store and opens it again, or a copy of it.
    fn reopen(&mut self) {
        self.whole();
        let old = self.path.clone();
        let copied = self.random.once_in(4);
        if copied {
            self.path = self.scratch.path().join(format!("copy{}", self.step));
            self.store.copy_to(&self.path).unwrap();
        }
        self.snapshots.clear();
        self.readings.clear();
        self.handles.clear();
        // The field can't be left empty: another store stands in for the moment.
        let aside = Store::open(self.scratch.path().join("aside")).unwrap();
        drop(std::mem::replace(&mut self.store, aside));
        self.store = self.open();
        if copied {
            std::fs::remove_dir_all(old).unwrap();
        }
        // With the same options, it may be open still and be shared.
        let really = self.store.stats().unwrap().commits == 0;
        self.count(if copied {
            "copies"
        } else if really {
            "reopened"
        } else {
            "not closed"
        });
        for (id, table) in &self.tables {
            self.handles.insert(*id, self.store.dynamic_table(&table.name).unwrap());
        }
        self.whole();
    }
}

fn assert_row(rows: &Rows, place: Place, read: Option<&DynamicEntity>) {
    match (rows.get(&place), read) {
        (None, None) => {}
        (Some(entity), Some(read)) if entity.is(place, read, None) => {}
        (expected, read) => panic!("expected {expected:?}, read {read:?}"),
    }
}

fn assert_found(rows: &Rows, search: &Search, found: impl Iterator<Item = Result<DynamicEntity>>) {
    let found: Vec<_> = found.map(Result::unwrap).collect();
    let expected = search.find(rows, None, search.top.unwrap_or(usize::MAX));
    assert_entities(rows, &expected, &found, search);
}

fn assert_entities(rows: &Rows, expected: &[Place], found: &[DynamicEntity], search: &Search) {
    let same =
        |(place, read): (&Place, &DynamicEntity)| rows[place].is(*place, read, search.select.as_deref());
    let equal = expected.len() == found.len() && expected.iter().zip(found).all(same);
    assert!(equal, "{search:?}\nmust find {expected:?}\nand found {found:?}");
}

/// Adds to what is kept open, in the place of the oldest if there is enough.
fn keep<T>(kept: &mut Vec<T>, new: T) {
    if kept.len() == KEPT {
        kept.remove(0);
    }
    kept.push(new);
}

fn choose<'a, T>(random: &mut Random, kept: &'a mut [T]) -> Option<&'a mut T> {
    if kept.is_empty() { None } else { Some(&mut kept[random.below(kept.len())]) }
}
