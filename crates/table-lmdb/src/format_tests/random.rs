//! Rows of any properties, and any bytes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use uuid::Uuid;

use table_engine::error::ErrorKind;
use table_engine::model::{Ticks, Value};
use table_engine::row::dict::{Dict, MAX_NAMES};
use table_engine::row::row_write::NameRef;
use table_engine::row::view::RowView;
use table_engine::row::{Body, HEADER, INLINE, Row, merge, value as stored};

use super::{decode, encode, key_of, seed, text};

/// Names and symbols of every number.
static DICT: LazyLock<Dict> = LazyLock::new(|| {
    let mut dict = Dict::default();
    for id in 0..MAX_NAMES {
        dict.push_name(format!("N{id}").into());
    }
    for symbol in 0..=u16::MAX {
        dict.push_symbol(format!("S{symbol}").into());
    }
    dict
});

fn view(bytes: &[u8]) -> RowView<'_> {
    RowView::new(key_of(7, "Sales", "empid_000001"), Row::parse(bytes).unwrap(), &*DICT, true)
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
        let [a, b] = [&old_bytes, &new_bytes].map(|bytes| view(bytes));
        let mut expected = old;
        expected.extend(new);
        let merged = merge::merged(&a, &b).unwrap();
        let merged: Vec<_> = merged.into_iter().map(|(id, name, value)| (id, name.to_owned(), value.to_value())).collect();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|((id, name), (value, symbol))| {
                let name = if id == INLINE { name } else { DICT.name(id).unwrap().to_string() };
                (id, name, symbol.map_or(value, |symbol| DICT.symbol(symbol).unwrap().to_string().into()))
            })
            .collect();
        prop_assert_eq!(merged, expected);
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
        // The row's own checksum leaves large values out, so that one small property costs no megabyte.
        prop_assert!(Row::parse(&bytes).unwrap().verify(seed()).is_ok());
        prop_assert!(super::verified(&bytes).is_err());
        let (damaged, new) = (view(&bytes), view(&new));
        prop_assert_eq!(merge::merged(&damaged, &new).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..80), plausible: bool) {
        let mut bytes = bytes;
        if plausible && bytes.len() > HEADER {
            // A time, one of the forms that there are, and few slots.
            bytes[7] = [8, 0x48, 0x88][usize::from(bytes[7] % 3)];
            (bytes[8], bytes[9]) = (bytes[8] & 3, bytes[9] % 8);
        }
        if let Ok(row) = Row::parse(&bytes) {
            if let Body::Slots(row) = row.body() {
                for slot in (0..row.len()).filter_map(|index| row.slot(index)) {
                    let decoded = row.payload(&slot, None).is_ok_and(|p| stored::decode(slot.tag, p).is_ok());
                    std::hint::black_box(decoded);
                }
            }
            prop_assert!(row.verify_whole(seed(), &DICT).is_err());
        }
    }
}
