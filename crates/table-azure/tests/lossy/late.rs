//! Requests that come once more when others have been answered: A is done, then B, and A's request comes late.

use table_azure::AzureTables;
use table_core::{Entity, ErrorKind, Stored, Table};

use super::proxy::{Faults, Proxy};
use super::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters", kind = "counter")]
#[key(partition = "{group}", row = "counter_{id:06}")]
#[index(by_tally, row = "tally_{tally:012}_{id:06}")]
struct Counter {
    group: String,
    id: u32,
    tally: u64,
}

/// An entity without an index: its row is put whatever is there.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note")]
#[key(partition = "{group}", row = "note_{id:06}")]
struct Note {
    group: String,
    id: u32,
    text: u64,
}

fn counter(tally: u64) -> Counter {
    Counter { group: "all".into(), id: 1, tally }
}

fn note(text: u64) -> Note {
    Note { group: "all".into(), id: 1, text }
}

/// Returns how many runs there are of each call: `AZURE_LATE`, else so many.
fn runs() -> u64 {
    std::env::var("AZURE_LATE").ok().and_then(|runs| runs.parse().ok()).unwrap_or(100)
}

/// A server, and tables behind a proxy that keeps each request.
struct Behind {
    proxy: Proxy,
    tables: AzureTables,
    _server: Own,
}

impl Behind {
    fn new() -> Self {
        let server = Own::start();
        let proxy = Proxy::start(server.address, Faults { kept: 1_000, ..Faults::default() }, 1);
        let tables = AzureTables::connect(&connection(proxy.address)).unwrap();
        Self { proxy, tables, _server: server }
    }

    /// Makes sure that what stands is what the second of two changes has left, when the requests of both come once more.
    fn b_stands(&self, a: impl FnOnce(), b: impl FnOnce(), stands: impl FnOnce()) {
        self.proxy.send_kept();
        a();
        b();
        assert!(self.proxy.send_kept() >= 2);
        stands();
    }
}

fn tally(counters: &Table<Counter>) -> u64 {
    // The copy is that of the entity, and the only one.
    let there = counters.get(Counter::key("all", 1)).unwrap().unwrap().tally;
    let copies: Vec<_> =
        counters.by_tally().group("all").into_iter().map(|found| found.unwrap().tally).collect();
    assert_eq!(copies, [there]);
    there
}

#[test]
fn a_change_that_comes_late_does_not_undo_the_next() {
    let behind = Behind::new();
    let counters = behind.tables.table::<Counter>().unwrap();
    counters.insert(&counter(0)).unwrap();
    for run in 1..=runs() {
        let (a, b) = (2 * run, 2 * run + 1);
        let update = |tally| {
            counters.update(Counter::key("all", 1), |counter| counter.tally = tally).unwrap();
        };
        behind.b_stands(|| update(a), || update(b), || assert_eq!(tally(&counters), b));
        let put = |tally| {
            counters.put(&counter(tally)).unwrap();
        };
        behind.b_stands(|| put(a), || put(b), || assert_eq!(tally(&counters), b));
        let replace = |tally| {
            let etag = Stored::etag(&counters.get(Counter::key("all", 1)).unwrap().unwrap());
            counters.replace(&counter(tally), etag).unwrap();
        };
        behind.b_stands(|| replace(a), || replace(b), || assert_eq!(tally(&counters), b));
        let batch = |tally| {
            let egt = counters.egt(Counter::partition("all"));
            egt.update(Counter::key("all", 1), move |counter| counter.tally = tally).commit().unwrap();
        };
        behind.b_stands(|| batch(a), || batch(b), || assert_eq!(tally(&counters), b));
    }
}

#[test]
fn a_deletion_that_comes_late_does_not_take_what_was_inserted_since() {
    let behind = Behind::new();
    let counters = behind.tables.table::<Counter>().unwrap();
    for run in 0..runs() {
        counters.put(&counter(run)).unwrap();
        behind.b_stands(
            || counters.delete(Counter::key("all", 1)).unwrap(),
            || {
                counters.insert(&counter(run + 1)).unwrap();
            },
            || assert_eq!(tally(&counters), run + 1),
        );
    }
}

/// A note is put, merged and deleted whatever is there, and inserted where nothing is: such a request can't be told from its
/// double. With a condition it can.
#[test]
fn without_a_condition_what_comes_late_is_carried_out_again_as_is_said() {
    let behind = Behind::new();
    let notes = behind.tables.table::<Note>().unwrap();
    let text = || notes.get(Note::key("all", 1)).unwrap().map(|note| note.text);
    notes.put(&note(0)).unwrap();
    let update = |text| drop(notes.update(Note::key("all", 1), |note| note.text = text).unwrap());
    behind.b_stands(|| update(1), || update(2), || assert_eq!(text(), Some(2)));
    let replace = |text| {
        let etag = Stored::etag(&notes.get(Note::key("all", 1)).unwrap().unwrap());
        notes.replace(&note(text), etag).unwrap();
    };
    behind.b_stands(|| replace(3), || replace(4), || assert_eq!(text(), Some(4)));
    // An insert that comes when the entity is deleted inserts it again.
    notes.delete(Note::key("all", 1)).unwrap();
    behind.proxy.send_kept();
    notes.insert(&note(5)).unwrap();
    notes.delete(Note::key("all", 1)).unwrap();
    behind.proxy.send_kept();
    assert!(matches!(text(), None | Some(5)));
    let gone = notes.replace(&note(6), Stored::etag(&stored(&notes))).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::ConditionNotMet);
}

/// Returns a note that is not what is there any more.
fn stored(notes: &Table<Note>) -> Stored<Note> {
    notes.put(&note(7)).unwrap();
    let stored = notes.get(Note::key("all", 1)).unwrap().unwrap();
    notes.put(&note(8)).unwrap();
    stored
}
