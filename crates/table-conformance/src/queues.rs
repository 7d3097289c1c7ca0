//! The ability `queues`: messages are held, given back and completed, and go with the rows of a plan.

use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor::{
    Answer, Backend, ByReceipt, Condition, Delivery, Plan, PopReceipt, QueueId, QueueOp, Queues, Receipt,
    Release, SealedAt, Sending, Task,
};
use table_engine::{ErrorKind, Result};

use super::plans::{group, put, row};
use super::{check_lacks, tables};

/// So long a message is held here: longer than a check takes.
const HELD: Duration = Duration::from_secs(600);

/// Returns the backend's queues. A backend without them says so, by the ability's name.
fn queues(backend: &Arc<dyn Backend>) -> Option<&dyn Queues> {
    if backend.abilities().queues {
        return Some(backend.queues().unwrap());
    }
    check_lacks(&backend.queues().map(drop).unwrap_err(), "the ability `queues`");
    None
}

fn ops(queue: QueueId, tasks: Vec<Task>) -> Vec<QueueOp> {
    tasks.into_iter().map(|task| QueueOp { queue, name: None, task }).collect()
}

fn send(body: &str, unique: Option<&str>) -> Task {
    Task::Send(Sending {
        body: body.into(),
        after: Duration::ZERO,
        lives: None,
        unique: unique.map(Into::into),
        history: None,
    })
}

/// Receives so many messages.
fn receive(queues: &dyn Queues, queue: QueueId, most: usize) -> Vec<Delivery> {
    let task = Task::Receive { most, visibility: HELD, dequeues: 10 };
    match queues.carry_out(ops(queue, vec![task])).unwrap().pop() {
        Some(Answer::Received(deliveries)) => deliveries,
        answer => panic!("{answer:?}"),
    }
}

fn complete(queues: &dyn Queues, queue: QueueId, receipt: Receipt) -> Result<()> {
    queues.carry_out(ops(queue, vec![Task::Complete(receipt)])).map(drop)
}

fn bodies(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| &*delivery.body).collect()
}

/// Returns how many messages are ready, and how many are hidden.
fn counts(queues: &dyn Queues, queue: QueueId) -> (u64, u64) {
    let stats = queues.stats(queue).unwrap();
    (stats.ready, stats.hidden)
}

pub(crate) fn queues_come_and_go(backend: &Arc<dyn Backend>) {
    let Some(queues) = queues(backend) else { return };
    assert_eq!(queues.names().unwrap(), Vec::<String>::new());
    // To look for one makes none.
    assert_eq!(queues.find("orders").unwrap(), None);
    assert_eq!(queues.names().unwrap(), Vec::<String>::new());
    let (others, is_new) = queues.create("others").unwrap();
    assert!(is_new);
    assert_eq!(queues.create("others").unwrap(), (others, false));
    assert_eq!(queues.find("others").unwrap(), Some(others));
    queues.drop_queue("others").unwrap();
    assert_eq!(queues.find("others").unwrap(), None);
    let [orders, mails] = ["orders", "mails"].map(|name| queues.open(name).unwrap());
    assert_ne!(orders, mails);
    assert_eq!(queues.open("orders").unwrap(), orders);
    assert_eq!(queues.names().unwrap(), ["mails", "orders"]);
    queues.carry_out(ops(mails, vec![send("1", None)])).unwrap();
    queues.drop_queue("mails").unwrap();
    assert_eq!(queues.names().unwrap(), ["orders"]);
    assert_eq!(queues.stats(mails).unwrap_err().kind(), ErrorKind::QueueNotFound);
    let sent = queues.carry_out(ops(mails, vec![send("1", None)]));
    assert_eq!(sent.unwrap_err().kind(), ErrorKind::QueueNotFound);
    assert_eq!(queues.drop_queue("mails").unwrap_err().kind(), ErrorKind::QueueNotFound);
    // The name is free at once, and the messages are gone.
    assert_eq!(counts(queues, queues.open("mails").unwrap()), (0, 0));
}

pub(crate) fn a_message_is_of_one_receiver_until_it_is_given_back(backend: &Arc<dyn Backend>) {
    let Some(queues) = queues(backend) else { return };
    let queue = queues.open("orders").unwrap();
    let sent = queues.carry_out(ops(queue, ["1", "2", "3"].map(|body| send(body, None)).into())).unwrap();
    let ids = sent.iter().map(|answer| match answer {
        Answer::Sent { id, is_new: true } => *id,
        answer => panic!("{answer:?}"),
    });
    let ids: Vec<_> = ids.collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert_eq!(counts(queues, queue), (3, 0));
    assert_eq!(bodies(&queues.peek(queue, 2).unwrap()), ["1", "2"]);

    let held = receive(queues, queue, 2);
    assert_eq!(bodies(&held), ["1", "2"]);
    assert!(held.iter().all(|message| message.count == 1));
    assert_eq!(bodies(&receive(queues, queue, 5)), ["3"]);
    assert_eq!(bodies(&receive(queues, queue, 5)), [""; 0]);
    assert_eq!(counts(queues, queue), (0, 3));

    let [first, second] = [0, 1].map(|at: usize| held[at].receipt);
    complete(queues, queue, first).unwrap();
    assert_eq!(complete(queues, queue, first).unwrap_err().kind(), ErrorKind::StaleReceipt);
    let back = Release { error: Some("later".into()), dequeues: 10, ..Release::default() };
    queues.carry_out(ops(queue, vec![Task::Release(second, back)])).unwrap();
    assert_eq!(counts(queues, queue), (1, 1));
    let [again] = &receive(queues, queue, 5)[..] else { panic!("it was given back") };
    assert_eq!((&*again.body, again.count, again.error.as_deref()), ("2", 2, Some("later")));
    // Who held it before holds it no more, and has changed nothing.
    let stale = vec![send("4", None), Task::Complete(second)];
    assert_eq!(queues.carry_out(ops(queue, stale)).unwrap_err().kind(), ErrorKind::StaleReceipt);
    assert_eq!(counts(queues, queue), (0, 2));
    complete(queues, queue, again.receipt).unwrap();
    let stats = queues.stats(queue).unwrap();
    assert_eq!((stats.sent, stats.completed, stats.hidden), (3, 2, 1));
}

pub(crate) fn a_unique_message_is_there_once(backend: &Arc<dyn Backend>) {
    let Some(queues) = queues(backend) else { return };
    let queue = queues.open("orders").unwrap();
    let send_as = |key: &str| queues.carry_out(ops(queue, vec![send("1", Some(key))])).unwrap().remove(0);
    let Answer::Sent { id, is_new: true } = send_as("a") else { panic!("it is the first") };
    assert_eq!(send_as("a"), Answer::Sent { id, is_new: false });
    assert!(matches!(send_as("b"), Answer::Sent { is_new: true, .. }));
    assert_eq!(counts(queues, queue), (2, 0));
    // Once it is completed, another may have its key.
    let held = receive(queues, queue, 1);
    complete(queues, queue, held[0].receipt).unwrap();
    assert!(matches!(send_as("a"), Answer::Sent { is_new: true, .. }));
}

/// Returns the text of a receipt, read again.
fn as_text(queue: QueueId, delivery: &Delivery) -> PopReceipt {
    let Receipt { id, delivery: number, .. } = delivery.receipt;
    let receipt = PopReceipt { queue: queue.number, id, delivery: number, sent: delivery.sent };
    receipt.to_string().parse().unwrap()
}

pub(crate) fn a_message_is_spoken_of_by_its_receipt(backend: &Arc<dyn Backend>) {
    let Some(queues) = queues(backend) else { return };
    let [queue, other] = ["orders", "mails"].map(|name| queues.open(name).unwrap());
    let by = |queue, receipt: PopReceipt, what| {
        let answers = queues.carry_out(ops(queue, vec![Task::ByReceipt(receipt, what)]));
        answers.map(|mut answers| answers.remove(0)).map_err(|error| error.kind())
    };
    let update = |text: Option<&str>, hidden| ByReceipt::Update(text.map(Into::into), hidden);
    let renewed = |receipt: PopReceipt, answer| match answer {
        Ok(Answer::Held(held)) => PopReceipt { delivery: held.delivery, ..receipt },
        answer => panic!("{answer:?}"),
    };
    let post = |body: &str, unique: Option<&str>| {
        let Task::Send(sending) = send(body, unique) else { unreachable!() };
        match queues.carry_out(ops(queue, vec![Task::Post(sending)])).unwrap().pop() {
            Some(Answer::Posted(posted)) => posted,
            answer => panic!("{answer:?}"),
        }
    };
    // Who sends has the first receipt, until somebody receives.
    let posted = post("1", Some("a")).unwrap();
    assert_eq!((posted.count, &*posted.body), (0, "1"));
    assert_eq!(post("2", Some("a")), None);
    let sender = as_text(queue, &posted);
    assert_eq!(by(other, sender, ByReceipt::Delete), Err(ErrorKind::MessageNotFound));
    let strange = PopReceipt { queue: other.number, ..sender };
    assert_eq!(by(queue, strange, ByReceipt::Delete), Err(ErrorKind::MessageNotFound));
    let changed = renewed(sender, by(queue, sender, update(Some("one"), Duration::ZERO)));
    assert_eq!(by(queue, sender, ByReceipt::Delete), Err(ErrorKind::StaleReceipt));
    // Hidden for no time, it shows.
    let held = receive(queues, queue, 5);
    assert_eq!(bodies(&held), ["one"]);
    assert_eq!(held[0].count, 1, "to change it is not to receive it");
    assert_eq!(by(queue, changed, ByReceipt::Delete), Err(ErrorKind::StaleReceipt));

    // Each change gives another receipt, and the holder's own is stale then.
    let first = as_text(queue, &held[0]);
    let second = renewed(first, by(queue, first, update(None, HELD)));
    assert_eq!(by(queue, first, update(None, HELD)), Err(ErrorKind::StaleReceipt));
    assert_eq!(complete(queues, queue, held[0].receipt).unwrap_err().kind(), ErrorKind::StaleReceipt);
    assert_eq!(counts(queues, queue), (0, 1));
    assert_eq!(
        by(queue, second, ByReceipt::Release(Release { dequeues: 10, ..Release::default() })),
        Ok(Answer::Done)
    );
    assert_eq!(by(queue, second, ByReceipt::Delete), Err(ErrorKind::StaleReceipt));
    let held = receive(queues, queue, 5);
    let third = as_text(queue, &held[0]);
    assert_eq!(by(queue, third, ByReceipt::Delete), Ok(Answer::Done));
    assert_eq!(by(queue, third, ByReceipt::Delete), Err(ErrorKind::MessageNotFound));
    assert_eq!(counts(queues, queue), (0, 0));
    // Its unique key is free, and the receipt is not one of the message that has it now.
    let posted = post("3", Some("a")).unwrap();
    let sent = as_text(queue, &posted);
    let earlier = PopReceipt { sent: third.sent, ..sent };
    assert_eq!(by(queue, earlier, ByReceipt::Delete), Err(ErrorKind::MessageNotFound));
    assert_eq!(by(queue, sent, ByReceipt::Delete), Ok(Answer::Done));
}

/// The messages of a plan are sent and completed with its rows, or neither is.
pub(crate) fn messages_go_with_the_rows_of_a_plan(backend: &Arc<dyn Backend>) {
    let Some(queues) = queues(backend) else { return };
    let queue = queues.open("orders").unwrap();
    let table = backend.clone().create("Company").unwrap();
    let commit = |key, tasks| {
        let rows = vec![row(key, Condition::Absent, put())];
        let queue_ops = ops(queue, tasks);
        let groups = [group(0, "p", rows)].into_iter().collect();
        let plan = Plan { groups, queue_ops, is_raw: true, ..Plan::default() };
        backend
            .commit(&[&*table], &plan, &SealedAt::NOTHING)
            .map(drop)
            .map_err(|refused| refused.error.kind())
    };
    let has = |key| tables(backend).dynamic_table("Company").unwrap().get("p", key).unwrap().is_some();
    commit("a", vec![send("1", None)]).unwrap();
    assert!(has("a"));
    let held = receive(queues, queue, 1).remove(0).receipt;
    assert_eq!(commit("a", vec![send("2", None), Task::Complete(held)]), Err(ErrorKind::EntityAlreadyExists));
    assert_eq!(counts(queues, queue), (0, 1));
    commit("b", vec![Task::Complete(held)]).unwrap();
    assert_eq!(counts(queues, queue), (0, 0));
    assert_eq!(commit("c", vec![Task::Complete(held)]), Err(ErrorKind::StaleReceipt));
    assert!(has("b") && !has("c"));
}
