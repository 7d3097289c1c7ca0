//! What becomes of messages.

use std::thread;
use std::time::{Duration, Instant};

use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::queue::Queue;
use table_core::{ErrorKind, Store, Ticks};

use super::{Hire, LONG, SHORT, hire, hires, numbers};

#[test]
fn messages_are_received_in_the_order_in_which_they_were_sent() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    let before = Ticks::now();
    for id in 0..70 {
        assert_eq!(hires.send(&hire(id)).unwrap(), u64::from(id) + 1);
    }
    assert_eq!(hires.send_all(&[hire(70), hire(71)]).unwrap(), [71, 72]);
    assert_eq!(hires.send_all(&[]).unwrap(), [0_u64; 0]);
    let first = hires.receive(LONG).unwrap().unwrap();
    assert_eq!((*first).clone(), hire(0));
    assert_eq!((first.id(), first.count(), first.expires(), first.last_error()), (1, 1, None, None));
    assert!(before <= first.sent() && first.sent() <= Ticks::now());
    assert!(first.hidden_until() > Ticks::now());
    assert_eq!(numbers(&hires.receive_many(32, LONG).unwrap()), (1..33).collect::<Vec<_>>());
    assert_eq!(numbers(&hires.receive_many(1_000, LONG).unwrap()), (33..72).collect::<Vec<_>>());
    assert!(hires.receive(LONG).unwrap().is_none());
    assert!(hires.receive_many(0, LONG).unwrap().is_empty());
    let stats = hires.stats().unwrap();
    assert_eq!((&*stats.name, stats.ready, stats.hidden, stats.sent), ("hires", 0, 72, 72));
    if let Some(store) = Store::of(&store) {
        assert_eq!(store.stats().unwrap().queues, [stats]);
    }
    assert_sound(&store);
}

#[test]
fn a_message_shows_again_when_its_time_is_over_and_its_former_holder_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send(&hire(1)).unwrap();
    let late = hires.receive(SHORT).unwrap().unwrap();
    thread::sleep(SHORT * 5);
    let again = hires.receive(LONG).unwrap().unwrap();
    assert_eq!((again.id(), again.count()), (late.id(), 2));
    let error = late.delete().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleReceipt);
    assert_eq!(error.queue_name(), Some("hires"));
    assert!(
        error.to_string().starts_with("cannot delete from queue `hires`: message 1 is held no more"),
        "{error}"
    );
    for error in [late.extend(LONG), late.release(SHORT), late.fail("late", SHORT)] {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::StaleReceipt);
    }
    again.delete().unwrap();
    let error = again.delete().unwrap_err();
    assert!(error.to_string().contains("message 1 is gone"), "{error}");
    // A receiver that is late, and the first to come back, still holds it.
    hires.send(&hire(2)).unwrap();
    let late = hires.receive(SHORT).unwrap().unwrap();
    thread::sleep(SHORT * 5);
    late.delete().unwrap();
    assert_sound(&store);
}

#[test]
fn who_holds_a_message_keeps_it_changes_it_and_gives_it_back() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send(&hire(1)).unwrap();
    let mut held = hires.receive(SHORT).unwrap().unwrap();
    let until = held.hidden_until();
    held.extend(LONG).unwrap();
    assert!(held.hidden_until() > until);
    thread::sleep(SHORT * 5);
    assert!(hires.receive(LONG).unwrap().is_none());
    held.update(Hire { department: "Marketing".into(), id: 1 }, LONG).unwrap();
    assert_eq!(held.department, "Marketing");
    held.release(Duration::ZERO).unwrap();
    let held = hires.receive(LONG).unwrap().unwrap();
    assert_eq!((held.department.as_str(), held.count(), held.last_error()), ("Marketing", 2, None));
    held.fail("the archive is closed", Duration::from_secs(1)).unwrap();
    assert!(hires.receive(LONG).unwrap().is_none(), "it waits");
    let held = hires.wait(LONG, LONG).unwrap().unwrap();
    assert_eq!((held.count(), held.last_error()), (3, Some("the archive is closed")));
    assert_eq!(held.into_inner().department, "Marketing");
    assert_sound(&store);
}

#[test]
fn what_is_received_too_often_goes_to_the_poison_queue_with_its_last_error() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.message(&hire(1)).unique("one").send().unwrap();
    for count in 1..=5 {
        let held = hires.receive(LONG).unwrap().unwrap();
        assert_eq!(held.count(), count);
        assert_eq!(store.queues().unwrap(), ["hires"], "it is not set aside yet");
        held.fail(format!("failure {count}"), Duration::ZERO).unwrap();
    }
    assert!(hires.receive(LONG).unwrap().is_none());
    assert_eq!(store.queues().unwrap(), ["hires", "hires-poison"]);
    let (second, is_new) = hires.message(&hire(1)).unique("one").send().unwrap();
    assert!(is_new, "its key is free again");

    // One whose holders died never said why.
    let twice = hires.clone().max_dequeues(2);
    for _ in 0..2 {
        assert_eq!(twice.receive(SHORT).unwrap().unwrap().id(), second);
        thread::sleep(SHORT * 5);
    }
    assert!(twice.receive(SHORT).unwrap().is_none());
    let poison: Queue<Hire> = store.queue("hires-poison").unwrap();
    let aside = poison.receive_many(10, SHORT).unwrap();
    let errors: Vec<_> = aside.iter().map(|aside| aside.last_error().unwrap()).collect();
    assert_eq!(errors, ["failure 5", "received 2 times, and never completed or given back"]);
    assert_eq!(aside.iter().map(|aside| aside.count()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(hires.stats().unwrap().poisoned, 2);
    // There it stays, however often it is looked at.
    for _ in 0..8 {
        thread::sleep(SHORT * 5);
        assert_eq!(poison.receive_many(10, SHORT).unwrap().len(), 2);
    }
    assert_eq!(store.queues().unwrap(), ["hires", "hires-poison"]);
    assert_sound(&store);
}

#[test]
fn a_message_with_a_key_is_sent_once_until_it_is_done() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    assert!(hires.send_unique("sales 1", &hire(1)).unwrap());
    assert!(!hires.send_unique("sales 1", &hire(2)).unwrap());
    assert!(hires.send_unique("sales 2", &hire(3)).unwrap());
    assert_eq!(hires.message(&hire(4)).unique("sales 1").send().unwrap(), (1, false));
    let held = hires.receive(LONG).unwrap().unwrap();
    assert!(!hires.send_unique("sales 1", &hire(2)).unwrap(), "it is being dealt with");
    held.delete().unwrap();
    assert!(hires.send_unique("sales 1", &hire(2)).unwrap());
    assert_eq!(numbers(&hires.receive_many(10, LONG).unwrap()), [3, 2]);
    assert_eq!(hires.stats().unwrap().unique, 2);
    assert_sound(&store);
}

#[test]
fn a_message_waits_before_it_shows_and_goes_when_its_time_is_over() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send_after(&hire(1), LONG).unwrap();
    hires.send_after(&hire(2), Duration::from_millis(40)).unwrap();
    hires.send(&hire(3)).unwrap();
    hires.message(&hire(4)).time_to_live(SHORT).send().unwrap();
    hires.message(&hire(5)).time_to_live(LONG).send().unwrap();
    thread::sleep(Duration::from_millis(80));
    // One whose time has come is before those that are ready.
    assert_eq!(numbers(&hires.receive_many(10, LONG).unwrap()), [2, 3, 5]);
    let stats = hires.stats().unwrap();
    assert_eq!((stats.ready, stats.hidden, stats.expired), (0, 4, 1));
    assert_sound(&store);
}

#[test]
fn peeking_holds_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    assert!(hires.peek(5).unwrap().is_empty());
    hires.send_all(&[hire(1), hire(2), hire(3)]).unwrap();
    hires.receive(LONG).unwrap().unwrap();
    let peeked = hires.peek(1).unwrap();
    assert_eq!((peeked[0].id, peeked[0].id(), peeked[0].count()), (2, 2, 0));
    assert_eq!(hires.peek(10).unwrap().len(), 2);
    assert_eq!(numbers(&hires.receive_many(10, LONG).unwrap()), [2, 3]);
    assert!(hires.peek(5).unwrap().is_empty());
}

#[test]
fn a_pause_stops_who_receives_and_nobody_else() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send_all(&[hire(1), hire(2)]).unwrap();
    let held = hires.receive(LONG).unwrap().unwrap();
    hires.pause().unwrap();
    // Another handle, as another process has one.
    let others: Queue<Hire> = store.queue("hires").unwrap();
    assert!(others.receive(LONG).unwrap().is_none() && others.peek(5).unwrap().is_empty());
    assert!(others.stats().unwrap().is_paused);
    others.send(&hire(3)).unwrap();
    held.delete().unwrap();
    others.resume().unwrap();
    assert_eq!(numbers(&hires.receive_many(5, LONG).unwrap()), [2, 3]);
}

#[test]
fn cleared_is_what_was_there_and_dropped_is_all() {
    let scratch = Scratch::new();
    let store = scratch.tables_with(&relaxed());
    let hires = hires(&store);
    let all: Vec<_> = (0..2_500).map(hire).collect();
    for some in all.chunks(1_000) {
        hires.send_all(some).unwrap();
    }
    let held = hires.receive(LONG).unwrap().unwrap();
    assert_eq!(hires.clear().unwrap(), 2_500);
    assert_eq!(held.delete().unwrap_err().kind(), ErrorKind::StaleReceipt);
    assert_eq!(hires.clear().unwrap(), 0);
    hires.send(&hire(1)).unwrap();
    store.drop_queue("hires").unwrap();
    for refused in [hires.send(&hire(1)).map(drop), hires.receive(LONG).map(drop), hires.stats().map(drop)] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::QueueNotFound);
    }
    assert!(store.queues().unwrap().is_empty());
    assert_eq!(super::hires(&store).stats().unwrap().sent, 0);
    assert_sound(&store);
}

#[test]
fn to_go_on_to_the_next_message_is_one_step() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send_all(&[hire(1), hire(2)]).unwrap();
    let first = hires.receive(LONG).unwrap().unwrap();
    let commits = || Store::of(&store).map(|store| store.stats().unwrap().commits);
    let before = commits();
    let second = first.complete_and_receive(LONG).unwrap().unwrap();
    assert_eq!(commits(), before.map(|commits| commits + 1));
    assert_eq!((second.id, first.delete().unwrap_err().kind()), (2, ErrorKind::StaleReceipt));
    assert_eq!(first.complete_and_receive(LONG).unwrap_err().kind(), ErrorKind::StaleReceipt);
    assert!(second.complete_and_receive(LONG).unwrap().is_none());
    assert_eq!(hires.stats().unwrap().completed, 2);
    let held = {
        hires.send_all(&[hire(3), hire(4), hire(5)]).unwrap();
        hires.receive_many(2, LONG).unwrap()
    };
    held[0].delete().unwrap();
    assert_eq!(hires.delete_all(&held).unwrap(), 1, "the other was gone");
}

#[test]
fn who_waits_is_told_at_once_and_gives_up_in_time() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    let begun = Instant::now();
    assert!(hires.wait(Duration::from_millis(50), LONG).unwrap().is_none());
    assert!(begun.elapsed() >= Duration::from_millis(50));
    let others = hires.clone();
    thread::scope(|scope| {
        let waiter = scope.spawn(move || others.wait(LONG, LONG).unwrap().unwrap().id);
        thread::sleep(Duration::from_millis(20));
        hires.send(&hire(7)).unwrap();
        assert_eq!(waiter.join().unwrap(), 7);
    });
}

#[test]
fn messages_stay_when_the_store_is_closed_and_those_that_were_held_show_again() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let held = {
        let store = Store::open(&path).unwrap();
        let hires = hires(&store);
        hires.send_all(&[hire(1), hire(2)]).unwrap();
        hires.receive(Duration::from_secs(2)).unwrap().unwrap().into_inner()
    };
    assert_eq!(held.id, 1);
    let store = Store::open(&path).unwrap();
    let hires = hires(&store);
    assert_eq!(hires.receive(LONG).unwrap().unwrap().id, 2);
    assert_eq!(hires.wait(LONG, LONG).unwrap().unwrap().id, 1);
    // Without a right to write, messages are looked at and not received.
    drop(hires);
    drop(store);
    let store = Store::options().read_only(true).open(&path).unwrap();
    let hires = super::hires(&store);
    assert_eq!(hires.stats().unwrap().hidden, 2);
    assert_eq!(hires.send(&hire(3)).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(store.queue::<Hire>("others").unwrap_err().kind(), ErrorKind::ReadOnly);
}

#[test]
fn a_copy_and_a_compacted_store_have_the_queues_and_a_restored_copy_delivers_again() {
    let scratch = Scratch::new();
    let (path, copy) = (scratch.path().join("store"), scratch.path().join("copy"));
    let store = Store::open(&path).unwrap();
    let hires = hires(&store);
    hires.send_all(&[hire(1), hire(2), hire(3)]).unwrap();
    hires.send_unique("four", &hire(4)).unwrap();
    let done = hires.receive(LONG).unwrap().unwrap();
    let held = hires.receive(Duration::from_secs(3)).unwrap().unwrap();
    store.copy_to(&copy).unwrap();
    // What happens after the copy is unknown to it.
    done.delete().unwrap();

    let restored = Store::open(&copy).unwrap();
    let copied = super::hires(&restored);
    assert_eq!(restored.check().unwrap().messages, 4);
    assert_sound(&restored);
    assert_eq!(numbers(&copied.receive_many(5, LONG).unwrap()), [3, 4]);
    assert!(!copied.send_unique("four", &hire(4)).unwrap());
    // What was held when the copy was made shows when its time is over, though it has been completed meanwhile.
    let again = copied.wait(LONG, LONG).unwrap().unwrap();
    assert_eq!((again.id, again.count()), (2, 2));
    assert_eq!(copied.stats().unwrap().hidden, 4, "and the first one in an hour");

    held.delete().unwrap();
    drop((hires, done, held));
    let store = store.compact().unwrap();
    let hires = super::hires(&store);
    assert_eq!(numbers(&hires.receive_many(5, LONG).unwrap()), [3, 4]);
    assert_sound(&store);
}

#[test]
fn the_first_queue_of_a_store_is_made_once_by_many_threads() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.create_table("Company").unwrap();
    thread::scope(|scope| {
        for thread in 0..6 {
            let (store, table) = (&store, &table);
            scope.spawn(move || {
                let queue: Queue<u32> = store.queue("shared").unwrap();
                queue.send(&thread).unwrap();
                let entity = table_core::DynamicEntity::new("p", format!("{thread}"));
                table.insert(&entity).unwrap();
            });
        }
    });
    let queue: Queue<u32> = store.queue("shared").unwrap();
    let mut found: Vec<_> = queue.receive_many(10, LONG).unwrap().iter().map(|number| **number).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3, 4, 5]);
    assert_sound(&store);
}

integration_tests::on_executors_with_queues! {
    messages_are_received_in_the_order_in_which_they_were_sent
    a_message_shows_again_when_its_time_is_over_and_its_former_holder_is_refused
    who_holds_a_message_keeps_it_changes_it_and_gives_it_back
    what_is_received_too_often_goes_to_the_poison_queue_with_its_last_error
    a_message_with_a_key_is_sent_once_until_it_is_done
    a_message_waits_before_it_shows_and_goes_when_its_time_is_over
    peeking_holds_nothing
    a_pause_stops_who_receives_and_nobody_else
    cleared_is_what_was_there_and_dropped_is_all
    to_go_on_to_the_next_message_is_one_step
    who_waits_is_told_at_once_and_gives_up_in_time
    the_first_queue_of_a_store_is_made_once_by_many_threads
}
