//! What commands print: lines of named cells, in the form that is asked for.

mod cell;
mod facts;
mod grid;
mod lines;
mod records;

use std::io::{self, Write};

use clap::ValueEnum;

pub(crate) use self::cell::{Cell, push_json_text};
pub(crate) use self::lines::Lines;
pub(crate) use self::records::{Record, Records};

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

/// How far the array has come that all lists of a command are in, where the form is one.
#[derive(Clone, Copy, Debug, Default)]
struct Array {
    /// Whether an object stands in it.
    is_begun: bool,
    /// Whether a list has ended, so that the array is to be closed.
    is_whole: bool,
}

/// Where commands print, and how.
pub(crate) struct Output<'o> {
    sink: &'o mut dyn Write,
    format: Format,
    array: Array,
}

impl<'o> Output<'o> {
    pub(crate) fn new(sink: &'o mut dyn Write, format: Format) -> Self {
        Self { sink, format, array: Array::default() }
    }

    /// Returns how lines are printed.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints so from now on.
    pub(crate) fn set_format(&mut self, format: Format) {
        self.format = format;
    }

    /// Returns whether people are meant to read it, and no program.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self.format, Format::Table | Format::Line)
    }

    /// Begins a list of lines with these columns.
    pub(crate) fn lines<'l>(&'l mut self, columns: &[&str]) -> Lines<'l> {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Lines::new(self.sink, &mut self.array, self.format, columns)
    }

    /// Begins a list of lines whose names are known as they come. Where there are columns, these names come first.
    pub(crate) fn records<'l>(&'l mut self, first: &[&str]) -> Records<'l> {
        Records::new(self.sink, &mut self.array, self.format, first)
    }

    /// Prints what is known of one thing: for people a line for each name, and one object in JSON.
    pub(crate) fn facts(&mut self, facts: Record) -> io::Result<()> {
        facts::print(self.sink, &mut self.array, self.format, facts)
    }

    /// Prints a text as it is, with a line's end.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.sink.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.sink.write_all(b"\n") }
    }

    /// Prints bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)
    }

    /// Closes what the lists of a command are in, and sends on what has been printed.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let Array { is_begun, is_whole } = std::mem::take(&mut self.array);
        if is_whole {
            self.sink.write_all(if is_begun { b"]\n" } else { b"[]\n" })?;
        }
        self.flush()
    }

    /// Sends on what has been printed.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
