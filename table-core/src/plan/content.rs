//! What a row of an entity holds.

use super::values::{FieldValue, Values};
use crate::model::{Value, ValueRef};
use crate::schema::{self, Copies, FieldPart, Index, Part, PropertyValue, Schema, Template};

/// The property that says what a row is.
const ENTITY_TYPE: &str = "EntityType";

/// A property of a row.
pub(crate) type RowProperty<'a> = (&'a str, ValueRef<'a>);

/// Why a row is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It is the entity itself.
    Entity,
    /// It is a copy, of this index.
    Index(usize),
}

/// Which of an entity's rows: its own, or those of an index. What its declaration says of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKind {
    pub(crate) schema: &'static Schema,
    pub(crate) cause: Cause,
}

impl RowKind {
    /// The index that the row is a copy of.
    pub(crate) fn index(self) -> Option<&'static Index> {
        match self.cause {
            Cause::Entity => None,
            Cause::Index(index) => self.schema.indexes.get(index),
        }
    }

    /// The same, if no two entities may have one key in it.
    pub(crate) fn unique_index(self) -> Option<&'static str> {
        self.index().filter(|index| index.unique).map(|index| index.name)
    }

    /// The text of its `EntityType`.
    pub(crate) fn name(self) -> &'static str {
        self.index().map_or(self.schema.kind, |index| index.kind)
    }

    /// The places of the fields that it stores: those of the wanted ones that its own key does not give back.
    pub(crate) fn fields(self) -> impl Iterator<Item = usize> {
        (0..self.schema.fields.len()).filter(move |field| self.stores(*field))
    }

    fn stores(self, field: usize) -> bool {
        let schema = self.schema;
        let (row, wanted) = match (self.cause, self.index()) {
            (Cause::Index(number), Some(index)) => {
                (&index.row, index.copies == Copies::All || schema::holds(schema, Some(number), field))
            }
            _ => (&schema.row, true),
        };
        wanted && !gives_back(&[&schema.partition, row], field)
    }
}

/// What a row holds: fields of an entity, and properties that its declaration does not know.
///
/// It refers to the entity's values, so that a plan costs no list of properties for each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowContent<'a> {
    pub(crate) kind: RowKind,
    values: &'a Values<'a>,
    pub(crate) unknown: &'a [(Box<str>, Value)],
}

impl<'a> RowContent<'a> {
    pub(crate) fn new(kind: RowKind, values: &'a Values<'a>) -> Self {
        Self { kind, values, unknown: &[] }
    }

    /// The value of a field, whether or not the row stores it.
    #[inline]
    pub(crate) fn value(&self, field: usize) -> Option<ValueRef<'a>> {
        self.values.get(field).and_then(FieldValue::stored_ref)
    }

    /// Whether a field has a value.
    #[inline]
    pub(crate) fn has(&self, field: usize) -> bool {
        self.values.get(field).is_some_and(|value| !matches!(value.stored(), PropertyValue::Absent))
    }

    /// Every property.
    pub(crate) fn properties(&self) -> impl Iterator<Item = RowProperty<'a>> {
        let field = |at: usize| Some((self.kind.schema.fields.get(at)?.property, self.value(at)?));
        let kind = (ENTITY_TYPE, ValueRef::String(self.kind.name()));
        let fields = self.kind.fields().filter_map(field);
        let unknown = self.unknown.iter().map(|(name, value)| (&**name, value.as_value_ref()));
        std::iter::once(kind).chain(fields).chain(unknown)
    }

    /// Whether a row of the other's kind and content is the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (kind, of) = (self.kind, other.kind);
        // A constant may have several addresses.
        (std::ptr::eq(kind.schema, of.schema) || kind.schema == of.schema)
            && kind.cause == of.cause
            && self.unknown == other.unknown
            && (0..kind.schema.fields.len())
                .all(|field| self.value(field) == other.value(field) || !kind.stores(field))
    }
}

/// How many properties the row of an entity with these values has besides those that no schema knows.
pub(crate) fn stored_fields(schema: &'static Schema, values: &Values<'_>) -> usize {
    let has_value = |field: &usize| values.get(*field).and_then(FieldValue::stored_ref).is_some();
    RowKind { schema, cause: Cause::Entity }.fields().filter(has_value).count()
}

/// Whether one of the templates gives the field back.
fn gives_back(known: &[&Template], field: usize) -> bool {
    let gives = |part: &Part| matches!(part, Part::Field(part) if part.field == field && part.is_lossless());
    known.iter().any(|template| template.parts.iter().any(gives))
}

/// The fields in a template.
pub(crate) fn fields(template: &Template) -> impl Iterator<Item = &'static FieldPart> + use<> {
    template.parts.iter().filter_map(|part| match part {
        Part::Field(part) => Some(part),
        Part::Literal(_) => None,
    })
}
