//! Values as JSON has them, and the types of those that it has not.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use table_engine::ValueRef;

/// The finite numbers that are written as numbers lie between these, or are 0: others would fill lines with digits.
const PLAIN: std::ops::Range<f64> = 1e-7..1e17;

/// Writes the name of a member, behind those that are there.
pub(super) fn begin_member(out: &mut String, name: &str) {
    // Behind an opening brace nothing comes between.
    if !out.is_empty() && !out.ends_with('{') {
        out.push(',');
    }
    put_text(out, name);
    out.push(':');
}

/// Writes a value, and returns the name of its type, unless JSON has it.
pub(super) fn put_value(out: &mut String, value: ValueRef<'_>) -> Option<&'static str> {
    // To write to a text never fails.
    let written = match value {
        ValueRef::String(text) if text.contains('\0') => {
            put_bytes(out, text.as_bytes());
            return Some("String");
        }
        ValueRef::String(text) => {
            put_text(out, text);
            return None;
        }
        ValueRef::Boolean(value) => {
            out.push_str(if value { "true" } else { "false" });
            return None;
        }
        ValueRef::Int32(value) => {
            let _ = write!(out, "{value}");
            return None;
        }
        ValueRef::Binary(bytes) => {
            put_bytes(out, bytes);
            return Some("Binary");
        }
        ValueRef::Int64(value) => write!(out, "{value}").map(|()| "Int64"),
        ValueRef::Double(value) => put_double(out, value).map(|()| "Double"),
        ValueRef::DateTime(value) => write!(out, "\"{value}\"").map(|()| "DateTime"),
        ValueRef::Guid(value) => write!(out, "\"{value}\"").map(|()| "Guid"),
    };
    written.ok()
}

fn put_double(out: &mut String, value: f64) -> std::fmt::Result {
    let is_zero = value == 0.0 && value.is_sign_positive();
    if is_zero || PLAIN.contains(&value.abs()) {
        return write!(out, "{value}");
    }
    if value.is_nan() {
        // One NaN is not another.
        return write!(out, "\"NaN {:016x}\"", value.to_bits());
    }
    write!(out, "\"{value:e}\"")
}

/// Writes bytes as a text in Base64.
pub(super) fn put_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    STANDARD.encode_string(bytes, out);
    out.push('"');
}

/// Writes a text.
pub(super) fn put_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    let needs_escape = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
    while let Some((before, from)) =
        rest.bytes().position(needs_escape).and_then(|at| rest.split_at_checked(at))
    {
        out.push_str(before);
        let mut characters = from.chars();
        if let Some(character) = characters.next() {
            // To write to a text never fails.
            let _ = match character {
                '"' => out.write_str("\\\""),
                '\\' => out.write_str("\\\\"),
                control => write!(out, "\\u{:04x}", u32::from(control)),
            };
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
