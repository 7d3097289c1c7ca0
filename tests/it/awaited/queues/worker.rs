//! Workers.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use integration_tests::Scratch;
use table_core::ErrorKind;
use table_core::asynchronous::{AsyncQueue, block_on};

use super::{LONG, SHORT, numbers, settled, sleep};
use crate::awaited::steps::polled;

/// Waits until the queue has completed so many messages.
async fn completed(numbers: &AsyncQueue<u32>, many: u64) {
    while numbers.stats().await.unwrap().completed < many {
        yield_now().await;
    }
}

/// Lets others be polled.
async fn yield_now() {
    let mut is_first = true;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::take(&mut is_first) { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
}

#[test]
fn a_worker_deals_with_many_at_a_time_and_ends_what_it_has_begun() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    numbers.blocking().send_all(&(1..=100).collect::<Vec<_>>()).unwrap();
    let (sum, at_once, most) = (AtomicU32::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    block_on(numbers.worker().concurrency(8).run_until(completed(&numbers, 100), async |number| {
        most.fetch_max(at_once.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        sleep(&store, Duration::from_millis(5)).await?;
        at_once.fetch_sub(1, Ordering::Relaxed);
        sum.fetch_add(***number, Ordering::Relaxed);
        Ok::<_, table_core::Error>(())
    }))
    .unwrap();
    assert_eq!(sum.load(Ordering::Relaxed), 5_050);
    let most = most.load(Ordering::Relaxed);
    assert!((2..=8).contains(&most), "{most}");
    assert_eq!(numbers.blocking().stats().unwrap().hidden, 0);
}

#[test]
fn what_a_handler_fails_with_or_panics_stays_with_the_message() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    numbers.blocking().send_all(&[1, 2, 3]).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let worker = numbers.worker().delays(|_| Duration::ZERO);
    block_on(worker.run_until(completed(&numbers, 3), async |number| {
        let error = number.last_error().map(str::to_owned);
        seen.lock().unwrap().push((***number, number.count(), error));
        match (***number, number.count()) {
            (1, 1) => Err("no room"),
            (2, 1) => panic!("as the test wants it"),
            _ => Ok(()),
        }
    }))
    .unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    let error = |text: &str| Some(text.to_owned());
    assert_eq!(
        seen,
        [
            (1, 1, None),
            (1, 2, error("no room")),
            (2, 1, None),
            (2, 2, error("panicked: as the test wants it")),
            (3, 1, None)
        ]
    );
}

#[test]
fn a_message_is_kept_hidden_while_it_is_dealt_with() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    numbers.blocking().send(&1).unwrap();
    let begun = AtomicUsize::new(0);
    let worker = numbers.worker().concurrency(2).visibility(Duration::from_millis(150));
    block_on(worker.run_until(completed(&numbers, 1), async |number| {
        begun.fetch_add(1, Ordering::Relaxed);
        sleep(&store, Duration::from_millis(600)).await?;
        assert_eq!(number.count(), 1);
        Ok::<_, table_core::Error>(())
    }))
    .unwrap();
    assert_eq!(begun.load(Ordering::Relaxed), 1);
}

#[test]
fn a_worker_that_is_dropped_leaves_its_messages_and_one_that_can_not_begin_says_so() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store).max_dequeues(100);
    numbers.blocking().send_all(&[1, 2]).unwrap();
    let handle = async |_| {
        sleep(&store, LONG).await?;
        Ok::<_, table_core::Error>(())
    };
    for times in 0..12 {
        let worker = numbers.worker().concurrency(2).visibility(SHORT);
        assert!(polled(worker.run(&handle), times, true).is_none());
        let stats = settled(&numbers, |stats| stats.ready == 2);
        assert_eq!((stats.hidden, stats.completed), (0, 0));
    }
    let error = block_on(numbers.worker().visibility(Duration::ZERO).run(&handle)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
}

#[test]
fn a_worker_goes_on_behind_a_message_of_another_type() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    let words: AsyncQueue<String> = store.queue("numbers").unwrap().to_async();
    words.blocking().send(&"one".to_owned()).unwrap();
    numbers.blocking().send(&2).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let worker = numbers.worker().on_error({
        let told = told.clone();
        move |error| told.lock().unwrap().push(error.kind())
    });
    block_on(worker.run_until(completed(&numbers, 1), async |_| Ok::<_, String>(()))).unwrap();
    assert_eq!(*told.lock().unwrap(), [ErrorKind::SchemaMismatch]);
}
