//! What users ask of the queues of a store on LMDB.

use std::ops::ControlFlow;
use std::time::Duration;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::Queues;
use table_engine::messages::{Answer, Delivery, Fate, QueueId, QueueOp, QueueStats, Task};
use table_engine::sorting;

use super::queues::strange_queue;
use crate::handle::shared::Shared;
use crate::open::OptionalDb;
use crate::queues::{Outcome, WalkedEntry, Work, delivery};
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

#[cold]
fn no_such_queue() -> Error {
    Error::new(ErrorKind::QueueNotFound)
}

impl Queues for Shared {
    fn open(&self, name: &str) -> Result<QueueId> {
        let id = |number| QueueId { store: self.number, number };
        let found = self.look(|view, _| Ok(view.directory()?.find(name).map(|queue| queue.number)))?;
        if let Some(Some(number)) = found {
            return Ok(id(number));
        }
        self.made(OptionalDb::Queues)?;
        match *self.work(vec![Work::Create(name.into())])? {
            [Outcome::Queue(number)] => Ok(id(number)),
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
        // A thread may wait for a message that was sent or given back.
        let comes = |queue_op: &QueueOp| {
            matches!(queue_op.task, Task::Send(_) | Task::Release(..) | Task::Pause(false) | Task::Update(..))
        };
        let may_show = queue_ops.iter().any(comes);
        if let [QueueOp { queue, task: Task::Receive { .. }, .. }] = *queue_ops {
            // A receiver that asks often for nothing holds up no writer: a snapshot tells first.
            let number = self.own_queue(queue)?;
            if self.look(|view, _| view.shows_some(number, clock()))? != Some(true) {
                return Ok(vec![Answer::Received(Vec::new())]);
            }
        }
        let mut work = Vec::with_capacity(queue_ops.len());
        for queue_op in queue_ops {
            work.push(Work::Task(self.own_queue(queue_op.queue)?, queue_op.task));
        }
        let outcomes = self.work(work)?;
        if may_show {
            self.arrivals.notify();
        }
        let answers = outcomes.into_iter().filter_map(|outcome| match outcome {
            Outcome::Answer(answer) => Some(answer),
            _ => None,
        });
        Ok(answers.collect())
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

    fn stats(&self, queue: QueueId) -> Result<QueueStats> {
        let number = self.own_queue(queue)?;
        self.look(|view, _| view.stats(number, clock()))?.ok_or_else(no_such_queue)
    }

    fn arrivals(&self, seen: u64, most: Duration) -> u64 {
        self.arrivals.wait(seen, most)
    }
}
