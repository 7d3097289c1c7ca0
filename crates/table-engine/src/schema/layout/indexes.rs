//! The lines of a layout that come and go by jobs, not by writes: those of indexes, and those that say where rows lie.

use super::super::Schema;
use super::Layout;
use super::index::{Elsewhere, LayoutIndex};
use super::line::Line;
use super::property::LayoutProperty;

/// The format of a token in a key, as a template writes it.
const BLIND: &str = "blind";

impl Layout {
    /// Returns the layout with an index as it is declared, in the place of the one that it may have.
    #[doc(hidden)]
    #[must_use]
    pub fn with_index(&self, schema: &Schema, name: &str) -> Self {
        let mut becomes = self.without_index(name);
        let declared = Self::of(schema).index(name).cloned();
        becomes.lines.extend(declared.map(Line::Index));
        becomes
    }

    /// Returns the layout without an index.
    #[doc(hidden)]
    #[must_use]
    pub fn without_index(&self, name: &str) -> Self {
        self.filtered(|line| !matches!(line, Line::Index(index) if index.name == name))
    }

    /// Returns the unique indexes whose keys print tokens, each with a property whose tokens they are.
    #[doc(hidden)]
    pub fn unique_by_tokens(&self) -> impl Iterator<Item = (&LayoutIndex, &LayoutProperty)> {
        self.indexes().filter(|index| index.unique).flat_map(move |index| {
            let blind = index.row.printed().filter(|part| part.source == BLIND);
            blind.filter_map(move |part| Some((index, self.property(&part.property)?)))
        })
    }

    /// Returns a layout that is noted in the table of the entities, as it is noted in one where copies of them lie.
    #[doc(hidden)]
    #[must_use]
    pub fn noted_elsewhere(&self, table: &str) -> Self {
        let is_before = |line: &&Line| matches!(line, Line::Version(_) | Line::Signed);
        let before = self.lines.iter().filter(is_before).cloned();
        let behind = self.lines.iter().filter(|line| !is_before(line)).cloned();
        let of = std::iter::once(Line::Of(table.to_owned()));
        Self::new(&self.kind, before.chain(of).chain(behind).collect())
    }

    /// Returns a layout without the line that says that its entities are of this table, as a declaration has none that names no
    /// table.
    pub(crate) fn without_table(&self, table: &str) -> Self {
        self.filtered(|line| !matches!(line, Line::Of(name) if name.eq_ignore_ascii_case(table)))
    }

    /// Returns a layout whose rows, or whose copies, lie in a table that has another name now.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table_renamed(&self, previous: &str, name: &str) -> Self {
        let mut renamed = self.clone();
        for line in &mut renamed.lines {
            if let Line::Of(table)
            | Line::Index(LayoutIndex { elsewhere: Some(Elsewhere { table: Some(table), .. }), .. }) = line
                && table.eq_ignore_ascii_case(previous)
            {
                name.clone_into(table);
            }
        }
        renamed
    }
}
