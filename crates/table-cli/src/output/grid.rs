//! Columns for people: widths are those of the widest cells.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Cell;

/// How many lines are read, at most, before the widths are settled and the first line is printed.
pub(super) const MEASURED: usize = 1000;
/// How many bytes the lines that are held back have, at most.
pub(super) const HELD_BYTES: usize = 4 << 20;
/// The widest column but for the last: what is longer is cut off, and whole in every other format.
const WIDEST: usize = 60;
/// The widest last column.
const WIDEST_LAST: usize = 240;

/// Lines in columns.
pub(super) struct Grid {
    columns: Vec<String>,
    held: Vec<Vec<Cell>>,
    bytes: usize,
    /// Settled when the first lines are printed.
    widths: Option<Vec<usize>>,
}

impl Grid {
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self { columns, held: Vec::new(), bytes: 0, widths: None }
    }

    pub(super) fn push(&mut self, sink: &mut dyn Write, cells: Vec<Cell>) -> io::Result<()> {
        if let Some(widths) = &self.widths {
            return print(sink, widths, &cells);
        }
        self.bytes = cells.iter().map(Cell::bytes).fold(self.bytes, usize::saturating_add);
        self.held.push(cells);
        if self.held.len() >= MEASURED || self.bytes >= HELD_BYTES { self.settle(sink) } else { Ok(()) }
    }

    /// Prints what is held back.
    pub(super) fn finish(mut self, sink: &mut dyn Write) -> io::Result<()> {
        if self.widths.is_none() { self.settle(sink) } else { Ok(()) }
    }

    fn settle(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        let names: Vec<_> = self.columns.iter().map(Cell::text).collect();
        let mut widths: Vec<_> = self.columns.iter().map(|name| name.width()).collect();
        let last = widths.len().saturating_sub(1);
        for line in &self.held {
            for (at, (widest, cell)) in widths.iter_mut().zip(line).enumerate() {
                *widest = (*widest).max(shown(cell, at == last).width());
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

/// Returns the cell's text in one line: what would end the line, or steer the terminal, is shown and not sent.
pub(super) fn shown_whole(cell: &Cell) -> String {
    shown_but_for(cell, &[])
}

/// Returns the cell's text in as many lines as it has: what would steer the terminal is shown and not sent.
pub(super) fn shown_in_lines(cell: &Cell) -> String {
    shown_but_for(cell, &['\n', '\t'])
}

fn shown_but_for(cell: &Cell, sent: &[char]) -> String {
    let mut text = String::new();
    cell.push_plain(&mut text);
    let is_shown = |c: char| c.is_control() && !sent.contains(&c);
    if !text.contains(is_shown) {
        return text;
    }
    text.chars().map(|c| if is_shown(c) { c.escape_debug().to_string() } else { c.into() }).collect()
}

fn shown(cell: &Cell, is_last: bool) -> String {
    let text = shown_whole(cell);
    let widest = if is_last { WIDEST_LAST } else { WIDEST };
    if text.width() <= widest {
        return text;
    }
    let mut room = widest - 1;
    let mut cut: String = text
        .chars()
        .take_while(|c| {
            let wide = c.width().unwrap_or(0);
            let fits = wide <= room;
            room = room.saturating_sub(wide);
            fits
        })
        .collect();
    cut.push('…');
    cut
}

fn print(sink: &mut dyn Write, widths: &[usize], cells: &[Cell]) -> io::Result<()> {
    let mut line = String::new();
    for (at, (width, cell)) in widths.iter().zip(cells).enumerate() {
        let text = shown(cell, at + 1 == cells.len());
        let room = " ".repeat(width.saturating_sub(text.width()));
        if at > 0 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_off_by_its_width() {
        assert_eq!(shown(&Cell::text("é".repeat(60)), false), "é".repeat(60));
        let cut = shown(&Cell::text("字".repeat(40)), false);
        assert_eq!((cut.width(), cut.chars().last()), (59, Some('…')));
        assert_eq!(shown(&Cell::text("é".repeat(100)), true), "é".repeat(100));
    }

    #[test]
    fn an_empty_cell_keeps_its_column() {
        let mut printed = Vec::new();
        let mut grid = Grid::new(vec!["a".into(), "b".into(), "c".into()]);
        grid.push(&mut printed, vec![Cell::Null, Cell::Integer(12), Cell::text("x\u{1b}[1m")]).unwrap();
        grid.push(&mut printed, vec![Cell::Null, Cell::Integer(3), Cell::Null]).unwrap();
        grid.finish(&mut printed).unwrap();
        assert_eq!(String::from_utf8(printed).unwrap(), "a  b   c\n   12  x\\u{1b}[1m\n    3\n");
    }
}
