//! Rows: their bytes, and what is no row.

use std::sync::LazyLock;

use table_engine::hash::xxh3_64_with_seed;
use uuid::Uuid;

use table_engine::model::names::ENTITY_TYPE;
use table_engine::model::{Ticks, Value};
use table_engine::row::dict::{Dict, MAX_NAMES};
use table_engine::row::encode::{self as rows, Under};
use table_engine::row::row_write::{NameRef, RowWriter};
use table_engine::row::{self, Row, value};

use super::{decode, encode, hex, key_of, seed, text, time, verified};

/// A name, a value, and the number of a symbol that stands for it.
type Property = (NameRef<'static>, Value, Option<u16>);

fn id(id: u16, value: impl Into<Value>) -> Property {
    (NameRef::Id(id), value.into(), None)
}

fn inline(name: &'static str, value: impl Into<Value>) -> Property {
    (NameRef::Inline(name), value.into(), None)
}

fn symbol(id: u16, symbol: u16) -> Property {
    (NameRef::Id(id), "".into(), Some(symbol))
}

fn numbered<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Vec<Property> {
    (0..).zip(values).map(|(number, value)| id(number, value)).collect()
}

fn encode_all(properties: &[Property]) -> Vec<u8> {
    encode(properties.iter().map(|(name, value, symbol)| (*name, value, *symbol)))
}

const GUID: Uuid = Uuid::from_u128(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833);

/// Rows of the key `Sales`, `empid_000001` in table 7, last written at [`time`].
#[expect(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<(&'static str, Vec<Property>, &'static str)> {
    let int32 = [0, 1, -1, 127, -128, 128, -129, 32_767, -32_768, 32_768, -32_769, i32::MAX, i32::MIN];
    let wider = [i64::from(i32::MAX) + 1, i64::from(i32::MIN) - 1, i64::MAX, i64::MIN];
    let int64 = int32.into_iter().filter(|v| *v != 1).map(i64::from).chain(wider);
    vec![
        ("nothing", vec![], "00506261007bd1880000f79eae4c6a44cc36"),
        ("text", vec![id(0, "Jones")], "00506261007bd1880001000000004a6f6e6573d4b234ce4cc39234"),
        (
            "the example of docs/internals/format.md",
            vec![id(0, "Jones"), id(1, 300)],
            "00506261007bd188000200000000010005404a6f6e65732c01f32c2bdf4a4533f0",
        ),
        (
            "texts",
            numbered(["", "é名\u{1f600}", "a\0b"]),
            "00506261007bd1880003000000000100000002000900c3a9e5908df09f9880610062e592e03de5475029",
        ),
        (
            "binary",
            numbered([&[0xc0, 0xff, 0xee][..], &[]]),
            "00506261007bd18800020000001001000310c0ffee980cfca9add59143",
        ),
        ("booleans", numbered([false, true]), "00506261007bd18800020000002001000030d3c1a64158e7d944"),
        (
            "int32",
            numbered(int32),
            "00506261007bd188000d00000040010000400200014003000240040003400500044006000640070008400800
             0a4009000c400a0010400b0014400c00184001ff7f8080007fffff7f008000800000ff7fffffffffff7f0000
             00804d1e81e66e902638",
        ),
        (
            "int64",
            numbered(int64),
            "00506261007bd188001000000050010000500200015003000250040003500500055006000750070009500800
             0b5009000f500a0013500b0017500c001b500d0023500e002b500f003350ff7f8080007fffff7f0080008000
             00ff7fffffffffff7f000000800000008000000000ffffff7fffffffffffffffffffffff7f00000000000000
             8035cdc7889811b41b",
        ),
        (
            "doubles",
            numbered([1.5, -0.0, 0.0, f64::INFINITY, f64::from_bits(0x7ff8_0000_0000_0000)]),
            "00506261007bd18800050000006001000860020010600300186004002060000000000000f83f000000000000
             00800000000000000000000000000000f07f000000000000f87fe32ea8ca1ca1bd2c",
        ),
        (
            "times",
            numbered([time(), Ticks::MIN_PROPERTY, Ticks::MAX]),
            "00506261007bd188000300000070010008700200107000506261007bd1080000772217ce0107ff3f37f47528
             ca2b76ef2d591bc95f24",
        ),
        (
            "guid",
            vec![id(0, GUID)],
            "00506261007bd188000100000080c9da6455213d42c99a793e9149a5783324e9fd5bc2f276f1",
        ),
        (
            "symbol",
            vec![symbol(0, 0), id(1, "Jones")],
            "00506261007bd1880002000000900100020000004a6f6e65733161e880fdc1a4ad",
        ),
        ("symbol of two bytes", vec![symbol(4, 300)], "00506261007bd1880001040000902c0103c61caf1eab4fba"),
        (
            "numbers of two bytes",
            vec![id(1, true), id(255, 5), id(256, false), id(59_999, 6_i64)],
            "00506261007bd188000401000030ff000040000101205fea015005069ba996542327943e",
        ),
        (
            "inline names",
            vec![id(0, 34), inline("Größe", "L"), inline("Name", 300_i64), inline("名", true)],
            "00506261007bd188000400000040ffff0100ffff0b50ffff13302207004772c3b6c39f654c04004e616d652c
             010300e5908df3221cd3f9173be2",
        ),
        (
            "a value of 256 bytes",
            vec![id(0, &*text(256)), id(1, true)],
            "00506261007bd18800020000000001000031 78*256 0e9a6bc29039ec2e",
        ),
        (
            "a value of 257 bytes",
            vec![id(0, &*text(257)), id(1, true)],
            "00506261007bd18802020000000001000531 78*257 9f8f303c5870534d84856a9d",
        ),
        (
            "two large values between small ones",
            vec![id(0, 1), id(1, &[0x11; 300][..]), id(2, 2), id(3, &*text(400)), id(4, 3)],
            "00506261007bd1880205000000400100011002003141030032010400c64201 11*300 f88a334002 78*400
             a3298f6803720c90797408eb3c",
        ),
        (
            "a value of 256 bytes with its name",
            vec![id(0, true), inline("Long", &*text(250))],
            "00506261007bd188000200000030ffff000004004c6f6e67 78*250 cd274d94aeadc155",
        ),
        (
            "a value of 257 bytes with its name",
            vec![id(0, true), inline("Long", &*text(251))],
            "00506261007bd188020200000030ffff000004004c6f6e67 78*251 81cb158bd3b1b727d9aa278a",
        ),
        (
            "the last narrow offset",
            vec![id(0, &*text(4_091)), id(1, 7)],
            "00506261007bd1880202000000000100ff4f 78*4091 a386ad11079a3d3544c329fc78",
        ),
        (
            "the first wide offset",
            vec![id(0, &*text(4_092)), id(1, 7)],
            "00506261007bd1880302000000000000010004001000 78*4092 1266dd24075885108975700a64",
        ),
        (
            "wide slots",
            vec![id(0, &*text(5_000)), id(1, true), id(2, GUID), symbol(3, 1), inline("A", 1.5)],
            "00506261007bd18803050000000000000100038c13000200088c13000300099c1300ffff069e1300 78*5000
             43df5cdec9da6455213d42c99a793e9149a578330100010041000000000000f83f8b96f4c8c27e51cb",
        ),
    ]
}

#[test]
fn the_checksum_is_the_one_the_format_means() {
    assert_eq!(xxh3_64_with_seed(b"", 0), 0x2d06_8005_38d3_94c2);
    assert_eq!(xxh3_64_with_seed(b"Jones", 7), 0xc6cc_6c85_c7c6_c409);
    // Another algorithm begins at 241 bytes.
    assert_eq!(xxh3_64_with_seed(&[b'x'; 300], 7), 0x65af_a05e_0f08_3a41);
    assert_eq!(seed(), 0x50ca_f475_a1d5_4cb5);
}

#[test]
fn rows_are_these_bytes() {
    for (name, properties, bytes) in rows() {
        let bytes = hex(bytes);
        assert_eq!(encode_all(&properties), bytes, "{name}");
        assert_eq!(decode(&bytes).unwrap(), properties, "{name}");
    }
}

#[test]
fn the_fullest_row_is_these_bytes() {
    let properties = numbered(0..252);
    let bytes = encode_all(&properties);
    assert_eq!((bytes.len(), xxh3_64_with_seed(&bytes, 0)), (1_401, 0xab49_5237_7c4a_266f));
    assert_eq!(decode(&bytes).unwrap(), properties);
}

#[test]
fn every_flipped_bit_of_a_row_is_refused() {
    for (name, _, bytes) in rows() {
        let mut bytes = hex(bytes);
        if bytes.len() > 1_000 {
            continue;
        }
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(verified(&bytes).is_err(), "{name}, bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_cut_and_every_added_byte_is_refused() {
    for (name, _, bytes) in rows() {
        let bytes = hex(bytes);
        for length in 0..bytes.len() {
            assert!(verified(&bytes[..length]).is_err(), "{name}, {length} bytes");
        }
        for byte in 0..=255 {
            let longer = [&bytes[..], &[byte]].concat();
            assert!(verified(&longer).is_err(), "{name} and {byte}");
        }
    }
}

#[test]
fn a_row_under_another_key_is_refused() {
    let seed = row::key_seed(&key_of(7, "Sales", "empid_000002"));
    for (name, _, bytes) in rows() {
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
fn what_a_later_version_may_write_is_refused() {
    for (covered, because) in [
        ("00506261007bd1c80000", "unknown form"),
        ("00506261007bd1880800", "unknown flags"),
        ("00506261007bd1888000", "unknown flags"),
        // A signed row has room for its digest.
        ("00506261007bd1880400", "cut short"),
        ("00506261007bd1080080", "cut short"),
        // Ends of two bytes say how many there are.
        ("00506261007bd1480000", "cut short"),
        ("00506261007bd1480000 0000", "cut short"),
        ("00506261007bd1480000 0100 00", "cut short"),
        ("00506261007bd1480000 0000 02", "cut short"),
        ("ffffffffffffffbf0000", "time is out of range"),
        ("ffffffffffffff3f0000", "time is out of range"),
    ] {
        let error = Row::parse(&sealed(covered)).unwrap_err();
        assert!(error.0.contains(because), "{covered}: {error:?}");
    }
    // Tag 10, narrow and wide.
    for covered in ["00506261007bd1880001000000a0", "00506261007bd188010100000a000000"] {
        assert!(decode(&sealed(covered)).is_err(), "{covered}");
    }
    assert!(value::decode(10, &[]).is_err() && value::decode(255, &[]).is_err());
}

#[test]
fn a_row_in_another_form_is_refused_though_its_checksum_fits() {
    for (what, covered) in [
        ("bytes without a property", "00506261007bd1880000 00"),
        ("bytes before the first value", "00506261007bd188000100000110 c0ff"),
        ("numbers that fall", "00506261007bd18800020100003000000030"),
        ("a number twice", "00506261007bd18800020000003000000030"),
        ("inline names that fall", "00506261007bd1880002ffff0030ffff0330 010062 010061"),
        ("an inline name twice", "00506261007bd1880002ffff0030ffff0330 010061 010061"),
        ("values that overlap", "00506261007bd18800020000011001000010 c0ff"),
        ("wide slots without need", "00506261007bd1880101000003000000"),
        ("a flag for large values without one", "00506261007bd1880200"),
        ("a large value without its flag", "00506261007bd188000100000010 00*300"),
        ("a value beyond the row", "00506261007bd18800020000001001000110"),
        ("an inline name that is cut", "00506261007bd1880001ffff0030 0200 61"),
        ("an inline name that is no text", "00506261007bd1880001ffff0030 0100 ff"),
    ] {
        let bytes = sealed(covered);
        assert!(verified(&bytes).is_err(), "{what}");
    }
}

#[test]
fn a_value_in_another_form_is_refused() {
    for (tag, bytes) in [
        (0, "ff"),
        (2, "00"),
        (3, "01"),
        (4, "00"),
        (4, "0100"),
        (4, "ffff"),
        (4, "000000"),
        (4, "ff7f0000"),
        (4, "0000008000000000"),
        (5, "00"),
        (5, "80ff"),
        (5, "0080000000000000"),
        (5, "ffffffffffffffff"),
        (5, "000000000000000000"),
        (6, "00000000"),
        (7, "004037f47528ca2b"),
        (7, "00"),
        (8, "c9da6455213d42c99a793e9149a578"),
        (9, "00"),
        (9, "000000"),
    ] {
        let bytes = hex(bytes);
        assert!(value::decode(tag, &bytes).is_err(), "{tag} {bytes:02x?}");
    }
}

#[test]
fn a_symbol_never_stands_under_an_inline_name() {
    static FULL: LazyLock<Dict> = LazyLock::new(|| {
        let mut dict = Dict::default();
        for id in 0..MAX_NAMES {
            dict.push_name(format!("N{id}").into());
        }
        dict
    });
    let properties = [(ENTITY_TYPE.into(), Value::from("employee"))];
    let (mut bytes, mut writer) = (Vec::new(), RowWriter::default());
    // Nothing waits for a number that it will not get.
    let under = Under { dict: &FULL, seed: seed(), digest: None };
    let written = rows::write(
        &table_engine::plan::borrowed(&properties),
        under,
        &mut Vec::new(),
        &mut writer,
        &mut bytes,
    );
    assert_eq!(written.unwrap(), Some(0..bytes.len()));
    row::stamp(&mut bytes, time(), seed());
    assert_eq!(decode(&bytes).unwrap(), [inline(ENTITY_TYPE, "employee")]);
}
