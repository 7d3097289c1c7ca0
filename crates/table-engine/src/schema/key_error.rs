//! Values that a key can't hold.

use table_words::key::RULE;

use super::value::ValueError;
use super::{Field, Part, Template};
use crate::error::{Error, ErrorKind};
use crate::limits;

/// A field whose value its key can't hold, and why.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    pub(super) field: usize,
    pub(super) reason: Reason,
}

/// Why a value can't stand in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is no property, or of another type.
    Value(ValueError),
    Negative(i64),
    /// More digits than the part has.
    Wide {
        value: u64,
        digits: u8,
    },
    /// Outside its type's range.
    Beyond(i64),
    /// A character that no key may hold.
    Forbidden(char),
    /// The character that ends the part.
    Separator(char),
    /// A character that its type says it doesn't hold.
    Outside(char),
    /// None of the names of its type.
    Unnamed,
    /// No blind token.
    Token,
    /// The key has so many UTF-16 units.
    Long(usize),
    /// The lists make so many rows.
    Rows(usize),
}

impl KeyError {
    /// Returns the error as text, with the field's name and the key's template.
    pub(crate) fn into_error(self, template: &Template, fields: &[Field]) -> Error {
        let name = fields.get(self.field).map_or("a field", |field| field.name);
        let part = template.parts.iter().find_map(|part| match part {
            Part::Field(part) if part.field == self.field => Some(part),
            _ => None,
        });
        let part = part.map_or_else(String::new, |part| part.written(name));
        self.reason.of_part(name, &part, template.source)
    }
}

impl Reason {
    /// Returns the error, by the field's name, the part as its template writes it, and the template.
    pub(crate) fn of_part(self, name: &str, part: &str, source: &str) -> Error {
        let (kind, because) = match self {
            Reason::Value(error) => (ErrorKind::ValueOutOfRange, format!("`{name}`: {error}")),
            Reason::Negative(value) => (
                ErrorKind::ValueOutOfRange,
                format!(
                    "`{name}` is {value}, and `{part}` in the key `{source}` is for numbers from zero; \
                     `{{{name}:offset}}` takes a signed number"
                ),
            ),
            Reason::Wide { value, digits } => (
                ErrorKind::ValueOutOfRange,
                format!(
                    "`{name}` is {value}, and `{part}` in the key `{source}` has {digits} digits; \
                     give it as many as the largest number will have"
                ),
            ),
            Reason::Beyond(value) => {
                (ErrorKind::ValueOutOfRange, format!("`{name}` is {value}, which its type can't hold"))
            }
            Reason::Forbidden(c) => (
                ErrorKind::InvalidKey,
                format!(
                    "`{name}` holds {c:?}, and the key `{source}` may hold {RULE}; `{{{name}:escaped}}` takes any text"
                ),
            ),
            Reason::Separator(c) => (
                ErrorKind::InvalidKey,
                format!(
                    "`{name}` holds {c:?}, which ends it in the key `{source}`; choose another separator, or \
                     `{{{name}:escaped}}!`, which takes any text"
                ),
            ),
            Reason::Outside(c) => {
                (ErrorKind::InvalidKey, format!("`{name}` holds {c:?}, which its type says it never does"))
            }
            Reason::Unnamed => (ErrorKind::InvalidKey, format!("`{name}` is none of the names of its type")),
            Reason::Token => (ErrorKind::InvalidKey, format!("`{name}` has no token for `{part}`")),
            Reason::Long(units) => (
                ErrorKind::KeyTooLong,
                format!(
                    "`{name}` takes the key `{source}` to {units} UTF-16 units; a key may have {}",
                    limits::KEY_UNITS
                ),
            ),
            Reason::Rows(rows) => (
                ErrorKind::BatchLength,
                format!(
                    "`{name}` takes the index `{source}` to {rows} rows; an entity and its copies may be {}",
                    limits::BATCH_OPERATIONS
                ),
            ),
        };
        Error::new(kind).because(because)
    }
}
