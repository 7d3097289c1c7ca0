//! What is asked of queues as steps, each of which is one statement; and how their answers are read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use table_engine::__executor::{
    Answer, ByReceipt, Delivery, PopReceipt, QueueOp, Receipt, Release, Sending, Task,
};
use table_engine::Result;

use super::parts::{
    Aside, Count, Holder, NOW, QueuePart, QueueStatement, QueueTables, Sent, Taken, kept_error, rows_of,
    ticks,
};
use super::{limit, number_of, take};
use crate::builder::Builder;
use crate::clock;
use crate::connection::Call;
use crate::error::damaged;
use crate::param::Param;
use crate::token::Token;

/// What one statement does.
pub(super) struct Step {
    /// The queue's number.
    pub(super) queue: i64,
    pub(super) what: What,
    /// Whether messages may show then that somebody waits for.
    pub(super) may_show: bool,
}

/// What is done to a queue.
pub(super) enum What {
    /// Messages are sent, each of those of one unique key once; and which of these each of those that were asked for is.
    Send(Vec<Sending>, Vec<usize>),
    /// Messages that are held go; whether one that is held no more is an error.
    Complete(Vec<Receipt>, IsStrict),
    /// Messages that are held stay hidden for so many ticks, and say something else if that is given.
    Extend(Vec<Receipt>, i64, Option<Arc<str>>, IsStrict),
    Release(Receipt, Release),
    /// A message is sent, and the answer shows it.
    Post(Sending),
    /// Something is done by a receipt that has been text in between.
    ByReceipt(PopReceipt, ByReceipt),
    Receive(take::Receiving),
    Pause(bool),
    Clear(Option<u64>, usize),
}

/// Whether it is an error if a message is held no more; if not, the answer says it.
pub(super) type IsStrict = bool;

/// Returns the steps that carry out operations of the queues of this store.
pub(super) fn steps(queue_ops: Vec<QueueOp>, identity: u64) -> Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for QueueOp { queue, name, task } in queue_ops {
        let queue = number_of(queue, name.as_deref(), identity)?;
        let may_show = super::may_show(&task);
        let what = match task {
            Task::Send(sending) => {
                // Many that are sent to one queue are one statement.
                match steps.last_mut() {
                    Some(Step { queue: last, what: What::Send(sendings, places), .. }) if *last == queue => {
                        add_sending(sendings, places, sending);
                        continue;
                    }
                    _ => What::Send(vec![sending], vec![0]),
                }
            }
            Task::Complete(receipt) => What::Complete(vec![receipt], true),
            Task::CompleteEach(receipts) => What::Complete(receipts, false),
            Task::Extend(receipt, visibility) => What::Extend(vec![receipt], ticks(visibility), None, true),
            Task::ExtendEach(receipts, visibility) => What::Extend(receipts, ticks(visibility), None, false),
            Task::Update(receipt, text, visibility) => {
                What::Extend(vec![receipt], ticks(visibility), Some(text), true)
            }
            Task::Release(receipt, release) => What::Release(receipt, release),
            Task::Post(sending) => What::Post(sending),
            Task::ByReceipt(receipt, what) => What::ByReceipt(receipt, what),
            Task::Receive { most, visibility, dequeues } => {
                What::Receive(take::Receiving { most, visibility: ticks(visibility), dequeues })
            }
            Task::Pause(is_paused) => What::Pause(is_paused),
            Task::Clear { below, most } => What::Clear(below, most),
        };
        steps.push(Step { queue, what, may_show });
    }
    Ok(steps)
}

fn add_sending(sendings: &mut Vec<Sending>, places: &mut Vec<usize>, sending: Sending) {
    let same = sending.unique.as_ref().and_then(|key| {
        sendings.iter().position(|known| known.unique.as_ref().is_some_and(|known| known == key))
    });
    places.push(same.unwrap_or(sendings.len()));
    if same.is_none() {
        sendings.push(sending);
    }
}

impl Step {
    /// Returns the statement of the step, which notes its answer with the token, if there is one. The answer is one row of
    /// numbers, `NULL` if the queue is no more; that of a receive has columns of its own.
    pub(super) fn call(&self, tables: &QueueTables, token: Option<Token>) -> Call {
        if let What::Receive(receiving) = &self.what {
            return receiving.call(tables, self.queue, token);
        }
        let mut builder = Builder::default();
        let mut statement = QueueStatement::new(&mut builder, tables);
        let queue = statement.queue(self.queue, matches!(self.what, What::Send(..) | What::Post(_)));
        let answer = self.change(&mut statement, &queue);
        statement.count();
        let answer = statement.builder.part(&answer);
        statement.note(token, &answer);
        builder.select(&format!("SELECT answer FROM {answer}"))
    }

    /// Adds the parts that change something, and returns the question for their answer.
    fn change(&self, statement: &mut QueueStatement<'_, '_>, queue: &QueuePart) -> String {
        let tables = statement.tables;
        match &self.what {
            What::Send(sendings, _) => {
                let Sent { given, there } = statement.send(queue, sendings, Taken::Found, None);
                let answered = statement.builder.part(&format!(
                    "SELECT n.place, n.id AS number FROM {given} AS n JOIN {there} AS m ON m.id = n.id UNION ALL
                     SELECT n.place, -m.id FROM {given} AS n JOIN {there} AS m ON m.unique_key = n.key AND m.id <> n.id"
                ));
                let new = format!("(SELECT count(*) FROM {answered} WHERE number > 0)");
                statement.counts.add(&queue.number, Count::Sent, &new);
                format!("SELECT array_agg(number ORDER BY place) AS answer FROM {answered}")
            }
            What::Complete(receipts, _) => {
                let gone = statement.complete(queue, Holder::Receipts(receipts), None);
                found(queue, &format!("ARRAY(SELECT id FROM {gone})"))
            }
            What::Extend(receipts, visibility, text, _) => {
                let holder = Holder::Receipts(receipts);
                let extended = extend(statement, queue, holder, *visibility, text.as_deref());
                let all = |column| format!("ARRAY(SELECT {column} FROM {extended} ORDER BY id)");
                found(queue, &format!("{} || {}", all("id"), all("shows")))
            }
            What::Release(receipt, release) => {
                let holder = Holder::Receipts(std::slice::from_ref(receipt));
                let released = give_back(statement, queue, holder, release);
                found(queue, &format!("ARRAY(SELECT id FROM {released})"))
            }
            What::Post(sending) => {
                let sendings = std::slice::from_ref(sending);
                let Sent { there, .. } = statement.send(queue, sendings, Taken::Left, None);
                statement.counts.add(&queue.number, Count::Sent, &rows_of(&there));
                found(queue, &format!("ARRAY(SELECT id FROM {there}) || ({NOW})"))
            }
            What::ByReceipt(receipt, ByReceipt::Delete) => {
                let gone = statement.complete(queue, Holder::Text(receipt), None);
                found(queue, &format!("ARRAY(SELECT id FROM {gone})"))
            }
            What::ByReceipt(receipt, ByReceipt::Update(text, visibility)) => {
                let holder = Holder::Text(receipt);
                let extended = extend(statement, queue, holder, ticks(*visibility), text.as_deref());
                found(queue, &format!("ARRAY(SELECT shows FROM {extended})"))
            }
            What::ByReceipt(receipt, ByReceipt::Release(release)) => {
                let released = give_back(statement, queue, Holder::Text(receipt), release);
                found(queue, &format!("ARRAY(SELECT id FROM {released})"))
            }
            What::Pause(is_paused) => {
                let flag = statement.builder.params.add(Param::Flag(*is_paused));
                let changed = statement.builder.part(&format!(
                    "UPDATE {} SET is_paused = {flag} WHERE id = (SELECT id FROM {}) RETURNING id",
                    tables.queues, queue.found
                ));
                format!("SELECT array_agg(id) AS answer FROM {changed}")
            }
            What::Clear(below, most) => clear(statement, queue, *below, *most),
            // It has a statement of its own.
            What::Receive(_) => "SELECT NULL::bigint[] AS answer".into(),
        }
    }

    /// Returns the answers to what the step was asked for, from the numbers that its statement has given; `None` if a message
    /// is held no more.
    pub(super) fn answers(&self, numbers: &[i64]) -> Result<Option<Vec<Answer>>> {
        let all: HashSet<u64> = numbers.iter().map(|number| number.cast_unsigned()).collect();
        let answer = match &self.what {
            What::Send(_, places) => return sent(numbers, places).map(Some),
            What::Complete(receipts, true) => {
                if receipts.iter().any(|receipt| !all.contains(&receipt.id)) {
                    return Ok(None);
                }
                Answer::Done
            }
            What::Complete(receipts, false) => {
                let mut left = all;
                let each = receipts.iter().map(|receipt| left.remove(&receipt.id).then_some(*receipt));
                Answer::Each(each.collect())
            }
            What::Extend(receipts, _, _, is_strict) => {
                let (ids, times) = numbers.split_at_checked(numbers.len() / 2).unwrap_or_default();
                let until: HashMap<_, _> =
                    ids.iter().map(|id| id.cast_unsigned()).zip(times.iter().copied()).collect();
                let mut each = receipts.iter().map(|receipt| {
                    let until = until.get(&receipt.id)?;
                    Some(Receipt { until: clock::ticks(*until), ..*receipt })
                });
                if *is_strict {
                    let Some(receipt) = each.next().flatten() else { return Ok(None) };
                    Answer::Held(receipt)
                } else {
                    Answer::Each(each.collect())
                }
            }
            What::Release(receipt, _) => {
                if !all.contains(&receipt.id) {
                    return Ok(None);
                }
                Answer::Done
            }
            What::Post(sending) => match numbers {
                [id, now] => Answer::Posted(Some(posted(sending, *id, *now))),
                _ => Answer::Posted(None),
            },
            What::ByReceipt(receipt, what) => {
                let Some(number) = numbers.first() else { return Ok(None) };
                match what {
                    ByReceipt::Update(..) => Answer::Held(Receipt {
                        id: receipt.id,
                        delivery: receipt.delivery.wrapping_add(1),
                        until: clock::ticks(*number),
                    }),
                    ByReceipt::Delete | ByReceipt::Release(_) => Answer::Done,
                }
            }
            What::Pause(_) => Answer::Done,
            What::Clear(_, most) => {
                let [gone, below] = numbers else { return Err(damaged("the answer of the server")) };
                let is_all = *gone < limit(*most);
                Answer::Cleared { gone: gone.cast_unsigned(), below: below.cast_unsigned(), is_all }
            }
            What::Receive(_) => return Err(damaged("the answer of the server")),
        };
        Ok(Some(vec![answer]))
    }

    /// Returns the messages that must be held for the step to be carried out.
    pub(super) fn receipts(&self) -> &[Receipt] {
        match &self.what {
            What::Complete(receipts, true) | What::Extend(receipts, _, _, true) => receipts,
            What::Release(receipt, _) => std::slice::from_ref(receipt),
            _ => &[],
        }
    }
}

/// Returns the question that gives an answer if the queue is there, and `NULL` otherwise.
fn found(queue: &QueuePart, answer: &str) -> String {
    format!("SELECT CASE WHEN EXISTS (SELECT FROM {}) THEN {answer} END AS answer", queue.found)
}

fn sent(numbers: &[i64], places: &[usize]) -> Result<Vec<Answer>> {
    let mut known = HashSet::new();
    let answers = places.iter().map(|place| {
        let number = numbers.get(*place).ok_or_else(|| damaged("the answer of the server"))?;
        // The second one of a key is not sent, though the first one was.
        let is_new = known.insert(*place) && *number > 0;
        Ok(Answer::Sent { id: number.unsigned_abs(), is_new })
    });
    answers.collect()
}

/// Adds the parts that give a message back, or set it aside if it was received too often; the last one gives its number.
fn give_back(
    statement: &mut QueueStatement<'_, '_>,
    queue: &QueuePart,
    holder: Holder<'_>,
    release: &Release,
) -> String {
    let held = statement.held(queue, holder);
    let messages = &statement.tables.messages;
    let error = release.error.as_deref().map(kept_error);
    let params = &mut statement.builder.params;
    let (error, untried) = (params.add(Param::MaybeText(error)), params.add(Param::Flag(release.is_untried)));
    let dequeues = params.add(Param::Number(release.dequeues.into()));
    let delay = params.add(Param::Number(ticks(release.delay)));
    let found = statement.builder.part(&format!(
        "SELECT t.id, t.tries >= {dequeues} AND NOT {untried} AS is_aside, coalesce({error}, t.error) AS error
         FROM {messages} AS t, {held} FOR UPDATE OF t"
    ));
    let Aside { target, moved } = statement.set_aside(queue, &found);
    let back = statement.builder.part(&format!(
        "UPDATE {messages} AS t SET is_held = false, is_hidden = {delay} > 0, shows = {NOW} + {delay}, error = f.error,
         tries = greatest(t.tries - {untried}::int, 0) FROM {found} AS f
         WHERE t.queue = {} AND t.id = f.id AND NOT (f.is_aside AND EXISTS (SELECT FROM {target})) RETURNING t.id",
        queue.number
    ));
    statement.builder.part(&format!("SELECT id FROM {back} UNION ALL SELECT id FROM {moved}"))
}

/// Adds the part that hides messages for so many ticks, and has them say something else if that is given; it gives their numbers
/// and until when. A receipt that has been text is another one then.
fn extend(
    statement: &mut QueueStatement<'_, '_>,
    queue: &QueuePart,
    holder: Holder<'_>,
    visibility: i64,
    text: Option<&str>,
) -> String {
    let held = statement.held(queue, holder);
    let params = &mut statement.builder.params;
    let visibility = params.add(Param::Number(visibility));
    let text = text.map(|text| format!(", body = {}", params.add(text.into()))).unwrap_or_default();
    let renewed = match holder {
        Holder::Receipts(_) => "",
        Holder::Text(_) => ", is_held = true, delivery = t.delivery + 1",
    };
    statement.builder.part(&format!(
        "UPDATE {} AS t SET is_hidden = true, shows = {NOW} + {visibility}{text}{renewed} FROM {held}
         RETURNING t.id, t.shows",
        statement.tables.messages
    ))
}

/// Returns a message that was sent at this time, as its sender may speak of it.
fn posted(sending: &Sending, id: i64, now: i64) -> Delivery {
    let later = |span| clock::ticks(now.saturating_add(ticks(span)));
    Delivery {
        receipt: Receipt { id: id.cast_unsigned(), delivery: 0, until: later(sending.after) },
        count: 0,
        sent: clock::ticks(now),
        expires: sending.lives.map(later),
        error: None,
        body: (*sending.body).into(),
    }
}

/// Adds the parts that remove messages whose numbers are below one, and returns the question for how many went, and for that
/// one.
fn clear(
    statement: &mut QueueStatement<'_, '_>,
    queue: &QueuePart,
    below: Option<u64>,
    most: usize,
) -> String {
    let (messages, QueuePart { number, found: there }) = (&statement.tables.messages, queue);
    let params = &mut statement.builder.params;
    let below = params.add(Param::MaybeNumber(below.map(u64::cast_signed)));
    let most = params.add(Param::Number(limit(most)));
    let below = statement.builder.part(&format!(
        "SELECT coalesce({below}, (SELECT max(id) + 1 FROM {messages} WHERE queue = {number}), 1) AS id"
    ));
    let some = statement.builder.part(&format!(
        "SELECT id FROM {messages} WHERE queue = {number} AND id < (SELECT id FROM {below})
         AND EXISTS (SELECT FROM {there}) ORDER BY id LIMIT {most}"
    ));
    let gone = statement.builder.part(&format!(
        "DELETE FROM {messages} AS t USING {some} AS s WHERE t.queue = {number} AND t.id = s.id RETURNING 1"
    ));
    found(queue, &format!("ARRAY[{}, (SELECT id FROM {below})]", rows_of(&gone)))
}
