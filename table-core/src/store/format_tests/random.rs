//! Rows of any properties, and any bytes.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use uuid::Uuid;

use super::{decode, encode, finished, seed, text};
use crate::error::ErrorKind;
use crate::model::{Ticks, Value};
use crate::row::row_write::{NameRef, RowWriter};
use crate::row::{self, HEADER, INLINE, Row};

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
