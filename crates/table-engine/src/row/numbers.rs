//! The numbers that a dictionary gives to the properties of a struct, looked up once for all reads and writes.

use std::sync::OnceLock;

use uuid::Uuid;

use super::dict::Dict;
use super::encode::{kind_size, name_size};
use super::fast_path::FieldSteps;
use super::shape::{Column, Shape};
use crate::plan::{Cause, PropertyOf, RowKind};
use crate::schema::{ColumnType, Field, Place, Schema};
use crate::sorting;

/// Where a property is to be found in rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyNumber {
    /// The property's number; `None` where the dictionary has none.
    pub(crate) id: Option<u16>,
    /// The number, but `None` where rows have the property sealed.
    pub(crate) unsealed: Option<u16>,
    /// The number of the name that the property had before.
    pub(crate) was: Option<u16>,
    /// Its place among the slots of a row that has all properties and gives none of them back by its keys.
    pub(crate) place: usize,
}

/// How the rows of one kind are written.
#[derive(Debug)]
pub(crate) enum RowForm {
    /// By this shape.
    Shaped(RowNumbers),
    /// By one that is still to get a number.
    Wanted,
    /// With slots: there are too many shapes or names, or the kind's text has no number.
    Slots,
}

/// The rows of a kind, by their shape.
#[derive(Debug)]
pub struct RowNumbers {
    /// The shape's number.
    pub(crate) shape: u16,
    /// What its columns hold, in their order.
    pub columns: Box<[NumberedColumn]>,
    /// What a row counts for, or more, but for the bytes of its texts and of its binary values.
    pub(super) most: usize,
    /// Whether a value may be refused however few bytes it has.
    pub(super) has_times: bool,
    /// Whether a value may be any bytes.
    pub has_bytes: bool,
}

/// A property that the rows of one kind have, if the entity has a value for it.
#[derive(Clone, Copy, Debug)]
pub struct NumberedColumn {
    pub(crate) column: Column,
    pub(crate) property: PropertyOf,
    pub(crate) name: &'static str,
}

impl NumberedColumn {
    /// Returns what the property counts for, or more, but for the bytes of a text and of a binary value.
    fn most(&self) -> usize {
        // No value of fixed width counts for more than a GUID does, and no other for more besides its bytes.
        name_size(self.name) + size_of::<Uuid>()
    }
}

/// Returns the columns of a kind's rows, in the order of their numbers; `None` if something in them has none.
fn columns_of(dict: &Dict, kind: RowKind) -> Option<Vec<NumberedColumn>> {
    let column = |(name, property)| {
        let id = dict.id(name)?;
        let column = match property {
            PropertyOf::Kind => return None,
            PropertyOf::Parts => Column { id, of: ColumnType::I32, optional: false },
            PropertyOf::Field(field) => {
                let field = kind.schema.fields.get(field)?;
                // A sealed value is one of bytes, whatever is sealed.
                let of = if field.encrypted { ColumnType::Bytes } else { field.column };
                Column { id, of, optional: field.optional }
            }
            // It comes with its value, and not before that is sealed.
            PropertyOf::Token(_) => Column { id, of: ColumnType::Bytes, optional: true },
        };
        Some(NumberedColumn { column, property, name })
    };
    let stored = kind.properties().filter(|(_, property)| *property != PropertyOf::Kind);
    let mut columns: Vec<_> = stored.map(column).collect::<Option<_>>()?;
    sorting::sort_by_key(&mut columns, |column| column.column.id);
    Some(columns)
}

/// Returns the shape that rows of a kind have by its declaration; `None` if something in it has no number.
pub(super) fn shape_of(dict: &Dict, kind: RowKind) -> Option<Shape> {
    let columns = columns_of(dict, kind)?.iter().map(|column| column.column).collect();
    Shape::new(dict.symbol_id(kind.name())?, columns, dict.entity_type()?)
}

impl RowForm {
    fn of(dict: &Dict, kind: RowKind) -> Self {
        let can_number = |name: &str| dict.id(name).is_some() || !dict.names_full();
        let symbol = dict.symbol_id(kind.name());
        let has_room = kind.properties().all(|(name, _)| can_number(name))
            && (symbol.is_some() || dict.takes_symbol(kind.name()));
        let numbered = symbol.zip(dict.entity_type()).zip(columns_of(dict, kind));
        let Some(((symbol, entity_type), columns)) = numbered else {
            // The room for names is looked at again once they have their numbers.
            return if has_room && !dict.shapes_full() { Self::Wanted } else { Self::Slots };
        };
        let plain: Vec<_> = columns.iter().map(|column| column.column).collect();
        match dict.shape_id(symbol, &plain) {
            Some(shape) => Self::Shaped(RowNumbers {
                shape,
                most: kind_size(kind.name()) + columns.iter().map(NumberedColumn::most).sum::<usize>(),
                has_times: columns.iter().any(|column| column.column.of == ColumnType::Time),
                has_bytes: columns.iter().any(|column| column.column.of == ColumnType::Bytes),
                columns: columns.into(),
            }),
            None if dict.shapes_full() || Shape::new(symbol, plain, entity_type).is_none() => Self::Slots,
            None => Self::Wanted,
        }
    }

    /// Returns the numbers of an entity's own rows, of its copies in the order of its indexes, and of its parts.
    pub(crate) fn of_all(dict: &Dict, schema: &'static Schema) -> Vec<Self> {
        let copies = (0..schema.indexes.len()).map(Cause::Index);
        let parts = (1..=schema.parts.len()).map(Cause::Part);
        let causes = std::iter::once(Cause::Entity).chain(copies).chain(parts);
        causes.map(|cause| Self::of(dict, RowKind { schema, cause })).collect()
    }
}

/// Where the properties of a struct's fields are in rows.
#[derive(Debug)]
pub(crate) struct FieldNumbers {
    pub(crate) numbers: Vec<PropertyNumber>,
    /// In rows whose keys are not looked at.
    pub(super) stored: StepsByShape,
    /// In rows of a path, by where they lie. Two structs may share a place, which is why it is not known by that alone.
    pub(super) paths: ByDeclaration<Place, StepsByShape>,
}

/// Where the fields of a struct are in rows of each shape.
#[derive(Debug)]
pub(crate) struct StepsByShape(Box<[OnceLock<Option<FieldSteps>>]>);

impl StepsByShape {
    /// None is known yet.
    pub(super) fn new(dict: &Dict) -> Self {
        Self(dict.shapes.iter().map(|_| OnceLock::new()).collect())
    }

    /// Returns where the fields are in rows of the shape of this number, if that has been asked for.
    #[inline]
    pub(super) fn known(&self, number: u16) -> Option<&FieldSteps> {
        self.0.get(usize::from(number))?.get()?.as_ref()
    }

    /// Returns where the fields are in rows of the shape of this number; `find` finds it the first time.
    pub(super) fn of(&self, number: u16, find: impl FnOnce() -> Option<FieldSteps>) -> Option<&FieldSteps> {
        self.0.get(usize::from(number))?.get_or_init(find).as_ref()
    }
}

/// What one dictionary says of declarations: few, each found by its address.
#[derive(Debug)]
pub(crate) struct ByDeclaration<K: ?Sized + 'static, V>(OnceLock<Box<Entry<K, V>>>);

#[derive(Debug)]
struct Entry<K: ?Sized + 'static, V> {
    declaration: &'static K,
    found: V,
    next: ByDeclaration<K, V>,
}

impl<K: ?Sized, V> Default for ByDeclaration<K, V> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

/// A dictionary that is cloned is about to change.
impl<K: ?Sized, V> Clone for ByDeclaration<K, V> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<K: ?Sized, V> ByDeclaration<K, V> {
    /// Returns what is known of the declaration, if it has been asked for.
    #[inline]
    pub(crate) fn get(&self, declaration: &'static K) -> Option<&V> {
        let mut known = self;
        loop {
            let entry = known.0.get()?;
            if std::ptr::eq(entry.declaration, declaration) {
                return Some(&entry.found);
            }
            known = &entry.next;
        }
    }

    /// Returns what is known of the declaration; `find` looks it up the first time.
    pub(crate) fn of(&self, declaration: &'static K, find: impl Fn(&'static K) -> V) -> &V {
        let mut known = self;
        loop {
            let entry = known.0.get_or_init(|| {
                Box::new(Entry { declaration, found: find(declaration), next: Self::default() })
            });
            if std::ptr::eq(entry.declaration, declaration) {
                return &entry.found;
            }
            known = &entry.next;
        }
    }
}

/// Returns the numbers of these fields' properties.
pub(crate) fn numbers(dict: &Dict, fields: &[Field]) -> FieldNumbers {
    let ids: Vec<_> = fields.iter().map(|field| dict.id(field.property)).collect();
    let before = |id: u16| {
        let others = ids.iter().flatten().filter(|other| **other < id).count();
        others + usize::from(dict.entity_type().is_some_and(|kind| kind < id))
    };
    let number = |(id, field): (&Option<u16>, &Field)| PropertyNumber {
        id: *id,
        unsealed: id.filter(|_| !field.encrypted),
        was: field.was.and_then(|was| dict.id(was)),
        place: id.map_or(0, before),
    };
    let numbers = ids.iter().zip(fields).map(number).collect();
    FieldNumbers { numbers, stored: StepsByShape::new(dict), paths: ByDeclaration::default() }
}
