//! Rows, in every form that they have, and shapes.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

use table_engine::model::{Ticks, ValueRef};
use table_engine::row::dict::{Dict, MAX_NAMES};
use table_engine::row::fast_path::Near;
use table_engine::row::row_write::{NameRef, RowWriter};
use table_engine::row::shape::{Column, Shape};
use table_engine::row::shape_write::Target;
use table_engine::row::slots::SlotRow;
use table_engine::row::value::{self, Decoded};
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Body, DIGEST, HEADER, INLINE, Row, merge};
use table_engine::schema::{ColumnType, Field, FieldPart, KeyPart, Part, Place, Template};

use super::{sample_key, seen};

/// Where every row lies that is fuzzed.
static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| sample_key(7, "Sales", "empid_000001"));

fn seed() -> u64 {
    row::key_seed(&KEY)
}

/// A full dictionary, so that a row may hold inline names too.
static DICT: LazyLock<Arc<Dict>> = LazyLock::new(|| {
    let mut dict = Dict::default();
    for id in 0..MAX_NAMES {
        dict.push_name(if id == ENTITY_TYPE { "EntityType".into() } else { format!("N{id}").into() });
    }
    for symbol in 0..SYMBOLS {
        dict.push_symbol(format!("kind{symbol}").into());
    }
    dict.shapes = shapes();
    Arc::new(dict)
});
const ENTITY_TYPE: usize = 3;
const SYMBOLS: u64 = 3;
const SYMBOLS_READ: usize = 3;

/// A row that others are merged with.
static OTHER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let long = "x".repeat(300);
    let properties = [
        (NameRef::Id(0), ValueRef::Int32(-1), None),
        (NameRef::Id(3), ValueRef::String(""), Some(2)),
        (NameRef::Id(5), ValueRef::String(&long), None),
        (NameRef::Inline("b"), ValueRef::Boolean(true), None),
    ];
    formed(&properties, Ticks::UNIX_EPOCH, None)
});

/// Shapes of every type, with columns that may be absent and without; of nothing; of one text; of many bits.
fn shapes() -> Vec<Shape> {
    use ColumnType::{Bool, Bytes, F64, Guid, I8, I16, I32, I64, Text, Time, U8, U16, U32};
    let all = [I32, Text, Bytes, F64, Bool, Time, Guid, U8, I16, U32, Text, Bytes, I64, I8, U16];
    let column = |(at, of): (u16, &ColumnType), optional| Column { id: at * 2, of: *of, optional };
    let list = |types: &[ColumnType], optional: fn(u16) -> bool| {
        (0..).zip(types).map(|(at, of)| column((at, of), optional(at))).collect()
    };
    let lists: [Vec<Column>; 5] = [
        list(&all, |_| false),
        list(&all, |at| at % 2 == 0),
        Vec::new(),
        list(&[Text], |_| false),
        list(&[Bool; 19], |_| true),
    ];
    let shape = |columns| Shape::new(1, columns, u16::try_from(ENTITY_TYPE).unwrap_or(0));
    lists.into_iter().filter_map(shape).collect()
}

type Property<'a> = (NameRef<'a>, ValueRef<'a>, Option<u16>);

/// Returns the row of these properties, which stand in order, with slots.
fn formed(properties: &[Property<'_>], timestamp: Ticks, digest: Option<[u8; DIGEST]>) -> Vec<u8> {
    let mut writer = RowWriter::default();
    for (name, value, symbol) in properties {
        writer.push(*name, *value, *symbol, seed());
    }
    let mut bytes = Vec::new();
    writer.finish(&mut bytes, digest.as_ref()).expect("a row has at most 255 properties");
    row::stamp(&mut bytes, timestamp, seed());
    bytes
}

/// Returns the row of a shape with what `get` gives its columns; `None` where slots would be better.
fn shaped<'v>(
    number: u16,
    timestamp: Ticks,
    digest: Option<[u8; DIGEST]>,
    get: impl FnMut(usize) -> Option<ValueRef<'v>>,
) -> Option<Vec<u8>> {
    let target = Target { shape: DICT.shape(number)?, number, seed: seed(), digest: digest.as_ref() };
    let mut bytes = Vec::new();
    target.write(get, &mut bytes)?;
    row::stamp(&mut bytes, timestamp, seed());
    Some(bytes)
}

/// Reads a row in every way there is. A sound one must be the very bytes that its properties are written as, be found
/// by number and by name, and merge as a map does.
pub fn row(bytes: &[u8]) -> bool {
    let Ok(row) = Row::parse(bytes) else { return false };
    // Before any checksum: a store may be opened to read without.
    read_through(&row);
    if row.verify_whole(seed(), &DICT).is_err() {
        return false;
    }
    let view = RowView::new(KEY.as_slice(), row, DICT.clone(), true);
    match *row.body() {
        Body::Slots(slots) => {
            let Some(properties) = slot_properties(&slots) else { return false };
            let again = formed(&properties, row.timestamp(), row.digest());
            assert!(again == bytes, "a sound row is written in another form");
        }
        Body::Shaped(of) => {
            let shape = DICT.shape(of.shape()).expect("a sound row's shape is known");
            let get = |at: usize| {
                let column = shape.columns().get(at)?;
                view.get_by_id(column.id).expect("the row is sound")
            };
            // One that lacks so much that the library would write slots is sound all the same.
            if let Some(again) = shaped(of.shape(), row.timestamp(), row.digest(), get) {
                assert!(again == bytes, "a sound row is written in another form");
            }
        }
    }
    if !view::covers(&DICT, &row) {
        return false;
    }
    let Ok(numbered) = view.numbered().and_then(Iterator::collect::<Result<Vec<_>, _>>) else { return false };
    assert!(numbered.len() == view.len(), "a row has not as many properties as it says");
    for (id, name, value) in numbered {
        let found = if id == INLINE { view.get(name) } else { view.get_by_id(id) };
        let found = found.expect("the row is sound").expect("a property is not found");
        assert!(same(found, value), "another property is found");
    }
    let other = RowView::new(
        KEY.as_slice(),
        Row::parse(&OTHER).expect("a row of the library's own"),
        DICT.clone(),
        true,
    );
    check_merge(&view, &view);
    check_merge(&view, &other);
    check_merge(&other, &view);
    true
}

/// Returns whether both are the same, bit by bit.
fn same(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef::Double(a), ValueRef::Double(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn read_through(row: &Row<'_>) {
    if let Body::Slots(slots) = row.body() {
        for index in 0..=slots.len() {
            let Some(slot) = slots.slot(index) else { continue };
            seen(slots.find(slot.id).map(|found| slots.payload(&found, Some(seed())).is_ok()));
            if let Ok(payload) = slots.payload(&slot, None) {
                seen(value::decode(slot.tag, payload));
                if let Ok((name, value)) = value::inline_name(payload) {
                    seen(value::decode(slot.tag, value));
                    seen(slots.find_inline(name, None));
                }
            }
        }
    }
    if let Body::Shaped(of) = row.body() {
        // By whatever shape.
        for shape in &DICT.shapes {
            let Ok(parts) = of.open(shape) else { continue };
            for place in shape.places() {
                seen(parts.value(*place, || Some(seed())));
            }
        }
    }
    for verify in [false, true] {
        let view = RowView::new(KEY.as_slice(), *row, DICT.clone(), verify);
        let entity = view.to_entity();
        assert_eq!(entity.is_ok(), view.properties().all(|property| property.is_ok()));
        for id in [0, 1, 3, 20, INLINE] {
            seen(view.get_by_id(id));
        }
        if let Some(quick) = view.quick(FIELDS, None) {
            for (at, field) in FIELDS.iter().enumerate() {
                let (by_place, by_name) = (quick.get(at), view.get(field.property));
                let agree = match (by_place, &by_name) {
                    (Some(a), Ok(Some(b))) => same(a, *b),
                    // A reader that finds nothing by its place looks by its number, and gets the error there.
                    (None, Ok(None) | Err(_)) => true,
                    // In a sound row it finds what is there.
                    (None, Ok(Some(_))) => row.verify_whole(seed(), &DICT).is_err(),
                    (Some(_), _) => false,
                };
                assert!(agree, "a field holds another value by its place: {by_place:?} and {by_name:?}");
                is_taken_as(by_place, quick.owned_text(at).as_deref(), quick.integer(at));
            }
        }
        // A view must see in place what was read.
        let (quick, in_view) = (view.quick(FIELDS, None), view.seen(FIELDS));
        assert_eq!(quick.is_some(), in_view.is_some(), "a row is seen in place where it is read");
        if let (Some(quick), Some(in_view)) = (quick, in_view) {
            for at in 0..FIELDS.len() {
                let (text, number) = (in_view.text(at), in_view.integer(at));
                let in_view = match view.get_in(&in_view, FIELDS, at) {
                    Near::Found(value) => Some(value),
                    Near::Absent | Near::Elsewhere => None,
                };
                let right = match (in_view, quick.get(at)) {
                    (Some(a), Some(b)) => same(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
                assert!(right, "field {at} is seen to hold another value");
                is_taken_as(in_view, text, number);
            }
        }
        // So must a path whose keys give two fields back.
        let in_path = view.quick(FIELDS, Some(&PLACE));
        let without_keys = view.quick(FIELDS, None);
        assert_eq!(
            in_path.is_some(),
            without_keys.is_some(),
            "keys that fit are no reason for the longer way"
        );
        if let (Some(in_path), Some(without_keys)) = (in_path, without_keys) {
            for at in 0..FIELDS.len() {
                let expected = match at {
                    0 => Some(ValueRef::String("Sales")),
                    4 => Some(ValueRef::Int64(1)),
                    _ => without_keys.get(at),
                };
                let right = match (in_path.get(at), expected) {
                    (Some(a), Some(b)) => same(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
                assert!(right, "field {at} holds another value in a path");
                is_taken_as(expected, in_path.owned_text(at).as_deref(), in_path.integer(at));
            }
        }
        seen(view.get("EntityType").map(|value| value.map(ValueRef::edm_type)));
        seen(view.get("a").map(|value| value.map(ValueRef::edm_type)));
        seen(view.to_selected(&[0, 3], &["a".into()]));
    }
    seen(view::covers(&DICT, row) | view::covers(&Dict::default(), row));
}

/// Checks that a field that is asked for as a text, or as an integer, gives its value if that is one, and else nothing.
fn is_taken_as(value: Option<ValueRef<'_>>, text: Option<&str>, number: Option<i64>) {
    assert_eq!(text, value.and_then(ValueRef::as_str), "as a text");
    assert_eq!(number, value.and_then(ValueRef::as_i64), "as an integer");
}

/// Fields of some columns that the shapes have.
const FIELDS: &[Field] = &[
    Field::PLAIN.named("n0", "N0"),
    Field::PLAIN.named("n2", "N2"),
    Field::PLAIN.named("n4", "N4"),
    Field::PLAIN.named("n20", "N20"),
    Field::PLAIN.named("n22", "N22"),
    Field::PLAIN.named("n7", "N7"),
];

/// Where a row under [`KEY`] lies, whose keys give back the first of the fields and the fifth.
static PLACE: Place = Place::new(
    "Table",
    Template::new("{n0}", &[Part::Field(FieldPart::new(0, String::KEY, ""))]),
    Template::new(
        "empid_{n22:06}",
        &[Part::Literal("empid_"), Part::Field(FieldPart::new(4, u32::KEY, "06"))],
    ),
);

/// Returns everything that a row with slots holds, or `None` where some value can't be read.
fn slot_properties<'a>(row: &SlotRow<'a>) -> Option<Vec<Property<'a>>> {
    (0..row.len())
        .map(|index| {
            let slot = row.slot(index)?;
            let payload = row.payload(&slot, None).ok()?;
            let (name, payload) = match slot.id {
                INLINE => {
                    value::inline_name(payload).map(|(name, value)| (NameRef::Inline(name), value)).ok()?
                }
                id => (NameRef::Id(id), payload),
            };
            match value::decode(slot.tag, payload).ok()? {
                Decoded::Value(value) => Some((name, value, None)),
                Decoded::Symbol(symbol) => Some((name, ValueRef::String(""), Some(symbol))),
            }
        })
        .collect()
}

fn check_merge(old: &RowView<'_>, new: &RowView<'_>) {
    let merged = merge::merged(old, new).expect("both rows are sound");
    let mut map = BTreeMap::new();
    for row in [old, new] {
        for property in row.numbered().expect("the row is sound") {
            let (id, name, value) = property.expect("the row is sound");
            map.insert((id, if id == INLINE { name } else { "" }), (id, name, value));
        }
    }
    let same = merged.len() == map.len()
        && merged.iter().zip(map.values()).all(|(a, b)| (a.0, a.1) == (b.0, b.1) && same(a.2, b.2));
    assert!(same, "rows don't merge as maps do");
}

/// Reads the body of a shape's record. One that is read must be written as the same bytes.
pub fn shape(bytes: &[u8]) -> bool {
    let entity_type = u16::try_from(ENTITY_TYPE).ok();
    let Some(shape) = Shape::decode(bytes, MAX_NAMES, SYMBOLS_READ, entity_type) else { return false };
    assert!(shape.encode() == bytes, "a shape is written in another form");
    let row = Row::parse(&OTHER).expect("a row of the library's own");
    if let Body::Shaped(of) = row.body() {
        for place in
            of.open(&shape).iter().flat_map(|parts| shape.places().iter().map(|place| (*parts, place)))
        {
            seen(place.0.value(*place.1, || None));
        }
    }
    true
}

/// Returns the body of a shape's record.
pub fn sample_shape(pick: &mut dyn FnMut(u64) -> u64) -> Vec<u8> {
    let (mut columns, mut id) = (Vec::new(), 4);
    let most = [3, 20, 252].get(small(pick(3))).copied().unwrap_or(3);
    for _ in 0..pick(most) {
        let of = ColumnType::from_code(u8::try_from(pick(13)).unwrap_or(0)).unwrap_or(ColumnType::Bool);
        columns.push(Column { id, of, optional: pick(2) == 0 });
        id += 1 + u16::try_from(pick(3)).unwrap_or(0);
    }
    let shape = Shape::new(u16::try_from(pick(SYMBOLS)).unwrap_or(0), columns, 3);
    shape.map_or_else(Vec::new, |shape| shape.encode())
}

/// Makes the checksums of a row fit, if it is anything like one.
pub fn seal_row(bytes: &mut [u8]) {
    let Ok(row) = Row::parse(bytes) else { return };
    let timestamp = row.timestamp();
    let large: Vec<_> = match row.body() {
        Body::Slots(slots) => slots.large().collect(),
        Body::Shaped(of) => of.large().collect(),
    };
    for (start, end) in large {
        let range = HEADER + start..HEADER + end;
        if let Some((value, sum)) = bytes.get_mut(range).and_then(<[u8]>::split_last_chunk_mut) {
            *sum = row::large_checksum(value, seed());
        }
    }
    row::stamp(bytes, timestamp, seed());
}

/// Returns a row of a shape as the store writes it.
fn sample_shaped(number: u16, pick: &mut dyn FnMut(u64) -> u64) -> Option<Vec<u8>> {
    let shape = DICT.shape(number)?;
    let long = if pick(4) == 0 { 300 } else { 30 };
    let text = "t".repeat(small(pick(long)));
    let values: Vec<_> = shape
        .columns()
        .iter()
        .map(|column| {
            let bits = pick(u64::MAX);
            let value = match column.of {
                ColumnType::Bool => ValueRef::Boolean(bits & 1 == 0),
                ColumnType::I8 => ValueRef::Int32(i32::from_le_bytes(low(bits)) >> 24),
                ColumnType::U8 | ColumnType::U16 => ValueRef::Int32(i32::from_le_bytes(low(bits % 256))),
                ColumnType::I16 => ValueRef::Int32(i32::from_le_bytes(low(bits)) >> 16),
                ColumnType::I32 => ValueRef::Int32(i32::from_le_bytes(low(bits))),
                ColumnType::U32 => ValueRef::Int64(i64::from_le_bytes((bits >> 32).to_le_bytes())),
                ColumnType::I64 => ValueRef::Int64(i64::from_le_bytes(bits.to_le_bytes())),
                ColumnType::F64 => ValueRef::Double(f64::from_bits(bits)),
                ColumnType::Time => {
                    ValueRef::DateTime(Ticks::new(bits % Ticks::MAX.get()).unwrap_or(Ticks::MAX))
                }
                ColumnType::Guid => ValueRef::Guid(Uuid::from_u64_pair(bits, bits)),
                ColumnType::Text => ValueRef::String(&text),
                ColumnType::Bytes => ValueRef::Binary(text.as_bytes()),
                _ => unreachable!("the store writes no column of another type"),
            };
            (!column.optional || pick(2) == 0).then_some(value)
        })
        .collect();
    let digest = (pick(4) == 0).then_some([7; DIGEST]);
    shaped(number, Ticks::UNIX_EPOCH, digest, |at| values.get(at).copied().flatten())
}

/// Returns a row as the store writes it. `pick` gives a number below its argument.
pub fn sample_row(pick: &mut dyn FnMut(u64) -> u64) -> Vec<u8> {
    if pick(2) == 0
        && let Some(row) = u16::try_from(pick(5)).ok().and_then(|number| sample_shaped(number, pick))
    {
        return row;
    }
    let most = [3, 12, 255].get(small(pick(3))).copied().unwrap_or(1);
    let mut texts = Vec::new();
    for _ in 0..pick(most) {
        let length = match pick(12) {
            0 => 250 + pick(12),
            1 if most < 100 => 4_000 + pick(200),
            _ => pick(12),
        };
        texts.push(char::from(b'a' + u8::try_from(pick(26)).unwrap_or(0)).to_string().repeat(small(length)));
    }
    let mut id = 0;
    let mut inline = BTreeMap::new();
    let mut properties = Vec::new();
    for text in &texts {
        let shift = pick(64);
        let (symbol, value) = match pick(11) {
            0 | 1 => (None, ValueRef::String(text)),
            2 => (None, ValueRef::Binary(text.as_bytes())),
            3 => (None, ValueRef::Boolean(pick(2) == 0)),
            4 => (None, ValueRef::Int32(i32::from_le_bytes(low(pick(u64::MAX) >> shift)))),
            5 | 6 => (None, ValueRef::Int64(i64::from_le_bytes((pick(u64::MAX) >> shift).to_le_bytes()))),
            7 => (None, ValueRef::Double(f64::from_bits(pick(u64::MAX)))),
            8 => (None, ValueRef::DateTime(Ticks::new(pick(Ticks::MAX.get())).unwrap_or(Ticks::MAX))),
            9 => (None, ValueRef::Guid(Uuid::from_u64_pair(pick(u64::MAX), pick(u64::MAX)))),
            _ => (Some(small(pick(SYMBOLS))), ValueRef::String("")),
        };
        let symbol = symbol.and_then(|symbol| u16::try_from(symbol).ok());
        if pick(8) == 0 && symbol.is_none() {
            inline.insert(text.as_str(), (NameRef::Inline(text), value, symbol));
        } else {
            properties.push((NameRef::Id(id), value, symbol));
            id += 1 + u16::try_from(pick(3)).unwrap_or(0);
        }
    }
    properties.extend(inline.into_values());
    let digest = (pick(4) == 0).then_some([7; DIGEST]);
    formed(&properties, Ticks::UNIX_EPOCH, digest)
}

fn small(number: u64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

fn low(number: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = number.to_le_bytes();
    [a, b, c, d]
}
