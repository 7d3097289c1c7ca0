//! `tables backup`, `compact`, `reclaim`, `create`, `drop` and `rename`: a store's files, and its tables as a whole.

use std::path::PathBuf;

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The directory that the copy is written into, which is not there yet
    target: PathBuf,
}

/// The arguments of `compact`.
#[derive(Debug, Args)]
pub(crate) struct Compact {}

/// The arguments of `reclaim`.
#[derive(Debug, Args)]
pub(crate) struct Reclaim {}

/// The arguments of `create` and `drop`.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The tables
    #[arg(required = true)]
    tables: Vec<String>,
}

/// The arguments of `rename`.
#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The table
    table: String,
    /// What it is called from now on
    name: String,
}

impl Backup {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.store("backup")?.copy_to(&self.target)?;
        session.note(format!("the store is copied to `{}`", self.target.display()));
        Ok(Exit::Done)
    }
}

impl Compact {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("compact")?;
        let store = session.take_store("compact")?;
        let before = store.stats()?.file_bytes;
        let after = store.compact()?.stats()?.file_bytes;
        session.output().facts(vec![
            ("bytes before".to_owned(), Cell::count(before)),
            ("bytes after".to_owned(), Cell::count(after)),
        ])?;
        Ok(Exit::Done)
    }
}

impl Reclaim {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("reclaim")?;
        let freed = session.store("reclaim")?.reclaim()?;
        session.output().facts(vec![("rows freed".to_owned(), Cell::count(freed))])?;
        Ok(Exit::Done)
    }
}

impl Named {
    pub(crate) fn create(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("create")?;
        let tables = session.tables()?;
        for table in &self.tables {
            tables.create_table(table)?;
            session.note(format!("table `{table}` is made"));
        }
        Ok(Exit::Done)
    }

    pub(crate) fn drop(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("drop")?;
        let names: Vec<_> = self.tables.iter().map(String::as_str).collect();
        session.tables()?.drop_tables(&names)?;
        session.note(format!("dropped: {}", names.join(", ")));
        Ok(Exit::Done)
    }
}

impl Rename {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("rename")?;
        session.tables()?.rename_table(&self.table, &self.name)?;
        session.note(format!("table `{}` is called `{}` now", self.table, self.name));
        Ok(Exit::Done)
    }
}
