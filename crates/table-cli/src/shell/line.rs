//! One line of the shell.

use std::io::Write;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, ValueEnum};

use super::settings::Settings;
use super::{say, words};
use crate::args::{Args, ErrorFormat, Options};
use crate::cli::report;
use crate::commands::Command;
use crate::failure::Exit;
use crate::help;
use crate::output::Format;
use crate::session::Session;

/// What lines are, beside commands.
const HELP: &str = "\
A line is a command without `tables`, as in: query Company \"Age ge 40\" --top 3
  commands                  lists the commands; COMMAND --help explains one
  set                       shows the settings
  set format FORMAT         table, jsonl, json, csv, md or line; it is kept for the next time
  set store STORE           goes to another store
  set keys FILE             opens sealed values by this key ring; `set keys` closes them again
  set write on              lets commands change the store, until `set write off`
  exit                      ends the shell";

/// What comes after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The next line.
    On(Exit),
    /// Nothing.
    End,
}

/// Carries lines out.
pub(super) struct Runner {
    /// What holds for every line that says nothing else.
    options: Options,
    settings: Settings,
    /// How lines are printed where no command says it.
    preset: Format,
    prompt: String,
}

impl Runner {
    pub(super) fn new(session: &mut Session<'_>, settings: Settings) -> Self {
        let options = session.options().clone();
        let preset = session.output().format();
        let mut runner = Self { options, settings, preset, prompt: String::new() };
        runner.name_prompt();
        runner
    }

    /// Returns what stands before a line that is asked for.
    pub(super) fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Carries a line out. What went wrong goes to `err`.
    pub(super) fn run(&mut self, session: &mut Session<'_>, line: &str, err: &mut dyn Write) -> Flow {
        let words = match words::split(line) {
            Ok(words) => words,
            Err(why) => {
                say(err, &format!("tables: {why}"));
                return Flow::On(Exit::Usage);
            }
        };
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        match &words[..] {
            [] => Flow::On(Exit::Done),
            [first, ..] if first.starts_with('#') => Flow::On(Exit::Done),
            ["exit" | "quit"] => Flow::End,
            ["help"] => print(session, HELP, err),
            ["set", setting @ ..] => self.set(session, setting, err),
            // Who copies a line from elsewhere need not take its first word off.
            ["tables", rest @ ..] | rest => self.command(session, rest, err),
        }
    }

    fn command(&self, session: &mut Session<'_>, words: &[&str], err: &mut dyn Write) -> Flow {
        let line = std::iter::once("tables").chain(words.iter().copied());
        let parsed = help::command().try_get_matches_from(line);
        let parsed =
            parsed.and_then(|matches| Ok((GivenOptions::of(&matches), Args::from_arg_matches(&matches)?)));
        let (options, args) = match parsed {
            Ok((of_line, args)) => (of_line.unwrap_or(&args.options, &self.options), args),
            Err(error) => {
                let text = error.render().to_string();
                if error.use_stderr() {
                    say(err, text.trim_end());
                    return Flow::On(Exit::Usage);
                }
                return print(session, &text, err);
            }
        };
        if matches!(args.command, Command::Shell(_)) {
            say(err, "tables: this is the shell");
            return Flow::On(Exit::Usage);
        }
        let errors = options.errors;
        let format = options.format.or(self.settings.format).unwrap_or(self.preset);
        session.set_options(options);
        session.output().set_format(format);
        let done = args.command.run(session);
        let exit = report(session, done, errors, err);
        session.set_options(self.options.clone());
        Flow::On(exit)
    }

    fn set(&mut self, session: &mut Session<'_>, words: &[&str], err: &mut dyn Write) -> Flow {
        match *words {
            [] => return print(session, &self.shown(), err),
            ["format", name] => {
                let Ok(format) = Format::from_str(name, true) else {
                    say(err, "tables: there are the formats table, jsonl, json, csv, md and line");
                    return Flow::On(Exit::Usage);
                };
                self.settings.format = Some(format);
                if let Err(error) = self.settings.save() {
                    say(err, &format!("the setting is not kept: {error}"));
                }
            }
            ["store", store] => {
                let options = Options { store: Some(store.to_owned()), write: false, ..self.options.clone() };
                return self.go(session, options, err);
            }
            ["keys"] => return self.go(session, Options { keys: None, ..self.options.clone() }, err),
            ["keys", file] => {
                return self.go(session, Options { keys: Some(file.into()), ..self.options.clone() }, err);
            }
            ["write", word @ ("on" | "off")] => {
                return self.go(session, Options { write: word == "on", ..self.options.clone() }, err);
            }
            _ => {
                say(err, "tables: that is no setting: `help` lists them");
                return Flow::On(Exit::Usage);
            }
        }
        Flow::On(Exit::Done)
    }

    /// Opens a store as the options say; where that fails, all is as it was.
    fn go(&mut self, session: &mut Session<'_>, options: Options, err: &mut dyn Write) -> Flow {
        session.set_options(options.clone());
        let opened = session.opened().map(|_| Exit::Done);
        let is_open = opened.is_ok();
        let exit = report(session, opened, ErrorFormat::Text, err);
        if is_open {
            self.options = options;
            self.name_prompt();
        } else {
            session.set_options(self.options.clone());
        }
        Flow::On(exit)
    }

    fn shown(&self) -> String {
        let format = self.options.format.or(self.settings.format).unwrap_or(self.preset);
        let format =
            format.to_possible_value().map(|format| format.get_name().to_owned()).unwrap_or_default();
        let keys =
            self.options.keys.as_ref().map_or_else(|| "none".into(), |keys| keys.display().to_string());
        let write = if self.options.write { "on" } else { "off" };
        format!(
            "store   {}\nformat  {format}\nkeys    {keys}\nwrite   {write}",
            crate::source::without_secrets(self.options.store.as_deref().unwrap_or("none"))
        )
    }

    fn name_prompt(&mut self) {
        let store = self.options.store.as_deref().unwrap_or_default();
        let name = crate::source::short_name(store);
        self.prompt = if self.options.write { format!("{name}! ") } else { format!("{name}> ") };
    }
}

fn print(session: &mut Session<'_>, text: &str, err: &mut dyn Write) -> Flow {
    let printed = session.output().text(text).map(|()| Exit::Done).map_err(Into::into);
    Flow::On(report(session, printed, ErrorFormat::Text, err))
}

/// Which options a line gives. What stands in the environment is not of the line.
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
struct GivenOptions {
    store: bool,
    keys: bool,
    format: bool,
    errors: bool,
    quiet: bool,
}

impl GivenOptions {
    fn of(matches: &ArgMatches) -> Self {
        let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        Self {
            store: is_given("global-store"),
            keys: is_given("global-keys"),
            format: is_given("global-format"),
            errors: is_given("global-errors"),
            quiet: is_given("global-quiet"),
        }
    }

    /// Returns what the line gives, and of the rest what holds for every line.
    fn unwrap_or(&self, line: &Options, or: &Options) -> Options {
        Options {
            store: if self.store { line.store.clone() } else { or.store.clone() },
            write: line.write || or.write,
            keys: if self.keys { line.keys.clone() } else { or.keys.clone() },
            format: if self.format { line.format } else { or.format },
            errors: if self.errors { line.errors } else { or.errors },
            quiet: self.quiet || or.quiet,
        }
    }
}
