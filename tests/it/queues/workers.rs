//! Workers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::Tables;
use table_core::queue::{Queue, Received};

use super::{Employee, Hire, LONG, employee, hire, hires};

/// Waits until this is so, for a minute at most.
fn until(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn opened(scratch: &Scratch) -> Tables {
    scratch.tables_with(&relaxed())
}

#[test]
fn workers_deal_with_each_message_once_and_several_at_a_time() {
    let scratch = Scratch::new();
    let store = opened(&scratch);
    let hires = hires(&store);
    for some in (0..400).map(hire).collect::<Vec<_>>().chunks(100) {
        hires.send_all(some).unwrap();
    }
    let done: Arc<Mutex<BTreeMap<u32, u32>>> = Arc::default();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let handle = {
        let (done, now, most) = (done.clone(), now.clone(), most.clone());
        move |hire: &Received<Hire>| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(300));
            *done.lock().unwrap().entry(hire.id).or_default() += 1;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<(), String>(())
        }
    };
    let workers: Vec<_> = (0..2).map(|_| hires.worker().threads(4).run(handle.clone()).unwrap()).collect();
    until("all are done", || hires.stats().unwrap().completed == 400);
    workers.into_iter().for_each(table_core::queue::Worker::stop);
    assert!(done.lock().unwrap().values().all(|times| *times == 1));
    assert!(most.load(Ordering::SeqCst) > 2);
    assert_eq!(done.lock().unwrap().len(), 400);
    assert_sound(&store);
}

#[test]
fn errors_and_panics_give_the_message_back_with_a_growing_delay_until_it_is_set_aside() {
    let scratch = Scratch::new();
    let store = opened(&scratch);
    let hires = hires(&store).max_dequeues(3);
    hires.send_all(&[hire(1), hire(2)]).unwrap();
    let delays: Arc<Mutex<Vec<u32>>> = Arc::default();
    let asked = delays.clone();
    let worker = hires
        .worker()
        .delays(move |count| {
            asked.lock().unwrap().push(count);
            Duration::from_millis(u64::from(count))
        })
        .run(|hire| match hire.id {
            1 => Err(format!("no desk, {} times", hire.count())),
            _ => panic!("no chair"),
        })
        .unwrap();
    until("both are set aside", || hires.stats().unwrap().poisoned == 2);
    assert!(worker.failure().is_none(), "the store is well");
    worker.stop();
    let mut delays = delays.lock().unwrap().clone();
    delays.sort_unstable();
    assert_eq!(delays, [1, 1, 2, 2, 3, 3]);
    let poison: Queue<Hire> = store.queue("hires-poison").unwrap();
    let mut errors: Vec<_> = poison
        .receive_many(5, LONG)
        .unwrap()
        .iter()
        .map(|aside| (aside.id, aside.last_error().unwrap().to_owned()))
        .collect();
    errors.sort();
    assert_eq!(errors, [(1, "no desk, 3 times".to_owned()), (2, "panicked: no chair".to_owned())]);
    assert_sound(&store);
}

#[test]
fn a_message_stays_hidden_as_long_as_it_is_dealt_with() {
    let scratch = Scratch::new();
    let store = opened(&scratch);
    let hires = hires(&store);
    hires.send_all(&[hire(1), hire(2)]).unwrap();
    let begun = Arc::new(AtomicU32::new(0));
    let count = begun.clone();
    // Each takes far longer than the message is hidden at a time; the second waits at the desk meanwhile.
    let worker = hires
        .worker()
        .visibility(Duration::from_millis(1_200))
        .run(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2_500));
            Ok::<(), String>(())
        })
        .unwrap();
    until("it has begun", || begun.load(Ordering::SeqCst) == 1);
    let until_done = Instant::now();
    while hires.stats().unwrap().completed < 2 && until_done.elapsed() < Duration::from_secs(30) {
        assert!(hires.receive(LONG).unwrap().is_none(), "nobody else receives it");
        thread::sleep(Duration::from_millis(5));
    }
    worker.stop();
    assert_eq!((begun.load(Ordering::SeqCst), hires.stats().unwrap().completed), (2, 2));
}

#[test]
fn stopping_waits_for_what_was_begun_and_gives_the_rest_back_untried() {
    let scratch = Scratch::new();
    let store = opened(&scratch);
    let hires = hires(&store);
    hires.send_all(&[hire(1), hire(2), hire(3), hire(4)]).unwrap();
    let (begun, done) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let counts = (begun.clone(), done.clone());
    let worker = hires
        .worker()
        .prefetch(3)
        .visibility(LONG)
        .run(move |_| {
            counts.0.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1_500));
            counts.1.fetch_add(1, Ordering::SeqCst);
            Ok::<(), String>(())
        })
        .unwrap();
    until("all are received, and one is begun", || {
        begun.load(Ordering::SeqCst) > 0 && hires.stats().unwrap().hidden == 4
    });
    worker.stop();
    let (done, stats) = (done.load(Ordering::SeqCst), hires.stats().unwrap());
    assert!(done >= 1, "what was begun is done");
    assert_eq!((stats.completed, stats.hidden), (u64::from(done), 0));
    let rest = hires.receive_many(10, LONG).unwrap();
    assert_eq!(rest.len(), 4 - usize::try_from(done).unwrap());
    assert!(rest.iter().all(|hire| hire.count() == 1), "nobody had tried them");
}

#[test]
fn a_handler_that_completes_its_message_in_a_transaction_is_left_alone() {
    let scratch = Scratch::new();
    let store = opened(&scratch);
    let hires = hires(&store);
    let staff = store.table::<Employee>().unwrap();
    hires.send_all(&(0..50).map(hire).collect::<Vec<_>>()).unwrap();
    let table = store.table::<Employee>().unwrap();
    let worker = hires
        .worker()
        .threads(3)
        .run(move |hire| {
            let partition = Employee::partition("Sales");
            table.egt(partition).insert(&employee(hire.id)).complete(hire).commit().map(drop)
        })
        .unwrap();
    until("all are hired", || hires.stats().unwrap().completed == 50);
    assert!(worker.failure().is_none());
    drop(worker);
    assert_eq!(staff.rows().department("Sales").into_iter().count(), 50);
    assert_sound(&store);
}

#[test]
fn a_worker_lives_through_a_pause_and_a_queue_that_is_dropped_and_says_what_is_wrong() {
    let scratch = Scratch::new();
    let store = opened(&scratch);
    let hires = hires(&store);
    hires.pause().unwrap();
    hires.send(&hire(1)).unwrap();
    let worker = hires.worker().run(|_| Ok::<(), String>(())).unwrap();
    thread::sleep(Duration::from_millis(50));
    assert_eq!(hires.stats().unwrap().completed, 0);
    hires.resume().unwrap();
    until("it goes on", || hires.stats().unwrap().completed == 1);
    store.drop_queue("hires").unwrap();
    until("it says so", || worker.failure().is_some());
    let failure = worker.failure().unwrap();
    assert_eq!(failure.kind, table_core::ErrorKind::QueueNotFound);
    assert!(failure.in_a_row >= 1 && failure.what.contains("`hires`"), "{failure:?}");
    worker.stop();
}

integration_tests::on_executors_with_queues! {
    workers_deal_with_each_message_once_and_several_at_a_time
    errors_and_panics_give_the_message_back_with_a_growing_delay_until_it_is_set_aside
    a_message_stays_hidden_as_long_as_it_is_dealt_with
    stopping_waits_for_what_was_begun_and_gives_the_rest_back_untried
    a_handler_that_completes_its_message_in_a_transaction_is_left_alone
    a_worker_lives_through_a_pause_and_a_queue_that_is_dropped_and_says_what_is_wrong
}
