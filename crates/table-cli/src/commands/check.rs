//! `tables check`: a look at everything in a store.

use clap::Args;
use table_core::store::Problem;

use crate::bar::Unit;
use crate::failure::{Exit, Failure};
use crate::output::{Cell, Format};
use crate::session::Session;

/// The arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct Check {}

impl Check {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let store = session.store("check")?;
        let bar = session.bar(false);
        bar.begin("check", None, Unit::Rows);
        let report = store.check()?;
        drop(bar);
        let counts = [
            ("tables", report.tables),
            ("rows", report.rows),
            ("copies compared", report.copies),
            ("queues", report.queues),
            ("messages", report.messages),
            ("containers", report.containers),
            ("blobs", report.blobs),
            ("copies to follow", report.pending_propagation),
            ("damage", u64::try_from(report.problems.len()).unwrap_or(u64::MAX)),
            ("wrong copies", u64::try_from(report.wrong_copies.len()).unwrap_or(u64::MAX)),
        ];
        session.output().facts(counts.map(|(name, count)| (name.to_owned(), Cell::count(count))).into())?;
        let is_sound = report.problems.is_empty() && report.wrong_copies.is_empty();
        if !is_sound {
            if session.output().format() == Format::Table {
                session.output().text("")?;
            }
            let mut lines = session.output().lines(&["problem", "table", "partition", "row", "what"]);
            for (problem, of) in [("damage", report.problems), ("wrong copy", report.wrong_copies)] {
                for found in of {
                    lines.push(line(problem, found))?;
                }
            }
            lines.finish()?;
        }
        if !report.untold.is_empty() {
            session.note(format!(
                "which copies are missing could not be told of: {}; `tables repair` finds and writes them where no code is \
                 needed, unless they are being made",
                report.untold.join(", ")
            ));
        }
        Ok(if is_sound { Exit::Done } else { Exit::Damaged })
    }
}

fn line(problem: &str, found: Problem) -> Vec<Cell> {
    let (partition, row) = found
        .row
        .map_or((Cell::Null, Cell::Null), |(partition, row)| (Cell::Text(partition), Cell::Text(row)));
    vec![Cell::text(problem), Cell::shown(found.table), partition, row, Cell::Text(found.what)]
}
