//! `tables ls`: the tables and the kinds of entities in them.

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `ls`.
#[derive(Debug, Args)]
pub(crate) struct Ls {}

impl Ls {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let kinds = tables.kinds()?;
        let mut lines = session.output().lines(&["table", "kind", "version"]);
        for table in tables.tables()? {
            let of_table: Vec<_> = kinds.iter().filter(|kind| kind.table() == table).collect();
            if of_table.is_empty() {
                lines.push(vec![Cell::text(&table), Cell::Null, Cell::Null])?;
            }
            for kind in of_table {
                let version = Cell::Integer(kind.version().into());
                lines.push(vec![Cell::text(&table), Cell::text(kind.kind()), version])?;
            }
        }
        lines.finish()?;
        Ok(Exit::Done)
    }
}
