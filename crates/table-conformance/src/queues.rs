//! The ability `queues`: messages are held, given back and completed, and go with the rows of a plan.

use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor::{
    Answer, Backend, Condition, Delivery, Plan, QueueId, QueueOp, Queues, Receipt, Release, SealedAt,
    Sending, Task,
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
