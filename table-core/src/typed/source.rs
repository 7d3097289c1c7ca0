//! The fields of a stored row, for generated code to take.

use super::{Entity, Path};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Value, ValueRef};
use crate::schema::{self, Schema, Template, ValueError};
use crate::store::RowView;

/// How a type is made of a property: [`Property::from_property`](crate::schema::Property::from_property) of it.
type FromProperty<T> = fn(Option<ValueRef<'_>>) -> Result<T, ValueError>;

/// A stored row as the fields of an entity: those that its key gives back, and those stored in it.
#[derive(Debug)]
pub struct Source<'v> {
    schema: &'static Schema,
    view: &'v RowView<'v>,
    /// What the keys give back, by field.
    from_keys: Vec<(usize, Value)>,
    next: usize,
}

impl<'v> Source<'v> {
    /// A row of this path.
    pub fn of<P: Path>(view: &'v RowView<'v>) -> Result<Self> {
        Self::new(<P::Entity as Entity>::SCHEMA, P::template(), view)
    }

    /// A row whose row key has this template.
    pub(crate) fn new(schema: &'static Schema, row: &Template, view: &'v RowView<'v>) -> Result<Self> {
        let mut source = Self { schema, view, from_keys: Vec::with_capacity(4), next: 0 };
        source.parse(&schema.partition, &view.partition_key())?;
        source.parse(row, &view.row_key())?;
        Ok(source)
    }

    fn parse(&mut self, template: &Template, key: &str) -> Result<()> {
        let found = &mut self.from_keys;
        let fits = schema::parse(template, key, &mut |field, value| {
            if let Some(value) = value.into_value() {
                found.push((field, value));
            }
        });
        if fits {
            return Ok(());
        }
        let key = key.escape_debug();
        Err(self.error(format!("the key `{key}` does not fit the template `{}`", template.source)))
    }

    /// What is taken by a struct whose declaration has mistakes: nothing, and no program comes so far.
    pub fn nothing<T>(&self) -> Result<T> {
        Err(self.error(String::new()))
    }

    /// Takes the next field.
    #[allow(clippy::should_implement_trait, reason = "the type changes from field to field")]
    pub fn next<T>(&mut self, from: FromProperty<T>) -> Result<T> {
        let field = self.next;
        self.next += 1;
        self.field(field, from)
    }

    /// Takes the next field; its type's default if it is absent.
    pub fn next_or_default<T: Default>(&mut self, from: FromProperty<T>) -> Result<T> {
        let field = self.next;
        self.next += 1;
        if self.is_absent(field)? { Ok(T::default()) } else { self.field(field, from) }
    }

    /// Takes the next field, which is kept as text.
    pub fn next_text(&mut self) -> Result<Text<'_>> {
        let field = self.next;
        self.next += 1;
        self.text(field)
    }

    /// Takes the field at this place, which is kept as text.
    pub fn text(&self, field: usize) -> Result<Text<'_>> {
        let text = self.view.get(self.property(field))?.and_then(ValueRef::as_str);
        Ok(Text { json: text, source: self, field })
    }

    fn property(&self, field: usize) -> &'static str {
        self.schema.fields.get(field).map_or("", |field| field.property)
    }

    fn is_absent(&self, field: usize) -> Result<bool> {
        let in_key = self.from_keys.iter().any(|(number, _)| *number == field);
        Ok(!in_key && self.view.get(self.property(field))?.is_none())
    }

    /// Takes the field at this place.
    pub fn field<T>(&self, field: usize, from: FromProperty<T>) -> Result<T> {
        let known = self.from_keys.iter().find(|(number, _)| *number == field);
        let taken = match known {
            Some((_, value)) => from(Some(value.as_value_ref())),
            None => from(self.view.get(self.property(field))?),
        };
        taken.map_err(|error| self.refused(field, &error))
    }

    #[cold]
    fn refused(&self, field: usize, error: &ValueError) -> Error {
        let name = self.property(field);
        self.error(format!("property `{name}` does not fit the struct `{}`: {error}", self.schema.entity))
    }

    #[cold]
    fn error(&self, because: String) -> Error {
        Error::new(ErrorKind::SchemaMismatch)
            .because(because)
            .partition(&self.view.partition_key())
            .row(&self.view.row_key())
    }
}

/// A field that is kept as text, for `#[property(json)]`.
#[derive(Debug)]
#[cfg_attr(not(feature = "json"), expect(dead_code, reason = "the feature reads it"))]
pub struct Text<'s> {
    pub(crate) json: Option<&'s str>,
    source: &'s Source<'s>,
    field: usize,
}

#[cfg(feature = "json")]
impl Text<'_> {
    #[cold]
    pub(crate) fn refused(&self, because: &str) -> Error {
        let name = self.source.property(self.field);
        let entity = self.source.schema.entity;
        self.source.error(format!("property `{name}` does not fit the struct `{entity}`: {because}"))
    }
}
