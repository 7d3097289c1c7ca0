//! What a row of an entity holds.
//!
//! No list of properties is made for a row, since that would cost more than the write. Its fields are encoded by their
//! numbers straight to where the row is to lie. A row with anything unusual goes by names: a name without a number, a
//! property that no field has, a value to be refused, wide slots. Encoding the values once for all rows of an entity was
//! slower: copying the pieces costs what encoding them does.

use super::values::Values;
use crate::model::names::{ENTITY_PARTS, ENTITY_TYPE};
use crate::model::{Value, ValueRef};
use crate::schema::{self, Copies, Index, List, Place, Schema};

/// A property of a row.
pub type RowProperty<'a> = (&'a str, ValueRef<'a>);

/// Why a row is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It is the entity itself; of a wide one its head.
    Entity,
    /// It is this part of a wide entity; the first one is 1.
    Part(usize),
    /// It is a copy, of this index.
    Index(usize),
}

/// Which of an entity's rows: its own, or those of an index. What its declaration says of them.
#[derive(Clone, Copy, Debug)]
pub struct RowKind {
    pub(crate) schema: &'static Schema,
    pub(crate) cause: Cause,
}

impl RowKind {
    /// Returns the index that the row is a copy of.
    pub(crate) fn index(self) -> Option<&'static Index> {
        match self.cause {
            Cause::Entity | Cause::Part(_) => None,
            Cause::Index(index) => self.schema.indexes.get(index),
        }
    }

    /// Returns whether its rows are those of a summary, and no copies.
    pub(crate) fn is_summary(self) -> bool {
        self.index().is_some_and(|index| index.summary.is_some())
    }

    /// Returns whether its rows are no copies, but made of what many entities give: a summary's, or a list's.
    pub(crate) fn is_shared(self) -> bool {
        self.index().is_some_and(Index::is_shared)
    }

    /// Returns where its rows lie.
    pub(super) fn place(self) -> &'static Place {
        self.index().map_or_else(|| self.schema.place_of_part(self.part()), |index| &index.place)
    }

    /// Returns whether its rows are signed.
    #[inline]
    pub fn signs(self) -> bool {
        let index = match self.cause {
            Cause::Entity | Cause::Part(_) => None,
            Cause::Index(index) => Some(index),
        };
        self.schema.signing(index).signs()
    }

    /// Returns the index that the row is a copy of, if no two entities may have one key in it.
    pub(crate) fn unique_index(self) -> Option<&'static str> {
        self.index().filter(|index| index.unique).map(|index| index.name)
    }

    /// Returns the text of its `EntityType`.
    pub fn name(self) -> &'static str {
        self.index().map_or_else(|| self.schema.kind_of_part(self.part()), |index| index.kind)
    }

    /// Returns which of its entity's own rows it is: 0 is the head, and of a copy this says nothing.
    pub(crate) fn part(self) -> usize {
        match self.cause {
            Cause::Part(part) => part,
            Cause::Entity | Cause::Index(_) => 0,
        }
    }

    /// Returns whether it is the head of a wide entity.
    fn is_head(self) -> bool {
        self.cause == Cause::Entity && self.schema.is_wide()
    }

    /// Returns the properties that it has, if the entity has a value for them, with their names: what it is, and the fields
    /// that its own key does not give back.
    pub fn properties(self) -> impl Iterator<Item = (&'static str, PropertyOf)> {
        let fields = self.schema.fields.iter().enumerate().filter(move |(at, _)| self.stores(*at));
        let fields = fields.flat_map(|(at, field)| {
            let token = field.blind.map(|blind| (blind.property, PropertyOf::Token(at)));
            std::iter::once((field.property, PropertyOf::Field(at))).chain(token)
        });
        let parts = self.is_head().then_some((ENTITY_PARTS, PropertyOf::Parts));
        std::iter::once((ENTITY_TYPE, PropertyOf::Kind)).chain(fields).chain(parts)
    }

    /// Returns whether it carries what the declaration doesn't know: the row of the entity, and a whole copy of it. So what a
    /// newer program added stays in each of them when an older one writes.
    pub(crate) fn carries_unknown(self) -> bool {
        self.index().is_none_or(|index| index.copies == Copies::All)
    }

    fn stores(self, field: usize) -> bool {
        let wanted = match (self.cause, self.index()) {
            (Cause::Index(number), Some(index)) => {
                index.copies == Copies::All || schema::holds(self.schema, Some(number), field)
            }
            _ => self.schema.fields.get(field).is_some_and(|field| field.part == self.part()),
        };
        wanted && !self.place().gives_back(field)
    }
}

/// What a property of a row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyOf {
    /// What the row is.
    Kind,
    /// How many parts the entity has.
    Parts,
    /// The value of the field at this place.
    Field(usize),
    /// The token of that value.
    Token(usize),
}

/// What a row holds: fields of an entity, and properties that its declaration does not know.
///
/// It refers to the entity's values, so that a plan costs no list of properties for each row.
#[derive(Clone, Copy, Debug)]
pub struct RowContent<'a> {
    pub kind: RowKind,
    values: &'a Values<'a>,
    pub unknown: &'a [(Box<str>, Value)],
}

impl<'a> RowContent<'a> {
    pub(crate) fn new(kind: RowKind, values: &'a Values<'a>) -> Self {
        Self { kind, values, unknown: &[] }
    }

    /// Adds what the entity's row has that no field is, as far as the row carries it.
    pub(crate) fn carrying(self, unknown: &'a [(Box<str>, Value)]) -> Self {
        if self.kind.carries_unknown() { Self { unknown, ..self } } else { self }
    }

    /// Returns the entity's id on a list; `None` if it has none, as every entity with a key has.
    pub(crate) fn id(&self, list: List) -> Option<String> {
        list.id(self.values).ok().flatten()
    }

    /// Returns what a property holds, whether or not the row has it.
    #[inline]
    pub(crate) fn get(&self, property: PropertyOf) -> Option<ValueRef<'a>> {
        match property {
            PropertyOf::Kind => Some(ValueRef::String(self.kind.name())),
            PropertyOf::Parts => i32::try_from(self.kind.schema.parts.len()).ok().map(ValueRef::Int32),
            PropertyOf::Field(field) => self.values.get(field),
            PropertyOf::Token(field) => self.values.token(field).map(|token| ValueRef::Binary(token.bytes())),
        }
    }

    /// Returns every property.
    pub fn properties(&self) -> impl Iterator<Item = RowProperty<'a>> {
        let known = self.kind.properties().filter_map(|(name, property)| Some((name, self.get(property)?)));
        let unknown = self.unknown.iter().map(|(name, value)| (&**name, value.as_value_ref()));
        known.chain(unknown)
    }

    /// Returns whether a row of the other's kind and content is the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (kind, of) = (self.kind, other.kind);
        // A constant may have several addresses.
        (std::ptr::eq(kind.schema, of.schema) || kind.schema == of.schema)
            && kind.cause == of.cause
            && self.unknown == other.unknown
            // Most fields are the same, and need not be asked whether the row has them.
            && kind.schema.fields.iter().enumerate().all(|(at, field)| {
                let same = |property| self.get(property) == other.get(property);
                let is_same = same(PropertyOf::Field(at)) && (field.blind.is_none() || same(PropertyOf::Token(at)));
                is_same || !kind.stores(at)
            })
    }
}

/// Returns how many properties the rows of an entity with these values have besides what they say of themselves and those
/// that no schema knows.
pub(crate) fn stored_fields(schema: &'static Schema, values: &Values<'_>) -> usize {
    let has_value = |field: usize| values.get(field).is_some();
    let of_row = |cause| {
        let properties = RowKind { schema, cause }.properties();
        properties
            .filter(|(_, property)| match property {
                PropertyOf::Kind | PropertyOf::Parts => false,
                // The token of a value is there when it is sealed.
                PropertyOf::Field(field) | PropertyOf::Token(field) => has_value(*field),
            })
            .count()
    };
    of_row(Cause::Entity) + (1..=schema.parts.len()).map(|part| of_row(Cause::Part(part))).sum::<usize>()
}
