//! `tables queues`, `peek`, `poison` and `requeue`: queues, and the messages in them.

use std::time::Duration;

use clap::Args;
use serde_json::Value;
use table_core::Tables;
use table_core::queue::{Peeked, Queue};

use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// How long a message that is being sent back is held.
const HELD: Duration = Duration::from_secs(60);

/// The arguments of `queues`.
#[derive(Debug, Args)]
pub(crate) struct Queues {}

/// The arguments of `peek`.
#[derive(Debug, Args)]
pub(crate) struct Peek {
    /// The queue
    queue: String,
    /// How many, 32 unless it is said
    #[arg(short, long, value_name = "N", default_value_t = 32, hide_default_value = true)]
    number: usize,
}

/// The arguments of `poison`.
#[derive(Debug, Args)]
pub(crate) struct Poison {
    #[command(flatten)]
    peek: Peek,
}

/// The arguments of `requeue`.
#[derive(Debug, Args)]
pub(crate) struct Requeue {
    /// The queue that they were set aside from
    queue: String,
    /// How many at most; all unless it is said
    #[arg(short, long, value_name = "N")]
    number: Option<u64>,
}

impl Queues {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let mut all = Vec::new();
        for name in tables.queues()? {
            // It may have been dropped meanwhile.
            if let Some(queue) = tables.find_queue::<Value>(&name)? {
                all.push(queue.stats()?);
            }
        }
        let mut lines = session.output().lines(&[
            "queue",
            "ready",
            "hidden",
            "paused",
            "oldest",
            "bytes",
            "sent",
            "completed",
            "poisoned",
            "expired",
        ]);
        for stats in all {
            lines.push(vec![
                Cell::Text(stats.name),
                Cell::count(stats.ready),
                Cell::count(stats.hidden),
                Cell::Bool(stats.is_paused),
                Cell::shown(stats.oldest_ready),
                Cell::count(stats.bytes),
                Cell::count(stats.sent),
                Cell::count(stats.completed),
                Cell::count(stats.poisoned),
                Cell::count(stats.expired),
            ])?;
        }
        lines.finish()?;
        Ok(Exit::Done)
    }
}

impl Peek {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let queue = find(&session.tables()?, &self.queue)?;
        print(session, queue.peek(self.number)?)
    }
}

impl Poison {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        find(&tables, &self.peek.queue)?;
        let set_aside = tables.find_queue::<Value>(&poison_of(&self.peek.queue))?;
        let messages = set_aside.map(|queue| queue.into_text().peek(self.peek.number)).transpose()?;
        print(session, messages.unwrap_or_default())
    }
}

impl Requeue {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("requeue")?;
        let tables = session.tables()?;
        let queue = find(&tables, &self.queue)?;
        let Some(set_aside) = tables.find_queue::<Value>(&poison_of(&self.queue))? else {
            session.note("0 messages are back in the queue");
            return Ok(Exit::Done);
        };
        // Here nothing is set aside once more.
        let set_aside = set_aside.into_text().max_dequeues(u32::MAX);
        // Those that fail again come back, and are not for this call.
        let there = set_aside.stats()?.ready;
        let most = self.number.unwrap_or(u64::MAX).min(there);
        let mut done: u64 = 0;
        while done < most {
            let Some(received) = set_aside.receive(HELD)? else { break };
            tables.transaction().send(&queue, &*received).complete(&received).commit()?;
            done += 1;
        }
        session.note(format!("{done} messages are back in the queue"));
        Ok(Exit::Done)
    }
}

fn poison_of(queue: &str) -> String {
    format!("{queue}-poison")
}

fn find(tables: &Tables, name: &str) -> Result<Queue<String>, Failure> {
    if let Some(queue) = tables.find_queue::<Value>(name)? {
        return Ok(queue.into_text());
    }
    let known = tables.queues()?;
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Failure::NotFound(format!("there is no queue `{name}`; there are {known}")))
}

fn print(session: &mut Session<'_>, messages: Vec<Peeked<String>>) -> Result<Exit, Failure> {
    let mut lines = session.output().lines(&["id", "received", "sent", "expires", "message", "last error"]);
    for message in messages {
        lines.push(vec![
            Cell::count(message.id()),
            Cell::Integer(message.count().into()),
            Cell::text(message.sent().to_string()),
            Cell::shown(message.expires()),
            Cell::json(&message),
            Cell::shown(message.last_error()),
        ])?;
    }
    lines.finish()?;
    Ok(Exit::Done)
}
