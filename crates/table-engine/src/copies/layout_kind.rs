//! The rows of a kind as a layout has them: what each bears as its kind, and how its keys are parsed and printed.

use super::EntityTypes;
use crate::error::Result;
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{self, Layout, LayoutIndex, LayoutKey, LayoutRows, PartOf, PropertyValue};

/// For each part of the partition key and of the row key of a row, the names that may stand there.
type Names<'l> = [Vec<Vec<&'l str>>; 2];

/// A layout, and the names to which the keys of its rows refer.
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub struct LayoutNames<'l> {
    layout: &'l Layout,
    own: Names<'l>,
    indexes: Vec<Names<'l>>,
}

/// A kind, by what its rows bear and hold.
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub struct LayoutKind<'l> {
    pub(super) layout: &'l Layout,
    entity_type: String,
    /// The kinds of the parts of a wide entity.
    parts: Vec<String>,
    pub(super) own: RowKeys<'l>,
    pub(super) indexes: Vec<IndexRows<'l>>,
}

/// The rows of an index.
pub(super) struct IndexRows<'l> {
    pub(super) index: &'l LayoutIndex,
    pub(super) kind: String,
    pub(super) keys: RowKeys<'l>,
    /// The places of the properties that a row holds besides its keys.
    pub(super) copied: Vec<usize>,
    /// Whether it is known which copies an entity has, and when.
    pub(super) is_told: bool,
    /// Whether the keys of copies are known from the row of their entity.
    pub(super) has_told_keys: bool,
}

/// The keys of rows, as they are parsed and printed.
pub(super) struct RowKeys<'l> {
    partition: Vec<PartOf<'l>>,
    row: Vec<PartOf<'l>>,
}

/// Returns whether a layout tells which copies an entity has in an index, and when. The rows of a summary or of a list are of
/// many entities, and what some of them say only the struct knows.
#[must_use]
pub fn is_told(layout: &Layout, index: &LayoutIndex) -> bool {
    let prints_some = layout.keys_of(Some(index)).into_iter().any(LayoutKey::prints_some);
    !index.is_shared() && !index.sparse && has_told_keys(layout, index) && prints_some
}

/// Returns whether the keys of copies are known from the row of their entity, and they come with it.
fn has_told_keys(layout: &Layout, index: &LayoutIndex) -> bool {
    !index.is_eventual() && layout.keys_of(Some(index)).into_iter().all(LayoutKey::prints_values)
}

/// Returns the places of the properties that a row of an index holds besides its keys.
fn copied(layout: &Layout, index: &LayoutIndex) -> Vec<usize> {
    match &index.rows {
        LayoutRows::All => (0..layout.properties.len()).collect(),
        LayoutRows::Some(properties) => properties.iter().filter_map(|name| layout.place_of(name)).collect(),
        LayoutRows::Keys | LayoutRows::Sums(_) | LayoutRows::Ids(_) => Vec::new(),
    }
}

impl<'l> LayoutNames<'l> {
    /// Returns those of a layout.
    #[must_use]
    pub fn of(layout: &'l Layout) -> Self {
        let of = |index| layout.keys_of(index).map(LayoutKey::names);
        Self { layout, own: of(None), indexes: layout.indexes().map(Some).map(of).collect() }
    }

    /// Returns the kind, the keys of whose rows refer to these names.
    #[must_use]
    pub fn kind(&self) -> LayoutKind<'_> {
        let layout = self.layout;
        let indexes = layout.indexes().zip(&self.indexes).map(|(index, names)| IndexRows {
            index,
            kind: layout.index_kind(index),
            keys: RowKeys::of(layout, Some(index), names),
            copied: copied(layout, index),
            is_told: is_told(layout, index),
            has_told_keys: has_told_keys(layout, index),
        });
        LayoutKind {
            layout,
            entity_type: layout.entity_type(),
            parts: (1..=layout.parts()).map(|part| layout.part_kind(part)).collect(),
            own: RowKeys::of(layout, None, &self.own),
            indexes: indexes.collect(),
        }
    }
}

impl EntityTypes for LayoutKind<'_> {
    fn of_entity(&self) -> &str {
        &self.entity_type
    }

    fn of_part(&self, part: usize) -> Option<&str> {
        self.parts.get(part.checked_sub(1)?).map(String::as_str)
    }

    fn of_index(&self, index: usize) -> Option<&str> {
        self.indexes.get(index).map(|index| &*index.kind)
    }
}

impl LayoutKind<'_> {
    /// Returns whether an entity has parts.
    pub(super) fn is_wide(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Reads the values of the properties that are asked for, as a row and its keys have them; `None` if it has other keys.
    pub(super) fn values_in(
        &self,
        keys: &RowKeys<'_>,
        view: &RowView<'_>,
        is_asked: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Values<'static>>> {
        let properties = &self.layout.properties;
        let mut values = Values::with_capacity(properties.len());
        for _ in properties {
            values.push(Ok(PropertyValue::Absent));
        }
        let (partition, row) = view.keys();
        for (parts, key) in [(&keys.partition, &partition), (&keys.row, &row)] {
            if !schema::parse_parts(parts, key, |place, value| values.set_stored(place, value.into_owned())) {
                return Ok(None);
            }
        }
        for (place, property) in properties.iter().enumerate().filter(|(place, _)| is_asked(*place)) {
            let holder = view.of_part(property.part).unwrap_or(view);
            let stored = match (holder.get(&property.name)?, &property.was) {
                (None, Some(was)) => holder.get(was)?,
                (stored, _) => stored,
            };
            if let Some(stored) = stored {
                values.set_stored(place, stored.to_value().into());
            }
        }
        Ok(Some(values))
    }

    /// Returns whether a property of this name is of the layout, and not carried along.
    pub(super) fn has_property(&self, name: &str) -> bool {
        self.layout.properties.iter().any(|property| {
            property.name == name || property.was.as_deref() == Some(name) || property.is_token(name)
        })
    }
}

#[cfg(feature = "access")]
impl LayoutKind<'_> {
    /// Returns the keys of the entity of which a row of an index is a copy; `None` if the row does not say.
    pub(super) fn owner(&self, index: usize, copy: &RowView<'_>) -> Result<Option<(String, String)>> {
        let Some(of) = self.indexes.get(index) else { return Ok(None) };
        let copied = self.values_in(&of.keys, copy, &|property| self.own.prints(property))?;
        Ok(copied.and_then(|copied| self.own.print(of.index.is_elsewhere(), &copied, copy)))
    }

    /// Returns what the keys of all entities begin with that give something to a row of an index, partition key and row key,
    /// and whether each is whole; `None` if the row's key is none of the index.
    pub(super) fn owners(&self, index: usize, row: &RowView<'_>) -> Result<Option<[(String, bool); 2]>> {
        let Some(of) = self.indexes.get(index) else { return Ok(None) };
        let Some(known) = self.values_in(&of.keys, row, &|_| false)? else { return Ok(None) };
        let print = |parts: &[PartOf<'_>]| schema::print_start(parts, |place| known.get(place));
        let partition = if of.index.is_elsewhere() {
            print(&self.own.partition)
        } else {
            (row.partition_key().into_owned(), true)
        };
        Ok(Some([partition, print(&self.own.row)]))
    }
}

impl<'l> RowKeys<'l> {
    /// Returns those of the rows of an index, or of the entities' own.
    fn of(layout: &'l Layout, index: Option<&'l LayoutIndex>, names: &'l Names<'l>) -> Self {
        let ([partition, row], [of_partition, of_row]) = (layout.keys_of(index), names);
        Self { partition: partition.parts(layout, of_partition), row: row.parts(layout, of_row) }
    }

    /// Returns whether the property at this place is printed in them.
    pub(super) fn prints(&self, property: usize) -> bool {
        let mut parts = self.partition.iter().chain(&self.row);
        parts.any(|part| matches!(part, PartOf::Field(part) if part.field == property))
    }

    /// Returns the keys that values print, if they are known. Where it is not `elsewhere` the partition is that of the `other`
    /// row of the entity.
    pub(super) fn print(
        &self,
        elsewhere: bool,
        values: &Values<'_>,
        other: &RowView<'_>,
    ) -> Option<(String, String)> {
        let print = |parts| schema::print_parts(parts, |place| values.get(place));
        let partition = if elsewhere { print(&self.partition)? } else { other.partition_key().into_owned() };
        Some((partition, print(&self.row)?))
    }
}
