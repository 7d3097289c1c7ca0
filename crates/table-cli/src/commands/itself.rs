//! `tables commands`, `man` and `completions`: what the command line says of itself.

use clap::Args;
use clap_complete::Shell;

use crate::failure::{Exit, Failure};
use crate::help;
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `commands`.
#[derive(Debug, Args)]
pub(crate) struct Commands {}

/// The arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command whose page is printed; that of `tables` if it is left out
    command: Option<String>,
}

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that is to complete words
    #[arg(value_enum)]
    shell: Shell,
}

impl Commands {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let mut lines = session.output().lines(&["command", "what it does"]);
        for command in help::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string);
            lines.push(vec![Cell::text(command.get_name()), Cell::shown(about)])?;
        }
        lines.finish()?;
        Ok(Exit::Done)
    }
}

impl Man {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let all = help::whole_command();
        let command = match &self.command {
            None => all,
            Some(name) => help::find(&all, name)?.clone(),
        };
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        session.output().bytes(&page)?;
        Ok(Exit::Done)
    }
}

impl Completions {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::whole_command(), "tables", &mut script);
        session.output().bytes(&script)?;
        Ok(Exit::Done)
    }
}
