//! How entities are expected to be used, and what they cost then.

use super::super::{ColumnType, FieldPart, Part, Place, Schema, Template, holds};
use super::changes::Touch;
use super::{Basis, Cost, Index, RowCost};
use crate::error::{Error, ErrorKind, Result};
use crate::model::EdmType;

/// How many entities of a kind there will be, how long their texts are, and how often which of them is read and changed: in
/// any unit of time, the same for all.
///
/// ```
/// use table_core::Entity;
/// use table_core::schema::Usage;
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// #[index(by_email, row = "email_{email}", unique)]
/// struct Employee {
///     department: String,
///     id: u32,
///     email: String,
///     age: i32,
/// }
///
/// let usage = Usage::of(100_000).length("email", 22).reads("by_email", 5_000.0).changes("age", 300.0);
/// let cost = Employee::SCHEMA.cost(&usage)?;
/// assert_eq!(cost.rows.len(), 2);
/// let (own, copies) = (&cost.rows[0], &cost.rows[1]);
/// assert_eq!((own.rows, copies.rows), (100_000, 100_000));
/// // The copy has a longer key, and whole it holds the same.
/// assert!(copies.service_bytes > own.service_bytes / 2);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    entities: u64,
    lengths: Vec<(String, usize)>,
    elements: Vec<(String, usize)>,
    reads: Vec<(String, f64)>,
    changes: Vec<(String, f64)>,
}

/// The characters of a text whose length is not said.
const TEXT: usize = 16;
/// The bytes of a row besides its properties: its form and time, its shape, and its checksum.
const ROW_HEADER: usize = 18;
/// The ends of values that take one byte each.
const NARROW: usize = 255;
/// What sealing adds to a value.
const SEALED: usize = 48;

impl Usage {
    /// Makes the usage of so many entities, whose texts, and the elements of lists in keys, have 16 characters each, and whose
    /// bytes are 16.
    #[must_use]
    pub fn of(entities: u64) -> Self {
        Self { entities, ..Self::default() }
    }

    /// Sets the characters that the texts of a field have on average, or its bytes.
    #[inline]
    #[must_use]
    pub fn length(mut self, field: &str, length: usize) -> Self {
        self.lengths.push((field.to_owned(), length));
        self
    }

    /// Sets the characters that one element of a list has on average, for an index with a row for each: `{tags[]}`.
    #[inline]
    #[must_use]
    pub fn element(mut self, field: &str, length: usize) -> Self {
        self.elements.push((field.to_owned(), length));
        self
    }

    /// Sets how often entities are read by an index.
    #[inline]
    #[must_use]
    pub fn reads(mut self, index: &str, often: f64) -> Self {
        self.reads.push((index.to_owned(), often));
        self
    }

    /// Sets how often a field is changed, over all entities.
    #[inline]
    #[must_use]
    pub fn changes(mut self, field: &str, often: f64) -> Self {
        self.changes.push((field.to_owned(), often));
        self
    }

    #[inline]
    pub(super) fn reads_of(&self, index: &str) -> f64 {
        self.reads.iter().filter(|(name, _)| name == index).map(|(_, often)| often).sum()
    }

    /// Returns how often rows of the index are written because a field has changed.
    #[inline]
    pub(super) fn rewrites_of(&self, schema: &Schema, index: &Index) -> f64 {
        let Some(number) = schema.indexes.iter().position(|other| other.name == index.name) else {
            return 0.0;
        };
        let touches = |name: &str| {
            let field = schema.fields.iter().position(|field| field.name == name);
            field.is_some_and(|field| Touch::of(schema, number, field) != Touch::Nothing)
        };
        self.changes.iter().filter(|(field, _)| touches(field)).map(|(_, often)| often).sum()
    }

    /// Refuses names that the declaration does not have.
    #[inline]
    fn check(&self, schema: &Schema) -> Result<()> {
        let has_field = |name: &str| schema.fields.iter().any(|field| field.name == name);
        let has_index = |name: &str| schema.indexes.iter().any(|index| index.name == name);
        let lengths = self.lengths.iter().chain(&self.elements).map(|(name, _)| name);
        let fields = lengths.chain(self.changes.iter().map(|(name, _)| name));
        let unknown = |what: &str, name: &str| {
            Err(Error::new(ErrorKind::InvalidQuery)
                .because(format!("`{}` has no {what} `{name}` whose use could be expected", schema.entity)))
        };
        for name in fields {
            if !has_field(name) {
                return unknown("field", name);
            }
        }
        match self.reads.iter().find(|(name, _)| !has_index(name)) {
            Some((name, _)) => unknown("index", name),
            None => Ok(()),
        }
    }

    /// Returns the characters of a field's text, or of one element of it.
    #[inline]
    fn length_of(&self, schema: &Schema, field: usize, element: bool) -> usize {
        let name = schema.fields.get(field).map_or("", |field| field.name);
        let known = if element { &self.elements } else { &self.lengths };
        known.iter().rev().find(|(known, _)| known == name).map_or(TEXT, |(_, length)| *length)
    }
}

impl Schema {
    /// Returns what entities used like this would cost, before there are any. The rows of a summary or of lists are left out,
    /// since as many as they have keys are there, whatever the entities. An error if the usage names what is not declared.
    #[inline]
    pub fn cost(&self, usage: &Usage) -> Result<Cost> {
        usage.check(self).map_err(|error| error.attempted("estimate the cost"))?;
        let own = std::iter::once((None, None, self.place()));
        let copies =
            self.indexes.iter().enumerate().map(|(at, index)| (Some(at), Some(index.name), &index.place));
        let is_shared = |at: usize| self.indexes.get(at).is_some_and(Index::is_shared);
        let rows = own.chain(copies).map(|(at, index, place)| {
            if at.is_some_and(is_shared) {
                return RowCost { index, ..RowCost::default() };
            }
            let (service, stored) = self.row(usage, at, 0, place);
            RowCost {
                index,
                rows: usage.entities,
                service_bytes: usage.entities * service,
                stored_bytes: usage.entities * stored,
                values: None,
            }
        });
        let parts = (1..).zip(self.parts).map(|(part, kind)| {
            let (service, stored) = self.row(usage, None, part, self.place_of_part(part));
            let (rows, index) = (usage.entities, Some(*kind));
            RowCost { index, rows, service_bytes: rows * service, stored_bytes: rows * stored, values: None }
        });
        let rows = rows.chain(parts).collect();
        Ok(Cost::new(self, Basis::Estimated, usage, usage.entities, rows))
    }

    /// Returns what one row counts for on the service, and the bytes that it takes in the store.
    #[inline]
    fn row(&self, usage: &Usage, index: Option<usize>, part: usize, place: &Place) -> (u64, u64) {
        let kind = match index.and_then(|at| self.indexes.get(at)) {
            Some(index) => index.kind,
            None if part > 0 => self.kind_of_part(part),
            None => self.kind,
        };
        let keys = self.printed(usage, &place.partition) + self.printed(usage, &place.row);
        let mut service = 4 + 2 * keys + property("EntityType", 4 + 2 * kind.len());
        let (mut fixed, mut optional, mut ends, mut heap) = (0, 0, 0_usize, 0);
        for (at, field) in self.fields.iter().enumerate() {
            if !holds(self, index, at) || place.gives_back(at) || index.is_none() && field.part != part {
                continue;
            }
            let length = usage.length_of(self, at, false);
            optional += usize::from(field.optional);
            let value = match field.edm {
                EdmType::String if !field.encrypted => 4 + 2 * length,
                EdmType::String | EdmType::Binary if field.encrypted => 4 + length + SEALED,
                EdmType::Binary => 4 + length,
                _ if field.encrypted => 4 + 8 + SEALED,
                edm => width(ColumnType::of(edm)),
            };
            service += property(field.property, value);
            match field.column.width() {
                Some(width) if !field.encrypted => fixed += usize::from(width),
                _ => {
                    ends += 1;
                    heap += if field.encrypted { length + SEALED } else { length };
                }
            }
        }
        // A table's number takes a byte, and so does what separates the keys.
        let mut stored = 2 + keys + ROW_HEADER + optional.div_ceil(8) + fixed + heap;
        stored += ends.saturating_sub(1) * if heap > NARROW { 2 } else { 1 };
        let count = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        (count(service), count(stored))
    }

    /// Returns how many characters a template prints.
    #[inline]
    fn printed(&self, usage: &Usage, template: &Template) -> usize {
        let part = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Field(FieldPart { width: Some(width), .. }) => *width,
            Part::Field(part) => usage.length_of(self, part.field, part.each),
        };
        template.parts.iter().map(part).sum()
    }
}

/// Returns what a property counts for on the service.
fn property(name: &str, value: usize) -> usize {
    8 + 2 * name.len() + value
}

/// Returns what a value of fixed width counts for on the service.
fn width(column: ColumnType) -> usize {
    column.width().map_or(0, usize::from)
}
