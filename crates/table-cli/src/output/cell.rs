//! A value in a line.

use std::fmt::Write;

/// A value in a line of output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing is known, or there is nothing.
    Null,
    Bool(bool),
    Integer(i64),
    Text(String),
}

impl Cell {
    /// Returns a cell with a text.
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().to_owned())
    }

    /// Adds what people read of it, which is nothing for [`Null`](Self::Null).
    pub(crate) fn push_plain(&self, to: &mut String) {
        match self {
            Self::Null => {}
            Self::Bool(value) => to.push_str(if *value { "true" } else { "false" }),
            Self::Integer(value) => drop(write!(to, "{value}")),
            Self::Text(text) => to.push_str(text),
        }
    }

    /// Adds it as JSON.
    pub(crate) fn push_json(&self, to: &mut String) {
        match self {
            Self::Null => to.push_str("null"),
            Self::Text(text) => push_json_text(to, text),
            Self::Bool(_) | Self::Integer(_) => self.push_plain(to),
        }
    }

    /// Returns whether it lies at the right of its column.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Integer(_))
    }
}

/// Adds a text as a string of JSON.
pub(crate) fn push_json_text(to: &mut String, text: &str) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            c if c.is_control() => drop(write!(to, "\\u{:04x}", u32::from(c))),
            c => to.push(c),
        }
    }
    to.push('"');
}
