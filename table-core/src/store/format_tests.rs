//! The bytes on disk, frozen: what is written today must be these bytes, and these bytes must be read for ever.
//!
//! The vectors were made by another program, written after `docs/format.md` alone. A change here is a change of the
//! format, and needs another version number.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::counts::{self, Counts};
use super::dict::{Dict, MAX_NAMES};
use super::key::StoredKey;
use super::lmdb::Db;
use super::meta::{self, META_KEY, Meta};
use super::row::{self, Damaged, Decoded, HEADER, INLINE, Row};
use super::row_write::{self, NameRef, RowWriter};
use super::{Store, catalog, encode, key, prepare};
use crate::error::ErrorKind;
use crate::model::names::ENTITY_TYPE;
use crate::model::{Ticks, Value};
use crate::query::{Continuation, Position, Query, fingerprint, plan, prop};

/// Bytes from hex; `78*256` is a byte so many times, and spaces mean nothing.
fn hex(text: &str) -> Vec<u8> {
    let byte = |digits: &str| u8::from_str_radix(digits, 16).unwrap();
    let mut bytes = Vec::new();
    for piece in text.split_whitespace() {
        match piece.split_once('*') {
            Some((digits, times)) => bytes.extend(std::iter::repeat_n(byte(digits), times.parse().unwrap())),
            None => bytes.extend((0..piece.len()).step_by(2).map(|at| byte(&piece[at..at + 2]))),
        }
    }
    bytes
}

fn key_of(table: u32, partition: &str, row: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::encode(table, partition, row, &mut bytes);
    bytes
}

/// The seed of the key that all rows here stand under.
fn seed() -> u64 {
    row::key_seed(&key_of(7, "Sales", "empid_000001"))
}

fn time() -> Ticks {
    "2014-07-31T18:00:00Z".parse().unwrap()
}

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

fn text(length: usize) -> String {
    "x".repeat(length)
}

fn finished(writer: &RowWriter) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer.finish(&mut bytes).unwrap();
    row_write::stamp(&mut bytes, time(), seed());
    bytes
}

fn encode<'a>(properties: impl IntoIterator<Item = (NameRef<'a>, &'a Value, Option<u16>)>) -> Vec<u8> {
    let mut writer = RowWriter::default();
    for (name, value, symbol) in properties {
        writer.push(name, value.as_value_ref(), symbol, seed());
    }
    finished(&writer)
}

fn encode_all(properties: &[Property]) -> Vec<u8> {
    encode(properties.iter().map(|(name, value, symbol)| (*name, value, *symbol)))
}

/// Reads and checks everything.
fn decode(bytes: &[u8]) -> Result<Vec<(NameRef<'_>, Value, Option<u16>)>, Damaged> {
    let row = Row::parse(bytes)?;
    row.verify_whole(seed())?;
    assert_eq!(row.timestamp(), time());
    (0..row.len())
        .map(|index| {
            let slot = row.checked_slot(index)?;
            let payload = row.payload(&slot, Some(seed()))?;
            let (name, payload) = if slot.id == INLINE {
                let (name, value) = row::inline_name(payload)?;
                assert_eq!(row.find_inline(name, None)?.unwrap().start, slot.start);
                (NameRef::Inline(name), value)
            } else {
                assert_eq!(row.find(slot.id).unwrap().start, slot.start);
                (NameRef::Id(slot.id), payload)
            };
            Ok(match row::decode(slot.tag, payload)? {
                Decoded::Value(value) => (name, value.to_value(), None),
                Decoded::Symbol(symbol) => (name, "".into(), Some(symbol)),
            })
        })
        .collect()
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
        ("01040000506261007bd108", "unknown flags"),
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
fn keys_are_these_bytes() {
    for (table, partition, row, bytes) in [
        (1, "", "", "0000000100"),
        (7, "Sales", "empid_000001", "0000000753616c657300656d7069645f303030303031"),
        (0x0102_0304, "a", "b", "01020304610062"),
        (u32::MAX, " ", "~", "ffffffff20007e"),
        (7, "it's 100%", "{a}", "00000007697427732031303025007b617d"),
        (7, "é", "名", "00000007c3a900e5908d"),
        // Each lead byte that is permuted, and its neighbours.
        (7, "\u{d7ff}", "\u{7ff}", "00000007ed9fbf00dfbf"),
        (7, "\u{e000}", "\u{efff}", "00000007f3808000f3bfbf"),
        (7, "\u{f000}", "\u{ffff}", "00000007f4808000f4bfbf"),
        (7, "\u{10000}", "\u{3ffff}", "00000007ee90808000eebfbfbf"),
        (7, "\u{40000}", "\u{fffff}", "00000007ef80808000f1bfbfbf"),
        (7, "\u{100000}", "\u{10ffff}", "00000007f280808000f28fbfbf"),
        (7, "a\u{1f600}z", "\u{fffd}!", "0000000761ee9f98807a00f4bfbd21"),
    ] {
        let bytes = hex(bytes);
        assert_eq!(key_of(table, partition, row), bytes);
        let key = StoredKey::parse(&bytes).unwrap();
        assert_eq!(key.table, table);
        assert_eq!((key.partition().as_deref(), key.row().as_deref()), (Some(partition), Some(row)));
    }
    for bytes in ["", "000000", "00000007", "0000000753616c6573"] {
        assert_eq!(StoredKey::parse(&hex(bytes)), None, "{bytes}");
    }
    // A surrogate, a lead byte that UTF-8 lacks, a character cut off.
    for row in ["eda080", "f5808080", "f38080ff", "f380", "80"] {
        let stored = hex(&format!("0000000753616c657300{row}"));
        assert_eq!(StoredKey::parse(&stored).unwrap().row(), None, "{row}");
    }
}

#[test]
fn the_stores_own_record_is_these_bytes() {
    let bytes = hex(
        "01000000be07000007000000090000000000000000506261007bd108000000000000000030313233343536373839616263646566cf62f9e006ba486a",
    );
    let identity = *b"0123456789abcdef";
    let meta = Meta { max_key: 1_982, next_table: 7, generation: 9, high_water: time(), identity };
    assert_eq!((META_KEY, &meta.encode()[..]), (&b"\0meta"[..], &bytes[..]));
    assert_eq!(Meta::decode(&bytes).unwrap(), meta);
    // Any longer or shorter one is another version's, though it be sealed.
    for length in [28, 51, 53, 60] {
        let mut other = bytes.clone();
        other.resize(length + 8, 0);
        meta::seal(META_KEY, &mut other);
        assert_eq!(Meta::decode(&other).unwrap_err().kind(), ErrorKind::Corrupt, "{length}");
    }
}

/// Puts every damaged form of a record in its place, and has it read.
fn refuses_damage(
    store: &Store,
    db: Db,
    key: &[u8],
    read: impl Fn(&heed::RwTxn<'_>) -> Result<(), ErrorKind>,
) {
    let mut txn = store.inner.environment.env.write_txn().unwrap();
    let record = db.get(&txn, key).unwrap().unwrap().to_vec();
    assert_eq!(read(&txn), Ok(()));
    for bit in 0..record.len() * 8 {
        let mut flipped = record.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        db.put(&mut txn, key, &flipped).unwrap();
        assert_eq!(read(&txn), Err(ErrorKind::Corrupt), "bit {bit}");
    }
    for length in 0..record.len() {
        db.put(&mut txn, key, &record[..length]).unwrap();
        assert_eq!(read(&txn), Err(ErrorKind::Corrupt), "{length} bytes");
    }
    txn.abort();
}

#[test]
fn small_records_are_these_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    store.create_table("Company").unwrap();
    let (env, dbs) = (&store.inner.environment.env, store.inner.environment.dbs);
    let is = |db: Db, txn: &heed::RoTxn<'_>, key: &str, record: &str| {
        assert_eq!(db.get(txn, &hex(key)).unwrap(), Some(&hex(record)[..]), "{key}");
    };

    let company = "636f6d70616e79";
    let txn = env.read_txn().unwrap();
    is(dbs.catalog, &txn, company, "01000000 0000 436f6d70616e79 a2dece346950f3c1");
    drop(txn);
    refuses_damage(&store, dbs.catalog, &hex(company), |txn| {
        catalog::find(&dbs, txn, "COMPANY").map(drop).map_err(|e| e.kind())
    });

    let counts = Counts { entities: 3, bytes: 1_000, digest: 0xfedc_ba98_7654_3210 };
    let mut txn = env.write_txn().unwrap();
    counts.write(dbs.main, &mut txn, 7).unwrap();
    is(
        dbs.main,
        &txn,
        "006e2300000007",
        "0300000000000000 e803000000000000 1032547698badcfe a60fa566fbf2e3af",
    );
    assert_eq!(Counts::read(dbs.main, &txn, 7).unwrap(), counts);
    txn.commit().unwrap();
    refuses_damage(&store, dbs.main, &counts::key(7), |txn| {
        Counts::read(dbs.main, txn, 7).map(drop).map_err(|e| e.kind())
    });

    let mut dict = Dict::default();
    dict.push_name("LastName".into());
    dict.push_name("Größe".into());
    dict.push_symbol("employee".into());
    let mut txn = env.write_txn().unwrap();
    dict.write_new((0, 0), dbs.names, &mut txn, 1).unwrap();
    let entries = [
        ("00000001 00 0000", "4c6173744e616d65 49dd9962c9d187c1"),
        ("00000001 00 0001", "4772c3b6c39f65 e5b57bca75571665"),
        ("00000001 01 4772c3b6c39f65", "0100 0bd938e2731b53e4"),
        ("00000001 01 4c6173744e616d65", "0000 6049162a56d7fe03"),
        ("00000001 02 0000", "656d706c6f796565 f2c06c85f95a65ba"),
        ("00000001 03 656d706c6f796565", "0000 b6a3465bb6196d7a"),
    ];
    for (key, record) in entries {
        is(dbs.names, &txn, key, record);
    }
    assert_eq!(dbs.names.len(&txn).unwrap(), 6);
    txn.commit().unwrap();
    for (key, _) in entries {
        refuses_damage(&store, dbs.names, &hex(key), |txn| {
            let mut known = Dict::default();
            let read = known.read_new(&dbs, txn, 1).and_then(|()| known.check(dbs.names, txn, 1));
            read.map_err(|e| e.kind())?;
            assert_eq!((known.id("Größe"), known.symbol_id("employee")), (Some(1), Some(0)));
            Ok(())
        });
    }

    // Not committed: the store would begin to free its space.
    let mut txn = env.write_txn().unwrap();
    let mut meta = catalog::read_meta(&dbs, &txn).unwrap();
    catalog::bury(&dbs, &mut txn, &mut meta, "company").unwrap();
    is(dbs.graves, &txn, "00000001", "01000000 0000 436f6d70616e79 8f6d1890977a78bb");
    assert_eq!(catalog::graves(&dbs, &txn).unwrap(), [1]);
    assert_eq!(dbs.catalog.get(&txn, &hex(company)).unwrap(), None);
    assert_eq!(dbs.main.get(&txn, &counts::key(1)).unwrap(), None);
    let grave = hex("00000001");
    let mut record = dbs.graves.get(&txn, &grave).unwrap().unwrap().to_vec();
    for bit in 0..record.len() * 8 {
        record[bit / 8] ^= 1 << (bit % 8);
        dbs.graves.put(&mut txn, &grave, &record).unwrap();
        assert_eq!(catalog::graves(&dbs, &txn).unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
        record[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn counts_of_another_length_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    let main = store.inner.environment.dbs.main;
    let mut txn = store.inner.environment.env.write_txn().unwrap();
    for length in [16, 23, 25, 32] {
        let mut record = vec![0; length + meta::CHECKSUM];
        meta::seal(&counts::key(1), &mut record);
        main.put(&mut txn, &counts::key(1), &record).unwrap();
        assert_eq!(Counts::read(main, &txn, 1).unwrap_err().kind(), ErrorKind::Corrupt, "{length}");
    }
}

#[test]
fn tokens_are_these_texts() {
    let token = |partition, row, remaining, fingerprint| {
        Continuation::new(Position { partition, row, remaining }, fingerprint)
    };
    for (token, text) in [
        (
            token("Sales", "empid_000001", Some(5), 7),
            "AQcAAAAAAAAAAQUAAAAAAAAAU2FsZXMAZW1waWRfMDAwMDAx4h35Ul_JQP8",
        ),
        (token("\u{1f600}", "", None, u64::MAX), "Af__________APCfmIAA3qrhH8_1ux4"),
    ] {
        assert_eq!(token.to_string(), text);
        assert_eq!(text.parse::<Continuation>().unwrap(), token);
    }
    let filter = prop("Age").ge(40) & !prop("LastName").eq("Smith");
    let query = Query::new().partition("Sales").row_prefix("empid_").filter(filter).select(["A", "B"]).top(9);
    assert_eq!(fingerprint(&plan(&query).unwrap(), 7), 0xcb2f_5bec_6be5_6d34);
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
    assert!(encode::write(&prepare::borrowed(&properties), &FULL, &mut Vec::new(), &mut writer, seed()));
    assert_eq!(decode(&finished(&writer)).unwrap(), [inline(ENTITY_TYPE, "employee")]);
}

fn value() -> impl Strategy<Value = Value> {
    let integer = (any::<i64>(), 0..64_u32).prop_map(|(v, shift)| v >> shift);
    prop_oneof![
        3 => ".{0,20}".prop_map(Value::String),
        1 => (250..260_usize).prop_map(|length| Value::String(text(length))),
        2 => vec(any::<u8>(), 0..20).prop_map(Value::Binary),
        1 => vec(any::<u8>(), 250..1_200).prop_map(Value::Binary),
        1 => any::<bool>().prop_map(Value::Boolean),
        2 => any::<i32>().prop_map(Value::Int32),
        3 => integer.prop_map(Value::Int64),
        1 => any::<u64>().prop_map(|bits| Value::Double(f64::from_bits(bits))),
        1 => (0..=Ticks::MAX.get()).prop_map(|ticks| Value::DateTime(Ticks::new(ticks).unwrap())),
        1 => any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
    ]
}

/// Properties in order: by number, then those with inline names.
type Properties = BTreeMap<(u16, String), (Value, Option<u16>)>;

fn properties(most: usize) -> impl Strategy<Value = Properties> {
    let number = prop_oneof![0..8_u16, 0..60_000_u16];
    let place = prop_oneof![
        5 => number.prop_map(|id| (id, String::new())),
        1 => "[a-cé名]{1,3}".prop_map(|name| (INLINE, name)),
    ];
    let value = prop_oneof![9 => value().prop_map(|v| (v, None)), 1 => any::<u16>().prop_map(|s| ("".into(), Some(s)))];
    btree_map(place, value, 0..most)
}

fn encode_map(properties: &Properties) -> Vec<u8> {
    encode(properties.iter().map(|((id, name), (value, symbol))| {
        (if *id == INLINE { NameRef::Inline(name) } else { NameRef::Id(*id) }, value, *symbol)
    }))
}

fn decode_map(bytes: &[u8]) -> Properties {
    let found = decode(bytes).unwrap();
    let count = found.len();
    let place = |name: NameRef<'_>| match name {
        NameRef::Id(id) => (id, String::new()),
        NameRef::Inline(name) => (INLINE, name.to_owned()),
    };
    let places: Vec<_> = found.iter().map(|(name, ..)| place(*name)).collect();
    assert!(places.is_sorted(), "{places:?}");
    let map: Properties =
        places.into_iter().zip(found.into_iter().map(|(_, v, symbol)| (v, symbol))).collect();
    assert_eq!(map.len(), count);
    map
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn properties_come_back_from_a_row(properties in properties(60)) {
        let bytes = encode_map(&properties);
        prop_assert_eq!(decode_map(&bytes), properties);
    }

    #[test]
    fn rows_merge_as_maps_do(old in properties(30), new in properties(30)) {
        let (old_bytes, new_bytes) = (encode_map(&old), encode_map(&new));
        let mut writer = RowWriter::default();
        writer.merge(&Row::parse(&old_bytes).unwrap(), &Row::parse(&new_bytes).unwrap(), seed()).unwrap();
        let mut expected = old;
        expected.extend(new);
        let merged = finished(&writer);
        prop_assert_eq!(decode_map(&merged), expected.clone());
        // A row's bytes follow from its properties alone, whatever it came from.
        prop_assert_eq!(merged, encode_map(&expected));
    }

    #[test]
    fn a_damaged_large_value_is_not_merged(old in properties(10), at in 0..300_usize, bit in 0..8_u32) {
        let mut large = old;
        // No two places are alike, so that it is found where it is, whatever stands beside it.
        let value: Vec<u8> = (0..=255).chain(0..44).collect();
        large.insert((9, String::new()), (Value::Binary(value.clone()), None));
        let mut bytes = encode_map(&large);
        let start = bytes.windows(300).position(|window| *window == value).unwrap();
        bytes[start + at] ^= 1 << bit;
        let new = encode_map(&Properties::new());
        let (damaged, new) = (Row::parse(&bytes).unwrap(), Row::parse(&new).unwrap());
        // The row's own checksum leaves large values out, so that one small property costs no megabyte.
        prop_assert!(damaged.verify(seed()).is_ok());
        prop_assert!(damaged.verify_whole(seed()).is_err());
        let merged = RowWriter::default().merge(&damaged, &new, seed());
        prop_assert_eq!(merged.unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..80), plausible: bool) {
        let mut bytes = bytes;
        if plausible && bytes.len() > HEADER {
            let head = [1, bytes[1] & 3, bytes[2] % 8];
            bytes[..3].copy_from_slice(&head);
            bytes[10] = 8;
        }
        if let Ok(row) = Row::parse(&bytes) {
            for slot in (0..row.len()).filter_map(|index| row.slot(index)) {
                std::hint::black_box(row.payload(&slot, None).is_ok_and(|p| row::decode(slot.tag, p).is_ok()));
            }
            prop_assert!(row.verify_whole(seed()).is_err());
        }
    }
}
