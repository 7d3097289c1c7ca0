//! What is known of one thing, name by name.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::records::Record;
use super::{Array, Format, Lines, grid};

/// Prints what is known of one thing: for people a line for each, and an object in JSON.
pub(super) fn print(
    sink: &mut dyn Write,
    array: &mut Array,
    format: Format,
    facts: Record,
) -> io::Result<()> {
    match format {
        Format::Table => {
            let widest = facts.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
            for (name, cell) in &facts {
                let room = " ".repeat(widest.saturating_sub(name.width()));
                let line = format!("{name}{room}  {}", grid::shown_whole(cell));
                writeln!(sink, "{}", line.trim_end())?;
            }
            Ok(())
        }
        Format::Jsonl | Format::Json | Format::Line => {
            let named: Vec<_> = facts.iter().map(|(name, cell)| (name.as_str(), cell)).collect();
            let mut lines = Lines::new(sink, array, format, Vec::new());
            lines.push_named(&named)?;
            lines.finish()
        }
        Format::Csv | Format::Md => {
            let (names, cells): (Vec<_>, Vec<_>) = facts.into_iter().unzip();
            let mut lines = Lines::new(sink, array, format, names);
            lines.push(cells)?;
            lines.finish()
        }
    }
}
