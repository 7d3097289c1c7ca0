//! Filters of wide entities that ask for more than the head. An executor sees the head alone, so such a filter is
//! applied to each entity once its parts have been read.

use std::borrow::Cow;

use crate::error::Result;
use crate::model::names::Name;
use crate::model::{Ticks, ValueRef};
use crate::query::{Fields, Predicate, Query};
use crate::row::view::RowView;
use crate::schema::Schema;
use crate::typed::entity::path::PathKeys;
use crate::typed::entity::source::Source;

/// A filter that is asked of whole entities.
#[derive(Debug)]
pub(crate) struct PartFilter {
    schema: &'static Schema,
    predicate: Predicate,
}

impl PartFilter {
    /// Returns whether the query's filter asks for what parts hold.
    pub(crate) fn is_asked(schema: &'static Schema, query: &Query) -> Result<bool> {
        let Some(predicate) = query.predicate()? else { return Ok(false) };
        Ok(predicate.names().iter().any(|name| schema.part_of(name) > 0))
    }

    /// Takes the filter out of a query of the heads of wide entities, if it asks for what parts hold.
    pub(crate) fn take(keys: &'static PathKeys, query: &mut Query) -> Result<Option<Self>> {
        let schema = keys.schema();
        if !Self::is_asked(schema, query)? {
            return Ok(None);
        }
        keys.fill(query);
        let predicate = query.predicate()?;
        query.drop_filter();
        Ok(predicate.map(|predicate| Self { schema, predicate }))
    }

    /// Returns whether an entity passes; its parts are with the head.
    pub(crate) fn accepts(&self, head: &RowView<'_>) -> Result<bool> {
        let source = Source::new(self.schema, self.schema.place(), head)?;
        self.predicate.matches(&Whole { head, source, of: self })
    }
}

/// A whole entity as the filter sees it.
struct Whole<'r> {
    head: &'r RowView<'r>,
    source: Source<'r>,
    of: &'r PartFilter,
}

impl Whole<'_> {
    fn name(&self, slot: usize) -> Option<&Name> {
        self.of.predicate.names().get(slot)
    }
}

impl Fields for Whole<'_> {
    fn partition_key(&self) -> Cow<'_, str> {
        self.head.partition_key()
    }

    fn row_key(&self) -> Cow<'_, str> {
        self.head.row_key()
    }

    fn timestamp(&self) -> Ticks {
        self.head.timestamp()
    }

    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>> {
        let Some(name) = self.name(slot) else { return Ok(None) };
        match self.of.schema.fields.iter().position(|field| *field.property == **name) {
            Some(field) => self.source.kept(field),
            None => self.head.get(name),
        }
    }
}
