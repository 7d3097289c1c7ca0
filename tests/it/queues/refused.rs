//! What is refused, with nothing written.

use std::time::Duration;

use integration_tests::MapStore;
use integration_tests::{Scratch, assert_sound};
use table_core::queue::Queue;
use table_core::{ErrorKind, Store};

use super::{Hire, LONG, SHORT, hire, hires};

#[test]
fn what_is_too_large_too_long_or_no_json_is_refused_and_nothing_is_sent() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let texts: Queue<String> = store.queue("texts").unwrap();
    let mark = || Store::of(&store).map(|store| store.mark().unwrap());
    let before = mark();
    let most = "x".repeat(64 * 1024 - 2);
    let error = texts.send(&format!("{most}x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MessageTooLarge);
    assert_eq!(
        error.to_string(),
        "cannot send to queue `texts`: the message has 65537 bytes as JSON, and may have 65536; keep what is large in a \
         table, and send its key"
    );
    let some = [String::new(), format!("{most}x")];
    assert_eq!(texts.send_all(&some).unwrap_err().kind(), ErrorKind::MessageTooLarge);
    let text = String::new();
    let kind = |refused: table_core::Result<(u64, bool)>| refused.unwrap_err().kind();
    let year = Duration::from_secs(400 * 86_400);
    assert_eq!(kind(texts.message(&text).after(year * 10).send()), ErrorKind::ValueOutOfRange);
    assert_eq!(kind(texts.message(&text).after(LONG).time_to_live(LONG).send()), ErrorKind::ValueOutOfRange);
    assert_eq!(kind(texts.message(&text).unique(&"k".repeat(513)).send()), ErrorKind::KeyTooLong);
    let many = vec![String::new(); 1_001];
    assert_eq!(texts.send_all(&many).unwrap_err().kind(), ErrorKind::ValueOutOfRange);
    let floats: Queue<f64> = store.queue("texts").unwrap();
    let error = floats.send(&f64::NAN).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    assert!(error.to_string().contains("NaN"), "{error}");
    assert_eq!(mark(), before, "nothing was written");
    assert_eq!(texts.stats().unwrap().sent, 0);
    // The largest is sent.
    texts.message(&most).unique(&"k".repeat(512)).send().unwrap();
    assert_eq!(texts.receive(LONG).unwrap().unwrap().len(), most.len());
    assert_sound(&store);
}

#[test]
fn times_and_numbers_out_of_range_are_refused() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send(&hire(1)).unwrap();
    let week = Duration::from_secs(7 * 86_400);
    for refused in [
        hires.receive(Duration::ZERO).map(drop),
        hires.receive(week + SHORT).map(drop),
        hires.receive_many(1_001, LONG).map(drop),
        hires.peek(1_001).map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ValueOutOfRange);
    }
    let mut held = hires.receive(week).unwrap().unwrap();
    for refused in [
        held.extend(Duration::ZERO),
        held.extend(week + SHORT),
        held.release(week + SHORT),
        held.update(hire(2), Duration::ZERO),
        held.complete_and_receive(Duration::ZERO).map(drop),
        hires.worker().visibility(Duration::ZERO).run(|_| Ok::<(), String>(())).map(drop),
        hires.worker().threads(2_000).run(|_| Ok::<(), String>(())).map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ValueOutOfRange);
    }
    assert_eq!(held.id, 1);
    held.delete().unwrap();
}

#[test]
fn names_are_the_services() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    for name in ["", "ab", "Hires", "hi_res", "-hires", "hi--res", "hires\u{e9}", &"a".repeat(57)] {
        let error = store.queue::<Hire>(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidQueueName, "{name}");
        assert_eq!((error.code(), error.status()), ("InvalidResourceName", 400));
        assert_eq!(store.drop_queue(name).unwrap_err().kind(), ErrorKind::InvalidQueueName);
    }
    assert!(store.queues().unwrap().is_empty());
    let error = store.drop_queue("hires").unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::QueueNotFound, "QueueNotFound"));
    assert_eq!(error.to_string(), "cannot drop queue `hires`: there is no such queue");
    store.queue::<Hire>("b-2").unwrap();
    store.queue::<Hire>("a-1").unwrap();
    assert_eq!(store.queues().unwrap(), ["a-1", "b-2"]);
}

#[test]
fn a_message_of_another_type_is_given_back_and_set_aside_in_the_end() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store).max_dequeues(1);
    let texts: Queue<String> = store.queue("hires").unwrap();
    texts.send(&"secret words".to_owned()).unwrap();
    hires.send(&hire(1)).unwrap();
    // The one that is right is had, the other goes aside.
    let held = hires.receive_many(5, LONG).unwrap();
    assert_eq!((held.len(), held[0].id), (1, 1));
    let poison: Queue<String> = store.queue("hires-poison").unwrap();
    let aside = poison.receive(LONG).unwrap().unwrap();
    let told = aside.last_error().unwrap();
    assert!(
        told.contains("is not the JSON of") && told.contains("Hire") && !told.contains("secret"),
        "{told}"
    );
    assert_eq!(*aside, "secret words");

    texts.send(&"others".to_owned()).unwrap();
    let error = hires.receive(LONG).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(
        error.to_string().starts_with("cannot receive from queue `hires`: the message's text"),
        "{error}"
    );
    texts.send(&"third".to_owned()).unwrap();
    assert_eq!(hires.peek(1).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert!(held[0].complete_and_receive(LONG).unwrap().is_none());
    assert_eq!(hires.stats().unwrap().poisoned, 3);
}

#[test]
fn an_executor_without_queues_says_so_by_the_name_of_the_ability() {
    for map in [MapStore::new(), MapStore::as_the_service()] {
        let store = map.tables();
        for refused in
            [store.queue::<Hire>("hires").map(drop), store.queues().map(drop), store.drop_queue("hires")]
        {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains("`queues`"), "{error}");
        }
        // A message of another store's queue goes with no change of this one.
        let scratch = Scratch::new();
        let other = scratch.store();
        let hires = hires(&other);
        let staff = store.table::<super::Employee>().unwrap();
        let refused = staff
            .egt(super::Employee::partition("Sales"))
            .insert(&super::employee(1))
            .send(&hires, &hire(1))
            .commit();
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(staff.get(super::Employee::key("Sales", 1)).unwrap().is_none());
        assert_eq!(hires.stats().unwrap().sent, 0);
    }
}

integration_tests::on_executors_with_queues! {
    what_is_too_large_too_long_or_no_json_is_refused_and_nothing_is_sent
    times_and_numbers_out_of_range_are_refused
    names_are_the_services
    a_message_of_another_type_is_given_back_and_set_aside_in_the_end
}
