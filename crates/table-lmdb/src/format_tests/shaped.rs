//! Rows of shapes: their bytes, and what is no such row.

use std::sync::LazyLock;

use table_engine::hash::xxh3_64_with_seed;
use uuid::Uuid;

use table_engine::model::Value;
use table_engine::row::dict::Dict;
use table_engine::row::shape::{Column, Shape};
use table_engine::row::shape_write::{Target, with_fixed};
use table_engine::row::view::RowView;
use table_engine::row::{self, Body, CHECKSUM, DIGEST, HEADER, Row};
use table_engine::schema::ColumnType;

use super::{hex, key_of, seed, text, time};

const GUID: Uuid = Uuid::from_u128(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833);

/// The bodies of the shapes that rows here have, by number.
const SHAPES: [&str; 5] = [
    "00000000",
    "0000020000000b010005",
    "00000d000000000100010300020400030500040600050700060800070900080a00090b000a0c000b0d000c",
    "00000b0000008c01008b03008504000b05008006008a07008c08008209008b0a00870b0086",
    "0000010000000c",
];

/// A dictionary with the names `N0` to `N19`, but that number 2 is `EntityType`, one kind, and the shapes.
static DICT: LazyLock<Dict> = LazyLock::new(|| {
    let mut dict = Dict::default();
    for id in 0..20 {
        dict.push_name(if id == 2 { "EntityType".into() } else { format!("N{id}").into() });
    }
    dict.push_symbol("kind".into());
    dict.shapes = SHAPES.iter().map(|body| Shape::decode(&hex(body), 20, 1, Some(2)).unwrap()).collect();
    dict
});

#[expect(clippy::unnecessary_wraps, reason = "beside what is absent")]
fn some(value: impl Into<Value>) -> Option<Value> {
    Some(value.into())
}

type Vector = (&'static str, u16, Vec<Option<Value>>, &'static str);

/// Rows of the key `Sales`, `empid_000001` in table 7, last written at [`time`]: their shapes, and what each column holds.
#[expect(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Vector> {
    vec![
        ("nothing but a kind", 0, vec![], "00506261007bd10800004f275789267c0f6e"),
        (
            "the example of docs/internals/format.md",
            1,
            vec![some("Jones"), some(300)],
            "00506261007bd10801002c0100004a6f6e65731aa577514e822bd0",
        ),
        ("an empty text", 1, vec![some(""), some(-1)], "00506261007bd1080100ffffffffc25b047be5d5fcdc"),
        (
            "every type",
            2,
            vec![
                some(true),
                some(-128),
                some(255),
                some(-32768),
                some(65535),
                some(-2),
                some(4_294_967_295_i64),
                some(i64::MIN),
                some(1.5),
                some(time()),
                some(GUID),
                some("é名"),
                some(vec![0xc0, 0xff]),
            ],
            "00506261007bd10802000180ff0080fffffeffffffffffffff0000000000000080000000000000f83f00
             506261007bd108c9da6455213d42c99a793e9149a5783305c3a9e5908dc0ff8890f3fd61dc6e6b",
        ),
        (
            "all that may be absent",
            3,
            vec![
                some(vec![0x01]),
                some("a"),
                some(5),
                some("b"),
                some(true),
                some(GUID),
                some(vec![0x02, 0x03]),
                some(7),
                some(""),
                some(-1_i64),
                some(9_i64),
            ],
            "00506261007bd1080300ff030500000001c9da6455213d42c99a793e9149a5783307ffffffffffffffff
             09000000010202036162010203580edba73058cd08",
        ),
        (
            "nothing of it",
            3,
            vec![None, None, None, some("b"), None, None, None, None, None, None, None],
            "00506261007bd10803 00*38 010101626d4260508e4be715",
        ),
        (
            "every other",
            3,
            vec![
                None,
                some("a"),
                None,
                some(""),
                some(false),
                None,
                some(Vec::new()),
                None,
                some("c"),
                None,
                some(0_i64),
            ],
            "00506261007bd1080300aa02 00*34 0101020261634cfbf8e66e853a29",
        ),
        (
            "a value of 256 bytes, the only one",
            4,
            vec![some(vec![0x11; 256])],
            "00506261007bd1080400 11*256 8ca4f674bb54ec7a",
        ),
        (
            "a large value, the only one",
            4,
            vec![some(vec![0x11; 257])],
            "00506261007bd1480400000001 11*257 426837d462296776dc74e4ce",
        ),
        (
            "ends at 255",
            3,
            vec![
                some(vec![0x11, 0x11, 0x11, 0x11, 0x11]),
                some(text(200)),
                None,
                some(text(50)),
                None,
                None,
                some(vec![0x12, 0x12]),
                None,
                some(""),
                None,
                None,
            ],
            "00506261007bd1080300a3 00*35 c8fafaff 78*250 11111111111212fc44b5b4f40e7b50",
        ),
        (
            "ends at 256",
            3,
            vec![
                some(vec![0x11, 0x11, 0x11, 0x11, 0x11]),
                some(text(201)),
                None,
                some(text(50)),
                None,
                None,
                some(vec![0x12, 0x12]),
                None,
                some(""),
                None,
                None,
            ],
            "00506261007bd1480300240005a3 00*35 c900fb00fb000001 78*251
             111111111112125ba914966ff4268c",
        ),
        (
            "a text of 256 bytes, the last",
            1,
            vec![some(text(256)), some(1)],
            "00506261007bd108010001000000 78*256 70143b537f9a8da2",
        ),
        (
            "a text of 257 bytes, the last",
            1,
            vec![some(text(257)), some(1)],
            "00506261007bd148010004000101000000 78*257 9f8f303c8947c7aa87db2c2d",
        ),
        (
            "two large values between small ones",
            3,
            vec![
                some(vec![0x11; 300]),
                some("a"),
                some(7),
                some(text(400)),
                some(true),
                None,
                some(vec![0x02]),
                None,
                some("c"),
                None,
                some(3_i64),
            ],
            "00506261007bd1480300240005af020700000001 00*25 03000000010095019601c60261 78*400
             a3298f6863 11*300 f88a334002716dee795aaf5269",
        ),
    ]
}

/// The row of a shape that holds this.
fn encode(number: u16, values: &[Option<Value>], digest: Option<&[u8; DIGEST]>) -> Option<Vec<u8>> {
    let mut bytes = vec![0xee];
    let target = Target { shape: DICT.shape(number)?, number, seed: seed(), digest };
    let written = target.write(|at| values.get(at)?.as_ref().map(Value::as_value_ref), &mut bytes);
    if written.is_none() {
        // What was before it is left alone.
        assert_eq!(bytes, [0xee]);
    }
    let range = written?;
    assert_eq!(range, 1..bytes.len());
    let mut row = bytes.split_off(1);
    row::stamp(&mut row, time(), seed());
    Some(row)
}

fn view(bytes: &[u8]) -> Option<RowView<'_>> {
    let row = Row::parse(bytes).ok()?;
    row.verify_whole(seed(), &DICT).ok()?;
    assert_eq!(row.timestamp(), time());
    Some(RowView::new(key_of(7, "Sales", "empid_000001"), row, &*DICT, true))
}

#[test]
fn rows_are_these_bytes() {
    for (name, number, values, bytes) in rows() {
        let bytes = hex(bytes);
        assert_eq!(encode(number, &values, None).unwrap(), bytes, "{name}");
        let view = view(&bytes).unwrap();
        let columns = DICT.shape(number).unwrap().columns();
        assert_eq!(columns.len(), values.len(), "{name}");
        for (column, value) in columns.iter().zip(&values) {
            let property = format!("N{}", column.id);
            assert_eq!(
                view.get(&property).unwrap(),
                value.as_ref().map(Value::as_value_ref),
                "{name}, {property}"
            );
        }
        // The kind comes where its number stands.
        let mut expected: Vec<_> = (columns.iter().zip(values))
            .filter_map(|(column, value)| Some((column.id, format!("N{}", column.id), value?)))
            .collect();
        expected.push((2, "EntityType".to_owned(), "kind".into()));
        expected.sort_by_key(|(id, ..)| *id);
        assert_eq!((view.len(), view.kind().unwrap()), (expected.len(), Some("kind")), "{name}");
        let entity = view.to_entity().unwrap();
        let found: Vec<_> =
            entity.properties().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let expected: Vec<_> = expected.into_iter().map(|(_, name, value)| (name, value)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn signed_rows_are_these_bytes() {
    let digest = std::array::from_fn(|at| u8::try_from(at).unwrap());
    for (number, values, bytes) in [
        (
            1,
            vec![some("Jones"), some(300)],
            "00506261007bd10801802c0100004a6f6e6573000102030405060708090a0b0c0d0e0f70580695e66ce449",
        ),
        (
            4,
            vec![some(vec![0x11; 257])],
            "00506261007bd1480480000001 11*257
             426837d4000102030405060708090a0b0c0d0e0f4c9866cdb8c24424",
        ),
    ] {
        let bytes = hex(bytes);
        assert_eq!(encode(number, &values, Some(&digest)).unwrap(), bytes);
        let view = view(&bytes).unwrap();
        assert_eq!((view.row().is_signed(), view.row().digest()), (true, Some(digest)));
        assert!(view.row().has_content_of(&Row::parse(&encode(number, &values, None).unwrap()).unwrap()));
    }
}

#[test]
fn every_flipped_bit_of_a_row_is_refused() {
    for (name, _, _, bytes) in rows() {
        let mut bytes = hex(bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(view(&bytes).is_none(), "{name}, bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_row_is_plainly_of_its_shape_or_nothing_is_said_of_it() {
    let key = key_of(7, "Sales", "empid_000001");
    for (name, number, _, bytes) in rows() {
        let mut bytes = hex(bytes);
        let is_narrow = bytes[7] >> 6 == 0;
        for key in [None, Some(&key[..])] {
            assert_eq!(row::fits_fast_path(&bytes, number, key), is_narrow, "{name}");
            assert!(!row::fits_fast_path(&bytes, number + 1, key), "{name}");
        }
        let other = key_of(7, "Sales", "empid_000002");
        assert!(!row::fits_fast_path(&bytes, number, Some(&other)), "{name}");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!row::fits_fast_path(&bytes, number, Some(&key)), "{name}, bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_cut_and_every_added_byte_is_refused() {
    for (name, _, _, bytes) in rows() {
        let bytes = hex(bytes);
        for length in 0..bytes.len() {
            assert!(view(&bytes[..length]).is_none(), "{name}, {length} bytes");
        }
        for byte in 0..=255 {
            assert!(view(&[&bytes[..], &[byte]].concat()).is_none(), "{name} and {byte}");
        }
    }
}

#[test]
fn a_row_under_another_key_is_refused() {
    let seed = row::key_seed(&key_of(7, "Sales", "empid_000002"));
    for (name, _, _, bytes) in rows() {
        assert!(Row::parse(&hex(bytes)).unwrap().verify(seed).is_err(), "{name}");
    }
}

/// Puts the right checksum under bytes without large values.
fn sealed(covered: &str) -> Vec<u8> {
    let mut bytes = hex(covered);
    bytes.extend(xxh3_64_with_seed(&bytes, seed()).to_le_bytes());
    bytes
}

#[test]
fn a_row_in_another_form_is_refused_though_its_checksum_fits() {
    const NARROW: &str = "00506261007bd108";
    const WIDE: &str = "00506261007bd148";
    for (what, covered) in [
        ("a shape that there is not", format!("{NARROW} 0500")),
        ("bytes without a value", format!("{NARROW} 0000 00")),
        ("too short for its fixed values", format!("{NARROW} 0100 2c0100")),
        ("too short for its ends", format!("{NARROW} 0300 a8 00*34 0101")),
        ("ends that fall", format!("{NARROW} 0300 00 00 00*34 02010202 6161")),
        ("ends beyond the row", format!("{NARROW} 0300 00 00 00*34 00030303 6161")),
        ("a bit beyond those of the columns", format!("{NARROW} 0300 00 04 00*34 00010101 62")),
        ("a fixed value that is absent and not zero", format!("{NARROW} 0300 00 00 01 00*33 00010101 62")),
        ("a text that is absent and not empty", format!("{NARROW} 0300 00 00 00*34 01020202 6162")),
        ("bytes that are absent and not empty", format!("{NARROW} 0300 00 00 00*34 00010102 62 01")),
        ("a truth that is neither", format!("{NARROW} 0200 02 00*72 00")),
        ("a time beyond the last", format!("{NARROW} 0200 00 00*30 ffffffffffffff2b 00*16 00")),
        ("a text that is no text", format!("{NARROW} 0100 2c010000 ff")),
        ("two texts that are one", format!("{NARROW} 0300 00 00 00*34 01 020202 c3a9")),
        ("wide ends without need", format!("{WIDE} 0100 0400 01 2c010000 4a")),
        ("wide ends of other fixed values", format!("{WIDE} 0100 0300 01 2c0100 4a")),
        ("wide ends of other values", format!("{WIDE} 0100 0400 02 2c010000 0100 4a")),
        ("a large value with narrow ends", format!("{NARROW} 0400 11*257")),
    ] {
        assert!(view(&sealed(&covered)).is_none(), "{what}");
    }
}

#[test]
fn what_a_shape_cannot_hold_is_not_written() {
    for (what, number, values) in [
        ("a value that each row has is absent", 1, vec![some("Jones"), None]),
        ("another type", 1, vec![some("Jones"), some(300_i64)]),
        ("another type of any length", 4, vec![some("Jones")]),
        ("more than two bytes say where it ends", 3, {
            let mut values = vec![None; 11];
            (values[0], values[1], values[3]) = (some(vec![1]), some(text(65_536)), some(""));
            values
        }),
    ] {
        assert_eq!(encode(number, &values, None), None, "{what}");
    }
    // The numbers that a column is too narrow for, and the last that it holds.
    let full = rows().into_iter().find(|(name, ..)| *name == "every type").unwrap().2;
    for (at, fits, misfits) in [
        (1, vec![some(-128), some(127)], vec![some(-129), some(128)]),
        (2, vec![some(0), some(255)], vec![some(-1), some(256)]),
        (3, vec![some(-32_768), some(32_767)], vec![some(-32_769), some(32_768)]),
        (4, vec![some(0), some(65_535)], vec![some(-1), some(65_536)]),
        (6, vec![some(0_i64), some(4_294_967_295_i64)], vec![some(-1_i64), some(4_294_967_296_i64)]),
    ] {
        let with = |value| {
            let mut values = full.clone();
            values[at] = value;
            encode(2, &values, None)
        };
        assert!(fits.into_iter().all(|value| view(&with(value).unwrap()).is_some()), "{at}");
        assert!(misfits.into_iter().all(|value| with(value).is_none()), "{at}");
    }
}

#[test]
fn slots_are_better_where_much_is_absent() {
    let columns =
        |count: u16| (3..3 + count).map(|id| Column { id, of: ColumnType::I64, optional: true }).collect();
    for (count, is_written) in [(8, true), (9, false)] {
        let shape = Shape::new(0, columns(count), 2).unwrap();
        let target = Target { shape: &shape, number: 0, seed: seed(), digest: None };
        assert_eq!(target.write(|_| None, &mut Vec::new()).is_some(), is_written, "{count} of eight bytes");
    }
}

#[test]
fn a_shape_is_read_as_it_is_written() {
    for body in SHAPES {
        let body = hex(body);
        assert_eq!(Shape::decode(&body, 20, 1, Some(2)).unwrap().encode(), body);
        for length in 0..body.len() {
            assert_eq!(Shape::decode(&body[..length], 20, 1, Some(2)), None);
        }
        assert_eq!(Shape::decode(&[&body[..], &[0]].concat(), 20, 1, Some(2)), None);
    }
}

#[test]
fn what_is_no_shape_is_refused() {
    for (what, body) in [
        ("a symbol that there is not", "01000000"),
        ("a name that there is not", "0000010014000b"),
        ("the kind as a column", "0000010002000b"),
        ("numbers that fall", "0000020001000b00000b"),
        ("a number twice", "0000020001000b01000b"),
        ("an unknown type", "0000010001000d"),
        ("an unknown type that may be absent", "0000010001008d"),
        ("fewer columns than it says", "0000020001000b"),
        ("more columns than it says", "0000000001000b"),
    ] {
        assert_eq!(Shape::decode(&hex(body), 20, 1, Some(2)), None, "{what}");
    }
    // Without a number for the kind there is none, and rows have no more than 252 properties.
    assert_eq!(Shape::decode(&hex("00000000"), 20, 1, None), None);
    let columns =
        |count: u16| (3..3 + count).map(|id| Column { id, of: ColumnType::Guid, optional: true }).collect();
    assert!(Shape::new(0, columns(251), 2).is_some());
    assert_eq!(Shape::new(0, columns(252), 2), None);
}

#[test]
fn a_row_is_told_to_be_just_what_it_was_written_of() {
    let mut told = 0;
    for (what, number, values, bytes) in rows() {
        let (bytes, shape) = (hex(bytes), DICT.shape(number).unwrap());
        let is_just = |bytes: &[u8], values: &[Option<Value>]| match Row::parse(bytes).map(|row| *row.body())
        {
            Ok(Body::Shaped(shaped)) => {
                shaped.is_just(shape, |at| values.get(at)?.as_ref().map(Value::as_value_ref))
            }
            _ => false,
        };
        let is_wide = bytes[7] >> 6 != 0;
        let is_told = !is_wide && values.iter().all(Option::is_some);
        assert_eq!(is_just(&bytes, &values), is_told, "{what}");
        if !is_told {
            continue;
        }
        told += 1;
        for bit in HEADER * 8..(bytes.len() - CHECKSUM) * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_just(&flipped, &values), "{what}: bit {bit}");
        }
        for at in 0..values.len() {
            let mut others = values.clone();
            others[at] = None;
            assert!(!is_just(&bytes, &others), "{what}: without column {at}");
        }
    }
    assert!(told >= 5, "{told} rows");
}

#[test]
fn values_of_fixed_width_are_set_as_if_all_were_written() {
    let (mut set, mut refused) = (0, 0);
    for (what, number, values, _) in rows() {
        let shape = DICT.shape(number).unwrap();
        let mut dict = DICT.clone();
        dict.shapes = vec![shape.clone()];
        let written = |values: &[Option<Value>]| {
            let target = Target { shape, number: 0, seed: seed(), digest: None };
            let mut bytes = b"before".to_vec();
            let get = |at: usize| values.get(at)?.as_ref().map(Value::as_value_ref);
            target.write(get, &mut bytes).map(|range| {
                row::stamp(&mut bytes[range.clone()], time(), seed());
                bytes[range].to_vec()
            })
        };
        let old = written(&values).unwrap();
        let with = |dict: &Dict, (id, value): (u16, &Value)| {
            let (mut bytes, row) = (b"before".to_vec(), Row::parse(&old).unwrap());
            let range = with_fixed(&row, dict, &[(id, value.as_value_ref())], &mut bytes);
            assert!(range.is_some() || bytes == b"before", "{what}");
            range.map(|range| {
                row::stamp(&mut bytes[range.clone()], time(), seed());
                bytes[range].to_vec()
            })
        };
        for (at, column) in shape.columns().iter().enumerate() {
            for value in [
                some(true),
                some(-7),
                some(9),
                some(-7_i64),
                some(9_i64),
                some(0.5),
                some(time()),
                some(GUID),
            ] {
                let mut values = values.clone();
                values[at] = value;
                let expected = written(&values);
                set += usize::from(expected.is_some());
                refused += usize::from(expected.is_none());
                let value = values[at].as_ref().unwrap();
                assert_eq!(with(&dict, (column.id, value)), expected, "{what}, column {at}, {value:?}");
                // Rows are written by the latest shape of their kind.
                let mut later = dict.clone();
                later.shapes.push(shape.clone());
                assert_eq!(with(&later, (column.id, value)), None);
            }
            assert_eq!(with(&dict, (column.id, &"text".into())), None, "{what}, column {at}");
        }
        assert_eq!(with(&dict, (2, &1.into())), None, "{what}: the kind");
        assert_eq!(with(&Dict::default(), (0, &1.into())), None, "{what}: an unknown shape");
    }
    assert!(set > 50 && refused > 50, "{set} set, {refused} refused");
}
