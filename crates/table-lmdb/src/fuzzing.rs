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
mod rows;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lmdb_verify::Image;
use uuid::Uuid;

pub use self::layout::{layout, list, sample_layout, sample_list};
pub use self::record::{record, sample_record};
pub use self::rows::{row, sample_row, sample_shape, seal_row, shape};

use table_engine::error::Error;
use table_engine::model::{DynamicEntity, ETag, Ticks, Value, ValueRef};
use table_engine::query::{
    Continuation, Fields, Filter, Position, Query, QueryPlan, fingerprint, plan, prop,
};
use table_engine::row::key::{self, StoredKey};

use crate::records::meta::{self, META_KEY, Meta};

/// Keeps a result from being optimised away, and all that led to it.
fn seen<T>(value: T) {
    drop(std::hint::black_box(value));
}

/// Takes a stored key apart. What comes apart must come together as the same bytes, and sort as the service sorts.
pub fn key(bytes: &[u8]) -> bool {
    static OTHERS: LazyLock<Vec<(String, String, Vec<u8>)>> = LazyLock::new(|| {
        let texts = ["", "a", "a ", "Sales", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}"];
        let pairs = texts.iter().flat_map(|partition| texts.iter().map(move |row| (*partition, *row)));
        pairs.map(|(partition, row)| (partition.into(), row.into(), sample_key(7, partition, row))).collect()
    });
    let Some(key) = StoredKey::parse(bytes) else { return false };
    seen(key::locate(Error::new(table_engine::ErrorKind::Corrupt), bytes).to_string());
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

/// Returns a stored key.
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

/// Returns the text of a continuation token.
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
        assert_eq!(etag.to_string().parse(), Ok(etag), "an ETag's text is read as another");
    }
    time.is_ok() || etag.is_ok()
}

/// Reads the store's own record. One that is read must be written as the same bytes.
pub fn meta(bytes: &[u8]) -> bool {
    let Ok(meta) = Meta::decode(bytes) else { return false };
    assert!(meta.encode() == bytes, "the record is written in another form");
    true
}

/// Returns a store's own record.
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
    let pages = crate::open::walk_bytes(bytes);
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
    let (rows, ended) = image.walk(&*from..&*to, reverse);
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

/// Returns a tree to walk over, without damage. `pick` gives a number below its argument.
pub fn sample_leaves(pick: &mut dyn FnMut(u64) -> u64) -> Vec<u8> {
    let mut bytes = pick(u64::MAX).to_le_bytes().to_vec();
    for _ in 0..3 {
        bytes.push(u8::try_from(pick(256)).unwrap_or(0));
    }
    bytes
}

/// Returns the checksum that the formats are built on.
pub fn checksum(bytes: &[u8], seed: u64) -> u64 {
    table_engine::hash::xxh3_64_with_seed(bytes, seed)
}
