//! A value in a line.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::value::RawValue;
use table_core::ValueRef;

/// A value in a line of output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing is known, or there is nothing.
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// A text of JSON, in one line.
    Json(String),
}

impl Cell {
    /// Returns a cell with a text.
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().to_owned())
    }

    /// Returns a cell with a text that is JSON if it can be, and else a text like any other.
    pub(crate) fn json(text: &str) -> Self {
        let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
        if is_json && !text.contains(['\n', '\r']) { Self::Json(text.to_owned()) } else { Self::text(text) }
    }

    /// Returns a cell with a count.
    pub(crate) fn count(count: impl TryInto<i64>) -> Self {
        Self::Integer(count.try_into().unwrap_or(i64::MAX))
    }

    /// Returns a cell with what a value prints, or nothing.
    pub(crate) fn shown(value: Option<impl ToString>) -> Self {
        value.map_or(Self::Null, |value| Self::Text(value.to_string()))
    }

    /// Adds what people read of it, which is nothing for [`Null`](Self::Null).
    pub(crate) fn push_plain(&self, to: &mut String) {
        match self {
            Self::Null => {}
            Self::Bool(value) => to.push_str(if *value { "true" } else { "false" }),
            Self::Integer(value) => write!(to, "{value}").unwrap_or_default(),
            Self::Real(value) => write!(to, "{value:?}").unwrap_or_default(),
            Self::Text(text) | Self::Json(text) => to.push_str(text),
            // As filters have it.
            Self::Bytes(bytes) => {
                to.push_str("X'");
                for byte in bytes {
                    write!(to, "{byte:02x}").unwrap_or_default();
                }
                to.push('\'');
            }
        }
    }

    /// Adds it as JSON.
    pub(crate) fn push_json(&self, to: &mut String) {
        match self {
            Self::Null => to.push_str("null"),
            Self::Text(text) => push_json_text(to, text),
            Self::Json(text) => to.push_str(text),
            // As the service has it.
            Self::Bytes(bytes) => push_json_text(to, &BASE64.encode(bytes)),
            // JSON has no such number.
            Self::Real(value) if !value.is_finite() => {
                let mut text = String::new();
                self.push_plain(&mut text);
                push_json_text(to, &text);
            }
            Self::Bool(_) | Self::Integer(_) | Self::Real(_) => self.push_plain(to),
        }
    }

    /// Returns whether it lies at the right of its column.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Real(_))
    }

    /// Returns about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let more = match self {
            Self::Text(text) | Self::Json(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Real(_) => 0,
        };
        more.saturating_add(size_of::<Self>())
    }
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::String(text) => Self::text(text),
            ValueRef::Binary(bytes) => Self::Bytes(bytes.to_vec()),
            ValueRef::Boolean(value) => Self::Bool(value),
            ValueRef::Int32(value) => Self::Integer(value.into()),
            ValueRef::Int64(value) => Self::Integer(value),
            ValueRef::Double(value) => Self::Real(value),
            ValueRef::DateTime(time) => Self::Text(time.to_string()),
            ValueRef::Guid(id) => Self::Text(id.to_string()),
        }
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
            c if c.is_control() => write!(to, "\\u{:04x}", u32::from(c)).unwrap_or_default(),
            c => to.push(c),
        }
    }
    to.push('"');
}
