//! `tables shell`: the commands, line by line, on one store that stays open.

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::session::Session;
use crate::shell;

/// The arguments of `shell`.
#[derive(Debug, Args)]
#[command(after_help = "Lines are commands without `tables`; `help` lists what else a line may be.")]
pub(crate) struct Shell {}

impl Shell {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        shell::run(session)
    }
}
