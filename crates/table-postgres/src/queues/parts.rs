//! The parts of statements that change messages.

use std::fmt::Write;
use std::time::Duration;

use table_engine::__executor::{PopReceipt, Receipt, Sending};

use super::MOST_QUEUES;
use crate::builder::Builder;
use crate::catalog::Catalog;
pub(super) use crate::clock::SERVER_NOW as NOW;
use crate::param::{Param, Params};
use crate::token::{self, Token};

/// The longest time of a message, so that no sum with the time of today is none.
const LONGEST: i64 = 2_500_000_000_000_000_000;

/// Counts are spread over so many rows of each queue, so that senders seldom wait for each other.
const SHARDS: u32 = 32;

/// The end of the name of a queue for messages that were set aside.
const POISON: &str = "-poison";

/// The names of the tables that queues lie in.
pub(crate) struct QueueTables {
    pub(crate) queues: String,
    pub(crate) messages: String,
    pub(super) counts: String,
    /// Of service records: those of a queue have its number below 0 as their owner.
    pub(super) records: String,
    pub(super) commits: String,
    /// The name of the sequence that gives messages their numbers, as a text of SQL.
    pub(super) numbers: String,
}

impl QueueTables {
    pub(super) fn new(catalog: &Catalog) -> Self {
        Self {
            queues: catalog.table("_queues"),
            messages: catalog.table("_messages"),
            counts: catalog.table("_queue_counts"),
            records: catalog.table("_records"),
            commits: catalog.table("_commits"),
            numbers: catalog.named("_message_numbers"),
        }
    }
}

/// A queue in a statement: the parameter with its number, and the part that finds it unless it was dropped.
pub(super) struct QueuePart {
    pub(super) number: String,
    pub(super) found: String,
}

/// Who speaks of messages.
#[derive(Clone, Copy)]
pub(super) enum Holder<'h> {
    /// Who holds them by these receipts.
    Receipts(&'h [Receipt]),
    /// Who has a receipt that has been text in between.
    Text(&'h PopReceipt),
}

/// What becomes of a message whose unique key another has already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is not sent.
    Left,
    /// It is not sent, and the other one is found.
    Found,
}

/// What the parts that send say of messages with a history: what became of them in another queue.
struct Histories {
    given: String,
    columns: &'static str,
    names: &'static str,
    values: String,
}

impl Histories {
    fn of(sendings: &[Sending], params: &mut Params) -> Self {
        if sendings.iter().all(|sending| sending.history.is_none()) {
            return Self { given: String::new(), columns: "", names: "", values: NOW.to_owned() };
        }
        let (mut sent, mut tries, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for Sending { history, .. } in sendings {
            let history = history.as_ref();
            sent.push(history.map(|history| history.sent.get().cast_signed()));
            tries.push(history.map_or(0, |history| history.count.into()));
            errors.push(history.map_or_else(String::new, |history| kept_error(&history.error)));
        }
        let [sent, tries, errors] = [Param::MaybeNumbers(sent), Param::Numbers(tries), Param::Texts(errors)]
            .map(|all| params.add(all));
        Self {
            given: format!(", {sent}, {tries}, {errors}"),
            columns: ", sent, tries, error",
            names: ", tries, error",
            values: format!("coalesce(sent, {NOW}), tries, error"),
        }
    }
}

/// The parts that send messages.
pub(super) struct Sent {
    /// What was given: a place, a number and a unique key of each.
    pub(super) given: String,
    /// The messages that are there for it.
    pub(super) there: String,
}

/// The parts that set messages aside.
pub(super) struct Aside {
    /// The queue for them; none if there is no need of it, or no room for it.
    pub(super) target: String,
    /// Those that were.
    pub(super) moved: String,
}

/// A statement that changes queues.
pub(super) struct QueueStatement<'b, 't> {
    pub(super) builder: &'b mut Builder,
    pub(super) tables: &'t QueueTables,
    pub(super) counts: Counts,
}

impl<'b, 't> QueueStatement<'b, 't> {
    pub(super) fn new(builder: &'b mut Builder, tables: &'t QueueTables) -> Self {
        Self { builder, tables, counts: Counts::default() }
    }

    /// Adds the part that finds a queue. `keeps` has a drop of the queue wait until the transaction has ended: for what adds a
    /// message to it.
    pub(super) fn queue(&mut self, queue: i64, keeps: bool) -> QueuePart {
        let number = self.builder.params.add(Param::Number(queue));
        let lock = if keeps { " FOR KEY SHARE" } else { "" };
        let found = self.builder.part(&format!(
            "SELECT id, name, is_paused FROM {} WHERE id = {number} AND name IS NOT NULL{lock}",
            self.tables.queues
        ));
        QueuePart { number, found }
    }

    /// Adds the part that finds a queue, unless the token's change was given up meanwhile: settling what became of a change
    /// waits for the token's lock first. Else a statement whose connection was lost, and which is to change nothing any more,
    /// could hold messages that the next one then passes over.
    pub(super) fn alive(&mut self, queue: QueuePart, token: Option<Token>) -> QueuePart {
        let Some(token) = token else { return queue };
        let params = &mut self.builder.params;
        let [session, number] = [token.session, token.number].map(|number| params.add(Param::Number(number)));
        let lock = token::lock(&session, &number);
        let found = self.builder.part(&format!(
            "SELECT id, name, is_paused, {lock} FROM {} WHERE NOT EXISTS (SELECT FROM {} WHERE session = {session}
             AND number = {number})",
            queue.found, self.tables.commits
        ));
        QueuePart { found, ..queue }
    }

    /// Adds the parts that send messages to a queue, once the part `after` is done.
    pub(super) fn send(
        &mut self,
        queue: &QueuePart,
        sendings: &[Sending],
        taken: Taken,
        after: Option<&str>,
    ) -> Sent {
        let (mut bodies, mut delays, mut lives, mut keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for sending in sendings {
            bodies.push(sending.body.to_string());
            delays.push(ticks(sending.after));
            lives.push(sending.lives.map(ticks));
            keys.push(sending.unique.as_ref().map(|key| key.as_bytes().to_vec()));
        }
        let params = &mut self.builder.params;
        let (bodies, delays) = (params.add(Param::Texts(bodies)), params.add(Param::Numbers(delays)));
        let (lives, keys) = (params.add(Param::MaybeNumbers(lives)), params.add(Param::MaybeBytes(keys)));
        let histories = Histories::of(sendings, params);
        let QueuePart { number, found } = queue;
        let given = self.builder.part(&format!(
            "SELECT nextval({}) AS id, g.* FROM unnest({bodies}, {delays}, {lives}, {keys}{}) WITH ORDINALITY
             AS g(body, delay, lives, key{}, place) WHERE EXISTS (SELECT FROM {found}){}",
            self.tables.numbers,
            histories.given,
            histories.columns,
            done(after)
        ));
        let conflict = match taken {
            Taken::Left => "DO NOTHING",
            Taken::Found => "DO UPDATE SET unique_key = EXCLUDED.unique_key",
        };
        let there = self.builder.part(&format!(
            "INSERT INTO {} (queue, id, is_hidden, shows, expires, unique_key, body, sent{})
             SELECT {number}, id, delay > 0, {NOW} + delay, {NOW} + lives, key, body, {} FROM {given}
             ON CONFLICT (queue, unique_key) WHERE unique_key IS NOT NULL {conflict} RETURNING id, unique_key",
            self.tables.messages, histories.names, histories.values,
        ));
        Sent { given, there }
    }

    /// Adds the part that removes messages that are held by these receipts, once the part `after` is done; it gives their
    /// numbers.
    pub(super) fn complete(&mut self, queue: &QueuePart, holder: Holder<'_>, after: Option<&str>) -> String {
        let (held, messages) = (self.held(queue, holder), &self.tables.messages);
        let gone = self
            .builder
            .part(&format!("DELETE FROM {messages} AS t USING {held}{} RETURNING t.id", done(after)));
        self.counts.add(&queue.number, Count::Completed, &rows_of(&gone));
        gone
    }

    /// Returns the source and the condition of the messages `t` that somebody may speak of.
    pub(super) fn held(&mut self, queue: &QueuePart, holder: Holder<'_>) -> String {
        let params = &mut self.builder.params;
        let receipts = match holder {
            Holder::Receipts(receipts) => receipts,
            Holder::Text(receipt) => {
                let QueuePart { number, found } = queue;
                let PopReceipt { queue: of, id, delivery, sent } = receipt;
                let [id, delivery, sent, of] =
                    [id.cast_signed(), (*delivery).into(), sent.get().cast_signed(), (*of).into()]
                        .map(|number| params.add(Param::Number(number)));
                // One that nobody holds was given back, unless nobody has received it yet.
                return format!(
                    "(SELECT {id}::bigint) AS r(id) WHERE t.queue = {number} AND t.queue = {of} AND t.id = r.id AND t.sent = {sent} \
                     AND t.delivery = {delivery} AND (t.is_held OR t.delivery = 0) \
                     AND coalesce(t.expires > {NOW}, true) AND EXISTS (SELECT FROM {found})"
                );
            }
        };
        let numbers = receipts.iter().map(|receipt| receipt.id.cast_signed()).collect();
        let deliveries = receipts.iter().map(|receipt| receipt.delivery.into()).collect();
        let (numbers, deliveries) =
            (params.add(Param::Numbers(numbers)), params.add(Param::Numbers(deliveries)));
        let QueuePart { number, found } = queue;
        format!(
            "unnest({numbers}, {deliveries}) AS r(id, delivery) WHERE t.queue = {number} AND t.id = r.id \
             AND t.is_held AND t.delivery = r.delivery AND EXISTS (SELECT FROM {found})"
        )
    }

    /// Adds the parts that move those of the found messages that are to be set aside to the queue for such, which is made if
    /// there is none.
    pub(super) fn set_aside(&mut self, queue: &QueuePart, found: &str) -> Aside {
        let QueueTables { queues, messages, numbers, .. } = self.tables;
        let QueuePart { number, found: source } = queue;
        let target = self.builder.part(&format!(
            "INSERT INTO {queues} AS q (name) SELECT s.name || '{POISON}' FROM {source} AS s
             WHERE s.name NOT LIKE '%{POISON}' AND EXISTS (SELECT FROM {found} WHERE is_aside)
             AND ((SELECT count(*) FROM {queues}) < {MOST_QUEUES}
             OR EXISTS (SELECT FROM {queues} AS k WHERE k.name = s.name || '{POISON}'))
             ON CONFLICT (name) DO UPDATE SET name = EXCLUDED.name RETURNING q.id"
        ));
        let moved = self.builder.part(&format!(
            "DELETE FROM {messages} AS t USING {found} AS f WHERE t.queue = {number} AND t.id = f.id AND f.is_aside
             AND EXISTS (SELECT FROM {target}) RETURNING t.id, t.sent, t.tries, t.body, f.error"
        ));
        self.builder.part(&format!(
            "INSERT INTO {messages} (queue, id, is_hidden, shows, sent, error, body)
             SELECT (SELECT id FROM {target}), nextval({numbers}), false, {NOW}, sent, CASE WHEN error = ''
             THEN 'received ' || tries || ' times, and never completed or given back' ELSE error END, body
             FROM {moved}"
        ));
        self.counts.add(number, Count::Poisoned, &rows_of(&moved));
        self.counts.add(&format!("(SELECT id FROM {target})"), Count::Sent, &rows_of(&moved));
        Aside { target, moved }
    }

    /// Adds the part that notes an answer with a token, if there is one and it is an answer.
    pub(super) fn note(&mut self, token: Option<Token>, answer: &str) {
        let Some(token) = token else { return };
        let params = &mut self.builder.params;
        let [session, number, time] =
            [token.session, token.number, token.time].map(|number| params.add(Param::Number(number)));
        self.builder.part(&format!(
            "INSERT INTO {} (session, number, time, answer) SELECT {session}, {number}, {time}, answer
             FROM {answer} WHERE answer IS NOT NULL",
            self.tables.commits
        ));
    }

    /// Adds the part that counts what has been done.
    pub(super) fn count(&mut self) {
        let all = std::mem::take(&mut self.counts).0;
        if all.is_empty() {
            return;
        }
        self.builder.part(&format!(
            "INSERT INTO {} AS t (queue, shard, sent, completed, poisoned, expired)
             SELECT q, pg_backend_pid() % {SHARDS}, sum(s), sum(c), sum(p), sum(e) FROM ({all}) AS d(q, s, c, p, e)
             WHERE q IS NOT NULL AND s + c + p + e > 0 GROUP BY q ORDER BY q
             ON CONFLICT (queue, shard) DO UPDATE SET sent = t.sent + EXCLUDED.sent,
             completed = t.completed + EXCLUDED.completed, poisoned = t.poisoned + EXCLUDED.poisoned,
             expired = t.expired + EXCLUDED.expired",
            self.tables.counts
        ));
    }
}

/// Returns the condition that a part is carried out first.
fn done(part: Option<&str>) -> String {
    part.map(|part| format!(" AND (SELECT count(*) FROM {part}) >= 0")).unwrap_or_default()
}

/// What a statement adds to what is counted of queues.
#[derive(Default)]
pub(super) struct Counts(String);

/// What is counted.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Sent,
    Completed,
    Poisoned,
    Expired,
}

impl Counts {
    /// Adds what a question gives to one of the counts of a queue, whose number is given by an expression.
    pub(super) fn add(&mut self, queue: &str, count: Count, question: &str) {
        let by = |of: bool| if of { question } else { "0" };
        let [sent, completed, poisoned, expired] = [
            by(matches!(count, Count::Sent)),
            by(matches!(count, Count::Completed)),
            by(matches!(count, Count::Poisoned)),
            by(matches!(count, Count::Expired)),
        ];
        let between = if self.0.is_empty() { "" } else { " UNION ALL " };
        // To write to a text never fails.
        let _ = write!(self.0, "{between}SELECT {queue}::bigint, {sent}, {completed}, {poisoned}, {expired}");
    }
}

/// Returns the question for how many rows a part gives.
pub(super) fn rows_of(part: &str) -> String {
    format!("(SELECT count(*) FROM {part})")
}

/// Returns a time in ticks: at least one, unless it is none at all.
pub(super) fn ticks(span: Duration) -> i64 {
    let ticks = i64::try_from(span.as_nanos().div_ceil(100)).unwrap_or(LONGEST);
    ticks.min(LONGEST)
}

/// The most bytes that are kept of an error.
const ERROR_BYTES: usize = 1_024;

/// Returns as much of an error as is kept. A text of the server's can't hold NUL, and an error that could not be kept would keep
/// the message from going back.
pub(super) fn kept_error(error: &str) -> String {
    let end = (0..=ERROR_BYTES.min(error.len())).rev().find(|end| error.is_char_boundary(*end));
    end.and_then(|end| error.get(..end)).unwrap_or_default().replace('\0', "\u{fffd}")
}
