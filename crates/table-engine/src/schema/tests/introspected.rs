//! Keys printed and read by a layout alone, beside those that the schema itself prints.

use proptest::prelude::*;

use super::strategies::{Values, case};
use crate::introspect::{KindInfo, RowOf};
use crate::model::Value;
use crate::schema::{Field, FieldPart, Format, Index, Part, Place, Schema, Template, TokenScope, edm, print};

/// Returns the text that means a format.
fn source(format: Format) -> String {
    match format {
        Format::Plain => String::new(),
        Format::Pad(width) => format!("0{width}"),
        Format::Offset => "offset".into(),
        Format::Inverted => "inverted".into(),
        Format::PadInverted(width) => format!("0{width}:inverted"),
        Format::Ticks => "ticks".into(),
        Format::Time(pattern) => pattern.text().into(),
        Format::Escaped => "escaped".into(),
        Format::Lower => "lower".into(),
        Format::Shard(shards) => format!("shard({shards})"),
        format => unreachable!("{format:?}"),
    }
}

/// Returns a kind whose entities have this row key, and an index with it as its partition key.
fn kind(template: &Template) -> KindInfo {
    let mut fields = Vec::new();
    let parts = template.parts.iter().map(|part| match part {
        Part::Literal(text) => Part::Literal(text),
        Part::Field(part) => {
            let name: &str = format!("Field{}", fields.len()).leak();
            fields.push(Field { name, property: name, edm: edm(part.key), ..Field::PLAIN });
            Part::Field(FieldPart::new(part.field, part.key, source(part.format).leak()))
        }
    });
    let template = Template::new("{..}", Vec::leak(parts.collect()));
    let constant = |text| Template::new("", Vec::leak(vec![Part::Literal(text)]));
    let row = Place::new("Things", constant("p"), template);
    let elsewhere = Place::new("Others", template, constant("r"));
    let index = Index::new("by_all", "thing.by_all", elsewhere).atomic();
    KindInfo::of(&Schema {
        indexes: Vec::leak(vec![index]),
        ..Schema::new(["Thing", "thing"], fields.leak(), Vec::leak(vec![row]))
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Guid(id) => id.to_string(),
        Value::DateTime(time) => time.to_string(),
        other => unreachable!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_layout_prints_and_reads_the_keys_of_its_schema(case in case()) {
        let kind = kind(&case.template);
        let (own, index) = (kind.keys(None).unwrap(), kind.keys(Some("by_all")).unwrap());
        for row in &case.rows {
            let names: Vec<_> = (0..row.len()).map(|at| format!("Field{at}")).collect();
            let values: Vec<_> = names.iter().map(String::as_str).zip(row.iter().cloned()).collect();
            let mut expected = String::new();
            let is_printed = print(&case.template, &Values(row), &mut expected).is_ok();
            let found = own.print(&values);
            let pair = is_printed.then(|| ("p".to_owned(), expected.clone()));
            prop_assert_eq!(found.as_ref().ok(), pair.as_ref());
            let texts: Vec<_> = row.iter().map(text).collect();
            let texts: Vec<_> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
            prop_assert_eq!(own.print_text(&texts).ok(), found.as_ref().ok().cloned());
            let copy = index.print(&values);
            prop_assert_eq!(copy.ok(), is_printed.then(|| (expected.clone(), "r".to_owned())));
            let Err(error) = found else {
                let whole: Vec<_> = case
                    .fields()
                    .iter()
                    .filter(|part| part.format.is_lossless())
                    .map(|part| (format!("Field{}", part.field), row[part.field].clone()))
                    .collect();
                let identity = kind.read_keys("p", &expected).unwrap();
                prop_assert_eq!(identity.row, RowOf::Entity);
                prop_assert_eq!(&identity.values, &whole);
                prop_assert_eq!(index.read(&expected, "r"), Some(whole));
                continue;
            };
            prop_assert!(error.to_string().contains("Field"), "{}", error);
        }
    }

    #[test]
    fn any_text_is_read_as_a_key_or_is_none(case in case(), key in "\\PC{0,40}") {
        let kind = kind(&case.template);
        if let Some(found) = kind.read_keys("p", &key) {
            // What it says of whole values is what prints the key again, if there is nothing else in it.
            let keys = kind.keys(None).unwrap();
            if keys.fields().iter().all(|field| field.is_whole) {
                let values: Vec<_> = found.values.iter().map(|(name, value)| (&**name, value.clone())).collect();
                prop_assert_eq!(keys.print(&values).unwrap(), ("p".to_owned(), key));
            }
        }
    }
}

#[test]
fn a_token_is_not_printed_without_the_keys_of_the_store() {
    let ssn =
        Field { name: "ssn", property: "Ssn", ..Field::PLAIN }.sealed().blind("SsnToken", TokenScope::Table);
    let token = FieldPart::new(0, crate::schema::KeyType::Text(crate::schema::CharSet::ALL), "blind");
    let row = Template::new("{ssn:blind}", Vec::leak(vec![Part::Field(token)]));
    let partition = Template::new("p", &[Part::Literal("p")]);
    let place = Place::new("Things", partition, row);
    let schema = Schema::new(["Thing", "thing"], Vec::leak(vec![ssn]), Vec::leak(vec![place]));
    let kind = KindInfo::of(&schema);
    let error = kind.keys(None).unwrap().print_text(&[("ssn", "078-05-1120")]).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
    assert!(error.to_string().contains("`Ssn` stands in a key of `thing` as a token"), "{error}");
    assert!(!error.to_string().contains("1120"), "{error}");
    assert_eq!(kind.properties()[0].token.as_deref(), Some("SsnToken"));
}
