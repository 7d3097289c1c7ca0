//! Messages that are sent and completed with changes of entities.

use integration_tests::{Scratch, assert_sound};
use table_core::queue::Queue;
use table_core::{ErrorKind, Store, Stored};

use super::{Employee, Hire, LONG, employee, hire, hires};

#[test]
fn a_message_is_sent_with_the_change_or_not_at_all() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (hires, staff) = (hires(&store), store.table::<Employee>().unwrap());
    staff.insert(&employee(99)).unwrap();
    let explained = staff
        .egt(Employee::partition("Sales"))
        .insert(&employee(1))
        .send(&hires, &hire(1))
        .explain()
        .unwrap();
    assert_eq!((explained.rows(), explained.messages_sent(), explained.messages_completed()), (2, 1, 0));
    assert!(explained.to_string().ends_with("send 1 of the queues' messages"), "{explained}");
    assert_eq!(hires.stats().unwrap().sent, 0, "it was only explained");

    let commits = || Store::of(&store).map(|store| store.stats().unwrap().commits);
    let before = commits();
    staff.egt(Employee::partition("Sales")).insert(&employee(1)).send(&hires, &hire(1)).commit().unwrap();
    assert_eq!(commits(), before.map(|commits| commits + 1), "one transaction");
    assert_eq!(hires.peek(5).unwrap().len(), 1);

    // A change that is refused sends nothing, for whatever reason it is refused.
    let taken = Employee { email: "1@contoso.com".into(), ..employee(2) };
    for (entity, kind) in
        [(&employee(1), ErrorKind::EntityAlreadyExists), (&taken, ErrorKind::UniqueConflict)]
    {
        let refused = staff.egt(Employee::partition("Sales")).insert(entity).send(&hires, &hire(9)).commit();
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.index()), (kind, Some(0)));
    }
    let etag = Stored::etag(&staff.get(Employee::key("Sales", 1)).unwrap().unwrap());
    staff.put(&employee(1)).unwrap();
    let refused = staff
        .egt(Employee::partition("Sales"))
        .delete_if(Employee::key("Sales", 1), etag)
        .send(&hires, &hire(9))
        .commit();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConditionNotMet);
    // Nor does a message that can't be sent change anything.
    let texts: Queue<String> = store.queue("texts").unwrap();
    let refused = staff
        .egt(Employee::partition("Sales"))
        .insert(&employee(3))
        .send(&texts, &"x".repeat(70_000))
        .commit();
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), error.queue_name()), (ErrorKind::MessageTooLarge, Some("texts")));
    assert!(staff.get(Employee::key("Sales", 3)).unwrap().is_none());
    assert_eq!(hires.stats().unwrap().sent, 1);
    assert_sound(&store);
}

#[test]
fn what_a_message_asks_for_is_done_once_though_it_is_received_twice() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (hires, staff) = (hires(&store), store.table::<Employee>().unwrap());
    hires.send(&hire(1)).unwrap();
    let slow = hires.receive(super::SHORT).unwrap().unwrap();
    std::thread::sleep(super::SHORT * 5);
    let quick = hires.receive(LONG).unwrap().unwrap();
    let add = |held: &table_core::queue::Received<Hire>| {
        staff.egt(Employee::partition("Sales")).put(&employee(held.id)).complete(held).commit()
    };
    // A receiver that is late can't do it, not even what would do no harm.
    let error = add(&slow).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleReceipt);
    assert_eq!(error.table_name(), Some("Company"));
    assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
    add(&quick).unwrap();
    assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_some());
    assert_eq!(add(&quick).unwrap_err().kind(), ErrorKind::StaleReceipt);
    let stats = hires.stats().unwrap();
    assert_eq!((stats.completed, stats.ready, stats.hidden), (1, 0, 0));
    assert_sound(&store);
}

#[test]
fn a_refused_change_leaves_its_message_held() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (hires, staff) = (hires(&store), store.table::<Employee>().unwrap());
    staff.insert(&employee(1)).unwrap();
    hires.send(&hire(1)).unwrap();
    let held = hires.receive(LONG).unwrap().unwrap();
    let refused = staff
        .egt(Employee::partition("Sales"))
        .insert(&employee(1))
        .complete(&held)
        .send(&hires, &hire(2))
        .commit();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!(hires.stats().unwrap().hidden, 1);
    // One step of several: the next one's message takes the place of this one's.
    let moved = Queue::<Hire>::clone(&store.queue("moves").unwrap());
    staff
        .egt(Employee::partition("Sales"))
        .delete(Employee::key("Sales", 1))
        .send_message(moved.message(&hire(1)).unique("sales 1"))
        .complete(&held)
        .commit()
        .unwrap();
    assert_eq!((hires.stats().unwrap().completed, moved.stats().unwrap().ready), (1, 1));
    // A message may ask for nothing.
    let held = moved.receive(LONG).unwrap().unwrap();
    staff.egt(Employee::partition("Sales")).complete(&held).commit().unwrap();
    assert_eq!(moved.stats().unwrap().completed, 1);
    let nothing = staff.egt(Employee::partition("Sales")).commit().unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::BatchLength);
    assert_sound(&store);
}

#[test]
fn a_queue_of_another_store_goes_with_no_change_of_this_one() {
    let [here, there] = [Scratch::new(), Scratch::new()];
    let (store, other) = (here.tables(), there.tables());
    // Both have a queue of the same number.
    let (hires, strange) = (hires(&store), super::hires(&other));
    let staff = store.table::<Employee>().unwrap();
    let refused =
        staff.egt(Employee::partition("Sales")).insert(&employee(1)).send(&strange, &hire(1)).commit();
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::QueueNotFound);
    assert!(error.to_string().contains("another store's"), "{error}");
    assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
    assert_eq!((hires.stats().unwrap().sent, strange.stats().unwrap().sent), (0, 0));
}

/// One who has left.
#[derive(table_core::Entity, Clone, Debug, PartialEq)]
#[entity(table = "Archive", kind = "former")]
#[key(partition = "{year:04}", row = "{id:06}")]
struct Former {
    year: u16,
    id: u32,
}

#[test]
fn a_store_transaction_sends_and_completes_with_changes_of_several_tables() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (hires, staff) = (hires(&store), store.table::<Employee>().unwrap());
    let archive = store.table::<Former>().unwrap();
    staff.insert(&employee(1)).unwrap();
    hires.send(&hire(1)).unwrap();
    let held = hires.receive(LONG).unwrap().unwrap();
    let former = Former { year: 2026, id: 1 };
    let leave = |key| {
        store
            .transaction()
            .insert(&former)
            .delete(Employee::key("Sales", key))
            .complete(&held)
            .send(&hires, &hire(2))
    };
    assert_eq!(leave(404).commit().unwrap_err().kind(), ErrorKind::EntityNotFound);
    assert!(archive.get(Former::key(2026, 1)).unwrap().is_none());
    assert_eq!((hires.stats().unwrap().hidden, hires.stats().unwrap().sent), (1, 1));
    let explained = leave(1).explain().unwrap();
    assert_eq!((explained.messages_sent(), explained.messages_completed()), (1, 1));
    leave(1).commit().unwrap();
    assert!(archive.get(Former::key(2026, 1)).unwrap().is_some());
    assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
    let stats = hires.stats().unwrap();
    assert_eq!((stats.completed, stats.ready, stats.sent), (1, 1, 2));
    // Once more, and nothing happens.
    let again = store.transaction().put(&former).complete(&held).commit().unwrap_err();
    assert_eq!(again.kind(), ErrorKind::StaleReceipt);
    assert_sound(&store);
}

/// As an EGT does: what is to be done next is sent, and what was done completed, and no entity changes.
#[test]
fn a_store_transaction_of_messages_alone_is_one_too() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let hires = hires(&store);
    hires.send(&hire(1)).unwrap();
    let held = hires.receive(LONG).unwrap().unwrap();
    let explained = store.transaction().complete(&held).send(&hires, &hire(2)).explain().unwrap();
    assert_eq!((explained.rows(), explained.messages_sent(), explained.messages_completed()), (0, 1, 1));
    let commits = || Store::of(&store).map(|store| store.stats().unwrap().commits);
    let before = commits();
    store.transaction().complete(&held).send(&hires, &hire(2)).commit().unwrap();
    assert_eq!(commits(), before.map(|commits| commits + 1), "one transaction");
    let stats = hires.stats().unwrap();
    assert_eq!((stats.sent, stats.completed, stats.ready), (2, 1, 1));

    // Both, or neither.
    let error = store.transaction().send(&hires, &hire(3)).complete(&held).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleReceipt);
    assert_eq!(hires.stats().unwrap().sent, 2);
    let other = Scratch::new();
    let strange = super::hires(&other.tables());
    let error = store.transaction().send(&strange, &hire(3)).commit().unwrap_err();
    assert!(error.to_string().starts_with("cannot commit a transaction"), "{error}");
    assert_sound(&store);
}

integration_tests::on_executors_with_queues! {
    a_message_is_sent_with_the_change_or_not_at_all
    what_a_message_asks_for_is_done_once_though_it_is_received_twice
    a_refused_change_leaves_its_message_held
    a_queue_of_another_store_goes_with_no_change_of_this_one
    a_store_transaction_sends_and_completes_with_changes_of_several_tables
    a_store_transaction_of_messages_alone_is_one_too
}
