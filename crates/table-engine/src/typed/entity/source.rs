//! The fields of a stored row, for generated code to take.

mod field_access;
mod key_fields;

use std::borrow::Cow;

use self::field_access::{FieldAccess, Row, SlowPath, WideAccess};
use self::key_fields::KeyFields;
use super::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{DynamicEntity, Value, ValueRef};
use crate::plaintext::Plaintext;
use crate::plan::Values;
use crate::row::fast_path::FastRow;
use crate::row::numbers::PropertyNumber;
use crate::row::view::RowView;
use crate::schema::{
    self, FastPath, Field, FieldPart, KeyPair, KeyValues, Place, PropertyValue, Schema, Take, Template,
    ValueError,
};
use crate::sealing::{looks_sealed, open as open_sealed};
use crate::typed::entity::Entity;

/// How a type is made of any property: [`Property::from_property`](crate::schema::Property::from_property) of it.
type FromProperty<T> = fn(Option<ValueRef<'_>>) -> Result<T, ValueError>;

/// A stored row as the fields of an entity: those that its key gives back, and those stored in it.
#[derive(Debug)]
pub struct Source<'v> {
    /// The row by the short way. It has no fields where there is none.
    quick: FastRow<'v>,
    /// The field to be taken next.
    next: usize,
    schema: &'static Schema,
    row: Row<'v>,
    way: FieldAccess<'v>,
}

impl<'v> Source<'v> {
    /// Reads from a row of this path.
    pub fn of<P: Path>(view: &'v RowView<'v>) -> Result<Self> {
        Self::new(<P::Entity as Entity>::SCHEMA, P::KEYS.place(), view)
    }

    /// Reads from a row that lies in this place.
    #[inline]
    pub(crate) fn new(schema: &'static Schema, place: &'static Place, view: &'v RowView<'v>) -> Result<Self> {
        let mut source = Self::closed(schema, view);
        source.open_in(place, view)?;
        Ok(source)
    }

    /// Reads from an entity's own row, with some properties set anew.
    pub(crate) fn merged(
        schema: &'static Schema,
        view: &'v RowView<'v>,
        changes: &'v DynamicEntity,
    ) -> Result<Self> {
        Self::with_keys(schema, schema.place(), Row::Merged(view, changes))
    }

    /// Reads an entity that the caller gave by its keys and properties.
    pub(crate) fn of_entity(schema: &'static Schema, entity: &'v DynamicEntity) -> Result<Self> {
        Self::with_keys(schema, schema.place(), Row::Given(entity))
    }

    /// Reads from a row that is still to be [opened](Self::open_in): a source is large, and is better made where it stays.
    #[expect(clippy::inline_always, reason = "what it makes is better not moved")]
    #[inline(always)]
    pub(crate) fn closed(schema: &'static Schema, view: &'v RowView<'v>) -> Self {
        Self { quick: FastRow::none(), next: 0, schema, row: Row::Stored(view), way: FieldAccess::Fast }
    }

    /// Opens the row, which lies in this place.
    pub(crate) fn open_in(&mut self, place: &'static Place, view: &'v RowView<'v>) -> Result<()> {
        if view.open(self.schema.fields, Some(place), &mut self.quick).is_some() {
            return Ok(());
        }
        self.take_longer_way(view);
        self.take_keys_long(place)
    }

    #[inline(never)]
    fn take_longer_way(&mut self, view: &'v RowView<'v>) {
        self.quick = FastRow::none();
        self.way = match view.parts() {
            Some(parts) => FieldAccess::Wide(WideAccess::of(view, parts, self.schema)),
            None => FieldAccess::Slow(Box::new(SlowPath::of(self.row, self.schema))),
        };
    }

    fn with_keys(schema: &'static Schema, place: &'static Place, row: Row<'v>) -> Result<Self> {
        let mut source = Self::long(schema, row);
        source.take_keys_long(place)?;
        Ok(source)
    }

    fn long(schema: &'static Schema, row: Row<'v>) -> Self {
        let way = FieldAccess::Slow(Box::new(SlowPath::of(row, schema)));
        Self { quick: FastRow::none(), next: 0, schema, row, way }
    }

    /// Takes what the keys give back, where they are not taken apart by the short way.
    #[inline(never)]
    fn take_keys_long(&mut self, place: &'static Place) -> Result<()> {
        let Some(SlowPath { from_keys: found, .. }) = self.way.long() else { return Ok(()) };
        if let Row::Stored(view) = self.row
            && let Some((fields, row_key)) = view.known_partition(&place.partition)
        {
            for (field, value) in fields.at.iter().zip(&fields.values) {
                let Some(value) = value.as_value_ref() else { continue };
                found.push_ref(*field, value);
            }
            if schema::parse_bytes(&place.row, row_key, |field, value| found.push(field, value)) {
                return Ok(());
            }
        } else if let Row::Stored(view) = self.row
            && let Some((partition, row_key)) = view.plain_keys()
            && schema::parse_bytes(&place.partition, partition, |field, value| found.push(field, value))
            && schema::parse_bytes(&place.row, row_key, |field, value| found.push(field, value))
        {
            return Ok(());
        }
        self.take_any_keys(place)
    }

    /// Takes apart keys that are stored in another form, or that don't fit their templates.
    #[cold]
    fn take_any_keys(&mut self, place: &Place) -> Result<()> {
        if let Some(long) = self.way.long() {
            long.from_keys = KeyFields::default();
        }
        let (partition, row_key) = self.row.keys();
        self.parse(&place.partition, partition)?;
        self.parse(&place.row, row_key)
    }

    /// Reads from a row none of whose wanted fields its keys give back.
    pub(crate) fn without_keys(schema: &'static Schema, view: &'v RowView<'v>) -> Self {
        let mut source = Self::closed(schema, view);
        if view.open(schema.fields, None, &mut source.quick).is_none() {
            source.take_longer_way(view);
        }
        source
    }

    /// Reads what will be stored of an entity with these values.
    pub(crate) fn given(schema: &'static Schema, values: &'v Values<'v>) -> Self {
        Self::long(schema, Row::Planned(values))
    }

    /// Reads what will be stored of an entity with these values, from this field on.
    pub(crate) fn taking_from(mut self, field: usize) -> Self {
        self.next = field;
        self
    }

    fn parse(&mut self, template: &Template, key: Cow<'v, str>) -> Result<()> {
        let Some(SlowPath { from_keys: found, .. }) = self.way.long() else { return Ok(()) };
        match key {
            Cow::Borrowed(key) => {
                let fits = schema::parse(template, key, |field, value| found.push(field, value));
                if fits { Ok(()) } else { Err(self.misfit(template, key)) }
            }
            // What is made for the purpose can't be lent.
            Cow::Owned(key) => {
                let fits = schema::parse(template, &key, |field, value| {
                    if let Some(value) = value.into_value() {
                        found.push(field, PropertyValue::Owned(value));
                    }
                });
                if fits { Ok(()) } else { Err(self.misfit(template, &key)) }
            }
        }
    }

    #[cold]
    fn misfit(&self, template: &Template, key: &str) -> Error {
        let key = key.escape_debug();
        self.error(format!("the key `{key}` does not fit the template `{}`", template.source))
    }

    /// Stands for the fields of a struct whose declaration has mistakes. Such a program does not compile, so this is
    /// never called.
    pub fn nothing<T>(&self) -> Result<T> {
        Err(self.error(String::new()))
    }

    /// Takes the next field.
    #[allow(clippy::should_implement_trait, reason = "the type changes from field to field")]
    // In a build that is not optimized each field of each entity would have a copy of this, and be no quicker.
    #[cfg_attr(
        not(debug_assertions),
        expect(
            clippy::inline_always,
            reason = "the conversion is known where the field is, and is made there without a call"
        ),
        inline(always)
    )]
    pub fn next<T>(&mut self, from: Take<T>) -> Result<T> {
        let field = self.next;
        self.next += 1;
        self.field(field, from)
    }

    /// Takes the next field; what `default` makes if it is absent.
    pub fn next_or<T>(&mut self, from: Take<T>, default: fn() -> T) -> Result<T> {
        let field = self.next;
        self.next += 1;
        self.field_or(field, from, default)
    }

    /// Takes the next fields, which are those of a group.
    pub fn next_group<G>(&mut self, fields: &[Field], take: fn(&Self, usize) -> Result<G>) -> Result<G> {
        let first = self.next;
        self.next += fields.len();
        take(self, first)
    }

    /// Returns whether there is nothing of the field at this place.
    pub(crate) fn lacks(&self, field: usize) -> Result<bool> {
        if self.quick.lacks(field) {
            return Ok(true);
        }
        Ok(self.quick.get(field).is_none() && self.value(field)?.is_none())
    }

    /// Takes the next field, which is kept as text.
    pub fn next_text(&mut self) -> Result<Text<'_>> {
        let field = self.next;
        self.next += 1;
        self.text(field)
    }

    /// Takes the field at this place, which is kept as text.
    pub fn text(&self, field: usize) -> Result<Text<'_>> {
        let json = match self.value(field)? {
            Some(sealed) if self.is_sealed(field, sealed) => match self.open(field, sealed)?.expose() {
                Value::String(text) => Some(Cow::Owned(text.clone())),
                _ => None,
            },
            value => value.and_then(ValueRef::as_str).map(Cow::Borrowed),
        };
        Ok(Text { json, source: self, field })
    }

    /// Takes the field at this place.
    // In a build that is not optimized each field of each entity would have a copy of this, and be no quicker.
    #[cfg_attr(
        not(debug_assertions),
        expect(
            clippy::inline_always,
            reason = "the conversion is known where the field is, and is made there without a call"
        ),
        inline(always)
    )]
    pub fn field<T>(&self, field: usize, from: Take<T>) -> Result<T> {
        // A value that comes by the short way stays in registers, where the processor need not wait for it.
        let found = match from.quick {
            FastPath::Text(make) => match self.quick.owned_text(field) {
                Some(text) => make(text),
                None => None,
            },
            FastPath::Integer(make) => match self.quick.integer(field) {
                Some(number) => make(number),
                None => None,
            },
            FastPath::Any => match self.quick.get(field) {
                None => None,
                found => return (from.any)(found).map_err(|error| self.refused(field, &error)),
            },
        };
        match found {
            Some(value) => Ok(value),
            None => self.field_of_any(field, from.any),
        }
    }

    /// Takes a field that may be absent, sealed, at any place of the row, or not of its type.
    #[inline(never)]
    fn field_of_any<T>(&self, field: usize, from: FromProperty<T>) -> Result<T> {
        let near = match &self.way {
            FieldAccess::Fast => self.quick.get(field),
            FieldAccess::Slow(long) => long.near(self.row, field),
            FieldAccess::Wide(wide) => wide.near(self.schema.fields, field),
        };
        if near.is_some() || self.surely_lacks(field) {
            return from(near).map_err(|error| self.refused(field, &error));
        }
        match self.value(field)? {
            Some(sealed) if self.is_sealed(field, sealed) => {
                from(Some(self.open(field, sealed)?.expose().as_value_ref()))
            }
            value => from(value),
        }
        .map_err(|error| self.refused(field, &error))
    }

    /// Returns whether the row surely lacks the field, by what the short way knows.
    fn surely_lacks(&self, field: usize) -> bool {
        match &self.way {
            FieldAccess::Fast => self.quick.lacks(field),
            FieldAccess::Slow(_) => false,
            FieldAccess::Wide(wide) => wide.lacks(self.schema.fields, field),
        }
    }

    /// Takes the field at this place; what `default` makes if it is absent.
    pub fn field_or<T>(&self, field: usize, from: Take<T>, default: fn() -> T) -> Result<T> {
        if self.quick.lacks(field) {
            return Ok(default());
        }
        if self.quick.has(field) {
            return self.field(field, from);
        }
        match self.value(field)? {
            None => Ok(default()),
            Some(_) => self.field(field, from),
        }
    }

    /// Returns whether the field's value is sealed, or has to be. A given value is not sealed yet.
    #[inline]
    fn is_sealed(&self, field: usize, value: ValueRef<'_>) -> bool {
        let may_be_plain = |field: &Field| field.dual && !looks_sealed(value);
        self.schema.fields.get(field).is_some_and(|field| field.encrypted && !may_be_plain(field))
            && self.is_stored(field)
    }

    fn is_stored(&self, field: usize) -> bool {
        match self.row {
            Row::Stored(_) => true,
            Row::Merged(_, changes) => changes.get(self.property(field)).is_none(),
            Row::Given(_) | Row::Planned(_) => false,
        }
    }

    /// Opens the value of a sealed field.
    fn open(&self, field: usize, sealed: ValueRef<'_>) -> Result<Plaintext> {
        let (Row::Stored(view) | Row::Merged(view, _)) = self.row else {
            return self.nothing();
        };
        let ValueRef::Binary(sealed) = sealed else {
            let name = self.property(field);
            return Err(self
                .error(format!("property `{name}` is not sealed"))
                .with_kind(ErrorKind::DecryptionFailed));
        };
        // Copies hold the bytes of their entity's own row, sealed for its key.
        if view.kind()? == Some(self.schema.entity_type) {
            open_sealed(view, &view.row_key(), self.property(field), sealed)
        } else {
            open_sealed(view, &self.own_row_key()?, self.property(field), sealed)
        }
    }

    /// Returns what the field holds.
    fn value(&self, field: usize) -> Result<Option<ValueRef<'_>>> {
        let known = match &self.way {
            FieldAccess::Fast => self.quick.of_keys(field),
            FieldAccess::Slow(long) => long.from_keys.get(field),
            FieldAccess::Wide(wide) => wide.long.from_keys.get(field),
        };
        if known.is_some() {
            return Ok(known);
        }
        let given = |entity: &'v DynamicEntity| entity.get(self.property(field)).map(Value::as_value_ref);
        match self.row {
            Row::Stored(view) => self.stored(view, field),
            Row::Merged(view, changes) => match given(changes) {
                None => self.stored(view, field),
                found => Ok(found),
            },
            Row::Given(entity) => Ok(given(entity)),
            Row::Planned(values) => Ok(values.get(field)),
        }
    }

    fn stored(&self, view: &'v RowView<'v>, field: usize) -> Result<Option<ValueRef<'v>>> {
        if view.parts().is_some() {
            return view.get_field(self.schema.fields, field);
        }
        let number = match &self.way {
            FieldAccess::Fast | FieldAccess::Wide(_) => view.numbers(self.schema.fields).get(field),
            FieldAccess::Slow(long) => long.numbers.get(field),
        };
        let found = match number {
            Some(PropertyNumber { id: Some(id), .. }) => match &self.way {
                FieldAccess::Fast | FieldAccess::Wide(_) => view.get_by_id(*id),
                FieldAccess::Slow(long) => view.seek(*id, &long.place),
            },
            Some(PropertyNumber { id: None, .. }) => view.get_unnumbered(self.schema.fields, field),
            None => Ok(None),
        }?;
        if found.is_some() { Ok(found) } else { view.get_renamed(self.schema.fields, field) }
    }

    /// Returns what the row or its keys hold of the field, sealed where it is sealed.
    pub(crate) fn kept(&self, field: usize) -> Result<Option<ValueRef<'_>>> {
        self.value(field)
    }

    fn property(&self, field: usize) -> &'static str {
        self.schema.fields.get(field).map_or("", |field| field.property)
    }

    #[cold]
    fn refused(&self, field: usize, error: &ValueError) -> Error {
        let name = self.property(field);
        self.error(format!("property `{name}` does not fit the struct `{}`: {error}", self.schema.entity))
    }

    #[cold]
    fn error(&self, because: String) -> Error {
        let error = Error::new(ErrorKind::SchemaMismatch).because(because);
        if matches!(self.row, Row::Planned(_)) {
            // The caller gave them, and knows of which entity they are.
            return error;
        }
        let (partition, row) = self.row.keys();
        error.partition(&partition).row(&row)
    }

    /// Returns both keys that the entity has itself, of which this row may be a copy that lies elsewhere.
    pub(crate) fn own_keys(&self) -> Result<KeyPair> {
        let mut keys = [String::new(), String::new()];
        let place = self.schema.place();
        for (template, key) in [&place.partition, &place.row].into_iter().zip(&mut keys) {
            if !matches!(schema::print(template, &FromRow(self), key), Ok(true)) {
                return Err(self.error("the copy lacks a part of its entity's key".to_owned()));
            }
        }
        let [partition, row] = keys;
        Ok(KeyPair::of(&partition, &row))
    }

    /// Returns the row key that the entity has itself, of which this row may be a copy.
    pub(crate) fn own_row_key(&self) -> Result<String> {
        let mut key = String::new();
        match schema::print(&self.schema.place().row, &FromRow(self), &mut key) {
            Ok(true) => Ok(key),
            _ => Err(self.error("the copy lacks a part of its entity's key".to_owned())),
        }
    }
}

/// A row as what a key is printed from.
struct FromRow<'s>(&'s Source<'s>);

impl KeyValues for FromRow<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let mistyped = |_| ValueError::mistyped(schema::edm(part.key), None);
        let value = self.0.value(part.field).map_err(mistyped)?;
        Ok(value.map_or(PropertyValue::Absent, PropertyValue::Borrowed))
    }
}

/// A field that is kept as text, for `#[property(json)]`.
#[derive(Debug)]
pub struct Text<'s> {
    #[cfg_attr(not(feature = "json"), expect(dead_code, reason = "the feature reads it"))]
    pub(crate) json: Option<Cow<'s, str>>,
    source: &'s Source<'s>,
    field: usize,
}

impl Text<'_> {
    #[cold]
    pub(crate) fn refused(&self, because: &str) -> Error {
        let name = self.source.property(self.field);
        let entity = self.source.schema.entity;
        self.source.error(format!("property `{name}` does not fit the struct `{entity}`: {because}"))
    }
}
