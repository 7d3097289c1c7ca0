//! Texts of known entities, in each level, there and back.

use uuid::Uuid;

use super::{Metadata, Reader, Writer, assert_same, stored, written};
use crate::model::{DynamicEntity, ETag, Ticks, Value};
use crate::odata::Member;

fn guid() -> Uuid {
    Uuid::from_u128(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833)
}

fn time(text: &str) -> Ticks {
    text.parse().unwrap()
}

/// Values with their texts, and the type that annotations say.
fn values() -> Vec<(Value, &'static str, Option<&'static str>)> {
    vec![
        ("".into(), r#""""#, None),
        ("Jun".into(), r#""Jun""#, None),
        (
            "a\"b\\c/d\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}".into(),
            "\"a\\\"b\\\\c/d\\u0008\\u000c\\n\\r\\t\\u0000\\u001f\u{7f}\"",
            None,
        ),
        ("é名\u{2028}\u{1f600}".into(), "\"é名\u{2028}\u{1f600}\"", None),
        (true.into(), "true", None),
        (false.into(), "false", None),
        (0.into(), "0", None),
        (i32::MAX.into(), "2147483647", None),
        (i32::MIN.into(), "-2147483648", None),
        (i64::MAX.into(), r#""9223372036854775807""#, Some("Edm.Int64")),
        (i64::MIN.into(), r#""-9223372036854775808""#, Some("Edm.Int64")),
        (1_i64.into(), r#""1""#, Some("Edm.Int64")),
        (1.0.into(), "1.0", None),
        ((-0.0).into(), "-0.0", None),
        (0.1.into(), "0.1", None),
        (f64::MAX.into(), "1.7976931348623157e308", None),
        (5e-324.into(), "5.0e-324", None),
        (1e21.into(), "1.0e21", None),
        (f64::NAN.into(), r#""NaN""#, Some("Edm.Double")),
        (f64::INFINITY.into(), r#""Infinity""#, Some("Edm.Double")),
        (f64::NEG_INFINITY.into(), r#""-Infinity""#, Some("Edm.Double")),
        (Ticks::MIN_PROPERTY.into(), r#""1601-01-01T00:00:00Z""#, Some("Edm.DateTime")),
        (Ticks::MAX.into(), r#""9999-12-31T23:59:59.9999999Z""#, Some("Edm.DateTime")),
        (time("2014-07-31T18:00:00.5Z").into(), r#""2014-07-31T18:00:00.5000000Z""#, Some("Edm.DateTime")),
        (guid().into(), r#""c9da6455-213d-42c9-9a79-3e9149a57833""#, Some("Edm.Guid")),
        (Vec::new().into(), r#""""#, Some("Edm.Binary")),
        (vec![0xfb, 0xff, 0xfe, 0x66].into(), r#""+//+Zg==""#, Some("Edm.Binary")),
    ]
}

#[test]
fn each_value_has_its_text_and_comes_back_of_it() {
    for (value, text, edm) in values() {
        let entity = DynamicEntity::new("p", "r").with("X", value);
        let keys = r#""PartitionKey":"p","RowKey":"r","#;
        let typed = edm.map(|edm| format!(r#""X@odata.type":"{edm}","#)).unwrap_or_default();
        let with_type = format!(r#"{{{keys}{typed}"X":{text}}}"#);
        for metadata in [Metadata::Minimal, Metadata::Full] {
            assert_eq!(written(&Writer::new(metadata), &entity), with_type);
        }
        assert_eq!(written(&Writer::new(Metadata::None), &entity), format!(r#"{{{keys}"X":{text}}}"#));
        assert_same(&Reader::new().entity(with_type.as_bytes()).unwrap(), &entity);
        // The type may stand behind the value, too, with others between them.
        let typed = edm.map(|edm| format!(r#","Y":1,"X@odata.type":"{edm}""#)).unwrap_or_default();
        let behind = format!(r#"{{"X":{text}{typed},"RowKey":"r","PartitionKey":"p"}}"#);
        let read = Reader::new().entity(behind.as_bytes()).unwrap();
        assert_eq!(read.get("X"), entity.get("X"), "{behind}");
    }
}

#[test]
fn levels_say_what_the_service_says() {
    let entity =
        DynamicEntity::new("it's a/b", "é").with("Age", 34).with("Joined", time("2014-07-31T18:00:00Z"));
    let entity = stored(&entity, "2026-11-20T20:37:52.6107149Z");
    let of = |metadata| Writer::new(metadata).of_service("https://acme.example/", "acme", "Company");
    let none = r#"{"PartitionKey":"it's a/b","RowKey":"é","Timestamp":"2026-11-20T20:37:52.6107149Z","Age":34,"Joined":"2014-07-31T18:00:00Z"}"#;
    let minimal = concat!(
        r#"{"odata.metadata":"https://acme.example/$metadata#Company/@Element","#,
        r#""odata.etag":"W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"","#,
        r#""PartitionKey":"it's a/b","RowKey":"é","Timestamp":"2026-11-20T20:37:52.6107149Z","#,
        r#""Age":34,"Joined@odata.type":"Edm.DateTime","Joined":"2014-07-31T18:00:00Z"}"#,
    );
    let full = concat!(
        r#"{"odata.metadata":"https://acme.example/$metadata#Company/@Element","odata.type":"acme.Company","#,
        r#""odata.id":"https://acme.example/Company(PartitionKey='it%27%27s%20a%2Fb',RowKey='%C3%A9')","#,
        r#""odata.etag":"W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"","#,
        r#""odata.editLink":"Company(PartitionKey='it%27%27s%20a%2Fb',RowKey='%C3%A9')","#,
        r#""PartitionKey":"it's a/b","RowKey":"é","#,
        r#""Timestamp@odata.type":"Edm.DateTime","Timestamp":"2026-11-20T20:37:52.6107149Z","#,
        r#""Age":34,"Joined@odata.type":"Edm.DateTime","Joined":"2014-07-31T18:00:00Z"}"#,
    );
    assert_eq!(written(&of(Metadata::None), &entity), none);
    assert_eq!(written(&of(Metadata::Minimal), &entity), minimal);
    assert_eq!(written(&of(Metadata::Full), &entity), full);
    for text in [minimal, full] {
        assert_same(&Reader::new().entity(text.as_bytes()).unwrap(), &entity);
    }
    // The version comes of `Timestamp` where there is no more.
    assert_eq!(Reader::new().entity(none.as_bytes()).unwrap().etag(), entity.etag());
}

#[test]
fn a_page_has_its_entities_one_after_another() {
    let entities = [
        DynamicEntity::new("p", "1").with("Age", 1),
        DynamicEntity::new("p", "2"),
        DynamicEntity::new("p", "3").with("Ok", true),
    ];
    let writer = Writer::new(Metadata::Minimal).of_service(
        "http://127.0.0.1:10002/devstoreaccount1",
        "devstoreaccount1",
        "Company",
    );
    for count in 0..=entities.len() {
        let mut out = Vec::new();
        let mut page = writer.page(&mut out);
        for entity in entities.iter().take(count) {
            page.entity(entity).unwrap();
        }
        page.finish();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with(
                r#"{"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Company","value":["#
            ),
            "{text}"
        );
        let read: Vec<_> = Reader::new().page(text.as_bytes()).map(Result::unwrap).collect();
        assert_eq!(read, entities[..count]);
    }
    for text in ["[]", " [ ] ", r#"{"value":[]}"#, r#"{"value" : [ ] , "odata.nextLink":{"a":[1,{}]}}"#] {
        assert_eq!(Reader::new().page(text.as_bytes()).count(), 0, "{text}");
    }
    let text = r#" [ {"PartitionKey":"p","RowKey":"1"} , {"RowKey":"2","PartitionKey":"p"} ] "#;
    assert_eq!(
        Reader::new()
            .page(text.as_bytes())
            .map(|read| read.unwrap().row_key().to_owned())
            .collect::<Vec<_>>(),
        ["1", "2"]
    );
}

#[test]
fn a_selection_has_what_was_selected_and_null_for_what_is_missing() {
    let entity = stored(&DynamicEntity::new("p", "r").with("A", 1).with("B", 2_i64), "2026-01-01T00:00:00Z");
    let selected =
        |metadata, names: &[&str]| written(&Writer::new(metadata).select(names.iter().copied()), &entity);
    assert_eq!(selected(Metadata::None, &["B", "C", "B"]), r#"{"B":"2","C":null}"#);
    assert_eq!(selected(Metadata::None, &[]), "{}");
    assert_eq!(
        selected(Metadata::None, &["Timestamp", "RowKey"]),
        r#"{"Timestamp":"2026-01-01T00:00:00Z","RowKey":"r"}"#
    );
    assert_eq!(
        selected(Metadata::Minimal, &["PartitionKey", "B"]),
        r#"{"odata.etag":"W/\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\"","PartitionKey":"p","B@odata.type":"Edm.Int64","B":"2"}"#
    );
    let fresh = DynamicEntity::new("p", "r");
    assert_eq!(
        written(&Writer::new(Metadata::Minimal).select(["Timestamp"]), &fresh),
        r#"{"Timestamp":null}"#
    );
}

#[test]
fn nans_keep_their_bits_where_that_is_asked_for() {
    for bits in [0xfff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0xffff_ffff_ffff_ffff, 0x7ff8_0000_0000_0000] {
        let entity = DynamicEntity::new("p", "r").with("X", f64::from_bits(bits));
        let exact = written(&Writer::new(Metadata::Minimal).exact_nans(), &entity);
        assert_same(&Reader::new().entity(exact.as_bytes()).unwrap(), &entity);
        let plain = written(&Writer::new(Metadata::Minimal), &entity);
        assert!(plain.ends_with(r#""X@odata.type":"Edm.Double","X":"NaN"}"#), "{plain}");
        let read = Reader::new().entity(plain.as_bytes()).unwrap();
        assert_eq!(read.get("X"), Some(&Value::Double(f64::NAN)));
    }
}

#[test]
fn what_clients_write_is_read() {
    for (member, value) in [
        (r#""X":"True","X@odata.type":"Edm.Boolean""#, Value::from(true)),
        (r#""X@odata.type":"Edm.Boolean","X":"false""#, false.into()),
        (r#""X@odata.type":"Edm.Int32","X":"-34""#, (-34).into()),
        (r#""X@odata.type":"Edm.Int64","X":34"#, 34_i64.into()),
        (r#""X@odata.type":"Edm.Double","X":34"#, 34.0.into()),
        (r#""X@odata.type":"Edm.Double","X":"34""#, 34.0.into()),
        (r#""X@odata.type":"Edm.Double","X":-0"#, (-0.0).into()),
        (r#""X@odata.type":"Edm.Double","X":"INF""#, f64::INFINITY.into()),
        (r#""X@odata.type":"Edm.Double","X":"-INF""#, f64::NEG_INFINITY.into()),
        (r#""X@odata.type":"Edm.Double","X":"1.23456789012346E+24""#, 1.234_567_890_123_46e24.into()),
        (r#""X@odata.type":"Edm.String","X":"1""#, "1".into()),
        (
            r#""X@odata.type":"Edm.DateTime","X":"2014-07-31T18:00:00.06Z""#,
            time("2014-07-31T18:00:00.06Z").into(),
        ),
        (
            r#""X@odata.type":"Edm.DateTime","X":"2014-07-31T20:00:00+02:00""#,
            time("2014-07-31T18:00:00Z").into(),
        ),
        (r#""X@odata.type":"Edm.DateTime","X":"2014-07-31""#, time("2014-07-31").into()),
        (r#""X@odata.type":"Edm.Guid","X":"C9DA6455-213D-42C9-9A79-3E9149A57833""#, guid().into()),
        (r#""X@odata.type@odata.type":"Edm.String","X@odata.type":"Edm.Int64","X":"1""#, 1_i64.into()),
        (r#""X":"\u0061\/\ud83d\ude00\n","X@other.thing":[1]"#, "a/\u{1f600}\n".into()),
        (r#""\u0058":1,"@odata.context":"c""#, 1.into()),
        (r#""X":1,"\u0058@odata.type":"Edm.Int64""#, 1_i64.into()),
        (r#""X":3000000000"#, 3e9.into()),
        (r#""X":-0"#, 0.into()),
        (r#""X":1e2"#, 100.0.into()),
        (r#""X":1.0,"Y":null,"Y@odata.type":"Edm.Int64","Z@odata.type":"Edm.Guid""#, 1.0.into()),
    ] {
        let text = format!(
            r#" {{ "PartitionKey" : "p" ,"RowKey":"r","PartitionKey@odata.type":"Edm.String",{member}}} "#
        );
        let read = Reader::new().entity(text.as_bytes()).unwrap();
        assert_same(&read, &DynamicEntity::new("p", "r").with("X", value));
    }
    // Names beyond ASCII, before and behind their types.
    let read = Reader::new().entity(r#"{"PartitionKey":"","RowKey":"","名前@odata.type":"Edm.Int64","名前":"1","é":2,"é@odata.type":"Edm.Double"}"#.as_bytes());
    assert_same(&read.unwrap(), &DynamicEntity::new("", "").with("名前", 1_i64).with("é", 2.0));
}

#[test]
fn a_version_of_another_service_is_none() {
    let read = |members: &str| {
        Reader::new()
            .entity(format!(r#"{{"PartitionKey":"p","RowKey":"r",{members}}}"#).as_bytes())
            .unwrap()
            .etag()
    };
    assert_eq!(read(r#""odata.etag":"W/\"0x8D101F7E4B662C4\"""#), None);
    let by_time = read(r#""odata.etag":"W/\"0x8D101F7E4B662C4\"","Timestamp":"2026-01-01T00:00:00Z""#);
    assert_eq!(by_time.map(ETag::timestamp), Some(time("2026-01-01T00:00:00Z")));
    let both = read(
        r#""Timestamp":"2026-01-01T00:00:00Z","Timestamp@odata.type":"Edm.DateTime","odata.etag":"W/\"datetime'2026-01-02T00%3A00%3A00.0000000Z'\"""#,
    );
    assert_eq!(both.map(ETag::timestamp), Some(time("2026-01-02T00:00:00Z")));
}

#[test]
fn a_visit_passes_on_all_that_a_text_says() {
    let text = r#"{"A":"x\ty","RowKey":"r\n","B@odata.type":"Edm.Binary","B":"Zg==","Timestamp":"2026-01-01T00:00:00Z"}"#;
    let mut seen = Vec::new();
    Reader::new()
        .visit(text.as_bytes(), |member| {
            seen.push(match member {
                Member::PartitionKey(key) => format!("partition {key:?}"),
                Member::RowKey(key) => format!("row {key:?}"),
                Member::ETag(etag) => format!("at {}", etag.timestamp()),
                Member::Property(name, value) => format!("{name} {value:?}"),
            });
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, ["row \"r\\n\"", "at 2026-01-01T00:00:00Z", "A \"x\\ty\"", "B X'66'"]);
}

#[test]
fn an_entity_that_has_no_text_leaves_the_buffer_as_it_was() {
    let mut out = b"before".to_vec();
    for name in ["1a", "a-b", "X@odata.type", "odata.etag", "PartitionKey", "Timestamp", "", "a\"b"] {
        let entity = DynamicEntity::new("p", "r").with("Fine", 1).with(name, 1);
        let error = Writer::new(Metadata::None).entity(&entity, &mut out).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::PropertyNameInvalid, "{name}");
        assert!(error.to_string().starts_with("cannot write OData JSON: "), "{error}");
        assert_eq!(out, b"before");
    }
    let writer = Writer::new(Metadata::None);
    out.clear();
    let mut page = writer.page(&mut out);
    page.entity(DynamicEntity::new("p", "1")).unwrap();
    page.entity(DynamicEntity::new("p", "2").with("a-b", 1)).unwrap_err();
    page.entity(DynamicEntity::new("p", "3")).unwrap();
    page.finish();
    assert_eq!(Reader::new().page(&out).map(Result::unwrap).count(), 2);
}
