//! One run of the command line.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, ErrorFormat};
use crate::failure::{Exit, Failure};
use crate::output::{Format, Output};
use crate::session::Session;

/// The command line, and what a program adds to it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Cli {}

impl Cli {
    /// Returns the command line as the binary `tables` has it.
    #[must_use]
    pub fn new() -> Self {
        Self {}
    }

    /// Runs the command that the process's arguments name, and returns the code to exit with.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let exit =
            self.run_with(std::env::args_os(), &mut stdout.lock(), &mut io::stderr().lock(), is_terminal);
        ExitCode::from(exit.code())
    }

    /// Runs the command that `arguments` name, the first of which is the program's name. What it prints goes to `out`, what
    /// went wrong to `err`.
    pub fn run_with(
        self,
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
        out: &mut dyn Write,
        err: &mut dyn Write,
        is_terminal: bool,
    ) -> Exit {
        let args = match Args::try_parse_from(arguments) {
            Ok(args) => args,
            // Help and the version are no mistakes, and go where output goes.
            Err(error) => {
                let text = error.render();
                let sink: &mut dyn Write = if error.use_stderr() { err } else { out };
                drop(write!(sink, "{text}"));
                return if error.use_stderr() { Exit::Usage } else { Exit::Done };
            }
        };
        let errors = args.options.errors;
        match self.carry_out(args, out, is_terminal) {
            Ok(exit) => exit,
            // The reader of the pipe has seen enough.
            Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Err(failure) => {
                match errors {
                    ErrorFormat::Text => drop(writeln!(err, "tables: {failure}")),
                    ErrorFormat::Json => drop(writeln!(err, "{}", failure.to_json())),
                }
                failure.exit()
            }
        }
    }

    fn carry_out(self, args: Args, out: &mut dyn Write, is_terminal: bool) -> Result<Exit, Failure> {
        let preset = if is_terminal { Format::Table } else { Format::Jsonl };
        let format = args.options.format.unwrap_or(preset);
        let mut session = Session::new(args.options, Output::new(out, format));
        let exit = args.command.run(&mut session)?;
        session.output().flush()?;
        Ok(exit)
    }
}
