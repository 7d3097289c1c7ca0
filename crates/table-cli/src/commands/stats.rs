//! `tables stats`: what a store holds, and what its file is used for.

use std::time::Duration;

use clap::Args;
use table_core::Store;
use table_core::store::OldestSnapshot;

use crate::failure::{Exit, Failure};
use crate::output::{Cell, Record};
use crate::session::Session;
use crate::times;

/// The arguments of `stats`.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Print them again and again, so often: 1s, 500ms
    #[arg(long, value_name = "SPAN", value_parser = times::span)]
    watch: Option<Duration>,
    /// With --watch, end after so many times
    #[arg(long, value_name = "N", requires = "watch")]
    times: Option<u64>,
}

impl Stats {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let store = session.store("stats")?;
        let mut left = if self.watch.is_some() { self.times.unwrap_or(u64::MAX) } else { 1 };
        while left > 0 {
            let facts = facts(&store)?;
            session.output().facts(facts)?;
            left -= 1;
            let (Some(span), true) = (self.watch, left > 0) else { break };
            if session.output().is_for_people() {
                session.output().text("")?;
            }
            session.output().flush()?;
            std::thread::sleep(span);
        }
        Ok(Exit::Done)
    }
}

fn facts(store: &Store) -> Result<Record, Failure> {
    let stats = store.stats()?;
    let rows: u64 = stats.tables.iter().map(|table| table.entities).sum();
    let messages: u64 = stats.queues.iter().map(|queue| queue.ready.saturating_add(queue.hidden)).sum();
    let mut facts = vec![
        ("tables", Cell::count(stats.tables.len())),
        ("rows", Cell::count(rows)),
        ("queues", Cell::count(stats.queues.len())),
        ("messages", Cell::count(messages)),
        ("blobs", Cell::count(stats.blobs.blobs)),
        ("blob bytes", Cell::count(stats.blobs.bytes)),
        ("file bytes", Cell::count(stats.file_bytes)),
        ("live bytes", Cell::count(stats.space.live_bytes)),
        ("free bytes", Cell::count(stats.space.free_bytes)),
        ("held back bytes", Cell::count(stats.space.held_back_bytes)),
        ("dropped tables", Cell::count(stats.dropped)),
    ];
    let oldest = stats.oldest_snapshot;
    let age = oldest.as_ref().and_then(|OldestSnapshot { age, .. }| *age);
    facts.push(("oldest snapshot", Cell::shown(age.map(times::printed))));
    facts.push(("of process", oldest.map_or(Cell::Null, |oldest| Cell::Integer(oldest.process.into()))));
    Ok(facts.into_iter().map(|(name, cell)| (name.to_owned(), cell)).collect())
}
