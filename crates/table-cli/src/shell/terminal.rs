//! Lines of a terminal, with history and completion.

use std::fs;
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::complete::Names;
use super::settings;
use crate::failure::Failure;
use crate::session::Session;
use crate::source::holds_secret;

/// A terminal that lines are read from.
pub(super) struct Terminal {
    editor: Editor<Completing, FileHistory>,
    history: Option<PathBuf>,
}

impl Terminal {
    pub(super) fn open() -> Result<Self, Failure> {
        let config = Config::builder().completion_type(CompletionType::List).build();
        let mut editor = Editor::with_config(config).map_err(|error| failed(&error))?;
        editor.set_helper(Some(Completing(Names::default())));
        let history = settings::path("history");
        if let Some(path) = &history {
            // There is none before the first time.
            drop(editor.load_history(path));
        }
        Ok(Self { editor, history })
    }

    /// Learns the names that the store has, so that they can be completed.
    pub(super) fn learn(&mut self, session: &mut Session<'_>) {
        if let Some(helper) = self.editor.helper_mut() {
            helper.0 = Names::of(session);
        }
    }

    /// Reads a line; `None` at the end of the input.
    pub(super) fn read(&mut self, prompt: &str) -> Result<Option<String>, Failure> {
        loop {
            match self.editor.readline(prompt) {
                Ok(line) => {
                    // What lets its bearer into a store is kept in no file.
                    if !holds_secret(&line) {
                        drop(self.editor.add_history_entry(&line));
                    }
                    return Ok(Some(line));
                }
                Err(ReadlineError::Eof) => return Ok(None),
                // What was typed is given up, and not the shell.
                Err(ReadlineError::Interrupted) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
    }

    /// Keeps the history. Where it can't be kept, the next shell has less of it.
    pub(super) fn close(mut self) {
        if let Some(path) = &self.history {
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            drop(made.map(|()| self.editor.append_history(path)));
        }
    }
}

fn failed(error: &ReadlineError) -> Failure {
    Failure::Refused(format!("the terminal can't be read: {error}"))
}

/// Completes words by the names of a store.
struct Completing(Names);

impl Completer for Completing {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.0.complete(line.get(..at).unwrap_or(line)))
    }
}

impl Hinter for Completing {
    type Hint = String;
}

impl Highlighter for Completing {}

impl Validator for Completing {}

impl Helper for Completing {}
