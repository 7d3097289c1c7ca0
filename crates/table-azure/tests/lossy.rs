//! Changes over a connection that loses requests and answers: what is told done is done once, and what is told refused is not
//! done.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of tests, outside their functions"
)]

#[path = "lossy/between.rs"]
mod between;
#[path = "lossy/eventual.rs"]
mod eventual;
#[cfg(feature = "encrypt")]
#[path = "lossy/keys.rs"]
mod keys;
#[path = "lossy/late.rs"]
mod late;
#[path = "support/proxy.rs"]
mod proxy;
#[cfg(feature = "encrypt")]
#[path = "lossy/raw.rs"]
mod raw;
#[path = "support/server.rs"]
mod server;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use table_azure::client::Retries;
use table_azure::{AzureOptions, AzureTables};
use table_core::{Entity, ErrorKind, IfMatch, Stored, Table};

use self::proxy::{Faults, Proxy};
use self::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters", kind = "counter")]
#[key(partition = "{group}", row = "counter_{id:06}")]
#[index(by_tally, row = "tally_{tally:012}_{id:06}")]
struct Counter {
    group: String,
    id: u32,
    tally: u64,
}

/// A tenth of the requests and three tenths of the answers are lost.
const LOSSES: Faults =
    Faults { requests_lost: 100, answers_lost: 250, answers_cut: 50, doubled: 0, delayed: 0, kept: 0 };
/// And others come twice, or late.
const ALL: Faults = Faults { doubled: 50, delayed: 50, ..LOSSES };

/// A server, a proxy before it, and the tables behind both and past the proxy.
struct Behind {
    proxy: Proxy,
    tables: AzureTables,
    direct: AzureTables,
    _server: Own,
}

impl Behind {
    fn new(faults: Faults, options: AzureOptions) -> Self {
        let server = Own::start();
        let direct = AzureTables::connect(&connection(server.address)).unwrap();
        // Tables are made past the proxy: what is looked at is what happens to rows.
        direct.table::<Counter>().unwrap();
        let proxy = Proxy::start(server.address, faults, seed());
        let retries = Retries::default().attempts(12).first_wait(Duration::from_millis(2));
        let options = options.retries(retries.longest_wait(Duration::from_millis(50)));
        let tables = options.timeout(Duration::from_secs(5)).connect(&connection(proxy.address)).unwrap();
        Self { proxy, tables, direct, _server: server }
    }

    fn counters(&self) -> (Table<Counter>, Table<Counter>) {
        (self.tables.table().unwrap(), self.direct.table().unwrap())
    }
}

/// Returns the number that the faults come of: `AZURE_SEED`, else one of chance, which is printed.
fn seed() -> u64 {
    use std::hash::BuildHasher;
    let seed = std::env::var("AZURE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| std::collections::hash_map::RandomState::new().hash_one(0));
    println!("AZURE_SEED={seed}");
    seed
}

/// Returns how many changes a test makes: `AZURE_CHANGES`, else so many.
fn changes(usual: u64) -> u64 {
    std::env::var("AZURE_CHANGES").ok().and_then(|changes| changes.parse().ok()).unwrap_or(usual)
}

fn counter(id: u32) -> Counter {
    Counter { group: "all".into(), id, tally: 0 }
}

/// What became of changes.
#[derive(Debug, Default)]
struct Told {
    done: AtomicU64,
    refused: AtomicU64,
    unknown: AtomicU64,
}

impl Told {
    fn add(&self, told: Result<(), table_core::Error>) {
        let count = match told {
            Ok(()) => &self.done,
            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => &self.unknown,
            Err(error) => {
                let is_refused = matches!(
                    error.kind(),
                    ErrorKind::ConditionNotMet
                        | ErrorKind::EntityAlreadyExists
                        | ErrorKind::UniqueConflict
                        | ErrorKind::Unreachable
                );
                assert!(is_refused, "{error}");
                &self.refused
            }
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn counts(&self) -> (u64, u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.done), load(&self.refused), load(&self.unknown))
    }
}

/// Adds one to one counter by so many threads together, and returns what was told and what is there.
fn count(behind: &Behind, threads: u64, all: u64) -> (Told, u64) {
    let (counters, direct) = behind.counters();
    direct.insert(&counter(1)).unwrap();
    let told = Told::default();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..all / threads {
                    let added = counters.update(Counter::key("all", 1), |counter| counter.tally += 1);
                    told.add(added.map(drop));
                }
            });
        }
    });
    let there = direct.get(Counter::key("all", 1)).unwrap().unwrap().tally;
    // Its copy is where it is to be, and is the only one.
    let copies: Vec<_> =
        direct.by_tally().group("all").into_iter().map(|found| found.unwrap().tally).collect();
    assert_eq!(copies, [there]);
    println!("{threads} threads: {:?} of {all}, {there} there; {:?}", told.counts(), behind.proxy.done);
    (told, there)
}

#[test]
fn one_writer_knows_of_every_change_whether_it_was_carried_out() {
    let behind = Behind::new(ALL, AzureOptions::new());
    let (told, there) = count(&behind, 1, changes(300));
    let (done, _, unknown) = told.counts();
    assert_eq!((unknown, done), (0, there));
    assert!(behind.proxy.done.lost.load(Ordering::Relaxed) > 50);
}

#[test]
fn of_many_writers_none_is_told_a_lie_and_few_know_nothing() {
    let behind = Behind::new(ALL, AzureOptions::new());
    let all = changes(480);
    let (told, there) = count(&behind, 16, all);
    let (done, _, unknown) = told.counts();
    assert!(done <= there && there <= done + unknown, "{told:?}, {there} there");
    assert!(unknown * 20 <= all, "{unknown} of {all} are unknown");
}

#[test]
fn without_tokens_no_change_is_told_refused_that_was_carried_out() {
    let behind = Behind::new(LOSSES, AzureOptions::new().without_tokens());
    let (told, there) = count(&behind, 1, changes(200));
    let (done, _, unknown) = told.counts();
    assert!(done <= there && there <= done + unknown, "{told:?}, {there} there");
    assert!(unknown > 0);
}

#[test]
fn inserts_and_deletes_are_told_as_they_are() {
    let behind = Behind::new(LOSSES, AzureOptions::new());
    let (counters, direct) = behind.counters();
    let all = u32::try_from(changes(200)).unwrap();
    for id in 0..all {
        counters.insert(&counter(id)).unwrap();
        let found = direct.get(Counter::key("all", id)).unwrap().unwrap();
        assert_eq!(*found, counter(id));
    }
    // What is there already is told to be, unless an answer was lost on the way, and nothing is written.
    direct.update(Counter::key("all", 0), |counter| counter.tally = 7).unwrap();
    for _ in 0..50 {
        let kind = counters.insert(&counter(0)).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::EntityAlreadyExists | ErrorKind::OutcomeUnknown), "{kind:?}");
    }
    assert_eq!(direct.get(Counter::key("all", 0)).unwrap().unwrap().tally, 7);
    for id in 0..all {
        counters.delete(Counter::key("all", id)).unwrap();
        assert!(direct.get(Counter::key("all", id)).unwrap().is_none());
    }
    assert_eq!(direct.by_tally().group("all").count().unwrap(), 0);
}

#[test]
fn a_batch_is_done_whole_or_not_at_all() {
    let behind = Behind::new(LOSSES, AzureOptions::new());
    let (counters, direct) = behind.counters();
    for id in [1, 2] {
        direct.insert(&counter(id)).unwrap();
    }
    let told = Told::default();
    for _ in 0..changes(150) {
        let moved = counters
            .egt(Counter::partition("all"))
            .update(Counter::key("all", 1), |counter| counter.tally += 1)
            .update(Counter::key("all", 2), |counter| counter.tally += 1)
            .commit();
        told.add(moved.map(drop));
    }
    let both = [1, 2].map(|id| direct.get(Counter::key("all", id)).unwrap().unwrap().tally);
    let (done, _, unknown) = told.counts();
    assert_eq!((both, unknown), ([done, done], 0));
}

/// A request that comes again when it has been answered, and others have gone on, changes nothing: its condition is of a
/// version that is over.
#[test]
fn what_comes_twice_is_done_once() {
    let faults = Faults { doubled: 300, delayed: 200, ..Faults::default() };
    let behind = Behind::new(faults, AzureOptions::new());
    let (counters, direct) = behind.counters();
    direct.insert(&counter(1)).unwrap();
    let all = changes(300);
    for before in 0..all {
        let etag = Stored::etag(&counters.get(Counter::key("all", 1)).unwrap().unwrap());
        // One writes under a condition, and the next goes on from there.
        let next = Counter { tally: before + 1, ..counter(1) };
        counters.replace(&next, etag).unwrap();
        assert_eq!(direct.get(Counter::key("all", 1)).unwrap().unwrap().tally, before + 1);
    }
    thread::sleep(Duration::from_millis(100));
    assert_eq!(direct.get(Counter::key("all", 1)).unwrap().unwrap().tally, all);
    assert!(behind.proxy.done.doubled.load(Ordering::Relaxed) > 0);
}

/// A write under no condition can't be told from its double.
#[test]
fn reads_go_on_over_any_losses() {
    let behind = Behind::new(LOSSES, AzureOptions::new());
    let (counters, direct) = behind.counters();
    for id in 0..250 {
        direct.insert(&Counter { tally: u64::from(id), ..counter(id) }).unwrap();
    }
    for _ in 0..20 {
        assert_eq!(counters.rows().group("all").count().unwrap(), 250);
        let counts: Vec<_> =
            counters.by_tally().group("all").into_iter().map(|one| one.unwrap().id).collect();
        assert_eq!(counts, (0..250).collect::<Vec<_>>());
    }
    let gone = counters.replace(&counter(999), IfMatch::Any).unwrap_err();
    assert!(matches!(gone.kind(), ErrorKind::EntityNotFound | ErrorKind::OutcomeUnknown), "{gone}");
}
