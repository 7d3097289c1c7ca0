//! Values as they are typed: `Age=41`, and `Age:i32=41` where no kind says the type.

use table_core::{EdmType, Ticks, Uuid, Value};

use crate::failure::Failure;

/// What is given for a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The property.
    pub(crate) name: String,
    /// The type that is said, if one is.
    edm: Option<EdmType>,
    /// The value.
    pub(crate) text: String,
}

impl Given {
    /// Reads `NAME=VALUE` or `NAME:TYPE=VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some((name, value)) = text.split_once('=') else {
            return Err("a value is given as NAME=VALUE".into());
        };
        let (name, edm) = match name.split_once(':') {
            Some((name, edm)) => (name, Some(type_of(edm).ok_or_else(|| unknown_type(edm))?)),
            None => (name, None),
        };
        if name.is_empty() {
            return Err("a value is given as NAME=VALUE".into());
        }
        Ok(Self { name: name.to_owned(), edm, text: value.to_owned() })
    }

    /// Returns the value, of the type that is said or else of this one.
    pub(crate) fn value(&self, or: EdmType) -> Result<Value, Failure> {
        let edm = self.edm.unwrap_or(or);
        read(edm, &self.text).ok_or_else(|| {
            Failure::Usage(format!("`{}` is {}, which `{}` is not", self.name, described(edm), self.text))
        })
    }
}

fn unknown_type(text: &str) -> String {
    format!("`{text}` is no type: there are string, i32, i64, f64, bool, time, guid and binary")
}

fn type_of(text: &str) -> Option<EdmType> {
    Some(match text {
        "string" | "str" | "Edm.String" => EdmType::String,
        "i32" | "int32" | "Edm.Int32" => EdmType::Int32,
        "i64" | "int64" | "Edm.Int64" => EdmType::Int64,
        "f64" | "double" | "Edm.Double" => EdmType::Double,
        "bool" | "Edm.Boolean" => EdmType::Boolean,
        "time" | "datetime" | "Edm.DateTime" => EdmType::DateTime,
        "guid" | "uuid" | "Edm.Guid" => EdmType::Guid,
        "binary" | "Edm.Binary" => EdmType::Binary,
        _ => return None,
    })
}

fn read(edm: EdmType, text: &str) -> Option<Value> {
    Some(match edm {
        EdmType::String => Value::String(text.to_owned()),
        EdmType::Int32 => Value::Int32(text.parse().ok()?),
        EdmType::Int64 => Value::Int64(text.parse().ok()?),
        EdmType::Double => Value::Double(text.parse().ok()?),
        EdmType::Boolean => Value::Boolean(text.parse().ok()?),
        EdmType::DateTime => Value::DateTime(text.parse::<Ticks>().ok()?),
        EdmType::Guid => Value::Guid(Uuid::parse_str(text).ok()?),
        EdmType::Binary => Value::Binary(hex(text)?),
        _ => return None,
    })
}

/// Reads `X'c0ffee'`, or the digits alone.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("X'").and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    let digits: Vec<_> = digits.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

fn described(edm: EdmType) -> &'static str {
    match edm {
        EdmType::String => "text",
        EdmType::Int32 => "a number of 32 bits",
        EdmType::Int64 => "a number of 64 bits",
        EdmType::Double => "a number such as 2.5",
        EdmType::Boolean => "`true` or `false`",
        EdmType::DateTime => "a time such as 2014-07-31T18:00:00Z",
        EdmType::Guid => "a UUID",
        EdmType::Binary => "bytes such as X'c0ffee'",
        _ => "of a type that is not typed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_the_type_that_is_said_or_known() {
        let value = |text: &str, or| Given::parse(text).unwrap().value(or).ok();
        assert_eq!(value("Age=41", EdmType::Int32), Some(Value::Int32(41)));
        assert_eq!(value("Age:i64=41", EdmType::String), Some(Value::Int64(41)));
        assert_eq!(value("Note=a=b", EdmType::String), Some(Value::String("a=b".into())));
        assert_eq!(value("Bytes=X'c0ffee'", EdmType::Binary), Some(Value::Binary(vec![0xC0, 0xFF, 0xEE])));
        assert_eq!(value("Bytes=c0f", EdmType::Binary), None);
        assert_eq!(value("Age=forty", EdmType::Int32), None);
        let refused = ["Age", "=1", "Age:number=1"].map(|text| Given::parse(text).is_err());
        assert_eq!(refused, [true; 3]);
    }
}
