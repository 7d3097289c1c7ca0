//! Sending, waiting and receiving.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use integration_tests::{MapStore, Scratch};
use table_core::asynchronous::{AsyncMessage, AsyncQueue, block_on};
use table_core::{Entity, ErrorKind, Store};

use super::{LONG, SHORT, numbers, sleep};
use crate::awaited::steps::is_send;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

#[test]
fn every_call_does_what_the_one_that_blocks_does() {
    let scratch = Scratch::new();
    let store = scratch.store().to_async();
    block_on(async {
        let numbers: AsyncQueue<u32> = store.queue("numbers").await?;
        assert_eq!((numbers.name(), store.queues().await?), ("numbers", vec!["numbers".to_owned()]));
        assert_eq!(numbers.send(&1).await?, 1);
        assert_eq!(numbers.send_all(&[2, 3]).await?, [2, 3]);
        assert!(numbers.send_all(&[]).await?.is_empty());
        assert!(numbers.send_unique("four", &4).await?);
        assert!(!numbers.send_unique("four", &4).await?);
        assert_eq!(numbers.send_after(&5, LONG).await?, 5);
        assert_eq!(numbers.message(&6).time_to_live(LONG).send().await?, (6, true));
        let peeked: Vec<u32> = numbers.peek(10).await?.iter().map(|peeked| **peeked).collect();
        assert_eq!(peeked, [1, 2, 3, 4, 6]);

        let mut first = numbers.try_receive(LONG).await?.unwrap();
        first.update(10, LONG).await?;
        assert_eq!((**first, first.count()), (10, 1));
        let until = first.hidden_until();
        first.extend(LONG * 2).await?;
        assert!(first.hidden_until() > until);
        first.fail("no room", Duration::ZERO).await?;
        assert_eq!(first.delete().await.unwrap_err().kind(), ErrorKind::StaleReceipt);

        let again = numbers.receive_many(2, LONG).await?;
        assert_eq!(again.iter().map(|again| ***again).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(numbers.delete_all(&again).await?, 2);
        let four = numbers.receive(LONG).await?;
        let six = four.complete_and_receive(LONG).await?.unwrap();
        assert_eq!(**six, 6);
        six.release(Duration::ZERO).await?;
        let ten = numbers.receive(LONG).await?;
        assert_eq!((**ten, ten.last_error(), ten.count()), (10, Some("no room"), 2));
        assert_eq!(ten.into_inner(), 10);

        numbers.pause().await?;
        assert!(numbers.try_receive(LONG).await?.is_none());
        numbers.resume().await?;
        assert_eq!(**numbers.receive(LONG).await?, 6);
        assert_eq!(numbers.clear().await?, 3);
        let stats = numbers.stats().await?;
        assert_eq!((stats.ready, stats.hidden, stats.sent, stats.completed), (0, 0, 6, 3));
        assert!(numbers.wait(SHORT, LONG).await?.is_none());
        assert!(numbers.wait_for(0, LONG, LONG).await?.is_empty());
        assert!(numbers.receive_many(0, LONG).await?.is_empty());
        store.drop_queue("numbers").await?;
        assert_eq!(numbers.receive(LONG).await.unwrap_err().kind(), ErrorKind::QueueNotFound);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn what_is_refused_is_refused_by_the_errors_of_the_calls_that_block() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    let words: AsyncQueue<String> = store.queue("numbers").unwrap().to_async();
    block_on(async {
        let error = numbers.receive(Duration::ZERO).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
        assert!(error.to_string().starts_with("cannot receive from queue `numbers`"), "{error}");
        let many = numbers.try_receive_many(1_001, LONG).await.unwrap_err();
        assert_eq!(many.kind(), ErrorKind::ValueOutOfRange);
        let late = numbers.message(&1).after(LONG).time_to_live(SHORT).send().await.unwrap_err();
        assert_eq!(late.kind(), ErrorKind::ValueOutOfRange);
        let long = numbers.send_unique(&"k".repeat(513), &1).await.unwrap_err();
        assert_eq!(long.kind(), ErrorKind::KeyTooLong);
        let name = store.to_async().queue::<u32>("No").await.unwrap_err();
        assert_eq!(name.kind(), ErrorKind::InvalidQueueName);
        let map = MapStore::new();
        let unable = map.tables().to_async().queue::<u32>("numbers").await.unwrap_err();
        assert_eq!(unable.kind(), ErrorKind::Unsupported);
        assert_eq!(numbers.stats().await.unwrap().sent, 0);
        // What is not of the type is given back, with the reason.
        words.send(&"one".to_owned()).await.unwrap();
        let error = numbers.receive(LONG).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        let word = words.receive(LONG).await.unwrap();
        assert_eq!((&***word, word.count()), ("one", 2));
        assert!(word.last_error().unwrap().contains("u32"));
        let large = words.send(&"x".repeat(300_000)).await.unwrap_err();
        assert_eq!(large.kind(), ErrorKind::MessageTooLarge);
    });
}

#[test]
fn transactions_send_and_complete_what_is_awaited() {
    let scratch = Scratch::new();
    let store = scratch.store().to_async();
    block_on(async {
        let numbers: AsyncQueue<u32> = store.queue("numbers").await?;
        let staff = store.table::<Employee>().await?;
        let jun = Employee { department: "Sales".into(), id: 7 };
        staff.egt(Employee::partition("Sales")).insert(&jun).send(&numbers, &7).commit().await?;
        let message = numbers.message(&8).unique("eight").into_message();
        store.transaction().send_message(message).commit().await?;
        let received = numbers.receive_many(2, LONG).await?;
        let complete = || {
            let egt = staff.egt(Employee::partition("Sales")).put(&jun);
            received.iter().fold(egt, |egt, number| egt.complete(number)).commit()
        };
        complete().await?;
        assert_eq!(complete().await.unwrap_err().kind(), ErrorKind::StaleReceipt);
        assert_eq!(numbers.stats().await?.completed, 2);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_message_of_this_process_wakes_what_waits() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    let mut latencies = Vec::new();
    for number in 0..7 {
        let sender = thread::spawn({
            let numbers = numbers.clone();
            // By then it looks every tenth of a second.
            move || {
                thread::sleep(Duration::from_millis(300));
                let sent = Instant::now();
                if number % 2 == 0 {
                    numbers.blocking().send(&number).unwrap();
                } else {
                    block_on(numbers.send(&number)).unwrap();
                }
                sent
            }
        });
        let received = block_on(numbers.receive(LONG)).unwrap();
        assert_eq!(**received, number);
        latencies.push(sender.join().unwrap().elapsed());
    }
    latencies.sort();
    assert!(latencies[3] < Duration::from_millis(50), "{latencies:?}");
}

#[test]
fn what_shows_later_and_what_another_handle_sends_is_received() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    block_on(async {
        let begun = Instant::now();
        numbers.send_after(&1, Duration::from_millis(80)).await?;
        let one = numbers.receive(Duration::from_millis(80)).await?;
        assert!(begun.elapsed() >= Duration::from_millis(80));
        // Dropped, it shows again when its time is over.
        drop(one);
        let one = numbers.receive(LONG).await?;
        assert_eq!((**one, one.count()), (1, 2));
        assert!(begun.elapsed() >= Duration::from_millis(160));
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

/// How many threads the process has.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_tasks_wait_and_receive_without_a_thread_each() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = Arc::new(numbers(&store));
    let before = threads();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let all = runtime.block_on(async {
        let receive = |numbers: Arc<AsyncQueue<u32>>| async move {
            let received = numbers.receive(LONG).await.unwrap();
            received.delete().await.unwrap();
            **received
        };
        let tasks: Vec<_> = (0..1_000).map(|_| tokio::spawn(receive(numbers.clone()))).collect();
        sleep(&store, Duration::from_millis(300)).await.unwrap();
        // Tests beside this one have some.
        assert!(threads() < before + 100, "{} and {before}", threads());
        let sent: Vec<u32> = (0..1_000).collect();
        numbers.send_all(&sent).await.unwrap();
        let mut all = Vec::new();
        for task in tasks {
            all.push(task.await.unwrap());
        }
        all
    });
    let mut all = all;
    all.sort_unstable();
    assert!(all.into_iter().eq(0..1_000));
    assert_eq!(numbers.blocking().stats().unwrap().completed, 1_000);
}

#[test]
fn a_stream_gives_messages_as_they_come() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let numbers = numbers(&store);
    let sender = thread::spawn({
        let numbers = numbers.clone();
        move || {
            for number in 0..20 {
                thread::sleep(Duration::from_millis(3));
                numbers.blocking().send(&number).unwrap();
            }
        }
    });
    let mut messages = numbers.stream(LONG);
    for number in 0..20 {
        let message = block_on(messages.next()).unwrap();
        assert_eq!(**message, number);
        message.blocking().delete().unwrap();
    }
    sender.join().unwrap();
    // A stream that is dropped while it waits loses nothing.
    drop(crate::awaited::steps::polled(messages.next(), 3, false));
    drop(messages);
    numbers.blocking().send(&100).unwrap();
    assert_eq!(**block_on(numbers.receive(LONG)).unwrap(), 100);
}

#[test]
fn every_future_may_go_to_another_thread() {
    fn queue(numbers: &AsyncQueue<u32>) {
        drop(is_send(numbers.send(&1)));
        drop(is_send(numbers.send_after(&1, SHORT)));
        drop(is_send(numbers.send_unique("key", &1)));
        drop(is_send(numbers.send_all(&[1])));
        drop(is_send(AsyncMessage::send(is_send(numbers.message(&1)))));
        drop(is_send(numbers.receive(LONG)));
        drop(is_send(numbers.receive_many(1, LONG)));
        drop(is_send(numbers.try_receive(LONG)));
        drop(is_send(numbers.try_receive_many(1, LONG)));
        drop(is_send(numbers.wait(SHORT, LONG)));
        drop(is_send(numbers.wait_for(1, SHORT, LONG)));
        drop(is_send(numbers.stats()));
        drop(is_send(numbers.peek(1)));
        drop(is_send(numbers.pause()));
        drop(is_send(numbers.resume()));
        drop(is_send(numbers.clear()));
        drop(is_send(numbers.delete_all([])));
        drop(is_send(numbers.worker().run(async |_| Ok::<(), String>(()))));
        let mut stream = is_send(numbers.stream(LONG));
        drop(is_send(stream.next()));
    }
    fn received(number: &mut table_core::asynchronous::AsyncReceived<u32>) {
        drop(is_send(number.delete()));
        drop(is_send(number.extend(LONG)));
        drop(is_send(number.release(SHORT)));
        drop(is_send(number.fail("why", SHORT)));
        drop(is_send(number.complete_and_receive(LONG)));
        drop(is_send(number.update(1, LONG)));
    }
    let scratch = Scratch::new();
    let store: Store = scratch.store();
    let numbers = numbers(&store);
    queue(&numbers);
    numbers.blocking().send(&1).unwrap();
    received(&mut block_on(numbers.receive(LONG)).unwrap());
}
