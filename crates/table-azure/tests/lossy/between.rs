//! Changes of which a request or an answer is lost, and others that are made before they are sent again.

use table_core::DynamicEntity;
use table_engine::__executor::{Expected, RecordOwner};

use super::*;

/// An entity without an index: it is replaced by one request.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note")]
#[key(partition = "{group}", row = "note_{id:06}")]
struct Note {
    group: String,
    id: u32,
    text: u64,
}

fn note(text: u64) -> Note {
    Note { group: "all".into(), id: 1, text }
}

/// Which request is lost, or the answer to which.
#[derive(Clone, Copy)]
pub(super) enum Lost {
    /// One does not come, behind so many that do.
    RequestBehind(u64),
    /// It comes, behind so many, and its answer is lost.
    AnswerBehind(u64),
}

/// A server, tables behind a proxy that wait for a while before they send a request again, and those of another process.
pub(super) struct Between {
    pub(super) proxy: Proxy,
    pub(super) tables: AzureTables,
    pub(super) other: AzureTables,
    server: Own,
}

impl Between {
    fn new() -> Self {
        Self::with(&AzureOptions::new())
    }

    pub(super) fn with(options: &AzureOptions) -> Self {
        let server = Own::start();
        let proxy = Proxy::start(server.address, Faults::default(), 1);
        let retries = Retries::default().first_wait(Duration::from_secs(2));
        let tables = options.clone().retries(retries).connect(&connection(proxy.address)).unwrap();
        let other = options.clone().connect(&connection(server.address)).unwrap();
        Self { proxy, tables, other, server }
    }

    /// Makes a change, and another one when a request of it, or an answer, is lost, and before it is sent again.
    pub(super) fn change<T: Send>(
        &self,
        lost: Lost,
        change: impl FnOnce() -> T + Send,
        other: impl FnOnce(),
    ) -> T {
        let (requests, losses) = (&self.proxy.done.requests, &self.proxy.done.lost);
        let (before, lost_before) = (requests.load(Ordering::Relaxed), losses.load(Ordering::Relaxed));
        thread::scope(|scope| {
            match lost {
                Lost::RequestBehind(others) => self.proxy.die_after(before + others, false),
                Lost::AnswerBehind(others) => self.proxy.die_after(before + others + 1, true),
            }
            let change = scope.spawn(change);
            let is_lost = || match lost {
                Lost::RequestBehind(others) => requests.load(Ordering::Relaxed) > before + others,
                Lost::AnswerBehind(_) => losses.load(Ordering::Relaxed) > lost_before,
            };
            while !is_lost() {
                thread::sleep(Duration::from_millis(1));
            }
            other();
            self.proxy.recover();
            change.join().unwrap()
        })
    }
}

/// What another process has written since is not undone by the version that the first is told.
#[test]
fn a_change_that_is_told_by_its_token_has_no_version_of_anothers() {
    let between = Between::new();
    let (notes, others) = (between.tables.table::<Note>().unwrap(), between.other.table::<Note>().unwrap());
    notes.put(&note(0)).unwrap();
    let etag = Stored::etag(&notes.get(Note::key("all", 1)).unwrap().unwrap());
    let update = || drop(others.update(Note::key("all", 1), |note| note.text = 2).unwrap());
    let told = between.change(Lost::AnswerBehind(1), || notes.replace(&note(1), etag), update).unwrap();
    let refused = notes.replace(&note(3), told).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConditionNotMet, "{refused}");
    assert_eq!(others.get(Note::key("all", 1)).unwrap().unwrap().text, 2);
}

#[test]
fn rows_that_are_told_to_be_removed_are_all_gone() {
    let between = Between::new();
    let others = between.other.create_table("Plain").unwrap();
    let rows = between.tables.dynamic_table("Plain").unwrap();
    for row in ["a", "b"] {
        rows.insert(&DynamicEntity::new("p", row)).unwrap();
    }
    let remove = || rows.batch("p").delete("a").delete("b").commit();
    match between.change(Lost::RequestBehind(0), remove, || drop(others.delete("p", "a"))) {
        Ok(_) => assert!(others.get("p", "b").unwrap().is_none()),
        Err(error) => assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}"),
    }
}

/// A new number would have what is sealed in it not open any more.
#[test]
fn a_table_that_another_process_has_made_keeps_its_number() {
    let between = Between::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let look = AzureTables::connect(&connection(between.server.address)).unwrap();
    let noted = || runtime.block_on(look.client().entity("TcLayouts", "plain", "layouts")).unwrap();
    let mut before = None;
    let made = between.change(
        Lost::RequestBehind(0),
        || between.tables.create_table("Plain").map(drop),
        || {
            between.other.create_table("Plain").unwrap();
            before = noted();
        },
    );
    assert_eq!(made.unwrap_err().kind(), ErrorKind::TableAlreadyExists);
    assert!(before.is_some());
    assert_eq!(noted(), before);
    between.tables.create_table_if_missing("Plain").unwrap();
}

#[test]
fn a_record_that_was_replaced_and_again_by_another_is_not_told_to_be_refused() {
    let between = Between::new();
    let (of, others) = (RecordOwner::Store, between.other.service_records().unwrap());
    assert!(others.replace(of, "count", Expected::Absent, Some(b"1")).unwrap());
    let told = between.change(
        Lost::AnswerBehind(1),
        || {
            let records = between.tables.service_records().unwrap();
            records.replace(of, "count", Expected::Value(b"1"), Some(b"2"))
        },
        || assert!(others.replace(of, "count", Expected::Value(b"2"), Some(b"3")).unwrap()),
    );
    assert_eq!(told.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
}

#[test]
fn a_table_that_is_made_without_notes_is_the_one_that_is_opened() {
    let server = Own::start();
    let tables = AzureOptions::new().assume_layouts().connect(&connection(server.address)).unwrap();
    let made = tables.create_table("Plain").unwrap();
    let opened = tables.dynamic_table("Plain").unwrap();
    made.insert(&DynamicEntity::new("p", "a")).unwrap();
    assert!(opened.get("p", "a").unwrap().is_some());
}
