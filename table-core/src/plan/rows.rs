//! The rows of an entity: its own and its copies.

use super::content::{Cause, RowContent, RowKind, fields};
use super::values::{FieldValue, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::ValueRef;
use crate::schema::{
    self, FieldPart, Format, Index, KeyError, KeyValues, PropertyValue, Schema, Template, ValueError,
};

/// A row that an entity has.
#[derive(Debug)]
pub(crate) struct EntityRow<'a> {
    pub(crate) key: String,
    pub(crate) content: RowContent<'a>,
    /// Whether an entity that is stored surely has it. A sparse index that says today that the entity has no copy may
    /// have said otherwise when it was written.
    pub(crate) is_certain: bool,
}

impl EntityRow<'_> {
    pub(crate) fn cause(&self) -> Cause {
        self.content.kind.cause
    }
}

/// Every row that an entity has: first its own, then its copies in the order of their keys.
#[derive(Debug)]
pub(crate) struct EntityRows<'a> {
    pub(crate) partition: String,
    pub(crate) rows: Vec<EntityRow<'a>>,
    /// Where another entity's copy would be that has what is unique to this one, filed before a key was rotated.
    pub(crate) reserved: Vec<EntityRow<'a>>,
}

impl<'a> EntityRows<'a> {
    /// The rows that an entity is to have; `present` says which sparse indexes have one, `key` is its own key if that
    /// has been printed.
    pub(crate) fn of(
        schema: &'static Schema,
        values: &'a Values<'a>,
        key: Option<(&str, &str)>,
        present: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let new = Self::when(schema, values, key, &|index| present(index).then_some(true))?;
        let rows = new.rows.len();
        if rows <= limits::BATCH_OPERATIONS {
            return Ok(new);
        }
        // Step by step it could become so, but no transaction could remove it again.
        let because = format!(
            "the entity and its copies would be {rows} rows; they may be {}, as many as a transaction may touch",
            limits::BATCH_OPERATIONS
        );
        let error = Error::new(ErrorKind::BatchLength).because(because).attempted("write to");
        let (partition, row) = new.primary_key();
        Err(error.table(schema.table).partition(partition).row(row))
    }

    /// The rows that the entity stored under this key has or may have. The key in a unique index may be another
    /// entity's by now, if this one has no row there; one in any other index is of no other entity.
    pub(crate) fn stored(
        schema: &'static Schema,
        values: &'a Values<'a>,
        key: (&str, &str),
        present: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let is_unique = |index| schema.indexes.get(index).is_some_and(|index: &Index| index.unique);
        let certain = |index| match present(index) {
            true => Some(true),
            false if is_unique(index) => None,
            false => Some(false),
        };
        Self::when(schema, values, Some(key), &certain)
    }

    /// The rows of an entity: those of an index if `certain` says something, and whether they are there for certain.
    fn when(
        schema: &'static Schema,
        values: &'a Values<'a>,
        key: Option<(&str, &str)>,
        certain: &dyn Fn(usize) -> Option<bool>,
    ) -> Result<Self> {
        let printer = Printer { schema, values };
        let (partition, row) = match key {
            Some((partition, row)) => (partition.to_owned(), row.to_owned()),
            None => keys(schema, values)?,
        };
        let (mut rows, mut reserved) = (Vec::with_capacity(1 + schema.indexes.len()), Vec::new());
        rows.push(EntityRow {
            key: row,
            content: RowContent::new(RowKind { schema, cause: Cause::Entity }, values),
            is_certain: true,
        });
        for (number, index) in schema.indexes.iter().enumerate() {
            let Some(is_certain) = certain(number) else { continue };
            match printer.copies(number, index, is_certain, &mut rows) {
                // Maybe that is why the index has no row for it.
                Err(_) if !is_certain => {}
                done => done?,
            }
            if index.unique {
                let others = printer.keys_by_other_tokens(&index.row)?;
                let kind = RowKind { schema, cause: Cause::Index(number) };
                let content = RowContent::new(kind, values);
                reserved.extend(others.into_iter().map(|key| EntityRow { key, content, is_certain }));
            }
        }
        if let Some((_, copies)) = rows.split_first_mut() {
            copies.sort_by(|a, b| a.key.cmp(&b.key));
        }
        Ok(Self { partition, rows, reserved })
    }

    /// The entity's own keys.
    pub(crate) fn primary_key(&self) -> (&str, &str) {
        (&self.partition, self.rows.first().map_or("", |row| row.key.as_str()))
    }
}

/// The partition key and the row key of an entity.
pub(crate) fn keys(schema: &'static Schema, values: &Values<'_>) -> Result<(String, String)> {
    let printer = Printer { schema, values };
    Ok((printer.key(&schema.partition)?, printer.key(&schema.row)?))
}

/// Whether two entities surely have one key, as far as that is to be seen from their fields.
pub(crate) fn has_same_key(schema: &'static Schema, a: &Values<'_>, b: &Values<'_>) -> bool {
    [&schema.partition, &schema.row].into_iter().flat_map(fields).all(|part| {
        let (a, b) = (a.get(part.field), b.get(part.field));
        part.is_lossless() && a.and_then(FieldValue::stored_ref) == b.and_then(FieldValue::stored_ref)
    })
}

/// Prints the keys of one entity's rows.
struct Printer<'a> {
    schema: &'static Schema,
    values: &'a Values<'a>,
}

impl<'a> Printer<'a> {
    /// The key of a template that gives one.
    fn key(&self, template: &Template) -> Result<String> {
        let mut key = String::with_capacity(schema::KEY_BYTES);
        match schema::print(template, self.values, &mut key) {
            Ok(_) => Ok(key),
            Err(error) => Err(self.refused(template, error)),
        }
    }

    /// The keys that the template gives with tokens of former keys.
    fn keys_by_other_tokens(&self, template: &Template) -> Result<Vec<String>> {
        let blind = || fields(template).filter(|part| part.format == Format::Blind);
        if blind().next().is_none() {
            return Ok(Vec::new());
        }
        let mut choices = vec![Vec::new()];
        for part in blind() {
            let Some(token) = self.values.token(part.field) else { continue };
            if choices.iter().flatten().any(|(field, _)| *field == part.field) {
                continue;
            }
            let with = |choice: &Vec<(usize, &'a str)>, text| {
                let mut choice = choice.clone();
                choice.push((part.field, text));
                choice
            };
            choices =
                choices.iter().flat_map(|choice| token.texts().map(move |text| with(choice, text))).collect();
            check_tokens(choices.len())?;
        }
        let mut keys = Vec::new();
        // The first choice is that of the tokens that are written.
        for tokens in choices.into_iter().skip(1) {
            let values = ByTokens { values: self.values, tokens };
            schema::print_all(template, &values, &mut |key| keys.push(key))
                .map_err(|error| self.refused(template, error))?;
        }
        Ok(keys)
    }

    #[cold]
    fn refused(&self, template: &Template, error: KeyError) -> Error {
        error.into_error(template, self.schema.fields).attempted("write to").table(self.schema.table)
    }

    /// Adds the copies in an index: several where its template has parts for each element, none where an optional
    /// part is absent.
    fn copies(
        &self,
        number: usize,
        index: &Index,
        is_certain: bool,
        rows: &mut Vec<EntityRow<'a>>,
    ) -> Result<()> {
        let kind = RowKind { schema: self.schema, cause: Cause::Index(number) };
        let copy = |key| EntityRow { key, content: RowContent::new(kind, self.values), is_certain };
        schema::print_all(&index.row, self.values, &mut |key| rows.push(copy(key)))
            .map_err(|error| self.refused(&index.row, error))
    }
}

/// Refuses to look for a key under each of so many tokens.
pub(crate) fn check_tokens(choices: usize) -> Result<()> {
    if choices <= limits::PAGE_ENTITIES {
        return Ok(());
    }
    Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
        "the tokens of all keys that are alive make {choices} row keys; seal anew what is under old keys, and destroy \
         them"
    )))
}

/// An entity's values with these tokens in the place of its own.
struct ByTokens<'a> {
    values: &'a Values<'a>,
    tokens: Vec<(usize, &'a str)>,
}

impl KeyValues for ByTokens<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let token =
            self.tokens.iter().find(|(field, _)| part.format == Format::Blind && *field == part.field);
        match token {
            Some((_, text)) => Ok(PropertyValue::Borrowed(ValueRef::String(text))),
            None => self.values.value(part),
        }
    }

    fn elements(&self, part: &FieldPart) -> Result<Vec<PropertyValue<'_>>, ValueError> {
        self.values.elements(part)
    }
}
