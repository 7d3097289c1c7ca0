//! Lines in each of the forms.

use std::io::{self, Write};

use super::grid::Grid;
use super::{Cell, Format, push_json_text};

/// A list of lines that is being printed.
#[must_use = "the last lines are printed by `finish`"]
pub(crate) struct Lines<'l> {
    sink: &'l mut dyn Write,
    format: Format,
    columns: Vec<String>,
    /// Of [`Format::Table`].
    grid: Grid,
    printed: usize,
}

impl<'l> Lines<'l> {
    pub(super) fn new(sink: &'l mut dyn Write, format: Format, columns: &[&str]) -> Self {
        let columns: Vec<_> = columns.iter().map(|&name| name.to_owned()).collect();
        Self { sink, format, grid: Grid::new(columns.clone()), columns, printed: 0 }
    }

    /// Prints a line, which has a cell for each column.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        let is_first = self.printed == 0;
        self.printed += 1;
        let mut text = String::new();
        match self.format {
            Format::Table => return self.grid.push(self.sink, cells),
            Format::Jsonl => self.push_object(&cells, &mut text),
            Format::Json => {
                text.push_str(if is_first { "[" } else { ",\n " });
                self.push_object(&cells, &mut text);
                return self.sink.write_all(text.as_bytes());
            }
            Format::Csv => {
                if is_first {
                    self.print_csv_names()?;
                }
                push_separated(&mut text, &cells, ",", push_csv);
            }
            Format::Md => {
                if is_first {
                    self.print_markdown_names()?;
                }
                text.push_str("| ");
                push_separated(&mut text, &cells, " | ", push_markdown);
                text.push_str(" |");
            }
            Format::Line => {
                if !is_first {
                    text.push('\n');
                }
                for (name, cell) in self.columns.iter().zip(&cells) {
                    text.push_str(name);
                    text.push_str(" = ");
                    cell.push_plain(&mut text);
                    text.push('\n');
                }
                return self.sink.write_all(text.as_bytes());
            }
        }
        text.push('\n');
        self.sink.write_all(text.as_bytes())
    }

    /// Prints what is held back, and ends the list.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.format {
            Format::Table => self.grid.finish(self.sink),
            Format::Json if self.printed == 0 => self.sink.write_all(b"[]\n"),
            Format::Json => self.sink.write_all(b"]\n"),
            Format::Csv if self.printed == 0 => self.print_csv_names(),
            Format::Md if self.printed == 0 => self.print_markdown_names(),
            Format::Jsonl | Format::Csv | Format::Md | Format::Line => Ok(()),
        }
    }

    fn push_object(&self, cells: &[Cell], text: &mut String) {
        text.push('{');
        for (at, (name, cell)) in self.columns.iter().zip(cells).enumerate() {
            if at > 0 {
                text.push(',');
            }
            push_json_text(text, name);
            text.push(':');
            cell.push_json(text);
        }
        text.push('}');
    }

    fn names(&self) -> Vec<Cell> {
        self.columns.iter().map(|name| Cell::text(name)).collect()
    }

    fn print_csv_names(&mut self) -> io::Result<()> {
        let mut text = String::new();
        push_separated(&mut text, &self.names(), ",", push_csv);
        writeln!(self.sink, "{text}")
    }

    fn print_markdown_names(&mut self) -> io::Result<()> {
        let mut text = String::from("| ");
        push_separated(&mut text, &self.names(), " | ", push_markdown);
        text.push_str(" |\n|");
        text.push_str(&" --- |".repeat(self.columns.len()));
        writeln!(self.sink, "{text}")
    }
}

fn push_separated(text: &mut String, cells: &[Cell], separator: &str, push: fn(&mut String, &Cell)) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            text.push_str(separator);
        }
        push(text, cell);
    }
}

fn push_csv(text: &mut String, cell: &Cell) {
    let mut plain = String::new();
    cell.push_plain(&mut plain);
    if plain.contains(['"', ',', '\n', '\r']) {
        text.push('"');
        text.push_str(&plain.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(&plain);
    }
}

fn push_markdown(text: &mut String, cell: &Cell) {
    let mut plain = String::new();
    cell.push_plain(&mut plain);
    text.push_str(&plain.replace('|', "\\|").replace(['\n', '\r'], " "));
}
