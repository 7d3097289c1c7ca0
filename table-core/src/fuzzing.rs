//! What the fuzzer feeds. Not part of the API: it is there with the feature `fuzzing` alone.
//!
//! Every function takes whatever it is given, panics where something holds that must never hold, and says whether
//! the input was taken for sound: a fuzzer whose inputs are all refused at the door has tested the door.
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "an oracle fails by panicking, and no program calls this"
)]

mod keyed;
mod layout;
mod record;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

pub use self::layout::{layout, list, sample_layout, sample_list};
pub use self::record::{record, sample_record};

use crate::error::Error;
use crate::model::{DynamicEntity, ETag, Ticks, Value, ValueRef};
use crate::query::{Continuation, Fields, Filter, Position, Query, QueryPlan, fingerprint, plan, prop};
use crate::row::dict::{Dict, MAX_NAMES};
use crate::row::key::{self, StoredKey};
use crate::row::merge;
use crate::row::row_write::{NameRef, RowWriter};
use crate::row::shape::{Column, Shape};
use crate::row::shape_write::Target;
use crate::row::slots::SlotRow;
use crate::row::value::{self, Decoded};
use crate::row::view::{self, RowView};
use crate::row::{self, Body, DIGEST, HEADER, INLINE, Row};
use crate::schema::{ColumnType, Field, FieldPart, Format, KeyPart, Part, Place, Template};
use crate::store::open::Image;
use crate::store::records::meta::{self, META_KEY, Meta};

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

/// The row of these properties, which stand in order, with slots.
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

/// The row of a shape with what `get` gives its columns; `None` where slots would be better.
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

/// Whether both are the same, bit by bit.
fn same(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef::Double(a), ValueRef::Double(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Keeps a result from being optimised away, and all that led to it.
fn seen<T>(value: T) {
    drop(std::hint::black_box(value));
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
                    // Whoever finds nothing by its place looks by its number, and is told what is wrong.
                    (None, Ok(None) | Err(_)) => true,
                    // In a sound row it finds what is there.
                    (None, Ok(Some(_))) => row.verify_whole(seed(), &DICT).is_err(),
                    (Some(_), _) => false,
                };
                assert!(agree, "a field holds another value by its place: {by_place:?} and {by_name:?}");
            }
        }
        // The same in a path whose keys give two fields back.
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
            }
        }
        seen(view.get("EntityType").map(|value| value.map(ValueRef::edm_type)));
        seen(view.get("a").map(|value| value.map(ValueRef::edm_type)));
        seen(view.to_selected(&[0, 3], &["a".into()]));
    }
    seen(view::covers(&DICT, row) | view::covers(&Dict::default(), row));
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
    Template::new("{n0}", &[Part::Field(FieldPart::new(0, String::KEY, Format::Plain))]),
    Template::new(
        "empid_{n22:06}",
        &[Part::Literal("empid_"), Part::Field(FieldPart::new(4, u32::KEY, Format::Pad(6)))],
    ),
);

/// Everything that a row with slots holds, or `None` where some value can't be read.
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
    let Some(shape) = Shape::decode(bytes, (MAX_NAMES, SYMBOLS_READ), entity_type) else { return false };
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

/// The body of a shape's record.
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

/// A row of a shape as the store writes it.
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
            };
            (!column.optional || pick(2) == 0).then_some(value)
        })
        .collect();
    let digest = (pick(4) == 0).then_some([7; DIGEST]);
    shaped(number, Ticks::UNIX_EPOCH, digest, |at| values.get(at).copied().flatten())
}

/// A row as the store writes it. `pick` gives a number below its argument.
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

/// Takes a stored key apart. What comes apart must come together as the same bytes, and sort as the service sorts.
pub fn key(bytes: &[u8]) -> bool {
    static OTHERS: LazyLock<Vec<(String, String, Vec<u8>)>> = LazyLock::new(|| {
        let texts = ["", "a", "a ", "Sales", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}"];
        let pairs = texts.iter().flat_map(|partition| texts.iter().map(move |row| (*partition, *row)));
        pairs.map(|(partition, row)| (partition.into(), row.into(), sample_key(7, partition, row))).collect()
    });
    let Some(key) = StoredKey::parse(bytes) else { return false };
    seen(key::locate(Error::new(crate::ErrorKind::Corrupt), bytes).to_string());
    let (Some(partition), Some(row)) = (key.partition(), key.row()) else { return false };
    let again = sample_key(key.table, &partition, &row);
    assert!(again == bytes, "a key comes together as other bytes");
    for (other_partition, other_row, other) in OTHERS.iter() {
        let by_units = (key.table.cmp(&7))
            .then_with(|| partition.encode_utf16().cmp(other_partition.encode_utf16()))
            .then_with(|| row.encode_utf16().cmp(other_row.encode_utf16()));
        assert_eq!(bytes.cmp(other), by_units, "a key sorts otherwise than its text");
    }
    key::check(&partition, &row).is_ok()
}

/// A stored key.
pub fn sample_key(table: u32, partition: &str, row: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::encode(table, partition, row, &mut bytes);
    bytes
}

/// Reads a filter. Its text must be read as the same filter, and what is left of it beside the bounds, with the
/// bounds, must say of every row what the whole of it says.
pub fn filter(text: &str) -> bool {
    let Ok(filter) = Filter::parse(text) else { return false };
    let printed = filter.to_string();
    let again = Filter::parse(&printed).unwrap_or_else(|error| panic!("`{printed}` can't be read: {error}"));
    assert!(again == filter, "`{printed}` is read as another filter");
    // Of an `or` no bounds are taken.
    let never = prop("PartitionKey").eq(Vec::new());
    let whole = plan(&Query::new().filter(filter.clone() | never)).expect("what was read can be planned");
    let narrowed = plan(&Query::new().filter(filter)).expect("what was read can be planned");
    let other = plan(&Query::new().filter(again)).expect("what was read can be planned");
    assert_eq!(fingerprint(&narrowed, 7), fingerprint(&other, 7));
    seen(narrowed.explain().to_string());
    let range = key::range(7, &narrowed);
    for row in SAMPLES.iter() {
        let key = sample_key(7, row.partition_key(), row.row_key());
        let within = range.as_ref().is_some_and(|(from, to)| *from <= key && key < *to);
        assert_eq!(within && accepts(&narrowed, row), accepts(&whole, row), "`{printed}` of {row:?}");
    }
    true
}

fn accepts(plan: &QueryPlan, row: &DynamicEntity) -> bool {
    plan.accepts(&Sample { row, plan }).expect("a sample is sound")
}

struct Sample<'a> {
    row: &'a DynamicEntity,
    plan: &'a QueryPlan,
}

impl Fields for Sample<'_> {
    fn partition_key(&self) -> Cow<'_, str> {
        self.row.partition_key().into()
    }

    fn row_key(&self) -> Cow<'_, str> {
        self.row.row_key().into()
    }

    fn timestamp(&self) -> Ticks {
        Ticks::UNIX_EPOCH
    }

    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>, Error> {
        let name = self.plan.predicate.as_ref().and_then(|predicate| predicate.names().get(slot));
        Ok(self.row.get(name.expect("a slot has a name")).map(Value::as_value_ref))
    }
}

/// Rows whose keys and properties have the names and values that the filters of the fuzzer's corpus ask for.
static SAMPLES: LazyLock<Vec<DynamicEntity>> = LazyLock::new(|| {
    let time = Ticks::UNIX_EPOCH;
    let values: [Value; 14] = [
        "".into(),
        "a".into(),
        "\u{e000}".into(),
        Vec::new().into(),
        vec![0xc0].into(),
        true.into(),
        false.into(),
        1.into(),
        (-1_i64).into(),
        i64::MAX.into(),
        1.0.into(),
        f64::NAN.into(),
        time.into(),
        Uuid::nil().into(),
    ];
    let keys = ["", "a", "a ", "b", "\u{10000}"];
    (0..20_usize)
        .map(|at| {
            let of =
                |texts: &[&'static str], at: usize| texts.get(at % texts.len()).copied().unwrap_or_default();
            let mut entity = DynamicEntity::new(of(&keys, at), of(&keys, at / 5 + at));
            for (step, name) in [(1, "A"), (3, "B"), (5, "Age")] {
                if let Some(value) = values.get(at * step % (values.len() + 1)) {
                    entity.set(name, value.clone());
                }
            }
            entity
        })
        .collect()
});

/// Reads a continuation token. One that is read must have that text alone.
pub fn token(text: &str) -> bool {
    let Ok(token) = text.parse::<Continuation>() else { return false };
    assert!(token.to_string() == text, "a token has two texts");
    true
}

/// The text of a continuation token.
pub fn sample_token(partition: &str, row: &str, remaining: Option<u64>, fingerprint: u64) -> String {
    Continuation::new(Position { partition, row, remaining }, fingerprint).to_string()
}

/// Reads a time and an `ETag`. A time's own text must be read as the same time, and an `ETag` have one text.
pub fn time(text: &str) -> bool {
    let time = text.parse::<Ticks>();
    if let Ok(time) = time {
        assert_eq!(time.to_string().parse(), Ok(time), "a time's text is read as another");
        assert_eq!(Ticks::from_inverted(time.inverted()), Some(time));
        let etag = ETag::from_timestamp(time);
        assert_eq!(etag.to_string().parse(), Ok(etag), "an ETag's text is read as another");
    }
    let etag = text.parse::<ETag>();
    if let Ok(etag) = etag {
        assert!(etag.to_string() == text, "an ETag has two texts");
    }
    time.is_ok() || etag.is_ok()
}

/// Reads the store's own record. One that is read must be written as the same bytes.
pub fn meta(bytes: &[u8]) -> bool {
    let Ok(meta) = Meta::decode(bytes) else { return false };
    assert!(meta.encode() == bytes, "the record is written in another form");
    true
}

/// A store's own record.
pub fn sample_meta() -> Vec<u8> {
    Meta { next_table: 7, generation: 9, high_water: Ticks::UNIX_EPOCH, ..Meta::initial(1_982) }
        .encode()
        .to_vec()
}

/// Makes the checksum of a store's own record fit.
pub fn seal_meta(bytes: &mut [u8]) {
    meta::seal(META_KEY, bytes);
}

/// Walks over a data file.
pub fn walk(bytes: &[u8]) -> bool {
    let pages = crate::store::open::walk_bytes(bytes);
    let most = u64::try_from(bytes.len() / 512).unwrap_or(u64::MAX);
    assert!(pages.is_none_or(|pages| pages <= most), "more pages are reached than there are");
    pages.is_some()
}

/// Walks over the leaves of a tree, which is damaged: the input has a tree's seed, a range's ends and a direction, and then
/// bytes to be changed. One flipped bit gives the right rows, or some of the first and an error; whatever is changed, no
/// row is given that is not sound and, where checksums are not looked at, none out of order or beyond the range.
pub fn leaves(bytes: &[u8]) -> bool {
    let Some((seed, [start, end, mode, damage @ ..])) = bytes.split_first_chunk() else { return false };
    let (reverse, verifies) = (mode & 1 != 0, mode & 2 == 0);
    let mut image = Image::of(u64::from_le_bytes(*seed), 60, verifies);
    let length = image.bytes.len();
    let mut changed: BTreeMap<usize, u8> = BTreeMap::new();
    for [a, b, c, by] in damage.as_chunks().0 {
        let at = usize::try_from(u32::from_le_bytes([*a, *b, *c, 0])).unwrap_or(0) % length;
        *changed.entry(at).or_default() ^= by;
    }
    for (at, by) in &changed {
        if let Some(byte) = image.bytes.get_mut(*at) {
            *byte ^= by;
        }
    }
    let end_at = |at: u8| match image.rows.get(usize::from(at) % (image.rows.len() + 1)) {
        // Some beside it, too.
        Some((key, _)) => [key.as_slice(), if at >= 128 { &[0] } else { &[] }].concat(),
        None => vec![if at >= 128 { 0xff } else { 0 }],
    };
    let (from, to) = (end_at(*start), end_at(*end));
    let mut expected: Vec<_> =
        image.rows.iter().filter(|(key, _)| *key >= from && *key < to).cloned().collect();
    if reverse {
        expected.reverse();
    }
    let (rows, ended) = image.walk((&from, &to), reverse);
    assert!(rows.len() < length, "a walk goes in a circle");
    match changed.values().map(|by| by.count_ones()).sum() {
        0 => assert!(ended.is_ok() && rows == expected, "a sound tree is read otherwise"),
        1 if verifies => {
            assert!(ended.is_err() || rows == expected, "a flipped bit gives other rows");
            assert!(expected.starts_with(&rows), "a flipped bit gives other rows before an error");
        }
        _ if verifies => {
            let all = image.rows.iter().collect::<BTreeSet<_>>();
            assert!(rows.iter().all(|row| all.contains(row)), "a row is given that is not sound");
        }
        _ => {
            let mut keys: Vec<_> = rows.iter().map(|(key, _)| key).collect();
            if reverse {
                keys.reverse();
            }
            assert!(keys.is_sorted_by(|one, other| one < other), "rows are given out of order");
            assert!(keys.iter().all(|key| **key >= from && **key < to), "a row is given beyond the range");
        }
    }
    ended.is_ok()
}

/// A tree to walk over, without damage. `pick` gives a number below its argument.
pub fn sample_leaves(pick: &mut dyn FnMut(u64) -> u64) -> Vec<u8> {
    let mut bytes = pick(u64::MAX).to_le_bytes().to_vec();
    for _ in 0..3 {
        bytes.push(u8::try_from(pick(256)).unwrap_or(0));
    }
    bytes
}

/// The checksum that the formats are built on.
pub fn checksum(bytes: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, seed)
}
