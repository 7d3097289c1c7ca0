//! Rows: their bytes, and what is no row.

use std::sync::LazyLock;

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{decode, encode, finished, hex, key_of, seed, text, time};
use crate::model::names::ENTITY_TYPE;
use crate::model::{Ticks, Value};
use crate::row::dict::{Dict, MAX_NAMES};
use crate::row::row_write::{NameRef, RowWriter};
use crate::row::{self, Row};

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
        ("nothing", vec![], "01000000506261007bd108b7f2fd5c8165b471"),
        ("text", vec![id(0, "Jones")], "01000100506261007bd108000000004a6f6e65736142ca3dba317c32"),
        (
            "the example of docs/format.md",
            vec![id(0, "Jones"), id(1, 300)],
            "01000200506261007bd108 00000000 01000540 4a6f6e6573 2c01 a92700fefe59d176",
        ),
        (
            "texts",
            numbered(["", "é名\u{1f600}", "a\0b"]),
            "01000300506261007bd108000000000100000002000900c3a9e5908df09f988061006259000932945df48b",
        ),
        (
            "binary",
            numbered([&[0xc0, 0xff, 0xee][..], &[]]),
            "01000200506261007bd1080000001001000310c0ffee591ef4ed512bffae",
        ),
        ("booleans", numbered([false, true]), "01000200506261007bd1080000002001000030931e7b7a2cdacf28"),
        (
            "int32",
            numbered(int32),
            "01000d00506261007bd108000000400100004002000140030002400400034005000440060006400700084008000a
             4009000c400a0010400b0014400c00184001ff7f8080007fffff7f008000800000ff7fffffffffff7f00000080fa
             b3bde2a35e0eec",
        ),
        (
            "int64",
            numbered(int64),
            "01001000506261007bd1080000005001000050020001500300025004000350050005500600075007000950 08000b5009000f50
             0a0013500b0017500c001b500d0023500e002b500f003350 ff7f8080007fffff7f008000800000ff7fffffffffff7f00000080
             0000008000000000 ffffff7fffffffff ffffffffffffff7f 0000000000000080 b8fbaa53a2142c08",
        ),
        (
            "doubles",
            numbered([1.5, -0.0, 0.0, f64::INFINITY, f64::from_bits(0x7ff8_0000_0000_0000)]),
            "01000500506261007bd1080000006001000860020010600300186004002060 000000000000f83f0000000000000080
             0000000000000000000000000000f07f000000000000f87f e6f0052ae4b1a59d",
        ),
        (
            "times",
            numbered([time(), Ticks::MIN_PROPERTY, Ticks::MAX]),
            "01000300506261007bd108000000700100087002001070 00506261007bd108 0000772217ce0107 ff3f37f47528ca2b
             316c1a6e8d893801",
        ),
        (
            "guid",
            vec![id(0, GUID)],
            "01000100506261007bd10800000080 c9da6455213d42c99a793e9149a57833 519b6565883edbae",
        ),
        (
            "symbol",
            vec![symbol(0, 0), id(1, "Jones")],
            "01000200506261007bd1080000009001000200 00004a6f6e6573 221242181c2ecdab",
        ),
        ("symbol of two bytes", vec![symbol(4, 300)], "01000100506261007bd10804000090 2c01 6ac8dd73a84ffcb8"),
        (
            "numbers of two bytes",
            vec![id(1, true), id(255, 5), id(256, false), id(59_999, 6_i64)],
            "01000400506261007bd10801000030ff000040000101205fea0150 0506 28dd367e8fe51f21",
        ),
        (
            "inline names",
            vec![id(0, 34), inline("Größe", "L"), inline("Name", 300_i64), inline("名", true)],
            "01000400506261007bd10800000040ffff0100ffff0b50ffff1330 22 07004772c3b6c39f654c 04004e616d652c01
             0300e5908d e1dd8e6a3073945e",
        ),
        (
            "a value of 256 bytes",
            vec![id(0, &*text(256)), id(1, true)],
            "01000200506261007bd1080000000001000031 78*256 ed1be6a799dcfb0d",
        ),
        (
            "a value of 257 bytes",
            vec![id(0, &*text(257)), id(1, true)],
            "01020200506261007bd1080000000001000531 78*257 7ea86d02 49e9f29b9d4905c7",
        ),
        (
            "two large values between small ones",
            vec![id(0, 1), id(1, &[0x11; 300][..]), id(2, 2), id(3, &*text(400)), id(4, 3)],
            "01020500506261007bd108000000400100011002003141030032010400c642 01 11*300 3a45ed93 02 78*400 fe258fbd
             03 e918371f7378e5a2",
        ),
        (
            "a value of 256 bytes with its name",
            vec![id(0, true), inline("Long", &*text(250))],
            "01000200506261007bd10800000030ffff0000 04004c6f6e67 78*250 ff322e5a70485050",
        ),
        (
            "a value of 257 bytes with its name",
            vec![id(0, true), inline("Long", &*text(251))],
            "01020200506261007bd10800000030ffff0000 04004c6f6e67 78*251 011e0982 6fed7e7d20fdbfc2",
        ),
        (
            "the last narrow offset",
            vec![id(0, &*text(4_091)), id(1, 7)],
            "01020200506261007bd108000000000100ff4f 78*4091 1c28a8b1 07 0996df80e37ef0ae",
        ),
        (
            "the first wide offset",
            vec![id(0, &*text(4_092)), id(1, 7)],
            "01030200506261007bd108000000000000010004001000 78*4092 a9f32afd 07 4350390773a8d1fd",
        ),
        (
            "wide slots",
            vec![id(0, &*text(5_000)), id(1, true), id(2, GUID), symbol(3, 1), inline("A", 1.5)],
            "01030500506261007bd1080000000000000100038c13000200088c13000300099c1300ffff069e1300 78*5000 df5a43c6
             c9da6455213d42c99a793e9149a57833 0100 010041000000000000f83f ca45f9243453c093",
        ),
    ]
}

#[test]
fn the_checksum_is_the_one_the_format_means() {
    assert_eq!(xxh3_64_with_seed(b"", 0), 0x2d06_8005_38d3_94c2);
    assert_eq!(xxh3_64_with_seed(b"Jones", 7), 0xc6cc_6c85_c7c6_c409);
    // Another algorithm begins at 241 bytes.
    assert_eq!(xxh3_64_with_seed(&[b'x'; 300], 7), 0x65af_a05e_0f08_3a41);
    assert_eq!(seed(), 0x3f06_4d51_d066_4bda);
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
    assert_eq!((bytes.len(), xxh3_64_with_seed(&bytes, 0)), (1_402, 0x10f1_33f2_0189_e9b0));
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
            let refused = Row::parse(&bytes).and_then(|row| row.verify_whole(seed()));
            assert!(refused.is_err(), "{name}, bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_cut_and_every_added_byte_is_refused() {
    for (name, _, bytes) in rows() {
        let bytes = hex(bytes);
        for length in 0..bytes.len() {
            let refused = Row::parse(&bytes[..length]).and_then(|row| row.verify_whole(seed()));
            assert!(refused.is_err(), "{name}, {length} bytes");
        }
        for byte in 0..=255 {
            let longer = [&bytes[..], &[byte]].concat();
            assert!(Row::parse(&longer).unwrap().verify_whole(seed()).is_err(), "{name} and {byte}");
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
        ("02000000506261007bd108", "unknown version"),
        ("00000000506261007bd108", "unknown version"),
        ("01080000506261007bd108", "unknown flags"),
        // A signed row has room for its digest.
        ("01040000506261007bd108", "cut short"),
        ("01800000506261007bd108", "unknown flags"),
        ("01000000ffffffffffffffff", "time is out of range"),
    ] {
        let error = Row::parse(&sealed(covered)).unwrap_err();
        assert!(error.0.contains(because), "{covered}: {error:?}");
    }
    // Tag 10, narrow and wide.
    for covered in ["01000100506261007bd108000000a0", "01010100506261007bd10800000a000000"] {
        assert!(decode(&sealed(covered)).is_err(), "{covered}");
    }
    assert!(row::decode(10, &[]).is_err() && row::decode(255, &[]).is_err());
}

#[test]
fn a_row_in_another_form_is_refused_though_its_checksum_fits() {
    for (what, covered) in [
        ("bytes without a property", "01000000506261007bd108 00"),
        ("bytes before the first value", "01000100506261007bd10800000110 c0ff"),
        ("numbers that fall", "01000200506261007bd1080100003000000030"),
        ("a number twice", "01000200506261007bd1080000003000000030"),
        ("inline names that fall", "01000200506261007bd108ffff0030ffff0330 010062 010061"),
        ("an inline name twice", "01000200506261007bd108ffff0030ffff0330 010061 010061"),
        ("values that overlap", "01000200506261007bd1080000011001000010 c0ff"),
        ("wide slots without need", "01010100506261007bd108000003000000"),
        ("a flag for large values without one", "01020000506261007bd108"),
        ("a large value without its flag", "01000100506261007bd10800000010 00*300"),
        ("a value beyond the row", "01000200506261007bd1080000001001000110"),
        ("an inline name that is cut", "01000100506261007bd108ffff0030 0200 61"),
        ("an inline name that is no text", "01000100506261007bd108ffff0030 0100 ff"),
    ] {
        let bytes = sealed(covered);
        assert!(Row::parse(&bytes).unwrap().verify_whole(seed()).is_err(), "{what}");
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
        assert!(row::decode(tag, &bytes).is_err(), "{tag} {bytes:02x?}");
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
    let mut writer = RowWriter::default();
    // Nothing waits for a number that it will not get.
    assert!(encode::write(&crate::plan::borrowed(&properties), &FULL, &mut Vec::new(), &mut writer, seed()));
    assert_eq!(decode(&finished(&writer)).unwrap(), [inline(ENTITY_TYPE, "employee")]);
}
