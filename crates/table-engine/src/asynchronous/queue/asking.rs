//! What is asked of queues, handed to the store; a message that comes back to a future that was dropped is given back.

use std::sync::{Arc, Weak};

use crate::asynchronous::answer;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Backend, telemetry};
use crate::messages::{Answer, QueueId, QueueOp, Release, Task};
use crate::queue::Queue;
use crate::queue::asking::damaged;
use crate::telemetry::Messages as Counted;
use crate::typed::change::awaited::wait_for_room;

/// Asks one thing of a queue.
pub(super) async fn ask<T>(queue: &Queue<T>, attempted: &'static str, task: Task) -> Result<Answer> {
    ask_all(queue, attempted, vec![task]).await?.pop().ok_or_else(damaged)
}

/// Asks several things of a queue, which are done as one.
pub(super) async fn ask_all<T>(
    queue: &Queue<T>,
    attempted: &'static str,
    tasks: Vec<Task>,
) -> Result<Vec<Answer>> {
    let queue_ops = queue.queue_ops(tasks);
    let asked = Counted::asked(&queue_ops);
    let answers = answered(queue.store().backend(), &queue_ops).await;
    let answers = answers.map_err(|error| queue.named(attempted, error))?;
    telemetry::messages(&**queue.store().backend(), || asked.answered(&answers));
    Ok(answers)
}

/// Asks one thing of a queue, whatever it answers.
pub(super) fn hand_over<T>(queue: &Queue<T>, task: Task) {
    let submitted = queue.store().backend().queues();
    drop(submitted.and_then(|queues| queues.submit(&queue.queue_ops(vec![task]), Box::new(drop))));
}

/// Hands over what is asked, waits until there is room for it if need be, and then for the answers.
async fn answered(store: &Arc<dyn Backend>, queue_ops: &[QueueOp]) -> Result<Vec<Answer>> {
    let mut place = None;
    loop {
        let (answering, answer) = answer();
        let (own, queue) = (Arc::downgrade(store), queue_ops.first().map(|queue_op| queue_op.queue));
        let done = move |answers: Result<Vec<Answer>>| {
            answering.give(answers.map(|answers| Untaken { store: own, queue, answers }));
        };
        let submitted = store.queues().and_then(|queues| queues.submit(queue_ops, Box::new(done)));
        match submitted {
            Ok(()) => return answer.await.ok_or_else(went_away)?.map(Untaken::taken),
            Err(full) if full.kind() == ErrorKind::TooManyWrites && store.room().is_some() => {
                place = wait_for_room(store.room(), place).await;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cold]
fn went_away() -> Error {
    let because = "the store went away before it answered; open it anew, and look at the queue's counts";
    Error::new(ErrorKind::OutcomeUnknown).because(because)
}

/// Answers that wait to be taken. Dropped, they give back at once the messages among them, uncounted.
struct Untaken {
    store: Weak<dyn Backend>,
    /// The queue that was asked.
    queue: Option<QueueId>,
    answers: Vec<Answer>,
}

impl Untaken {
    fn taken(mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        let Some(queue) = self.queue else { return };
        let received = self.answers.drain(..).filter_map(|answer| match answer {
            Answer::Received(deliveries) => Some(deliveries),
            _ => None,
        });
        let receipts: Vec<_> = received.flatten().map(|delivery| delivery.receipt).collect();
        if receipts.is_empty() {
            return;
        }
        let Some(store) = self.store.upgrade() else { return };
        let Ok(queues) = store.queues() else { return };
        for receipt in receipts {
            let release = Release { is_untried: true, dequeues: u32::MAX, ..Release::default() };
            let give_back = QueueOp { queue, name: None, task: Task::Release(receipt, release) };
            // One by one, so that none is refused for another; what can't be given back shows when its time is over.
            drop(queues.submit(&[give_back], Box::new(drop)));
        }
    }
}
