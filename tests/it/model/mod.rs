//! Any sequence of operations gives what it gives on sorted maps.
//!
//! `TABLE_CORE_SEED` repeats a run that failed; `TABLE_CORE_STEPS` makes it longer or shorter.

mod oracle;
mod random;
mod reads;
mod search;
mod whole;
mod writes;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Instant, SystemTime};

use integration_tests::Scratch;
use table_core::store::Rows as Iter;
use table_core::{Continuation, DynamicTable, ETag, Snapshot, Store, Ticks};

use self::oracle::{Entity, Rows, Table};
use self::random::{Place, Random};
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
}
