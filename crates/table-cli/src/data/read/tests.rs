//! Texts of every form, sound and broken.

use std::fmt::Write;
use std::io::Read;

use table_core::{DynamicEntity, EdmType, Value};

use super::*;

/// Gives a text in pieces of a few bytes, so that every place is an end of what was read.
struct Pieces<'t>(&'t [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len()).min(self.0.len());
        let (piece, rest) = self.0.split_at(length);
        buffer[..length].copy_from_slice(piece);
        self.0 = rest;
        Ok(length)
    }
}

fn read_by(text: &[u8], piece: usize, types: Types) -> Result<(Vec<DynamicEntity>, Vec<Reject>), Failure> {
    let mut reader = FileReader::new(Pieces(text, piece), types)?;
    let (mut entities, mut rejects) = (Vec::new(), Vec::new());
    while let Some(chunk) = reader.chunk()? {
        entities.extend(chunk.items.into_iter().map(|item| item.entity));
        rejects.extend(chunk.rejects);
    }
    Ok((entities, rejects))
}

/// Reads a text whole and in pieces, which is to make no difference.
fn read(text: &[u8]) -> (Vec<DynamicEntity>, Vec<Reject>) {
    let whole = read_by(text, usize::MAX, Types::default()).unwrap();
    for piece in [1, 7] {
        assert_eq!(read_by(text, piece, Types::default()).unwrap(), whole);
    }
    whole
}

fn refused(text: &[u8]) -> String {
    read_by(text, usize::MAX, Types::default()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn one_entity_is_read_of_each_form() {
    let jun = DynamicEntity::new("p", "r").with("Name", "Jun, \"J\"\n|").with("Salary", 52_000_i64);
    let object = r#"{"PartitionKey":"p","RowKey":"r","Name":"Jun, \"J\"\n|","Salary@odata.type":"Edm.Int64","Salary":"52000"}"#;
    let csv = "PartitionKey,RowKey,Timestamp,Name,Name@type,Salary,Salary@type\n\
               p,r,2014-07-31T18:00:00Z,\"Jun, \"\"J\"\"\n|\",String,52000,Int64\n";
    for text in [
        object.to_owned(),
        format!("\u{feff}{object}\r\n\r\n"),
        format!("[{object}]"),
        format!("[\n  {object}\n]\n"),
        format!("{{\"value\":[{object}]}}"),
        format!(
            "{{\"odata.metadata\":\"https://x/$metadata#T\",\"value\":[\n{object}\n],\"odata.count\":\"1\"}}"
        ),
        object.replace(",\"", ",\n  \""),
        csv.to_owned(),
        csv.replace(['\n'], "\r\n").replace("\r\n|", "\n|"),
        csv.replace("Int64", "Edm.Int64").trim_end().to_owned(),
        csv.replace("Jun,", "Jun#").replace(',', ";").replace("Jun#", "Jun,"),
    ] {
        let (entities, rejects) = read(text.as_bytes());
        assert_eq!((entities, rejects), (vec![jun.clone()], Vec::new()), "{text}");
    }
}

#[test]
fn csv_without_types_takes_values_for_what_they_look_like() {
    let text = "PartitionKey,RowKey,A,B,C,D,E\n1,2,3,2.5,true,,\"\"\n";
    let (entities, rejects) = read(text.as_bytes());
    assert!(rejects.is_empty(), "{rejects:?}");
    let types: Vec<_> = entities[0].properties().map(|(name, value)| (name, value.edm_type())).collect();
    assert_eq!(
        types,
        [("A", EdmType::Int32), ("B", EdmType::Double), ("C", EdmType::Boolean), ("E", EdmType::String)]
    );
    assert_eq!((entities[0].partition_key(), entities[0].row_key()), ("1", "2"));
    let (entities, _) = read_by(text.as_bytes(), 100, Types::new(&[], true)).unwrap();
    assert_eq!(entities[0].get("A"), Some(&Value::from("3")));
}

#[test]
fn lines_that_are_no_entities_are_told_and_the_others_read() {
    let good = r#"{"PartitionKey":"p","RowKey":"1","Age":3}"#;
    let many = (0..300).fold(String::new(), |mut text, number| {
        write!(text, ",\"P{number}\":1").unwrap();
        text
    });
    let long = "x".repeat(10 << 20);
    let cases: [(Vec<u8>, u64, &str, &str); 10] = [
        (br#"{"PartitionKey":"p","RowKey":"1","Age":"#.to_vec(), 41, "InvalidInput", "expected"),
        (b"{\"PartitionKey\":\"p\",\"RowKey\":\"\xff\"}".to_vec(), 31, "InvalidInput", "UTF-8"),
        (
            br#"{"PartitionKey":"p","RowKey":"1","Age@odata.type":"Edm.Int32","Age":"old"}"#.to_vec(),
            69,
            "InvalidInput",
            "Edm.Int32",
        ),
        (
            br#"{"PartitionKey":"p","RowKey":"1","A":1,"A":2}"#.to_vec(),
            44,
            "DuplicatePropertiesSpecified",
            "A",
        ),
        (br#"{"PartitionKey":"p","Age":1}"#.to_vec(), 29, "PropertiesNeedValue", "RowKey"),
        (br#"{"PartitionKey":"p","RowKey":"1","A":[1]}"#.to_vec(), 38, "InvalidInput", "A"),
        (
            format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"1\"{many}}}").into_bytes(),
            0,
            "TooManyProperties",
            "252",
        ),
        (
            format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{long}\"}}").into_bytes(),
            0,
            "EntityTooLarge",
            "8388608",
        ),
        (br"nonsense".to_vec(), 1, "InvalidInput", "object"),
        (format!("{good},{good}").into_bytes(), 42, "InvalidInput", "follows"),
    ];
    for (bad, column, code, word) in cases {
        let mut text = format!("{good}\n").into_bytes();
        text.extend_from_slice(&bad);
        text.extend_from_slice(format!("\n\n{good}\n").as_bytes());
        let (entities, rejects) = read_by(&text, 1 << 16, Types::default()).unwrap();
        assert_eq!(entities.len(), 2);
        let [reject] = &*rejects else { panic!("{rejects:?}") };
        assert_eq!((reject.line, reject.code), (2, code), "{reject:?}");
        assert!(column == 0 || reject.column == Some(column), "{column} {reject:?}");
        assert!(reject.message.contains(word), "{reject:?}");
    }
}

#[test]
fn records_that_are_no_entities_are_told_and_the_others_read() {
    for (bad, line, column, word) in [
        ("p,3,old,Int32", 3, Some(5), "Edm.Int32"),
        ("p,\"3\nx\",old,Int32", 4, Some(4), "Edm.Int32"),
        ("p,3,4,Int128", 3, Some(5), "type"),
        ("p,3,4", 3, None, "3 fields"),
        ("p,3,4,Int32,5", 3, None, "5 fields"),
        ("p,\"3\"x,4,Int32", 3, Some(6), "closing quote"),
        ("p,\"3,4,Int32", 3, Some(3), "never closed"),
    ] {
        let text = format!("PartitionKey,RowKey,Age,Age@type\np,1,2,Int32\n{bad}\np,9,9,Int32\n");
        let (entities, rejects) = read(text.as_bytes());
        assert_eq!(entities.len(), 2, "{bad} {rejects:?}");
        let [reject] = &*rejects else { panic!("{rejects:?}") };
        assert_eq!((reject.line, reject.column), (line, column), "{reject:?}");
        assert!(reject.message.contains(word), "{reject:?}");
    }
    let (entities, rejects) = read(b"PartitionKey,RowKey,A\np,1,\xff\np,2,x\n");
    assert_eq!((entities.len(), rejects.len(), rejects[0].column), (1, 1, Some(5)));
}

#[test]
fn an_array_that_is_cut_short_is_told() {
    let object = r#"{"PartitionKey":"p","RowKey":"r"}"#;
    for (text, line, word) in [
        (format!("[{object},\n{object}"), 2, "before the array"),
        (format!("[{object},\n{}", &object[..20]), 2, "within an entity"),
        (format!("[{object}\n,7]"), 2, "expected an entity"),
        (format!("[{object}]\n[{object}]"), 1, "behind the array"),
        (format!("{{\"value\":[{object}],\"value\":[{object}]}}"), 1, "behind the array"),
    ] {
        let (entities, rejects) = read(text.as_bytes());
        assert!(!entities.is_empty());
        let [reject] = &*rejects else { panic!("{text} {rejects:?}") };
        assert!(reject.message.contains(word), "{text} {reject:?}");
        assert_eq!(reject.line, line, "{text} {reject:?}");
    }
}

#[test]
fn what_no_form_begins_with_is_refused_in_words() {
    for (text, word) in [
        (&b"A,B\n1,2\n"[..], "PartitionKey"),
        (b"PartitionKey,RowKey,A,A\n", "two columns are called `A`"),
        (b"PartitionKey,RowKey,A@type\n", "types of `A`"),
        (b"PartitionKey,RowKey,A@x\n", "`A@x`"),
        (b"PartitionKey,RowKey,\n", "no name"),
        (b"| PartitionKey | RowKey |\n", "Markdown"),
        (b"\xff\xfeP\0a\0", "UTF-16"),
        (b"\x1f\x8b\x08", "compressed"),
        (b"\x00\x01", "no text"),
    ] {
        let found = refused(text);
        assert!(found.contains(word), "{found}");
    }
    assert!(read(b"").0.is_empty());
    assert!(read(b" \n\n").0.is_empty());
}

#[test]
fn no_text_whatever_panics_or_makes_more_of_itself() {
    let object = r#"{"PartitionKey":"p","RowKey":"r","A@odata.type":"Edm.Int64","A":"1","B":"x\"y"}"#;
    let csv = "PartitionKey,RowKey,A,A@type\np,\"a\"\"b\",1,Int64\nq,2,\"x\ny\",\n";
    let seeds =
        [format!("{object}\n{object}\n"), format!("{{\"value\":[{object},{object}]}}"), csv.to_owned()];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    };
    for round in 0..3_000 {
        let mut text = seeds[round % seeds.len()].clone().into_bytes();
        for _ in 0..=random(4) {
            let at = random(text.len().max(1));
            if text.is_empty() {
                break;
            }
            match random(4) {
                0 => text[at] = b"{}[]\",:\n\r\\@;0x\xff "[random(16)],
                1 => drop(text.remove(at)),
                2 => text.truncate(at + 1),
                _ => text.insert(at, b"{}[]\",:\n\r\\@;0x\xff "[random(16)]),
            }
        }
        let piece = 1 + random(40);
        match (read_by(&text, piece, Types::default()), read_by(&text, usize::MAX, Types::default())) {
            (Ok(pieces), Ok(whole)) => {
                assert_eq!(pieces, whole, "{}", String::from_utf8_lossy(&text));
                assert!(whole.0.len() + whole.1.len() <= 8, "{}", String::from_utf8_lossy(&text));
            }
            (Err(pieces), Err(whole)) => assert_eq!(pieces.to_string(), whole.to_string()),
            (pieces, whole) => panic!("{pieces:?} {whole:?}"),
        }
    }
}
