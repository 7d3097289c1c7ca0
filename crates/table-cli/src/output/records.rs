//! Lines each of which has names of its own, as the rows of a table have.

use std::io::{self, Write};

use super::grid::{HELD_BYTES, MEASURED};
use super::{Array, Cell, Format, Lines};

/// A line, name by name.
pub(crate) type Record = Vec<(String, Cell)>;

/// A list of lines whose names are known as they come.
///
/// Forms that have columns take the names of the first thousand lines for them. What later lines have beside these is counted,
/// so that it is not left out without a word.
#[must_use = "the last lines are printed by `finish`"]
pub(crate) struct Records<'l> {
    state: State<'l>,
    columns: Vec<String>,
    left_out: u64,
}

enum State<'l> {
    /// The form says each name.
    Named(Lines<'l>),
    /// The columns are not settled.
    Held(Held<'l>),
    Columns(Lines<'l>),
    /// While the columns are being settled.
    Nothing,
}

struct Held<'l> {
    sink: &'l mut dyn Write,
    array: &'l mut Array,
    format: Format,
    records: Vec<Record>,
    bytes: usize,
}

impl<'l> Records<'l> {
    /// Begins a list whose first columns, where there are columns, have these names.
    pub(super) fn new(sink: &'l mut dyn Write, array: &'l mut Array, format: Format, first: &[&str]) -> Self {
        let state = match format {
            Format::Jsonl | Format::Json | Format::Line => {
                State::Named(Lines::new(sink, array, format, Vec::new()))
            }
            Format::Table | Format::Csv | Format::Md => {
                State::Held(Held { sink, array, format, records: Vec::new(), bytes: 0 })
            }
        };
        Self { state, columns: first.iter().map(|&name| name.to_owned()).collect(), left_out: 0 }
    }

    /// Prints a line.
    pub(crate) fn push(&mut self, record: Record) -> io::Result<()> {
        match &mut self.state {
            State::Named(lines) => {
                let named: Vec<_> = record.iter().map(|(name, cell)| (name.as_str(), cell)).collect();
                return lines.push_named(&named);
            }
            State::Held(held) => {
                for (name, cell) in &record {
                    held.bytes = held.bytes.saturating_add(name.len()).saturating_add(cell.bytes());
                    if !self.columns.contains(name) {
                        self.columns.push(name.clone());
                    }
                }
                held.records.push(record);
                if held.records.len() < MEASURED && held.bytes < HELD_BYTES {
                    return Ok(());
                }
            }
            State::Columns(_) => return self.push_columns(record),
            State::Nothing => return Ok(()),
        }
        self.settle()
    }

    /// Prints what is held back, and ends the list. Returns how many values had no column, and were left out.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.settle()?;
        match self.state {
            State::Named(lines) | State::Columns(lines) => lines.finish()?,
            State::Held(_) | State::Nothing => {}
        }
        Ok(self.left_out)
    }

    fn settle(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Nothing) {
            State::Held(held) => {
                self.state =
                    State::Columns(Lines::new(held.sink, held.array, held.format, self.columns.clone()));
                held.records.into_iter().try_for_each(|record| self.push_columns(record))
            }
            other => {
                self.state = other;
                Ok(())
            }
        }
    }

    fn push_columns(&mut self, mut record: Record) -> io::Result<()> {
        let State::Columns(lines) = &mut self.state else { return Ok(()) };
        let mut cells = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            let found = record.iter().position(|(known, _)| known == name);
            cells.push(found.map_or(Cell::Null, |at| record.swap_remove(at).1));
        }
        self.left_out = self.left_out.saturating_add(u64::try_from(record.len()).unwrap_or(u64::MAX));
        lines.push(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Output;
    use super::*;

    fn print(format: Format, records: impl IntoIterator<Item = Record>) -> (String, u64) {
        let mut printed = Vec::new();
        let mut output = Output::new(&mut printed, format);
        let mut list = output.records(&["Key"]);
        for record in records {
            list.push(record).unwrap();
        }
        let left_out = list.finish().unwrap();
        output.end().unwrap();
        (String::from_utf8(printed).unwrap(), left_out)
    }

    fn record(key: &str, name: &str) -> Record {
        vec![(name.to_owned(), Cell::Integer(1)), ("Key".to_owned(), Cell::text(key))]
    }

    #[test]
    fn columns_are_those_of_all_lines_that_are_held() {
        let printed = print(Format::Csv, [record("a", "X"), record("b", "Y")]);
        assert_eq!(printed, ("Key,X,Y\na,1,\nb,,1\n".to_owned(), 0));
        let printed = print(Format::Jsonl, [record("a", "X"), record("b", "Y")]);
        assert_eq!(printed.0, "{\"X\":1,\"Key\":\"a\"}\n{\"Y\":1,\"Key\":\"b\"}\n");
        assert_eq!(print(Format::Csv, []).0, "Key\n");
        assert_eq!(print(Format::Json, []).0, "[]\n");
    }

    #[test]
    fn what_comes_too_late_for_a_column_is_counted() {
        let late = std::iter::repeat_with(|| record("a", "X")).take(MEASURED).chain([record("b", "Late")]);
        let (printed, left_out) = print(Format::Csv, late);
        assert_eq!(left_out, 1);
        assert_eq!(printed.lines().last(), Some("b,"));
        assert_eq!(printed.lines().count(), MEASURED + 2);
    }
}
