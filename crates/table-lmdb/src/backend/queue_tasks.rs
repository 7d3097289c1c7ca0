//! What users ask of the queues of a store on LMDB.

use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::time::Duration;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::{EachMessage, OnAnswered, Queues, Room};
use table_engine::messages::{Answer, ByReceipt, Delivery, Fate, QueueId, QueueOp, QueueStats, Task};
use table_engine::plan::{Committed, Refused};
use table_engine::sorting;

use super::queues::strange_queue;
use crate::handle::shared::Shared;
use crate::open::OptionalDb;
use crate::queues::{Outcome, WalkedEntry, Work, delivery, stored};
use crate::write::encoded::QueueOps;
use crate::write::prepare;
use crate::write::transaction::clock;

impl Shared {
    /// Drops a queue. Its records are removed later.
    pub(crate) fn drop_queue(&self, name: &str) -> Result<()> {
        self.work(vec![Work::Bury(name.into())]).map(drop)
    }

    fn own_queue(&self, queue: QueueId) -> Result<u32> {
        if queue.store == self.number {
            return Ok(queue.number);
        }
        Err(strange_queue(&QueueOp { queue, name: None, task: Task::Pause(false) }))
    }
}

impl Shared {
    /// Returns whether a snapshot says already that nothing is received: a receiver that asks often for nothing holds up no
    /// writer.
    fn receives_nothing(&self, queue_ops: &[QueueOp]) -> Result<bool> {
        let [QueueOp { queue, task: Task::Receive { .. }, .. }] = queue_ops else { return Ok(false) };
        let number = self.own_queue(*queue)?;
        Ok(self.look(|view, _| view.shows_some(number, clock()))? != Some(true))
    }

    fn work_of(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Work>> {
        let work = |queue_op: QueueOp| Ok(Work::Task(self.own_queue(queue_op.queue)?, queue_op.task));
        queue_ops.into_iter().map(work).collect()
    }
}

/// Returns whether messages may show then that a thread or a task waits for: they are sent or given back.
fn may_show(queue_ops: &[QueueOp]) -> bool {
    let comes = |queue_op: &QueueOp| {
        matches!(
            queue_op.task,
            Task::Send(_)
                | Task::Post(_)
                | Task::Release(..)
                | Task::Pause(false)
                | Task::Update(..)
                | Task::ByReceipt(_, ByReceipt::Update(..) | ByReceipt::Release(_))
        )
    };
    queue_ops.iter().any(comes)
}

fn answers(outcomes: Vec<Outcome>) -> Vec<Answer> {
    let answers = outcomes.into_iter().filter_map(|outcome| match outcome {
        Outcome::Answer(answer) => Some(answer),
        _ => None,
    });
    answers.collect()
}

#[cold]
fn no_such_queue() -> Error {
    Error::new(ErrorKind::QueueNotFound)
}

impl Queues for Shared {
    fn find(&self, name: &str) -> Result<Option<QueueId>> {
        let found = self.look(|view, _| Ok(view.directory()?.find(name).map(|queue| queue.number)))?;
        Ok(found.flatten().map(|number| QueueId { store: self.number, number }))
    }

    fn create(&self, name: &str) -> Result<(QueueId, bool)> {
        self.made(OptionalDb::Queues)?;
        match *self.work(vec![Work::Create(name.into())])? {
            [Outcome::Queue(number, is_new)] => Ok((QueueId { store: self.number, number }, is_new)),
            _ => Err(no_such_queue()),
        }
    }

    fn names(&self) -> Result<Vec<String>> {
        let names = self.look(|view, _| {
            let directory = view.directory()?;
            let queues = directory.queues.iter().filter(|queue| !queue.is_dropped);
            Ok(queues.map(|queue| queue.name.to_string()).collect::<Vec<_>>())
        })?;
        let mut names = names.unwrap_or_default();
        sorting::sort(&mut names);
        Ok(names)
    }

    fn drop_queue(&self, name: &str) -> Result<()> {
        if self.optional_db(OptionalDb::Queues)?.is_none() {
            self.writer.check_writable()?;
            return Err(no_such_queue());
        }
        self.drop_queue(name)?;
        self.purge_queues()
    }

    fn carry_out(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Answer>> {
        let may_show = may_show(&queue_ops);
        if self.receives_nothing(&queue_ops)? {
            return Ok(vec![Answer::Received(Vec::new())]);
        }
        let outcomes = self.work(self.work_of(queue_ops)?)?;
        if may_show {
            self.arrivals.notify();
        }
        Ok(answers(outcomes))
    }

    fn submit(&self, queue_ops: &[QueueOp], done: OnAnswered) -> Result<()> {
        let may_show = may_show(queue_ops);
        if self.receives_nothing(queue_ops)? {
            done(Ok(vec![Answer::Received(Vec::new())]));
            return Ok(());
        }
        let work = QueueOps { work: self.work_of(queue_ops.to_vec())?, ..QueueOps::default() };
        let (outcomes, arrivals) = (work.outcomes.clone(), self.arrivals.clone());
        let answer = move |committed: Result<Committed, Refused>| {
            if committed.is_ok() && may_show {
                arrivals.notify();
            }
            let outcomes = || std::mem::take(&mut *outcomes.lock().unwrap_or_else(PoisonError::into_inner));
            done(committed.map(|_| answers(outcomes())).map_err(|refused| refused.error));
        };
        let submitted = self.writer.submit(self.open_store(), prepare::of_queues(work), Box::new(answer));
        submitted.map_err(|refused| refused.error)
    }

    fn peek(&self, queue: QueueId, most: usize) -> Result<Vec<Delivery>> {
        let number = self.own_queue(queue)?;
        let now = clock();
        let found = self.look(|view, _| {
            let mut found = Vec::new();
            if view.state(number)?.is_paused {
                return Ok(found);
            }
            let mut each = |WalkedEntry { id, entry, .. }: WalkedEntry<'_>| {
                if found.len() == most {
                    return Ok(ControlFlow::Break(()));
                }
                let message = view.message(number, id)?;
                // What would not be given out is not there any more.
                if entry.fate(message.expires, now, u32::MAX) == Fate::Deliver {
                    found.push(delivery(id, &entry, &message));
                }
                Ok(ControlFlow::Continue(()))
            };
            let is_end = view.shown(number, now, None, &mut each)?;
            if is_end {
                view.ready(number, None, each)?;
            }
            Ok(found)
        })?;
        found.ok_or_else(no_such_queue)
    }

    fn stored(&self, queue: QueueId, each: EachMessage<'_>) -> Result<()> {
        let number = self.own_queue(queue)?;
        let now = clock();
        let listed = self.look(|view, _| {
            view.in_order(number, now, |WalkedEntry { id, entry, .. }| {
                let message = view.message(number, id)?;
                if entry.fate(message.expires, now, u32::MAX) == Fate::Expire {
                    return Ok(ControlFlow::Continue(()));
                }
                each(stored(id, &entry, &message, now))
            })
        })?;
        listed.ok_or_else(no_such_queue)
    }

    fn stats(&self, queue: QueueId) -> Result<QueueStats> {
        let number = self.own_queue(queue)?;
        self.look(|view, _| view.stats(number, clock()))?.ok_or_else(no_such_queue)
    }

    fn arrivals(&self, seen: u64, most: Duration) -> u64 {
        self.arrivals.wait(seen, most)
    }

    fn arrival(&self) -> Option<&Room> {
        Some(&self.arrivals.tasks)
    }
}
