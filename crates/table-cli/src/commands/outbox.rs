//! `tables outbox`: copies that are to follow their entities, and have not yet.

use clap::{Args, Subcommand};
use table_core::Tables;

use crate::failure::{Exit, Failure};
use crate::output::{Cell, Format};
use crate::session::Session;

/// The arguments of `outbox`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Outbox {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do with what waits.
#[derive(Debug, Subcommand)]
enum Action {
    /// Try again what has failed, of the kinds whose structs the program has
    Retry,
}

impl Outbox {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match self.action {
            None => {
                let tables = session.tables()?;
                list(session, &tables)
            }
            Some(Action::Retry) => {
                session.demand_write("outbox retry")?;
                let tables = session.tables()?;
                let retried = tables.retry_failed()?;
                session.note(format!("{retried} that had failed are tried again"));
                for declared in &*session.all_declared() {
                    declared.open(&tables)?;
                }
                tables.propagate()?;
                list(session, &tables)
            }
        }
    }
}

fn list(session: &mut Session<'_>, tables: &Tables) -> Result<Exit, Failure> {
    let waiting = tables.pending_propagation()?;
    session.output().facts(vec![
        ("entities".to_owned(), Cell::count(waiting.entities)),
        ("set aside".to_owned(), Cell::count(waiting.set_aside)),
        ("oldest".to_owned(), Cell::shown(waiting.oldest)),
        ("failure".to_owned(), Cell::shown(waiting.failure)),
    ])?;
    if !waiting.unknown_kinds.is_empty() {
        session.note(format!(
            "these wait for a program with their structs, such as `table_cli::Cli::new().kind::<..>().run()`: {}",
            waiting.unknown_kinds.join(", ")
        ));
    }
    if waiting.failing.is_empty() {
        return Ok(Exit::Done);
    }
    if session.output().format() == Format::Table {
        session.output().text("")?;
    }
    let mut lines = session.output().lines(&["table", "partition", "row", "tries", "set aside", "error"]);
    for failed in waiting.failing {
        lines.push(vec![
            Cell::Text(failed.table),
            Cell::Text(failed.partition),
            Cell::Text(failed.row),
            Cell::Integer(failed.tries.into()),
            Cell::Bool(failed.is_set_aside),
            Cell::Text(failed.error),
        ])?;
    }
    lines.finish()?;
    Ok(Exit::Done)
}
