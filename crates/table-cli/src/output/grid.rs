//! Columns for people: widths are those of the widest cells.

use std::io::{self, Write};

use super::Cell;

/// How many lines are read before the widths are settled and the first line is printed.
const MEASURED: usize = 1000;

/// Lines in columns.
pub(super) struct Grid {
    columns: Vec<String>,
    held: Vec<Vec<Cell>>,
    /// Settled when the first lines are printed.
    widths: Option<Vec<usize>>,
}

impl Grid {
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self { columns, held: Vec::new(), widths: None }
    }

    pub(super) fn push(&mut self, sink: &mut dyn Write, cells: Vec<Cell>) -> io::Result<()> {
        if let Some(widths) = &self.widths {
            return print(sink, widths, &cells);
        }
        self.held.push(cells);
        if self.held.len() >= MEASURED { self.settle(sink) } else { Ok(()) }
    }

    /// Prints what is held back.
    pub(super) fn finish(mut self, sink: &mut dyn Write) -> io::Result<()> {
        if self.widths.is_none() { self.settle(sink) } else { Ok(()) }
    }

    fn settle(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        let names: Vec<_> = self.columns.iter().map(|name| Cell::text(name)).collect();
        let mut widths: Vec<_> = names.iter().map(width).collect();
        for line in &self.held {
            for (widest, cell) in widths.iter_mut().zip(line) {
                *widest = (*widest).max(width(cell));
            }
        }
        print(sink, &widths, &names)?;
        for line in self.held.drain(..) {
            print(sink, &widths, &line)?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

fn width(cell: &Cell) -> usize {
    shown(cell).chars().count()
}

/// Returns the cell's text in one line: what would end the line, or steer the terminal, is shown and not sent.
fn shown(cell: &Cell) -> String {
    let mut text = String::new();
    cell.push_plain(&mut text);
    if text.chars().any(char::is_control) { text.escape_debug().to_string() } else { text }
}

fn print(sink: &mut dyn Write, widths: &[usize], cells: &[Cell]) -> io::Result<()> {
    let mut line = String::new();
    for (width, cell) in widths.iter().zip(cells) {
        let text = shown(cell);
        let room = " ".repeat(width.saturating_sub(text.chars().count()));
        if !line.is_empty() {
            line.push_str("  ");
        }
        if cell.is_number() {
            line.push_str(&room);
            line.push_str(&text);
        } else {
            line.push_str(&text);
            line.push_str(&room);
        }
    }
    writeln!(sink, "{}", line.trim_end())
}
