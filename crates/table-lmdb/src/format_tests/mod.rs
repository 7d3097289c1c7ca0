//! The bytes on disk, frozen: what is written today must be these bytes, and these bytes must be read for ever.
//!
//! The vectors were made by another program, written after `docs/internals/format.md` alone. A change here is a change of
//! the format, and needs another version number.

mod random;
mod records;
mod rows;
mod service;
mod shaped;

use table_engine::model::{Ticks, Value};
use table_engine::row::dict::Dict;
use table_engine::row::row_write::{NameRef, RowWriter};
use table_engine::row::slots::SlotRow;
use table_engine::row::value::{self, Decoded};
use table_engine::row::{self, Body, Damaged, INLINE, Row, encode, key};

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

fn text(length: usize) -> String {
    "x".repeat(length)
}

fn finished(writer: &RowWriter) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer.finish(&mut bytes, None).unwrap();
    row::stamp(&mut bytes, time(), seed());
    bytes
}

fn encode<'a>(properties: impl IntoIterator<Item = (NameRef<'a>, &'a Value, Option<u16>)>) -> Vec<u8> {
    let mut writer = RowWriter::default();
    for (name, value, symbol) in properties {
        writer.push(name, value.as_value_ref(), symbol, seed());
    }
    finished(&writer)
}

/// Whether everything that can be checked of a row with slots is right.
fn verified(bytes: &[u8]) -> Result<Row<'_>, Damaged> {
    let row = Row::parse(bytes)?;
    row.verify_whole(seed(), &Dict::default())?;
    Ok(row)
}

fn slots<'a>(row: &Row<'a>) -> SlotRow<'a> {
    match *row.body() {
        Body::Slots(slots) => slots,
        Body::Shaped(_) => panic!("the row has a shape"),
    }
}

/// Reads and checks everything.
fn decode(bytes: &[u8]) -> Result<Vec<(NameRef<'_>, Value, Option<u16>)>, Damaged> {
    let row = verified(bytes)?;
    assert_eq!(row.timestamp(), time());
    let row = slots(&row);
    (0..row.len())
        .map(|index| {
            let slot = row.slot(index).unwrap();
            let payload = row.payload(&slot, Some(seed()))?;
            let (name, payload) = if slot.id == INLINE {
                let (name, value) = value::inline_name(payload)?;
                assert_eq!(row.find_inline(name, None)?.unwrap().start, slot.start);
                (NameRef::Inline(name), value)
            } else {
                assert_eq!(row.find(slot.id).unwrap().start, slot.start);
                (NameRef::Id(slot.id), payload)
            };
            Ok(match value::decode(slot.tag, payload)? {
                Decoded::Value(value) => (name, value.to_value(), None),
                Decoded::Symbol(symbol) => (name, "".into(), Some(symbol)),
            })
        })
        .collect()
}
