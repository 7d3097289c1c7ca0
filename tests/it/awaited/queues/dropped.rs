//! Futures that are dropped: no message is lost, doubled or held.

use std::cell::Cell;

use integration_tests::Scratch;
use table_core::asynchronous::{AsyncReceived, block_on};

use super::{LONG, SHORT, numbers, settled};
use crate::awaited::steps::{dropped_everywhere, polled};

#[test]
fn what_a_dropped_receive_would_have_got_is_there_at_once_and_uncounted() {
    let scratch = Scratch::new();
    let store = scratch.store();
    // Two that are counted would set it aside.
    let numbers = numbers(&store).max_dequeues(2);
    let dropped = Cell::new(0);
    let check = |received: Option<Vec<AsyncReceived<u32>>>| {
        let Some(received) = received else {
            dropped.set(dropped.get() + 1);
            let stats = settled(&numbers, |stats| stats.ready == 3);
            assert_eq!((stats.hidden, stats.poisoned), (0, 0));
            return;
        };
        assert_eq!(
            received.iter().map(|number| (number.count(), ***number)).collect::<Vec<_>>(),
            [(1, 7), (1, 8), (1, 9)]
        );
        for number in &received {
            number.blocking().delete().unwrap();
        }
    };
    for _ in 0..2 {
        numbers.blocking().send_all(&[7, 8, 9]).unwrap();
        assert!(polled(numbers.receive_many(3, LONG), 1, false).is_none(), "it waits for the store");
        check(None);
        assert!(polled(numbers.receive_many(3, LONG), 1, true).is_none(), "it was not polled again");
        check(None);
        check(polled(numbers.receive_many(3, LONG), 100, false).map(Result::unwrap));
    }
    assert_eq!(dropped.get(), 4);
}

#[test]
fn a_waiting_receive_may_be_dropped_at_any_poll() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    for times in 0..8 {
        for then_woken in [false, true] {
            // It is woken by the clock: nothing is there.
            assert!(polled(numbers.receive(LONG), times, then_woken).is_none());
        }
    }
    numbers.blocking().send(&1).unwrap();
    let received = block_on(numbers.receive(LONG)).unwrap();
    assert_eq!((received.count(), **received), (1, 1));
}

#[test]
fn a_dropped_send_sends_the_message_once_or_not_at_all() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    let tried = Cell::new(0);
    dropped_everywhere(
        || {
            tried.set(tried.get() + 1);
            let (numbers, number) = (numbers.clone(), tried.get());
            async move { numbers.send_all(&[number, number]).await }
        },
        |_| {},
    );
    // What is asked later is carried out later.
    let last = block_on(numbers.send(&1_000)).unwrap();
    let sent: Vec<_> =
        numbers.blocking().receive_many(1_000, LONG).unwrap().iter().map(|number| **number).collect();
    assert_eq!(last, sent.len() as u64);
    // Those that were not polled sent nothing, and all others both.
    assert_eq!(sent, [2, 2, 3, 3, 5, 5, 6, 6, 1_000]);
}

#[test]
fn what_is_done_with_a_message_is_done_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    let held = || {
        numbers.blocking().clear().unwrap();
        numbers.blocking().send_all(&[1, 2]).unwrap();
        block_on(numbers.receive(LONG)).unwrap()
    };
    dropped_everywhere(
        || {
            let received = held();
            async move { received.delete().await }
        },
        |_| {
            let stats = block_on(numbers.send(&3)).and_then(|_| numbers.blocking().stats()).unwrap();
            assert!([2, 3].contains(&(stats.ready + stats.hidden)), "{stats:?}");
        },
    );
    dropped_everywhere(
        || {
            let received = held();
            async move { received.extend(SHORT).await }
        },
        |_| {},
    );
    dropped_everywhere(
        || {
            let received = held();
            async move { received.fail("no room", SHORT).await }
        },
        |_| drop(settled(&numbers, |stats| stats.ready + stats.hidden == 2)),
    );
    dropped_everywhere(
        || {
            let mut received = held();
            async move { received.update(7, LONG).await }
        },
        |_| {},
    );
    // The next message comes back if the step to it was dropped.
    dropped_everywhere(
        || {
            let received = held();
            async move { received.complete_and_receive(LONG).await }
        },
        |next| match next {
            Some(next) => assert_eq!(**next.unwrap().unwrap(), 2),
            None => {
                let stats = settled(&numbers, |stats| stats.ready == 1);
                assert!(stats.hidden <= 1);
            }
        },
    );
}
