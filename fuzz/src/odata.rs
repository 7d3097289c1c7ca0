//! OData JSON: what is read, written and read again is the same, and is JSON to another reader, too.

use serde::de::IgnoredAny;
use table_core::odata::{Member, Metadata, Reader, Writer};
use table_core::{DynamicEntity, ErrorKind, Ticks, Uuid, Value};

use crate::random::Random;

pub(crate) const WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d\\ude00",
    b"\\u0058",
    b"null",
    b"true",
    b"\"False\"",
    b"-0",
    b"1e5",
    b"-1.5e-300",
    b"2147483648",
    b"\"9223372036854775807\"",
    b"\"NaN\"",
    b"\"NaN(fff8000000000000)\"",
    b"\"-INF\"",
    b"\"Zg==\"",
    b"\"2014-07-31T18:00:00.1234567Z\"",
    b"\"2014-07-31T18:00:00+01:00\"",
    b"\"c9da6455-213d-42c9-9a79-3e9149a57833\"",
    b"\"A\":1,",
    b",\"A\":1",
    b"\"A@odata.type\":\"Edm.Int64\",",
    b",\"B@odata.type\":\"Edm.Double\"",
    b"@odata.type",
    b"Edm.DateTime",
    b"Edm.Binary",
    b"\"odata.etag\":\"W/\\\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\\\"\",",
    b"\"odata.x\":[{}],",
    b"\"PartitionKey\":\"\",\"RowKey\":\"\",",
    b"\"Timestamp\":\"2026-01-01T00:00:00Z\",",
    b"\"value\":[",
    b"\xe5\x90\x8d",
];

fn entity(random: &mut Random) -> DynamicEntity {
    let mut entity = DynamicEntity::new("Sales", format!("empid_{:06}", random.below(1_000)));
    for name in ["A", "B", "Name", "_x", "é", "名前"] {
        let value: Value = match random.below(12) {
            0 => "Jun \"Cao\"\n\u{0}\u{1f600}".into(),
            1 => vec![1, 2, 3, random.byte()].into(),
            2 => random.one_in(2).into(),
            3 => 34.into(),
            4 => i64::MIN.into(),
            5 => f64::from_bits(random.next()).into(),
            6 => 1.5.into(),
            7 => Ticks::UNIX_EPOCH.into(),
            8 => Uuid::from_u64_pair(random.next(), 7).into(),
            _ => continue,
        };
        entity.set(name, value);
    }
    entity
}

/// Texts of entities and of pages, as the library writes them and as clients do.
pub(crate) fn corpus(random: &mut Random) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = [
        r#"{"PartitionKey":"p","RowKey":"r","A":"True","A@odata.type":"Edm.Boolean","B@odata.type":"Edm.Int32","B":"7"}"#,
        r#"[{"RowKey":"\u0031","PartitionKey":"p","A":3000000000,"B":-0.0,"odata.x":{"a":[[]]},"A@b":null}]"#,
        r#"{"odata.metadata":"m","value":[ {"PartitionKey":"p","RowKey":"r","A":null} ],"odata.nextLink":1}"#,
        r#"{"PartitionKey":"p","RowKey":"r","odata.etag":"W/\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\"","Timestamp@odata.type":"Edm.DateTime","Timestamp":"2026-01-01T00:00:00Z"}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    for metadata in [Metadata::None, Metadata::Minimal, Metadata::Full] {
        let writer = Writer::new(metadata).of_service("http://localhost/a", "a", "Company").exact_nans();
        for count in 0..40 {
            let mut text = Vec::new();
            let written = if count == 0 { Ok(()) } else { writer.entity(entity(random), &mut text) };
            if written.is_ok() && !text.is_empty() {
                texts.push(text);
            }
            let mut text = Vec::new();
            let mut page = writer.page(&mut text);
            for _ in 0..count % 4 {
                drop(page.entity(entity(random)));
            }
            page.finish();
            texts.push(text);
        }
    }
    texts
}

/// Whether the text was taken, for an entity or for a page.
pub(crate) fn judge(input: &[u8]) -> bool {
    let alone = match Reader::new().entity(input) {
        Ok(entity) => {
            assert!(is_json(input), "what is read is no JSON");
            assert_kept(&entity);
            assert_visited(input, &entity);
            true
        }
        Err(error) => {
            assert!(
                error.position().is_some_and(|at| at <= input.len()),
                "an error without a place: {error}"
            );
            assert_ne!(error.kind(), ErrorKind::Corrupt);
            false
        }
    };
    let mut read = Reader::new().page(input);
    let entities: Vec<_> = read.by_ref().map_while(Result::ok).collect();
    entities.iter().for_each(assert_kept);
    // The one that ended it has been taken.
    assert!(read.next().is_none(), "a page goes on behind its end");
    let is_page = Reader::new().page(input).all(|read| read.is_ok());
    assert!(!is_page || is_json(input), "a page that is read is no JSON");
    assert!(!(alone && is_page), "a text is an entity and a page");
    alone || is_page
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// An entity that was read is written, and read again as itself.
fn assert_kept(entity: &DynamicEntity) {
    for metadata in [Metadata::Minimal, Metadata::Full] {
        let writer = Writer::new(metadata).of_service("http://localhost/a", "a", "Company").exact_nans();
        let text = written(&writer, entity);
        assert!(is_json(&text), "what is written is no JSON");
        let again = Reader::new().entity(&text);
        let is_same = |again: &DynamicEntity| again == entity && again.etag() == entity.etag();
        assert!(again.as_ref().is_ok_and(is_same), "what was written is read as {again:?}");
        assert!(again.is_ok_and(|again| written(&writer, &again) == text), "an entity has two texts");
    }
    let plain = Reader::new().entity(&written(&Writer::new(Metadata::None), entity));
    let count = plain.as_ref().map(|plain| plain.properties().len());
    assert_eq!(count.ok(), Some(entity.properties().len()), "{plain:?}");
}

/// The text of an entity that was read.
fn written(writer: &Writer, entity: &DynamicEntity) -> Vec<u8> {
    let mut text = Vec::new();
    let done = writer.entity(entity, &mut text);
    assert!(done.is_ok(), "what was read is not written: {done:?}");
    text
}

/// A visit passes on what the entity has.
fn assert_visited(input: &[u8], entity: &DynamicEntity) {
    let mut visited = DynamicEntity::new(entity.partition_key(), entity.row_key());
    let done = Reader::new().visit(input, |member| {
        match member {
            Member::PartitionKey(key) => assert_eq!(key, entity.partition_key()),
            Member::RowKey(key) => assert_eq!(key, entity.row_key()),
            Member::ETag(etag) => assert_eq!(Some(etag), entity.etag()),
            Member::Property(name, value) => assert!(visited.set(name, value.to_value()).is_none()),
            _ => {}
        }
        Ok(())
    });
    assert!(done.is_ok() && visited == *entity, "a visit passes on something else");
}
