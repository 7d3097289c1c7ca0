//! The commands, a module for each.

mod ls;

use clap::Subcommand;

use crate::failure::{Exit, Failure};
use crate::session::Session;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tables and the kinds of entities in them
    Ls(ls::Ls),
}

impl Command {
    /// Carries the command out.
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match self {
            Self::Ls(command) => command.run(session),
        }
    }
}
