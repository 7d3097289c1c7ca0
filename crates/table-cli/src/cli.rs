//! One run of the command line.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use table_core::typed::InOneTable;

use crate::args::{Args, ErrorFormat};
use crate::declared::{Declared, Kind};
use crate::failure::{Exit, Failure};
use crate::help;
use crate::output::{Format, Output};
use crate::session::{Session, Terminals};

/// The command line, and what a program adds to it.
#[derive(Default)]
pub struct Cli {
    declared: Vec<Box<dyn Declared>>,
}

impl fmt::Debug for Cli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.declared.iter().map(|kind| kind.schema().kind).collect();
        f.debug_struct("Cli").field("kinds", &kinds).finish()
    }
}

impl Cli {
    /// Returns the command line as the binary `tables` has it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind of entities by its struct.
    ///
    /// A store notes of a kind what `tables put` needs to keep its copies, and `tables repair` to mend them, but for what only
    /// code says: an index with `when`, or a part of a type of one's own. A program that adds the struct writes those entities,
    /// too, and goes on with jobs over them.
    ///
    /// ```no_run
    /// use std::process::ExitCode;
    ///
    /// use table_cli::Cli;
    /// use table_core::Entity;
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Shop", kind = "product")]
    /// #[key(partition = "{shelf}", row = "product_{id:04}")]
    /// #[index(by_price, row = "price_{cents:08}_{id:04}", when = Product::is_for_sale)]
    /// struct Product {
    ///     shelf: String,
    ///     id: u32,
    ///     cents: u32,
    ///     stock: i32,
    /// }
    ///
    /// impl Product {
    ///     fn is_for_sale(&self) -> bool {
    ///         self.stock > 0
    ///     }
    /// }
    ///
    /// fn main() -> ExitCode {
    ///     Cli::new().kind::<Product>().run()
    /// }
    /// ```
    #[must_use]
    pub fn kind<E: InOneTable>(mut self) -> Self {
        self.declared.push(Box::new(Kind::<E>::new()));
        self
    }

    /// Runs the command that the process's arguments name, and returns the code to exit with.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let mut out = BufWriter::with_capacity(64 << 10, stdout.lock());
        // The bar of progress is drawn by another thread: this one does not hold the stream.
        let mut err = io::stderr();
        let terminals = Terminals { out: is_terminal, err: err.is_terminal() };
        let exit = self.run_on(std::env::args_os(), &mut out, &mut err, terminals);
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
        self.run_on(arguments, out, err, Terminals { out: is_terminal, err: false })
    }

    fn run_on(
        self,
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
        out: &mut dyn Write,
        err: &mut dyn Write,
        terminals: Terminals,
    ) -> Exit {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let matches = help::command().try_get_matches_from(&arguments);
        let args = match matches.and_then(|matches| Args::from_arg_matches(&matches)) {
            Ok(args) => args,
            // Help and the version are no mistakes, and go where output goes.
            Err(error) => {
                if error.use_stderr() && asks_for_json(&arguments) {
                    let failure = Failure::Usage(error.render().to_string().trim_end().to_owned());
                    drop(writeln!(err, "{}", failure.to_json()));
                    return Exit::Usage;
                }
                let text = error.render();
                let sink: &mut dyn Write = if error.use_stderr() { err } else { out };
                // Where no command is named, all of them help more than a sentence.
                let text = match error.kind() {
                    ErrorKind::MissingSubcommand => help::command().render_help(),
                    _ => text,
                };
                drop(write!(sink, "{text}"));
                if error.kind() == ErrorKind::InvalidSubcommand {
                    drop(write!(sink, "\n{}\n", help::UNKNOWN));
                }
                if error.use_stderr()
                    && let Some(examples) = help::examples_for(&arguments)
                {
                    drop(write!(sink, "\n{examples}\n"));
                }
                drop(sink.flush());
                return if error.use_stderr() { Exit::Usage } else { Exit::Done };
            }
        };
        let errors = args.options.errors;
        let preset = if terminals.out { Format::Table } else { Format::Jsonl };
        let format = args.options.format.unwrap_or(preset);
        let mut session = Session::new(args.options, Output::new(out, format), self.declared.into());
        session.set_terminals(terminals);
        let done = args.command.run(&mut session);
        report(&mut session, done, errors, err)
    }
}

/// Returns whether a command line that can't be read asks for errors as JSON.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let is_it = |pair: &[OsString]| matches!(pair, [name, value] if name == "--errors" && value == "json");
    arguments.iter().any(|word| word == "--errors=json") || arguments.windows(2).any(is_it)
}

/// Prints what is left to be printed, and why the command failed if it did.
pub(crate) fn report(
    session: &mut Session<'_>,
    done: Result<Exit, Failure>,
    errors: ErrorFormat,
    err: &mut dyn Write,
) -> Exit {
    // What was printed before a failure stands before its message.
    let flushed = session.output().end().map_err(Failure::Output);
    let done = match (done, flushed) {
        // The exit code says what the command came to, also where its reader has closed the pipe.
        (Ok(exit), Err(failure)) if failure.is_closed_pipe() => Ok(exit),
        (done, flushed) => done.and_then(|exit| flushed.map(|()| exit)),
    };
    let notes = session.take_notes();
    if !session.options().quiet {
        for note in notes {
            drop(writeln!(err, "{note}"));
        }
    }
    match done {
        Ok(exit) => exit,
        Err(failure) if failure.is_closed_pipe() => Exit::Done,
        Err(failure) => {
            match errors {
                ErrorFormat::Text => drop(writeln!(err, "tables: {failure}")),
                ErrorFormat::Json => drop(writeln!(err, "{}", failure.to_json())),
            }
            failure.exit()
        }
    }
}
