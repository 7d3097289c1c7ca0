//! Lines in each of the forms.

use std::io::{self, Write};

use super::grid::{self, Grid};
use super::{Array, Cell, Format, push_json_text};

/// A list of lines that is being printed.
#[must_use = "the last lines are printed by `finish`"]
pub(crate) struct Lines<'l> {
    sink: &'l mut dyn Write,
    /// Of [`Format::Json`].
    array: &'l mut Array,
    format: Format,
    columns: Vec<String>,
    /// Of [`Format::Table`].
    grid: Grid,
    printed: usize,
}

impl<'l> Lines<'l> {
    pub(super) fn new(
        sink: &'l mut dyn Write,
        array: &'l mut Array,
        format: Format,
        columns: Vec<String>,
    ) -> Self {
        Self { sink, array, format, grid: Grid::new(columns.clone()), columns, printed: 0 }
    }

    /// Prints a line, which has a cell for each column.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        match self.format {
            Format::Table => return self.grid.push(self.sink, cells),
            Format::Jsonl | Format::Json | Format::Line => {
                let columns = std::mem::take(&mut self.columns);
                let named: Vec<_> = columns.iter().map(String::as_str).zip(&cells).collect();
                let pushed = self.push_named(&named);
                self.columns = columns;
                return pushed;
            }
            Format::Csv | Format::Md => {}
        }
        let is_first = self.printed == 0;
        self.printed += 1;
        let mut text = String::new();
        if self.format == Format::Csv {
            if is_first {
                self.print_csv_names()?;
            }
            push_separated(&mut text, &cells, ",", push_csv);
        } else {
            if is_first {
                self.print_markdown_names()?;
            }
            text.push_str("| ");
            push_separated(&mut text, &cells, " | ", push_markdown);
            text.push_str(" |");
        }
        text.push('\n');
        self.sink.write_all(text.as_bytes())
    }

    /// Prints a line of a format that says the name of each cell.
    pub(super) fn push_named(&mut self, cells: &[(&str, &Cell)]) -> io::Result<()> {
        let is_first = self.printed == 0;
        self.printed += 1;
        let mut text = String::new();
        match self.format {
            Format::Json => {
                text.push_str(if self.array.is_begun { ",\n " } else { "[" });
                self.array.is_begun = true;
                push_object(&mut text, cells);
            }
            Format::Line => {
                if !is_first {
                    text.push('\n');
                }
                for (name, cell) in cells {
                    text.push_str(name);
                    text.push_str(" = ");
                    text.push_str(&grid::shown_in_lines(cell));
                    text.push('\n');
                }
            }
            Format::Jsonl | Format::Table | Format::Csv | Format::Md => {
                push_object(&mut text, cells);
                text.push('\n');
            }
        }
        self.sink.write_all(text.as_bytes())
    }

    /// Prints what is held back, and ends the list.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.format {
            Format::Table => self.grid.finish(self.sink),
            Format::Json => {
                self.array.is_whole = true;
                Ok(())
            }
            Format::Csv if self.printed == 0 => self.print_csv_names(),
            Format::Md if self.printed == 0 => self.print_markdown_names(),
            Format::Jsonl | Format::Csv | Format::Md | Format::Line => Ok(()),
        }
    }

    fn names(&self) -> Vec<Cell> {
        self.columns.iter().map(Cell::text).collect()
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

fn push_object(text: &mut String, cells: &[(&str, &Cell)]) {
    text.push('{');
    for (at, (name, cell)) in cells.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_json_text(text, name);
        text.push(':');
        cell.push_json(text);
    }
    text.push('}');
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
    text.push_str(&plain.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " "));
}
