//! Work of several threads, in one transaction and in several.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use table_engine::error::ErrorKind;

use super::*;
use crate::tests_scratch::in_memory;

#[test]
fn many_threads_send_and_receive_and_each_message_is_had_once() {
    const THREADS: u64 = 8;
    const EACH: u64 = 200;
    let dir = in_memory();
    let store =
        Store::options().durability(crate::Durability::Relaxed).open(dir.path().join("store")).unwrap();
    let queue = queues(&store).open("work").unwrap();
    let had = Mutex::new(BTreeSet::new());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                for number in 0..EACH {
                    let text = format!("{}", thread * EACH + number);
                    ask(store, queue, vec![Task::Send(sending(&text))]).unwrap();
                }
            });
            let had = &had;
            scope.spawn(move || {
                while had.lock().unwrap().len() < usize::try_from(THREADS * EACH).unwrap() {
                    for delivery in receive(store, queue, 5, 1_000_000_000, 5).unwrap() {
                        assert!(had.lock().unwrap().insert(delivery.body.to_string()), "nobody else has it");
                        complete(store, queue, delivery.receipt).unwrap();
                        let again = complete(store, queue, delivery.receipt).unwrap_err();
                        assert_eq!(again.kind(), ErrorKind::StaleReceipt);
                    }
                }
            });
        }
    });
    let stats = queues(&store).stats(queue).unwrap();
    assert_eq!((stats.sent, stats.completed, stats.ready, stats.hidden), (1_600, 1_600, 0, 0));
    assert_sound(&store);
    let stats = store.stats().unwrap();
    assert_eq!(stats.queues.len(), 1);
    assert!(stats.batches >= 3_200 && stats.commits <= stats.batches, "{stats:?}");
}

#[test]
fn what_is_asked_as_one_happens_whole_or_not_at_all() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let queue = queues(&store).open("work").unwrap();
    set_clock(1_000);
    let named = || Task::Send(Sending { unique: Some(Arc::from("one")), ..sending("a") });
    // The second sees the first.
    let answers = ask(&store, queue, vec![named(), named(), Task::Send(sending("b"))]).unwrap();
    assert_eq!(
        answers,
        [
            Answer::Sent { id: 1, is_new: true },
            Answer::Sent { id: 1, is_new: false },
            Answer::Sent { id: 2, is_new: true }
        ]
    );
    let held = receive(&store, queue, 2, 100, 5).unwrap();
    let (first, second) = (held[0].receipt, held[1].receipt);
    complete(&store, queue, second).unwrap();
    let refused = ask(
        &store,
        queue,
        vec![Task::Send(sending("c")), Task::Complete(first), Task::Complete(second), Task::Pause(true)],
    );
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::StaleReceipt);
    let stats = queues(&store).stats(queue).unwrap();
    assert_eq!((stats.sent, stats.hidden, stats.completed, stats.is_paused), (2, 1, 1, false));
    // Twice in one plan is once too often.
    let twice = ask(&store, queue, vec![Task::Complete(first), Task::Complete(first)]);
    assert_eq!(twice.unwrap_err().kind(), ErrorKind::StaleReceipt);
    // What is updated and extended in one plan is completed in it.
    let tasks = vec![
        Task::Update(first, Arc::from("z"), span(5)),
        Task::Extend(first, span(500)),
        Task::Complete(first),
        named(),
    ];
    let answers = ask(&store, queue, tasks).unwrap();
    assert_eq!(answers[3], Answer::Sent { id: 3, is_new: true }, "its key is free again");
    let each = ask(&store, queue, vec![Task::CompleteEach(vec![first, second])]).unwrap();
    assert_eq!(each, [Answer::Each(vec![None, None])]);
    assert_sound(&store);
}

#[test]
fn a_queue_that_was_dropped_is_refused_and_its_records_go_in_steps() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let store = Store::options().durability(crate::Durability::Relaxed).open(&path).unwrap();
    let queue = queues(&store).open("work").unwrap();
    let other = queues(&store).open("other").unwrap();
    ask(&store, other, vec![Task::Send(sending("stays"))]).unwrap();
    for _ in 0..3 {
        let tasks = (0..900).map(|number| Task::Send(sending(&format!("{number}")))).collect();
        ask(&store, queue, tasks).unwrap();
    }
    receive(&store, queue, 500, 1_000_000, 5).unwrap();
    queues(&store).drop_queue("work").unwrap();
    for task in [Task::Send(sending("x")), Task::Pause(true), Task::Clear { below: None, most: 1 }] {
        assert_eq!(ask(&store, queue, vec![task]).unwrap_err().kind(), ErrorKind::QueueNotFound);
    }
    assert_eq!(receive(&store, queue, 1, 1, 1).unwrap_err().kind(), ErrorKind::QueueNotFound);
    assert_eq!(queues(&store).stats(queue).unwrap_err().kind(), ErrorKind::QueueNotFound);
    assert_eq!(queues(&store).peek(queue, 1).unwrap_err().kind(), ErrorKind::QueueNotFound);
    assert_eq!(queues(&store).drop_queue("work").unwrap_err().kind(), ErrorKind::QueueNotFound);
    assert_eq!(queues(&store).names().unwrap(), ["other"]);
    assert_sound(&store);
    let anew = queues(&store).open("work").unwrap();
    assert_ne!(anew, queue, "a number is never used again");
    assert_eq!(queues(&store).stats(anew).unwrap().sent, 0);
    assert_eq!(receive(&store, other, 5, 1_000, 5).unwrap().len(), 1);
    // A drop that a crash has broken off is finished by who frees space.
    ask(&store, anew, vec![Task::Send(sending("y"))]).unwrap();
    store.shared().drop_queue("work").unwrap();
    assert_sound(&store);
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.check().unwrap().messages, 2);
    store.reclaim().unwrap();
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    assert_eq!((report.queues, report.messages), (1, 1));
}
