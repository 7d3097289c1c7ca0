//! The lines of indexes in a layout: they come and go by jobs, not by writes.

use super::super::Schema;
use super::{OF, SIGNED, layout_in};

/// Returns whether a line is of this index.
fn is_of(line: &str, name: &str) -> bool {
    line.strip_prefix("index ").is_some_and(|rest| rest.split(' ').next() == Some(name))
}

/// Returns the layout with an index as it is declared, in the place of the one that it may have.
#[doc(hidden)]
pub fn with_index(noted: &str, schema: &Schema, name: &str) -> String {
    let declared = layout_in(schema, schema.table());
    let mut text = without_index(noted, name);
    if let Some(line) = declared.lines().find(|line| is_of(line, name)) {
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// Returns the layout without an index.
#[doc(hidden)]
pub fn without_index(noted: &str, name: &str) -> String {
    noted.lines().filter(|line| !is_of(line, name)).collect::<Vec<_>>().join("\n")
}

/// Returns a layout that is noted in the table of the entities, as it is noted in one where copies of them lie.
#[doc(hidden)]
pub fn noted_elsewhere(noted: &str, table: &str) -> String {
    let is_before = |line: &&str| line.starts_with("version ") || *line == SIGNED;
    let before = noted.lines().filter(is_before).map(str::to_owned);
    let of = std::iter::once(format!("{OF} {table}"));
    let behind = noted.lines().filter(|line| !is_before(line)).map(str::to_owned);
    before.chain(of).chain(behind).collect::<Vec<_>>().join("\n")
}

/// Returns a layout without the line that says that its entities are of this table, as a declaration has none that names no
/// table.
pub(crate) fn without_table(noted: &str, table: &str) -> String {
    let is_of = |line: &&str| {
        line.split_once(' ').is_some_and(|(word, name)| word == OF && name.eq_ignore_ascii_case(table))
    };
    noted.lines().filter(|line| !is_of(line)).collect::<Vec<_>>().join("\n")
}

/// Returns a layout whose rows, or whose copies, lie in a table that has another name now.
#[doc(hidden)]
pub fn with_table_renamed(noted: &str, previous: &str, name: &str) -> String {
    let renamed = |line: &str| {
        let is_previous = |word: &str| word.eq_ignore_ascii_case(previous);
        // The word that the copies follow stands before the table.
        let (line, eventual) = match line.split_once(" eventual in ") {
            Some((index, rest)) if index.starts_with("index ") => (format!("{index} in {rest}"), " eventual"),
            _ => (line.to_owned(), ""),
        };
        let mut words = line.splitn(5, ' ');
        let parts: [Option<&str>; 5] = std::array::from_fn(|_| words.next());
        match parts {
            [Some(OF), Some(table), None, ..] if is_previous(table) => format!("{OF} {name}"),
            [Some("index"), Some(index), Some("in"), Some(table), Some(rest)] if is_previous(table) => {
                format!("index {index}{eventual} in {name} {rest}")
            }
            [Some("index"), Some(index), Some("in"), Some(table), Some(rest)] => {
                format!("index {index}{eventual} in {table} {rest}")
            }
            _ => line.clone(),
        }
    };
    noted.lines().map(renamed).collect::<Vec<_>>().join("\n")
}
