//! `tables design`: the designs of a store as a page in one file.

use std::path::PathBuf;

use clap::Args;

use crate::data::files::NewFile;
use crate::failure::{Exit, Failure};
use crate::pages::DesignOf;
use crate::session::Session;

/// The arguments of `design`.
#[derive(Debug, Args)]
pub(crate) struct Design {
    /// Where to write the page (the standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The one table to show (all)
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
}

impl Design {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let name = tables.path().file_name().map(|name| name.to_string_lossy().into_owned());
        let store = name.as_deref().unwrap_or("A store");
        let page = DesignOf { store, table: self.table.as_deref() }.page(&tables)?;
        match &self.output {
            Some(file) => {
                let mut file = NewFile::create(file)?;
                file.write(page.as_bytes())?;
                file.finish()?;
            }
            None => session.output().text(&page)?,
        }
        Ok(Exit::Done)
    }
}
