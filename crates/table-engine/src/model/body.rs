//! The bytes that a batch has as the body of a request to the service, which the service limits.
//!
//! A client's headers are not known beforehand, so this is an estimate, and rather too large than too small. The frame of
//! an operation counts as much as the clients in use write at the most, and a number as much as the longest of its type.
//! Keys, names, texts and bytes count exactly. [`BATCH_BYTES`](crate::limits::BATCH_BYTES) gives the sums.

use super::ValueRef;

/// The lines that begin and end the batch and its change set, each with a boundary of 46 characters.
#[doc(hidden)]
pub const BATCH: usize = 300;

/// What every operation has: a boundary, the headers of its part, the method, the account's address, the headers of the
/// request with an `ETag` and a date, the names of the keys and the brackets around the properties.
const OPERATION: usize = 600;

/// `,"":` around a name.
const NAME: usize = 4;

/// `,"@odata.type":""` around a name once more and a type.
const ANNOTATION: usize = 17;

/// Returns a bound that no batch exceeds. `entities` is the size of its entities by the limit for one, with two bytes for each
/// byte of names, keys and texts. A byte becomes three in an address, and at most six in JSON.
#[doc(hidden)]
pub const fn most(operations: usize, table: &str, entities: usize) -> usize {
    BATCH + operations * (OPERATION + table.len()) + 5 * entities
}

/// Returns the part of an operation: with the properties that it writes, or of one that deletes.
pub(crate) fn operation<'a>(
    table: &str,
    partition: &str,
    row: &str,
    kind: Kind<impl Iterator<Item = (&'a str, ValueRef<'a>)>>,
) -> usize {
    let in_address = || in_address(partition) + in_address(row);
    let in_body = || in_json(partition) + in_json(row);
    OPERATION
        + table.len()
        + match kind {
            Kind::Insert(properties) => {
                in_body() + properties.map(|(name, value)| property(name, value)).sum::<usize>()
            }
            Kind::Write(properties) => {
                in_address()
                    + in_body()
                    + properties.map(|(name, value)| property(name, value)).sum::<usize>()
            }
            Kind::Delete => in_address(),
        }
}

/// Where an operation names its entity.
pub(crate) enum Kind<P> {
    /// In the properties alone: it is sent to the table.
    Insert(P),
    /// In the address, and in the properties.
    Write(P),
    /// In the address alone.
    Delete,
}

/// Returns a property with its type, where JSON has none of its own for it.
fn property(name: &str, value: ValueRef<'_>) -> usize {
    let annotated = |kind: &str| ANNOTATION + name.len() + kind.len();
    let value = match value {
        ValueRef::String(text) => 2 + in_json(text),
        ValueRef::Binary(bytes) => annotated("Edm.Binary") + 2 + 4 * bytes.len().div_ceil(3),
        ValueRef::Boolean(_) => "false".len(),
        ValueRef::Int32(_) => "-2147483648".len(),
        ValueRef::Int64(_) => annotated("Edm.Int64") + "\"-9223372036854775808\"".len(),
        ValueRef::Double(_) => annotated("Edm.Double") + "-1.7976931348623157E+308".len(),
        ValueRef::DateTime(_) => annotated("Edm.DateTime") + "\"9999-12-31T23:59:59.9999999Z\"".len(),
        ValueRef::Guid(_) => annotated("Edm.Guid") + "\"00000000-0000-0000-0000-000000000000\"".len(),
    };
    NAME + name.len() + value
}

/// Returns the length of a text between the quotes of JSON: UTF-8, with what must be escaped.
fn in_json(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.len() + text.bytes().map(escaped).sum::<usize>()
}

/// Returns a key between the quotes of an address: percent-encoded but for what RFC 3986 reserves nowhere, a quote doubled.
fn in_address(key: &str) -> usize {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => 1,
        b'\'' => 6,
        _ => 3,
    };
    key.bytes().map(encoded).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::model::{DynamicEntity, Ticks, Value};

    fn inserted(entity: &DynamicEntity) -> usize {
        let properties = entity.properties().map(|(name, value)| (name, value.as_value_ref()));
        operation("Table", entity.partition_key(), entity.row_key(), Kind::Insert(properties))
    }

    #[test]
    fn a_property_counts_as_its_json() {
        let bare = inserted(&DynamicEntity::new("p", "r"));
        for (value, text) in [
            (Value::from("it's"), r#","Name":"it's""#),
            (Value::from("a\"b\\c\n\u{1}\u{1f600}名"), r#","Name":"a\"b\\c\n\u0001😀名""#),
            (Value::from(&b"\0\0"[..]), r#","Name@odata.type":"Edm.Binary","Name":"AAA=""#),
            (Value::from(&b""[..]), r#","Name@odata.type":"Edm.Binary","Name":"""#),
            (Value::from(false), r#","Name":false"#),
            (Value::from(i32::MIN), r#","Name":-2147483648"#),
            (Value::from(i64::MIN), r#","Name@odata.type":"Edm.Int64","Name":"-9223372036854775808""#),
            (Value::from(f64::MIN), r#","Name@odata.type":"Edm.Double","Name":-1.7976931348623157E+308"#),
            (
                Value::from(Ticks::MAX),
                r#","Name@odata.type":"Edm.DateTime","Name":"9999-12-31T23:59:59.9999999Z""#,
            ),
            (
                Value::from(Uuid::nil()),
                r#","Name@odata.type":"Edm.Guid","Name":"00000000-0000-0000-0000-000000000000""#,
            ),
        ] {
            let entity = DynamicEntity::new("p", "r").with("Name", value);
            assert_eq!(inserted(&entity) - bare, text.len(), "{text}");
        }
    }

    #[test]
    fn keys_count_where_they_are_written() {
        let none = || std::iter::empty();
        let of = |partition, row| {
            [Kind::Insert(none()), Kind::Write(none()), Kind::Delete]
                .map(|kind| operation("Table", partition, row, kind))
        };
        let [insert, write, delete] = of("", "");
        assert_eq!([insert, write, delete], [OPERATION + "Table".len(); 3]);
        // `a%20%27%27%E5%90%8D` in an address, `a '名` in JSON.
        assert_eq!(of("a '", "名"), [insert + 6, write + 19 + 6, delete + 19]);
        assert_eq!(of("\"", ""), [insert + 2, write + 5, delete + 3]);
    }

    /// An insert as a client writes it, with the longest of what varies.
    #[test]
    fn what_surrounds_an_operation_is_room_enough() {
        let guid = "8f28ef2c-5f5f-4a0d-9b0a-3e2a4a0c9f7c";
        let part = format!(
            "--changeset_{guid}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\
             Content-ID: 99\r\n\r\nDELETE https://abcdefghijklmnopqrstuvwx.table.core.windows.net/\
             (PartitionKey='',RowKey='') HTTP/1.1\r\nContent-Type: application/json;odata=nometadata\r\n\
             Accept: application/json;odata=minimalmetadata\r\nContent-Length: 1048576\r\n\
             x-ms-version: 2019-02-02\r\nDataServiceVersion: 3.0;\r\nPrefer: return-no-content\r\n\
             x-ms-date: Fri, 20 Nov 2026 20:37:52 GMT\r\n\
             If-Match: W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"\r\n\r\n\
             {{\"PartitionKey\":\"\",\"RowKey\":\"\"}}\r\n"
        );
        assert!((OPERATION - 50..=OPERATION).contains(&part.len()), "{}", part.len());
        let whole = format!(
            "--batch_{guid}\r\nContent-Type: multipart/mixed; boundary=changeset_{guid}\r\n\r\n\
             --changeset_{guid}--\r\n--batch_{guid}--\r\n"
        );
        assert!((BATCH - 80..=BATCH).contains(&whole.len()), "{}", whole.len());
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<String>().prop_map(Value::String),
            "[\\x00-\\x1f\"\\\\]{0,40}".prop_map(Value::String),
            any::<Vec<u8>>().prop_map(Value::Binary),
            any::<bool>().prop_map(Value::Boolean),
            any::<i32>().prop_map(Value::Int32),
            any::<i64>().prop_map(Value::Int64),
            any::<f64>().prop_map(Value::Double),
            Just(Value::DateTime(Ticks::MAX)),
            Just(Value::Guid(Uuid::nil())),
        ]
    }

    proptest! {
        #[test]
        fn no_batch_is_larger_than_its_entities_can_make_it(
            keys in ("[ -~é名]{0,20}", "['\"]{0,20}"),
            properties in proptest::collection::btree_map("[A-Za-zé名]{1,8}", value(), 0..6),
        ) {
            let mut entity = DynamicEntity::new(keys.0, keys.1);
            for (name, value) in properties {
                entity.set(&name, value);
            }
            // As `store::prepare` counts: no text has more units than bytes.
            let text = |text: &str| 2 * text.len();
            let size = |value: &Value| value.as_str().map_or_else(|| value.size(), |value| 4 + text(value));
            let count = |(name, value): (&str, &Value)| 8 + text(name) + size(value);
            let keys = 4 + text(entity.partition_key()) + text(entity.row_key());
            let most = most(1, "Table", keys + entity.properties().map(count).sum::<usize>());
            let written = |kind| operation("Table", entity.partition_key(), entity.row_key(), kind);
            let properties = || entity.properties().map(|(name, value)| (name, value.as_value_ref()));
            for bytes in [written(Kind::Insert(properties())), written(Kind::Write(properties())), written(Kind::Delete)] {
                prop_assert!(BATCH + bytes <= most, "{} {}", BATCH + bytes, most);
            }
        }
    }
}
