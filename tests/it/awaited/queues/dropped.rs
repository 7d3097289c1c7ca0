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
    let mut tries = 0;
    while dropped.get() < 4 {
        tries += 1;
        assert!(tries < 100);
        numbers.blocking().send_all(&[7, 8, 9]).unwrap();
        for then_woken in [false, true] {
            // A store that is as quick as the poll has answered.
            let received = polled(numbers.receive_many(3, LONG), 1, then_woken);
            let is_gone = received.is_some();
            check(received.map(Result::unwrap));
            if is_gone {
                numbers.blocking().send_all(&[7, 8, 9]).unwrap();
            }
        }
        check(polled(numbers.receive_many(3, LONG), 100, false).map(Result::unwrap));
    }
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
    // Each has sent both or none, in order, and none that was not polled.
    let (last, pairs) = sent.split_last().unwrap();
    assert_eq!((*last, pairs.len() % 2), (1_000, 0));
    assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]));
    assert!(pairs.is_sorted() && !pairs.contains(&1));
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
