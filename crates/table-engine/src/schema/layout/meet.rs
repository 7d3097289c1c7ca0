//! C7, of kinds that meet in a table when the program runs: no row of the one has the key of a row of the other.

use super::super::checks::KeyOf;
use super::super::format::overlap::meet;
use super::super::message::Message;
use super::super::place::{is_one_table, may_lie_in};
use super::super::{PartOf, Place, Schema, part_key};
use super::Layout;
use super::index::LayoutIndex;
use super::key::LayoutKey;

/// Rows of a layout: one kind of those that an entity makes.
struct Rows<'l> {
    layout: &'l Layout,
    of: Of<'l>,
}

/// Which rows of an entity.
#[derive(Clone, Copy)]
enum Of<'l> {
    Own,
    Index(&'l LayoutIndex),
    Part(usize),
}

impl<'l> Rows<'l> {
    /// Returns all rows of a layout, in the order in which a declaration's are [counted](KeyOf::nth).
    fn all(layout: &'l Layout) -> impl Iterator<Item = Self> {
        let indexes = layout.indexes().map(Of::Index);
        let parts = (1..=layout.parts()).map(Of::Part);
        std::iter::once(Of::Own).chain(indexes).chain(parts).map(move |of| Self { layout, of })
    }

    fn index(&self) -> Option<&'l LayoutIndex> {
        if let Of::Index(index) = self.of { Some(index) } else { None }
    }

    /// Returns the table where they lie; empty if it is the one in which the layout is noted.
    fn table(&self) -> &'l str {
        let other = self.index().and_then(|index| self.layout.table_of(index));
        other.unwrap_or_else(|| self.layout.table())
    }

    /// Returns whether a row could have the key of a row that lies in a declared place.
    fn meet(&self, place: &Place) -> bool {
        let [partition, row] = self.layout.keys_of(self.index());
        let suffix = if let Of::Part(part) = self.of { part_key("", part) } else { String::new() };
        let is_met = |key: &LayoutKey, suffix: &str, declared| {
            let names = key.names();
            let mut parts = key.parts(self.layout, &names);
            if !suffix.is_empty() {
                parts.push(PartOf::Literal(suffix));
            }
            meet(&parts, declared)
        };
        // Row keys mostly tell, and are compared first.
        is_one_table(place.table.source(), self.table())
            && is_met(row, &suffix, place.row.parts)
            && is_met(partition, "", place.partition.parts)
    }

    /// Returns what the rows are called, with the template of their row key.
    fn drawn(&self) -> String {
        let [_, row] = self.layout.keys_of(self.index());
        let source = row.source();
        match self.of {
            Of::Own => format!("the row key (`{source}`)"),
            Of::Index(index) => format!("the index `{}` (`{source}`)", index.name),
            Of::Part(part) => format!("the row key of part {part} (`{}`)", part_key(&source, part)),
        }
    }
}

impl Layout {
    /// Returns whether a row of the index could have the key of a row that lies in a declared place.
    #[doc(hidden)]
    pub fn meets(&self, index: &LayoutIndex, place: &Place) -> bool {
        Rows { layout: self, of: Of::Index(index) }.meet(place)
    }
}

/// Returns the mistake of a declaration whose rows could have a key of those of another kind, as far as its layout tells, if there
/// is one. Rows in other tables than this one don't count.
pub(crate) fn kinds_that_meet(table: &str, schema: &Schema, other: &Layout) -> Option<String> {
    let counted = (0..).map_while(|number| KeyOf::nth(schema, number));
    let own: Vec<_> = counted.filter(|own| may_lie_in(own.place(schema), table)).collect();
    own.into_iter().find_map(|own| {
        let met = Rows::all(other).find(|rows| {
            !is_of_summary(schema, own, rows)
                && is_one_table(rows.table(), table)
                && rows.meet(own.place(schema))
        })?;
        Some(format!(
            "{} of `{}` and {} of `{}` could print one key: start each with literal text of its own",
            own.drawn(schema, Message::new("")).as_str(),
            schema.entity,
            met.drawn(),
            other.kind
        ))
    })
}

/// Returns whether the rows of the one are a summary, and those of the other are declared by its own struct.
fn is_of_summary(schema: &Schema, own: KeyOf, rows: &Rows<'_>) -> bool {
    let declares_summary = |at: usize| schema.indexes.get(at).is_some_and(|index| index.summary.is_some());
    match (own, rows.of) {
        (KeyOf::Index(at), Of::Own) => declares_summary(at) && own.kind(schema) == rows.layout.kind,
        (KeyOf::Row, Of::Index(index)) => index.is_summary() && index.name == own.kind(schema),
        _ => false,
    }
}
