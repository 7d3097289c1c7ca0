//! Keys as pictures show them: templates taken apart.

use std::fmt;

use crate::Format;

/// A key template, as it is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DesignKey {
    /// Its pieces in order.
    pub pieces: Vec<KeyPiece>,
}

/// A piece of a key template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyPiece {
    /// Text that stands for itself.
    Text(String),
    /// A field.
    Field(FieldPiece),
}

/// A field in a key template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldPiece {
    /// The field; of what a store has noted, the property.
    pub name: String,
    /// Its format, as the template writes it behind the colon.
    pub format: String,
    /// Whether there is a row for each element.
    pub each: bool,
    /// What queries call it, where that is not its name.
    pub method: Option<String>,
}

impl DesignKey {
    /// Makes a key without pieces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the key with text behind it.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(KeyPiece::Text(text.into()));
        self
    }

    /// Returns the key with a field behind it, printed in this format.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, format: impl Into<String>) -> Self {
        self.pieces.push(KeyPiece::Field(FieldPiece::new(name, format)));
        self
    }

    /// Returns the fields in it.
    pub fn fields(&self) -> impl Iterator<Item = &FieldPiece> {
        self.pieces.iter().filter_map(|piece| match piece {
            KeyPiece::Field(field) => Some(field),
            KeyPiece::Text(_) => None,
        })
    }

    /// Returns whether its first piece is text, so that its rows lie apart from others of their partition.
    pub(super) fn begins_with_text(&self) -> bool {
        matches!(self.pieces.first(), Some(KeyPiece::Text(_)))
    }
}

impl FieldPiece {
    /// Makes a field that is printed once, in this format.
    #[must_use]
    pub fn new(name: impl Into<String>, format: impl Into<String>) -> Self {
        Self { name: name.into(), format: format.into(), each: false, method: None }
    }

    /// Returns the field as one of which each element has a row, called so by queries.
    #[must_use]
    pub fn of_each(mut self, method: Option<String>) -> Self {
        (self.each, self.method) = (true, method);
        self
    }

    /// Returns what queries call it.
    pub(super) fn called(&self) -> &str {
        self.method.as_deref().unwrap_or(&self.name)
    }

    pub(super) fn meaning(&self) -> Format<'_> {
        Format::parse(&self.format).unwrap_or(Format::Plain)
    }

    /// Returns whether the largest value comes first.
    pub(super) fn counts_backwards(&self) -> bool {
        matches!(self.meaning(), Format::Inverted | Format::PadInverted(_))
    }
}

/// As a template writes it: `empid_{id:06}`.
impl fmt::Display for DesignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| piece.fmt(f))
    }
}

impl fmt::Display for KeyPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}")),
            Self::Field(FieldPiece { name, format, each, .. }) => {
                let (each, colon) = (if *each { "[]" } else { "" }, if format.is_empty() { "" } else { ":" });
                write!(f, "{{{name}{each}{colon}{format}}}")
            }
        }
    }
}
