//! Plans that are submitted: order, bound, panics, closing, and who may wait for whom.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use table_engine::error::{ErrorKind, Result};
use table_engine::executor::Backend;
use table_engine::plan::{Committed, Plan};
use table_engine::sealing::SealedAt;

use super::*;
use crate::write::group::PANICS;

const LONG: Duration = Duration::from_secs(60);

fn number(table: &DynamicTable) -> i32 {
    table.get("p", "number").unwrap().unwrap().get("Number").and_then(table_engine::Value::as_i32).unwrap()
}

fn numbered(number: i32) -> DynamicEntity {
    DynamicEntity::new("p", "number").with("Number", number)
}

fn insert_named(table: &DynamicTable, row: &str) -> table_engine::Batch {
    table.batch("p").insert(entity("p", row))
}

type Answers = (Sender<Result<Committed>>, Receiver<Result<Committed>>);

fn answers() -> Answers {
    mpsc::channel()
}

/// A callback that hands on what it is called with.
fn send(to: &Sender<Result<Committed>>) -> impl FnOnce(Result<Committed>) + Send + 'static {
    let to = to.clone();
    move |answer| to.send(answer).unwrap()
}

/// Waits until the condition holds, which it does soon.
fn until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "it never came to be so");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_one_thread_submits_is_carried_out_in_its_order_and_answered_in_it() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    table.insert(&numbered(0)).unwrap();
    let (done, answered) = mpsc::channel();
    for number in 1..=1_000 {
        let done = done.clone();
        let batch = table.batch("p").merge(numbered(number), table_engine::IfMatch::Any);
        batch.submit(move |answer| done.send((number, answer.unwrap().etag(0))).unwrap()).unwrap();
    }
    drop(done);
    let all: Vec<_> = answered.into_iter().collect();
    assert_eq!(all.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (1..=1_000).collect::<Vec<_>>());
    assert!(all.windows(2).all(|pair| pair[0].1.timestamp() < pair[1].1.timestamp()));
    assert_eq!(number(&table), 1_000);
    assert_eq!(table.get("p", "number").unwrap().unwrap().etag(), all.last().map(|(_, etag)| *etag));
}

#[test]
fn many_that_wait_share_transactions() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let before = store.stats().unwrap().commits;
    let (done, answered) = answers();
    // The lead is taken, so that all wait.
    let lead = store.shared().writer.lead().unwrap();
    for row in 0..1_000 {
        insert_named(&table, &row.to_string()).submit(send(&done)).unwrap();
    }
    drop((lead, done));
    assert_eq!(answered.into_iter().flatten().count(), 1_000);
    // The first group is what had come when the thread asked for the lead.
    assert!(store.stats().unwrap().commits - before <= 5);
}

#[test]
fn a_refused_batch_is_answered_with_its_error_and_harms_no_other() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let lead = store.shared().writer.lead().unwrap();
    insert_named(&table, "a").submit(send(&done)).unwrap();
    insert_named(&table, "b").insert(entity("p", "a")).submit(send(&done)).unwrap();
    insert_named(&table, "c").submit(send(&done)).unwrap();
    drop((lead, done));
    let all: Vec<_> = answered.into_iter().collect();
    let refused = all[1].as_ref().unwrap_err();
    assert_eq!((refused.kind(), refused.index()), (ErrorKind::EntityAlreadyExists, Some(1)));
    assert_eq!(
        refused.to_string(),
        insert_named(&table, "b").insert(entity("p", "a")).commit().unwrap_err().to_string()
    );
    assert!(all[0].is_ok() && all[2].is_ok());
    assert_eq!(rows(&store), ["Ann p a", "Ann p c"]);
}

#[test]
fn what_is_wrong_with_a_batch_is_said_at_once_and_nothing_is_called() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let never = |_: Result<Committed>| panic!("the batch was not taken");
    assert_eq!(table.batch("p").submit(never).unwrap_err().kind(), ErrorKind::BatchLength);
    let error = insert_named(&table, "a").insert(entity("q", "b")).submit(never).unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::DifferentPartitions, Some(1)));
    let error = insert_named(&table, "a\u{7}").submit(never).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert_eq!(error.table_name(), Some("Ann"));
    drop(store);
    drop(table);
}

#[test]
fn no_more_wait_than_the_option_says() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::options().submit_limit(10).open(dir.path().join("store")).unwrap();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let lead = store.shared().writer.lead().unwrap();
    for row in 0..10 {
        insert_named(&table, &row.to_string()).submit(send(&done)).unwrap();
    }
    let never = |_: Result<Committed>| panic!("the batch was not taken");
    let error = insert_named(&table, "more").submit(never).unwrap_err();
    assert_eq!((error.kind(), error.code(), error.status()), (ErrorKind::TooManyWrites, "ServerBusy", 503));
    assert!(error.to_string().starts_with("cannot commit a batch to table `Ann`"), "{error}");
    drop(lead);
    for _ in 0..10 {
        answered.recv_timeout(LONG).unwrap().unwrap();
    }
    insert_named(&table, "more").submit(send(&done)).unwrap();
    answered.recv_timeout(LONG).unwrap().unwrap();
    assert_eq!(store.check().unwrap().rows, 11);
}

#[test]
fn no_more_wait_than_memory_is_given_for_them() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let lead = store.shared().writer.lead().unwrap();
    let large = |row: usize| {
        let fill = |batch: table_engine::Batch, at: usize| {
            let entity = DynamicEntity::new("p", format!("{row:03}_{at}"));
            batch.insert(
                (0..16)
                    .fold(entity, |entity, at| entity.with(format!("Text{at}").as_str(), "x".repeat(30_000))),
            )
        };
        (0..4).fold(table.batch("p"), fill)
    };
    let taken = (0..100).find(|row| large(*row).submit(send(&done)).is_err()).unwrap();
    assert!((10..60).contains(&taken), "{taken}");
    drop((lead, done));
    assert_eq!(answered.into_iter().flatten().count(), taken);
}

#[test]
fn a_callback_that_panics_harms_no_other() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let lead = store.shared().writer.lead().unwrap();
    insert_named(&table, "a").submit(send(&done)).unwrap();
    insert_named(&table, "b").submit(|_| panic!("as the test wants it")).unwrap();
    insert_named(&table, "c").submit(send(&done)).unwrap();
    drop((lead, done));
    assert_eq!(answered.into_iter().flatten().count(), 2);
    store.clone().close().unwrap();
    insert_named(&table, "d").commit().unwrap();
    assert_eq!(rows(&store), ["Ann p a", "Ann p b", "Ann p c", "Ann p d"]);
}

#[test]
fn a_transaction_that_panics_is_answered_and_the_next_goes_on() {
    let (_dir, store) = store();
    let (table, panics) = (store.create_table("Ann").unwrap(), store.create_table(PANICS).unwrap());
    let (done, answered) = answers();
    let lead = store.shared().writer.lead().unwrap();
    insert_named(&table, "a").submit(send(&done)).unwrap();
    insert_named(&panics, "b").submit(send(&done)).unwrap();
    let blocking = thread::spawn({
        let table = table.clone();
        move || insert_named(&table, "with them").commit()
    });
    until(|| store.shared().writer.waiting() >= 1);
    drop(lead);
    for _ in 0..2 {
        let error = answered.recv_timeout(LONG).unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriterPanicked);
    }
    // It was in the group or behind it.
    let blocked = blocking.join().unwrap().map_err(|error| error.kind());
    assert!(matches!(blocked, Ok(_) | Err(ErrorKind::WriterPanicked)));
    insert_named(&table, "c").submit(send(&done)).unwrap();
    answered.recv_timeout(LONG).unwrap().unwrap();
    assert!(table.get("p", "a").unwrap().is_none() && table.get("p", "c").unwrap().is_some());
}

#[test]
fn a_callback_may_read_write_and_submit() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let (then, last) = (table.clone(), send(&done));
    insert_named(&table, "a")
        .submit(move |answer| {
            answer.unwrap();
            assert!(then.get("p", "a").unwrap().is_some());
            insert_named(&then, "b").commit().unwrap();
            insert_named(&then, "c").submit(last).unwrap();
        })
        .unwrap();
    answered.recv_timeout(LONG).unwrap().unwrap();
    assert_eq!(rows(&store), ["Ann p a", "Ann p b", "Ann p c"]);
}

#[test]
fn closing_waits_for_answers_and_so_does_the_drop_of_the_last_handle() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Store::open(dir.path().join("store")).unwrap();
    let store = open();
    let table = store.create_table("Ann").unwrap();
    for round in 0..20 {
        let (done, answered) = mpsc::channel();
        for row in 0..50 {
            let done = done.clone();
            let batch = insert_named(&table, &format!("{round}_{row}"));
            batch
                .submit(move |answer| {
                    // Closing waits for callbacks, not for commits alone.
                    thread::sleep(Duration::from_micros(100));
                    done.send(answer).unwrap();
                })
                .unwrap();
        }
        store.clone().close().unwrap();
        assert_eq!(answered.try_iter().flatten().count(), 50);
    }
    let (done, answered) = answers();
    for row in 0..50 {
        insert_named(&table, &format!("last_{row}")).submit(send(&done)).unwrap();
    }
    drop((store, table));
    assert_eq!(answered.try_iter().flatten().count(), 50);
    // Nothing of it is left open.
    let store = open();
    assert_eq!(store.check().unwrap().rows, 21 * 50);
}

#[test]
fn a_callback_that_closes_or_has_the_last_handle_waits_for_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = mpsc::channel();
    let lead = store.shared().writer.lead().unwrap();
    let (own, to) = ((store.clone(), table.clone()), done.clone());
    insert_named(&table, "a")
        .submit(move |answer| {
            let error = own.0.clone().close().unwrap_err();
            to.send((answer.is_ok(), error.kind())).unwrap();
            // The others are dropped by now.
            until(|| Arc::strong_count(own.0.shared()) <= 4);
            drop(own);
        })
        .unwrap();
    insert_named(&table, "b")
        .submit(move |answer| done.send((answer.is_ok(), ErrorKind::Io)).unwrap())
        .unwrap();
    drop(lead);
    drop((table, store));
    assert_eq!(answered.recv_timeout(LONG).unwrap(), (true, ErrorKind::StoreInUse));
    assert_eq!(answered.recv_timeout(LONG).unwrap(), (true, ErrorKind::Io));
    assert_eq!(Store::open(dir.path().join("store")).unwrap().check().unwrap().rows, 2);
}

#[test]
fn the_thread_goes_when_nothing_comes_and_another_is_made() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let submissions = &store.shared().writer.submissions;
    assert!(!submissions.has_thread());
    for row in ["a", "b"] {
        let (done, answered) = answers();
        insert_named(&table, row).submit(send(&done)).unwrap();
        answered.recv_timeout(LONG).unwrap().unwrap();
        assert!(submissions.has_thread());
        until(|| !submissions.has_thread());
    }
}

#[test]
fn a_store_that_has_stopped_answers_what_waits() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let lead = store.shared().writer.lead().unwrap();
    for row in ["a", "b"] {
        insert_named(&table, row).submit(send(&done)).unwrap();
    }
    store.shared().writer.stop();
    drop(lead);
    for _ in 0..2 {
        assert!(answered.recv_timeout(LONG).is_ok());
    }
    let never = |_: Result<Committed>| panic!("the batch was not taken");
    assert_eq!(insert_named(&table, "c").submit(never).unwrap_err().kind(), ErrorKind::OutcomeUnknown);
}

#[test]
fn plans_of_others_wait_for_the_change_that_has_the_turn() {
    let (_dir, store) = store();
    let table = store.create_table("Ann").unwrap();
    let (done, answered) = answers();
    let turns = &store.shared().writer.turns;
    thread::scope(|scope| {
        let turn = turns.hold_for_test();
        // A plan of another thread's, and so of another change.
        scope.spawn(|| insert_named(&table, "other").submit(send(&done)).unwrap()).join().unwrap();
        insert_named(&table, "own").submit(send(&done)).unwrap();
        answered.recv_timeout(LONG).unwrap().unwrap();
        assert!(table.get("p", "own").unwrap().is_some() && table.get("p", "other").unwrap().is_none());
        drop(turn);
        answered.recv_timeout(LONG).unwrap().unwrap();
    });
    assert_eq!(rows(&store), ["Ann p other", "Ann p own"]);
}

#[test]
fn a_plan_of_several_tables_is_submitted_as_one() {
    let (_dir, store) = store();
    let (a, b) = (store.create_table("Ann").unwrap(), store.create_table("Bob").unwrap());
    let (done, answered) = mpsc::channel();
    let submit = |groups: Vec<Group<'_>>| {
        let plan = Plan { groups: groups.into_iter().collect(), ..Plan::default() };
        let done = done.clone();
        let backend: &dyn Backend = &**store.shared();
        let called = Box::new(move |answer: Result<Committed, Refused>| done.send(answer).unwrap());
        backend.submit(&[a.exec(), b.exec()], &plan, &SealedAt::NOTHING, called)
    };
    submit(vec![group(0, "p", vec![insert("x")]), group(1, "q", vec![insert("y")])]).unwrap();
    answered.recv_timeout(LONG).unwrap().unwrap();
    submit(vec![group(0, "p", vec![insert("z")]), group(1, "q", vec![insert("y")])]).unwrap();
    let refused = answered.recv_timeout(LONG).unwrap().unwrap_err();
    assert_eq!((refused.error.kind(), refused.group), (ErrorKind::EntityAlreadyExists, 1));
    assert_eq!(rows(&store), ["Ann p x", "Bob q y"]);
}
