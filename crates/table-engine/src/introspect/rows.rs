//! What a row is to a kind: by its keys, by its `EntityType`, and by what changes it.

use super::KindInfo;
use crate::model::Value;
use crate::schema::head_key;

/// What a row is to the entities of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowOf {
    /// An entity; of a wide one, the head.
    Entity,
    /// This part of a wide entity, counted from 1.
    Part(usize),
    /// A row of the index of this name.
    Index(String),
}

/// A row whose kind its keys say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RowIdentity {
    /// What it is.
    pub row: RowOf,
    /// The properties that the keys say whole, and their values. Of a row for an element of a list it is the element.
    pub values: Vec<(String, Value)>,
}

impl KindInfo {
    /// Returns what a row of these keys is, in the table where the kind is noted; `None` if it is of another kind.
    ///
    /// The rules for keys keep the kinds of one table apart, and an entity from its copies. Rows without a declared kind may
    /// have any keys: what such a row is, its `EntityType` says.
    #[inline]
    pub fn read_keys(&self, partition: &str, row: &str) -> Option<RowIdentity> {
        let read = |of: RowOf, index: Option<&str>, row: &str| {
            let values = self.keys(index).ok()?.read(partition, row)?;
            Some(RowIdentity { row: of, values })
        };
        if self.lies_here() {
            if let Some(found) = read(RowOf::Entity, None, row) {
                return Some(found);
            }
            for part in 1..=self.layout.parts() {
                if let Some(found) = head_key(row, part).and_then(|head| read(RowOf::Part(part), None, head))
                {
                    return Some(found);
                }
            }
        }
        let indexes =
            self.indexes().into_iter().filter(|index| index.table.eq_ignore_ascii_case(self.table()));
        indexes.into_iter().find_map(|index| read(RowOf::Index(index.name.clone()), Some(&index.name), row))
    }

    /// Returns what a row is that bears this text as its `EntityType`; `None` if it is of another kind.
    #[inline]
    pub fn row_of_type(&self, entity_type: &str) -> Option<RowOf> {
        if self.lies_here() && self.layout.entity_type() == entity_type {
            return Some(RowOf::Entity);
        }
        if self.lies_here()
            && let Some(part) = self.layout.part_of_kind(entity_type)
        {
            return Some(RowOf::Part(part));
        }
        let index = self.layout.indexes().find(|index| self.layout.index_kind(index) == entity_type)?;
        Some(RowOf::Index(index.name.clone()))
    }

    /// Returns the rows that an entity has: its own, and those of its indexes. An index that is sparse may have none, and one
    /// of the elements of a list has one for each.
    #[inline]
    pub fn rows(&self) -> Vec<RowOf> {
        let parts = (1..=self.layout.parts()).map(RowOf::Part);
        let indexes = self.layout.indexes().map(|index| RowOf::Index(index.name.clone()));
        std::iter::once(RowOf::Entity).chain(parts).chain(indexes).collect()
    }

    /// Returns the rows that a change of a property may write: of those that [an entity has](Self::rows), the ones whose keys
    /// or contents depend on it. `None` if there is no such property.
    #[inline]
    pub fn rows_written_by(&self, property: &str) -> Option<Vec<RowOf>> {
        let property = self.layout.property(property)?;
        let mut rows = vec![RowOf::Entity];
        if property.part > 0 {
            rows.push(RowOf::Part(property.part));
        }
        let indexes = self.layout.indexes().filter(|index| self.layout.depends_on(index, property));
        rows.extend(indexes.map(|index| RowOf::Index(index.name.clone())));
        Some(rows)
    }
}
