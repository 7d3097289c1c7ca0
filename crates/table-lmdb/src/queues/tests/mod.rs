//! Queues on LMDB, with a clock that the tests set: random operations against a plain model, and flipped bits.

mod damage;
mod explorer;
mod outbox;
mod together;

use std::sync::Arc;
use std::time::Duration;

use table_engine::error::Result;
use table_engine::executor::Queues;
use table_engine::messages::{Answer, Delivery, QueueId, QueueOp, Receipt, Release, Sending, Task};
use table_engine::model::Ticks;

use crate::Store;
use crate::write::transaction::CLOCK;

/// Ticks as a span.
fn span(ticks: u64) -> Duration {
    Duration::from_nanos(ticks * 100)
}

/// What this thread takes for the time.
fn set_clock(now: u64) {
    CLOCK.set(Some(Ticks::new(now).unwrap()));
}

fn queues(store: &Store) -> &dyn Queues {
    store.backend().queues().unwrap()
}

fn ask(store: &Store, queue: QueueId, tasks: Vec<Task>) -> Result<Vec<Answer>> {
    queues(store).carry_out(tasks.into_iter().map(|task| QueueOp { queue, name: None, task }).collect())
}

fn sending(text: &str) -> Sending {
    Sending { body: Arc::from(text), after: Duration::ZERO, lives: None, unique: None, history: None }
}

fn receive(
    store: &Store,
    queue: QueueId,
    most: usize,
    visibility: u64,
    dequeues: u32,
) -> Result<Vec<Delivery>> {
    let task = Task::Receive { most, visibility: span(visibility), dequeues };
    match ask(store, queue, vec![task])?.pop() {
        Some(Answer::Received(deliveries)) => Ok(deliveries),
        answer => panic!("{answer:?}"),
    }
}

fn release(delay: u64, error: Option<&str>, dequeues: u32) -> Release {
    Release { delay: span(delay), error: error.map(Arc::from), is_untried: false, dequeues }
}

fn complete(store: &Store, queue: QueueId, receipt: Receipt) -> Result<()> {
    ask(store, queue, vec![Task::Complete(receipt)]).map(drop)
}

fn assert_sound(store: &Store) {
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}
