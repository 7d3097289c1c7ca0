//! The types of values that say none.

use std::borrow::Cow;
use std::collections::HashMap;

use table_core::introspect::{KindInfo, RowOf};
use table_core::{EdmType, Ticks, Uuid};

use super::super::kinds::ENTITY_TYPE;

/// What is known of the types of values that say none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    /// Those of the properties of kinds that the table has noted, by the text of `EntityType`.
    kinds: HashMap<String, HashMap<String, EdmType>>,
    /// Whether values are texts where nothing says their type.
    as_text: bool,
}

impl Types {
    /// Makes the types of values of a table with these kinds. With `as_text` a value is a text where nothing says its type;
    /// without it what it looks like.
    pub(crate) fn new(kinds: &[KindInfo], as_text: bool) -> Self {
        let of = |kind: &KindInfo| {
            let properties = kind.properties().into_iter().map(|property| (property.name, property.edm));
            (kind.entity_type(), properties.collect())
        };
        let is_own = |kind: &&KindInfo| kind.row_of_type(&kind.entity_type()) == Some(RowOf::Entity);
        Self { kinds: kinds.iter().filter(is_own).map(of).collect(), as_text }
    }

    /// Returns the types of the kind of a row, whose values `find` finds by their names.
    pub(super) fn of_kind<'r>(
        &self,
        find: impl FnOnce(&str) -> Option<Cow<'r, str>>,
    ) -> Option<&HashMap<String, EdmType>> {
        if self.kinds.is_empty() {
            return None;
        }
        self.kinds.get(&*find(ENTITY_TYPE)?)
    }

    /// Returns the type of a value where nothing says it.
    pub(super) fn inferred(&self, text: &str) -> EdmType {
        if self.as_text { EdmType::String } else { infer(text) }
    }
}

/// Returns the type that a text looks like. A text that would be written otherwise as a value of the type stays one: `007`, say.
fn infer(text: &str) -> EdmType {
    let bytes = text.as_bytes();
    match bytes {
        b"true" | b"false" => EdmType::Boolean,
        [b'-' | b'0'..=b'9', ..] if bytes.len() <= 36 => number_or_time(text),
        _ if is_uuid(text) => EdmType::Guid,
        _ => EdmType::String,
    }
}

fn number_or_time(text: &str) -> EdmType {
    if let Ok(number) = text.parse::<i64>() {
        let is_plain = number.to_string() == text;
        return match i32::try_from(number) {
            _ if !is_plain => EdmType::String,
            Ok(_) => EdmType::Int32,
            Err(_) => EdmType::Int64,
        };
    }
    if is_decimal(text.strip_prefix('-').unwrap_or(text)) {
        return EdmType::Double;
    }
    if is_uuid(text) {
        return EdmType::Guid;
    }
    let is_time = text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T') && text.ends_with('Z');
    if is_time && text.parse::<Ticks>().is_ok() { EdmType::DateTime } else { EdmType::String }
}

/// Returns whether a text is a number of JSON with a point or an exponent, and not too large.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = digits(whole) && (whole.len() == 1 || !whole.starts_with('0'));
    let is_fraction = fraction.is_none_or(digits);
    let is_exponent = exponent.is_none_or(|exponent| {
        digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)) && exponent.len() <= 4
    });
    is_whole
        && is_fraction
        && is_exponent
        && (fraction.is_some() || exponent.is_some())
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.as_bytes().get(8) == Some(&b'-') && Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_it_looks_like_and_would_be_written_as() {
        for (text, edm) in [
            ("true", EdmType::Boolean),
            ("True", EdmType::String),
            ("0", EdmType::Int32),
            ("-2147483648", EdmType::Int32),
            ("2147483648", EdmType::Int64),
            ("9223372036854775808", EdmType::String),
            ("007", EdmType::String),
            ("-0", EdmType::String),
            ("+1", EdmType::String),
            ("1.5", EdmType::Double),
            ("-1e3", EdmType::Double),
            ("1e999", EdmType::String),
            ("01.5", EdmType::String),
            ("1.", EdmType::String),
            (".5", EdmType::String),
            ("-", EdmType::String),
            ("", EdmType::String),
            ("2014-07-31T18:00:00Z", EdmType::DateTime),
            ("2014-07-31T18:00:00.1234567Z", EdmType::DateTime),
            ("2014-07-31", EdmType::String),
            ("2014-13-31T18:00:00Z", EdmType::String),
            ("c9da6455-213d-42c9-9a79-3e9149a57833", EdmType::Guid),
            ("09da6455-213d-42c9-9a79-3e9149a57833", EdmType::Guid),
            ("NaN", EdmType::String),
        ] {
            assert_eq!(infer(text), edm, "{text}");
            assert_eq!(Types::new(&[], true).inferred(text), EdmType::String);
        }
    }
}
