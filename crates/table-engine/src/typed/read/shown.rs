//! Rows of indexes, for people to read.

use std::fmt;

use crate::model::ValueRef;
use crate::schema::{PropertyValue, Schema, ValueError};

/// The fields of a row as `Debug` shows them: each as its property, so that their types need not be shown themselves;
/// and nothing of what is sealed or kept in a `Secret`.
pub struct ShownRow<'f, 'b> {
    schema: &'static Schema,
    out: fmt::DebugStruct<'f, 'b>,
}

impl<'f, 'b> ShownRow<'f, 'b> {
    /// Begins to show a row of this entity, by the name of its type.
    pub fn new(f: &'f mut fmt::Formatter<'b>, name: &str, schema: &'static Schema) -> Self {
        Self { schema, out: f.debug_struct(name) }
    }

    /// Shows the field at this place.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "what gives a property gives it by value")]
    pub fn field(mut self, place: usize, value: Result<PropertyValue<'_>, ValueError>) -> Self {
        let Some(field) = self.schema.fields.get(place) else { return self };
        let hidden = field.encrypted || field.secret;
        match value.as_ref().map(PropertyValue::as_value_ref) {
            Ok(Some(value)) if !hidden => self.out.field(field.name, &Shown(value)),
            Ok(None) if !hidden => self.out.field(field.name, &format_args!("None")),
            _ => self.out.field(field.name, &format_args!("..")),
        };
        self
    }

    /// Ends the row.
    pub fn finish(mut self) -> fmt::Result {
        self.out.finish()
    }
}

impl fmt::Debug for ShownRow<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownRow").finish_non_exhaustive()
    }
}

/// A value as Rust would show it: the suffix that tells a filter's integers apart says nothing of the field.
struct Shown<'v>(ValueRef<'v>);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ValueRef::Int64(number) => fmt::Debug::fmt(number, f),
            value => fmt::Debug::fmt(value, f),
        }
    }
}
