//! The layout of a kind: what its rows depend on, a line for each thing. A store notes it as text, so that a struct that has
//! changed is not read wrongly.
//!
//! The names of the struct and of its fields are not in it, as long as properties keep theirs. A [`Layout`] comes
//! [of a declaration](Layout::of), or [of the text](Layout::parse) that a store has noted. What compares and advises works on
//! the lines; `Display` is the one place where they become text, which people read in errors.

mod advice;
mod declare;
mod differences;
mod index;
mod indexes;
mod key;
mod line;
mod meet;
mod of;
mod outdated;
mod picture;
mod property;
mod read;
mod reads;
mod renamed;
mod rows;
mod same;
mod series;
#[cfg(test)]
mod tests;

use std::fmt;

pub(crate) use advice::{advice, takes};
pub(crate) use declare::Obstacle;
#[doc(hidden)]
pub use differences::without_copies;
pub(crate) use differences::{Differences, differences_in, united};
#[doc(hidden)]
pub use index::{LayoutIndex, LayoutRows};
#[doc(hidden)]
pub use key::LayoutKey;
pub(crate) use meet::kinds_that_meet;
#[doc(hidden)]
pub use outdated::Outdated;
pub(crate) use outdated::forgotten;
pub use outdated::outdated;
#[doc(hidden)]
pub use property::LayoutProperty;
pub(crate) use property::Sealed;
#[doc(hidden)]
pub use renamed::both_names;
#[doc(hidden)]
pub use same::same_index;
pub(crate) use same::same_keys;

use line::{CopiedLine, Line};
use series::SeriesLine;

use super::Schema;
use super::version::entity_type;

/// What rows of a kind depend on.
#[derive(Clone, Debug)]
pub struct Layout {
    #[doc(hidden)]
    pub kind: String,
    /// In the order in which they are noted.
    lines: Vec<Line>,
    /// Every property, those of series among them.
    #[doc(hidden)]
    pub properties: Vec<LayoutProperty>,
}

/// Two layouts differ by their lines: the properties come of those.
impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.lines == other.lines
    }
}

impl Eq for Layout {}

impl Layout {
    fn new(kind: &str, lines: Vec<Line>) -> Self {
        let mut properties = Vec::new();
        for line in &lines {
            match line {
                Line::Property(property) => properties.push(property.clone()),
                Line::Series(series) => properties.extend(series.properties()),
                _ => {}
            }
        }
        Self { kind: kind.to_owned(), lines, properties }
    }

    /// Returns the layout of which these lines are left.
    fn filtered(&self, is_kept: impl Fn(&Line) -> bool) -> Self {
        Self::new(&self.kind, self.lines.iter().filter(|line| is_kept(line)).cloned().collect())
    }

    /// Returns the number of its lines.
    #[doc(hidden)]
    #[expect(clippy::len_without_is_empty, reason = "one without a line is no layout")]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the version of the struct; 0 in a layout that says none.
    #[doc(hidden)]
    pub fn version(&self) -> u32 {
        let version = |line: &Line| if let Line::Version(version) = line { Some(*version) } else { None };
        self.lines.iter().find_map(version).unwrap_or(0)
    }

    /// Returns the text of `EntityType` on the entities' own rows.
    #[doc(hidden)]
    pub fn entity_type(&self) -> String {
        entity_type(&self.kind, self.version())
    }

    /// Returns whether each row carries a keyed digest.
    #[doc(hidden)]
    pub fn is_signed(&self) -> bool {
        self.lines.contains(&Line::Signed)
    }

    /// Returns the table of the entities where the layout says it: empty if they lie where the layout is noted.
    #[doc(hidden)]
    pub fn table(&self) -> &str {
        let table = self.lines.iter().find_map(|line| match line {
            Line::Of(table) => Some(&**table),
            _ => None,
        });
        table.unwrap_or_default()
    }

    /// Returns the partition key of the entities' own rows.
    pub(crate) fn partition(&self) -> &LayoutKey {
        let key = self.lines.iter().find_map(|line| match line {
            Line::Partition(key) => Some(key),
            _ => None,
        });
        key.unwrap_or(LayoutKey::EMPTY)
    }

    /// Returns the row key of the entities' own rows; of a wide entity, that of its head.
    pub(crate) fn row(&self) -> &LayoutKey {
        let key = self.lines.iter().find_map(|line| match line {
            Line::Row(key) => Some(key),
            _ => None,
        });
        key.unwrap_or(LayoutKey::EMPTY)
    }

    /// Returns the partition key and the row key of the rows of an index, or of the entities' own rows.
    #[doc(hidden)]
    pub fn keys_of<'l>(&'l self, index: Option<&'l LayoutIndex>) -> [&'l LayoutKey; 2] {
        let Some(index) = index else { return [self.partition(), self.row()] };
        let elsewhere = index.elsewhere.as_ref().map(|elsewhere| &elsewhere.partition);
        [elsewhere.unwrap_or_else(|| self.partition()), &index.row]
    }

    /// Returns the property of this name.
    pub(crate) fn property(&self, name: &str) -> Option<&LayoutProperty> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Returns the property that a line of a key or of an index names. Where the copies are older than the property's present
    /// name, such a line has its previous one.
    pub(crate) fn named(&self, name: &str) -> Option<&LayoutProperty> {
        let was = || self.properties.iter().find(|property| property.was.as_deref() == Some(name));
        self.property(name).or_else(was)
    }

    /// Returns the place, among all properties, of the one that a line of a key or of an index [names](Self::named).
    #[doc(hidden)]
    pub fn place_of(&self, name: &str) -> Option<usize> {
        let named = self.named(name)?;
        self.properties.iter().position(|property| property.name == named.name)
    }

    /// Returns the properties that are none of a series.
    fn single_properties(&self) -> impl Iterator<Item = &LayoutProperty> {
        self.lines.iter().filter_map(|line| match line {
            Line::Property(property) => Some(property),
            _ => None,
        })
    }

    fn series(&self) -> impl Iterator<Item = &SeriesLine> {
        self.lines.iter().filter_map(|line| match line {
            Line::Series(series) => Some(series),
            _ => None,
        })
    }

    /// Returns the properties that are to go.
    fn removed(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            Line::Removed(name) => Some(&**name),
            _ => None,
        })
    }

    /// Returns what the entities hold of others.
    fn copied(&self) -> impl Iterator<Item = &CopiedLine> {
        self.lines.iter().filter_map(|line| match line {
            Line::Copied(copy) => Some(copy),
            _ => None,
        })
    }

    /// Returns the kinds of the entities that hold copies of these.
    fn dependents(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            Line::Dependent(kind) => Some(&**kind),
            _ => None,
        })
    }

    /// Returns the line with the tables of a kind that has one for each period.
    fn period_line(&self) -> Option<&Line> {
        self.lines.iter().find(|line| matches!(line, Line::Periods(_)))
    }

    /// Returns the indexes, in order.
    #[doc(hidden)]
    pub fn indexes(&self) -> impl Iterator<Item = &LayoutIndex> {
        self.lines.iter().filter_map(|line| match line {
            Line::Index(index) => Some(index),
            _ => None,
        })
    }

    /// Returns the index of this name.
    #[doc(hidden)]
    pub fn index(&self, name: &str) -> Option<&LayoutIndex> {
        self.indexes().find(|index| index.name == name)
    }

    /// Returns the table where the copies of an index lie, if it is another than that of the entities.
    #[doc(hidden)]
    pub fn table_of<'l>(&'l self, index: &'l LayoutIndex) -> Option<&'l str> {
        let table = index.elsewhere.as_ref()?.table.as_deref()?;
        (!table.is_empty() && !table.eq_ignore_ascii_case(self.table())).then_some(table)
    }

    /// Returns the other tables in which copies lie, each once.
    #[doc(hidden)]
    pub fn other_tables(&self) -> Vec<&str> {
        let mut tables: Vec<&str> = Vec::new();
        for table in self.indexes().filter_map(|index| self.table_of(index)) {
            if tables.iter().all(|known| !known.eq_ignore_ascii_case(table)) {
                tables.push(table);
            }
        }
        tables
    }
}

/// Returns the layout of an entity as text, as it is noted in its own table.
pub(crate) fn layout(schema: &Schema) -> String {
    Layout::of(schema).to_string()
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, line) in self.lines.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            line.fmt(f)?;
        }
        Ok(())
    }
}
