//! Messages that are sent and completed with the rows of a plan, as parts of its statement.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_engine::__executor::{self as executor, QueueOp, Receipt, Sending, Task};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use super::carry_out::stale;
use super::parts::{Count, Holder, QueuePart, QueueStatement, Taken, rows_of};
use super::{PostgresQueues, Shared, dropped, number_of};
use crate::builder::Builder;
use crate::catalog::column;
use crate::connection::Call;
use crate::param::{Param, Params};

/// The messages of a plan.
pub(crate) struct PlanMessages {
    shared: Arc<Shared>,
    /// What is done to which queue, in the order in which it was asked for.
    steps: Vec<(i64, PlanStep)>,
}

enum PlanStep {
    Send(Vec<Sending>),
    Complete(Vec<Receipt>),
}

impl PlanMessages {
    /// Returns the messages of a plan; `None` if it has none.
    pub(crate) fn of(queues: &PostgresQueues, queue_ops: &[QueueOp]) -> Result<Option<Self>> {
        if queue_ops.is_empty() {
            return Ok(None);
        }
        let mut steps: Vec<(i64, PlanStep)> = Vec::new();
        for QueueOp { queue, name, task } in queue_ops {
            let queue = number_of(*queue, name.as_deref(), queues.shared.identity)?;
            match task {
                Task::Send(sending) => match steps.last_mut() {
                    Some((last, PlanStep::Send(sendings))) if *last == queue => {
                        sendings.push(sending.clone());
                    }
                    _ => steps.push((queue, PlanStep::Send(vec![sending.clone()]))),
                },
                Task::Complete(receipt) => {
                    let is_same = |(of, step): &(i64, PlanStep)| {
                        matches!(step, PlanStep::Complete(known) if *of == queue
                            && known.iter().any(|known| known.id == receipt.id))
                    };
                    if steps.iter().any(is_same) {
                        return Err(stale(receipt.id, false));
                    }
                    match steps.last_mut() {
                        Some((last, PlanStep::Complete(receipts))) if *last == queue => {
                            receipts.push(*receipt);
                        }
                        _ => steps.push((queue, PlanStep::Complete(vec![*receipt]))),
                    }
                }
                _ => {
                    let because = "with rows, messages can be sent and completed, and nothing else";
                    return Err(executor::error(ErrorKind::Unsupported, because));
                }
            }
        }
        Ok(Some(Self { shared: queues.shared.clone(), steps }))
    }

    /// Adds the parts that send and complete the messages, and what is demanded of them.
    pub(crate) fn add_to(&self, builder: &mut Builder) {
        let mut statement = QueueStatement::new(builder, &self.shared.tables);
        let mut queues: BTreeMap<i64, QueuePart> = BTreeMap::new();
        for (queue, _) in &self.steps {
            queues.entry(*queue).or_insert_with(|| statement.queue(*queue, true));
        }
        let mut last: Option<String> = None;
        for (queue, step) in &self.steps {
            let Some(queue) = queues.get(queue) else { continue };
            // One after another: what goes first may have the unique key of what comes.
            let done = match step {
                PlanStep::Send(sendings) => {
                    let there = statement.send(queue, sendings, Taken::Left, last.as_deref()).there;
                    statement.counts.add(&queue.number, Count::Sent, &rows_of(&there));
                    statement.builder.demands.push(format!("EXISTS (SELECT FROM {})", queue.found));
                    there
                }
                PlanStep::Complete(receipts) => {
                    let gone = statement.complete(queue, Holder::Receipts(receipts), last.as_deref());
                    statement.builder.demands.push(format!("{} = {}", rows_of(&gone), receipts.len()));
                    gone
                }
            };
            last = Some(done);
        }
        statement.count();
    }

    /// Returns the statements that look at what is demanded, one for each step.
    pub(crate) fn look(&self) -> Vec<Call> {
        let tables = &self.shared.tables;
        let call = |(queue, step): &(i64, PlanStep)| {
            let receipts = match step {
                PlanStep::Send(_) => &[][..],
                PlanStep::Complete(receipts) => receipts,
            };
            let mut params = Params::default();
            let queue = params.add(Param::Number(*queue));
            let ids = receipts.iter().map(|receipt| receipt.id.cast_signed()).collect();
            let deliveries = receipts.iter().map(|receipt| receipt.delivery.into()).collect();
            let (ids, deliveries) = (params.add(Param::Numbers(ids)), params.add(Param::Numbers(deliveries)));
            let sql = format!(
                "SELECT EXISTS (SELECT FROM {} WHERE id = {queue} AND name IS NOT NULL), s.id, s.is_there
                 FROM (SELECT 1) AS one LEFT JOIN (SELECT r.id, t.id IS NOT NULL AS is_there
                    FROM unnest({ids}, {deliveries}) AS r(id, delivery)
                    LEFT JOIN {} AS t ON t.queue = {queue} AND t.id = r.id
                    WHERE NOT coalesce(t.is_held AND t.delivery = r.delivery, false)) AS s ON true",
                tables.queues, tables.messages
            );
            Call { sql, params }
        };
        self.steps.iter().map(call).collect()
    }

    /// Returns what does not hold, from the answers to those.
    pub(crate) fn refusal(answers: std::slice::Iter<'_, Vec<Row>>) -> Result<Option<Error>> {
        for row in answers.flatten() {
            if !column::<bool>(row, 0)? {
                return Ok(Some(dropped()));
            }
            if let Some(id) = column::<Option<i64>>(row, 1)? {
                return Ok(Some(stale(id.cast_unsigned(), column(row, 2)?)));
            }
        }
        Ok(None)
    }
}
