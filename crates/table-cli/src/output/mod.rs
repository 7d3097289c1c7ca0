//! What commands print: lines of named cells, in the form that is asked for.

mod cell;
mod grid;
mod lines;

use std::io::{self, Write};

use clap::ValueEnum;

pub(crate) use self::cell::{Cell, push_json_text};
pub(crate) use self::lines::Lines;

/// How a command's lines are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns, for people.
    Table,
    /// An object of JSON a line, for pipes.
    Jsonl,
    /// An array of objects of JSON.
    Json,
    /// Comma-separated values, with a line of names first.
    Csv,
    /// A table of Markdown.
    Md,
    /// A value a line, and an empty line between.
    Line,
}

/// Where commands print, and how.
pub(crate) struct Output<'o> {
    sink: &'o mut dyn Write,
    format: Format,
}

impl<'o> Output<'o> {
    pub(crate) fn new(sink: &'o mut dyn Write, format: Format) -> Self {
        Self { sink, format }
    }

    /// Returns how lines are printed.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Begins a list of lines with these columns.
    pub(crate) fn lines<'l>(&'l mut self, columns: &[&str]) -> Lines<'l> {
        Lines::new(self.sink, self.format, columns)
    }

    /// Prints a text as it is, with a line's end.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.sink.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.sink.write_all(b"\n") }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
