//! Values as text, as CSV and Markdown have them.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use table_core::{EdmType, Ticks, ValueRef};

/// Appends a value as the text that OData has for it, without quotes.
pub(crate) fn push_value(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::String(text) => out.extend_from_slice(text.as_bytes()),
        ValueRef::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        ValueRef::Int32(value) => push_shown(value, out),
        ValueRef::Int64(value) => push_shown(value, out),
        ValueRef::Double(value) => push_double(value, out),
        ValueRef::DateTime(value) => push_time(value, out),
        ValueRef::Guid(value) => {
            out.extend_from_slice(value.hyphenated().encode_lower(&mut [0; 36]).as_bytes());
        }
        ValueRef::Binary(bytes) => {
            let mut text = String::new();
            STANDARD.encode_string(bytes, &mut text);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Appends a time in UTC, with seven decimals unless they are zero.
pub(crate) fn push_time(value: Ticks, out: &mut Vec<u8>) {
    out.extend_from_slice(value.encode(&mut [0; Ticks::TEXT_BYTES]).as_bytes());
}

/// Returns the name of a type as Storage Explorer's columns of types have it.
pub(crate) fn short_type(edm: EdmType) -> &'static str {
    edm.name().strip_prefix("Edm.").unwrap_or_default()
}

fn push_double(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        // The shortest decimal that reads back to it, always with a point or an exponent.
        drop(write!(out, "{value:?}"));
    } else if value.is_infinite() {
        out.extend_from_slice(if value > 0.0 { b"Infinity" } else { b"-Infinity" });
    } else if value.to_bits() == f64::NAN.to_bits() {
        out.extend_from_slice(b"NaN");
    } else {
        drop(write!(out, "NaN({:016x})", value.to_bits()));
    }
}

fn push_shown(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    // A vector takes all that is written.
    drop(write!(out, "{value}"));
}
