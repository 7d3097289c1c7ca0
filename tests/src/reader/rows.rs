//! Keys and rows.

use std::collections::BTreeMap;

use table_core::{Ticks, Uuid, Value};

use super::bytes::{Bytes, Read, ensure, hash, text};
use super::dictionary::{Column, Dictionary};

/// A payload of more bytes has a checksum of its own.
const SMALL: usize = 256;

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// When it was written, in ticks.
    pub time: u64,
    /// 0 and 1 are of shapes, 2 has slots.
    pub form: u8,
    /// Whether any of its values has a checksum of its own.
    pub has_large: bool,
    /// Its properties by their names.
    pub properties: BTreeMap<String, Value>,
}

/// The table's number, the partition key and the row key of a stored key.
pub(super) fn key(stored: &[u8]) -> Read<(u32, String, String)> {
    let mut bytes = Bytes(stored);
    let first = bytes.u8()?;
    let more = first >> 6;
    let mut number = u32::from(first & 0x3f);
    for _ in 0..more {
        number = number << 8 | u32::from(bytes.u8()?);
    }
    let least = if more == 0 { 0 } else { 1_u32 << (8 * more - 2) };
    ensure!(number >= least, "the number {number} has more bytes than it needs: {stored:?}");
    let keys = bytes.rest();
    ensure!(keys.len() <= 1_978, "the keys have {} bytes", keys.len());
    let separator = keys.iter().position(|byte| *byte == 0).ok_or("no separator")?;
    let (partition, row) = keys.split_at(separator);
    Ok((number, key_text(partition)?, key_text(&row[1..])?))
}

/// A key as it is stored, as text again.
fn key_text(stored: &[u8]) -> Read<String> {
    let restored = stored.iter().map(|byte| match byte {
        0xee => 0xf0,
        0xef => 0xf1,
        0xf0 => 0xf2,
        0xf1 => 0xf3,
        0xf2 => 0xf4,
        0xf3 => 0xee,
        0xf4 => 0xef,
        byte => *byte,
    });
    let key = text(&restored.collect::<Vec<_>>())?;
    let forbidden = |c| matches!(c, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}');
    ensure!(!key.contains(forbidden), "{key:?} has a character that no key has");
    ensure!(key.encode_utf16().count() <= 512, "a key is too long");
    Ok(key)
}

/// The parts of a row: where the heap begins, where it ends, and where its values end.
struct Heap<'r> {
    row: &'r [u8],
    seed: u64,
    start: usize,
    end: usize,
}

impl<'r> Heap<'r> {
    /// The payloads whose ends, but for the last one, are given from the heap's start on; and the row's checksum.
    fn payloads(&self, ends: &[usize], count: usize) -> Read<Vec<&'r [u8]>> {
        let (mut sum, mut from, mut at) = (self.seed, 0, self.start);
        let mut found = Vec::new();
        for number in 0..count {
            let end = ends.get(number).map_or(self.end, |end| self.start + end);
            ensure!(
                at <= end && end <= self.end,
                "a value ends at {end}, behind {} or before {at}",
                self.end
            );
            let stored = &self.row[at..end];
            let mut payload = stored;
            if stored.len() > SMALL {
                let (value, low) = stored.split_last_chunk::<4>().ok_or("a large value has no checksum")?;
                ensure!(value.len() > SMALL, "a value of {} bytes has a checksum of its own", value.len());
                ensure!(
                    hash(value, self.seed).to_le_bytes()[..4] == *low,
                    "the checksum of a large value is another"
                );
                payload = value;
                sum = hash(&self.row[from..at], sum);
                from = end - 4;
            }
            found.push(payload);
            at = end;
        }
        ensure!(at == self.end, "{} bytes of the heap are nobody's", self.end - at);
        let covered = self.row.len() - 8;
        let expected = u64::from_le_bytes(self.row[covered..].try_into().map_err(|_| "no checksum")?);
        ensure!(hash(&self.row[from..covered], sum) == expected, "the row's checksum is another");
        Ok(found)
    }
}

impl Row {
    pub(super) fn read(key: &[u8], row: &[u8], dictionary: &Dictionary) -> Read<Self> {
        ensure!(row.len() >= 18, "a row of {} bytes", row.len());
        let mut bytes = Bytes(row);
        let word = bytes.u64()?;
        let (form, time) = ((word >> 62) as u8, word & ((1 << 62) - 1));
        ensure!(time <= Ticks::MAX.get(), "{time} is no time");
        let seed = hash(key, 0);
        match form {
            0 | 1 => shaped(row, bytes, Head { form, time, seed }, dictionary),
            2 => slots(row, bytes, time, seed, dictionary),
            _ => Err(format!("form {form}")),
        }
    }
}

/// Where the heap ends: before the digest, if there is one, and the checksum.
fn heap_end(row: &[u8], start: usize, is_signed: bool) -> Read<usize> {
    let end = row.len().checked_sub(if is_signed { 24 } else { 8 }).filter(|end| *end >= start);
    end.ok_or_else(|| "the row is too short".to_owned())
}

/// What the first bytes and the key of a row say.
struct Head {
    form: u8,
    time: u64,
    /// The hash of the key, with which the row's checksums begin.
    seed: u64,
}

fn shaped(row: &[u8], mut bytes: Bytes<'_>, head: Head, dictionary: &Dictionary) -> Read<Row> {
    let Head { form, time, seed } = head;
    let number = bytes.u16()?;
    let is_signed = number & 0x8000 != 0;
    let shape =
        dictionary.shapes.get(usize::from(number & 0x7fff)).ok_or_else(|| format!("no shape {number}"))?;
    let heap_values = shape.columns.iter().filter(|column| column.of >= 11).count();
    let said = if form == 1 { Some((bytes.u16()?, bytes.u8()?)) } else { None };
    let before = bytes.0.len();
    let optional = shape.columns.iter().filter(|column| column.is_optional).count();
    let presence = bytes.take(optional.div_ceil(8))?;
    let bit = |at: usize| presence[at / 8] >> (at % 8) & 1 != 0;
    ensure!((optional..8 * presence.len()).all(|at| !bit(at)), "presence has bits that no column has");
    let mut at = 0;
    let mut is_there = |column: &Column| {
        !column.is_optional || {
            at += 1;
            bit(at - 1)
        }
    };
    let columns: Vec<_> = shape.columns.iter().map(|column| (column, is_there(column))).collect();
    let mut properties = BTreeMap::new();
    let name = |column: &Column| dictionary.names[usize::from(column.name)].clone();
    for (column, is_there) in columns.iter().filter(|(column, _)| column.of < 11) {
        let width = [1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 16][usize::from(column.of)];
        let stored = bytes.take(width)?;
        if *is_there {
            properties.insert(name(column), fixed(column.of, stored)?);
        } else {
            ensure!(stored.iter().all(|byte| *byte == 0), "an absent value is not zeros");
        }
    }
    if let Some((length, values)) = said {
        let fits = usize::from(length) == before - bytes.0.len() && usize::from(values) == heap_values;
        ensure!(
            fits,
            "the row has {length} bytes before its ends and {values} values, which its shape has not"
        );
    }
    let mut ends = Vec::new();
    for _ in 1..heap_values {
        ends.push(if form == 0 { bytes.u8()?.into() } else { bytes.u16()?.into() });
    }
    let start = row.len() - bytes.0.len();
    let end = heap_end(row, start, is_signed)?;
    let payloads = Heap { row, seed, start, end }.payloads(&ends, heap_values)?;
    let has_large = payloads.iter().any(|payload| payload.len() > SMALL);
    let is_short = !has_large && ends.iter().all(|end| *end <= 255);
    ensure!(is_short == (form == 0), "the row has the form {form}, and would fit the other");
    let in_heap = |of| columns.iter().filter(move |(column, _)| column.of == of);
    for ((column, is_there), payload) in in_heap(11).chain(in_heap(12)).zip(payloads) {
        ensure!(*is_there || payload.is_empty(), "an absent value is not empty");
        if *is_there {
            let value =
                if column.of == 11 { Value::String(text(payload)?) } else { Value::Binary(payload.into()) };
            properties.insert(name(column), value);
        }
    }
    let symbol = dictionary.symbols[usize::from(shape.symbol)].as_str();
    properties.insert("EntityType".into(), symbol.into());
    Ok(Row { time, form, has_large, properties })
}

/// A value of fixed width.
fn fixed(of: u8, stored: &[u8]) -> Read<Value> {
    let mut bytes = Bytes(stored);
    Ok(match of {
        0 => bytes.bool()?.into(),
        1 => i32::from(bytes.array().map(i8::from_le_bytes)?).into(),
        2 => i32::from(bytes.u8()?).into(),
        3 => i32::from(bytes.array().map(i16::from_le_bytes)?).into(),
        4 => i32::from(bytes.u16()?).into(),
        5 => bytes.array().map(i32::from_le_bytes)?.into(),
        6 => i64::from(bytes.u32()?).into(),
        7 => bytes.array().map(i64::from_le_bytes)?.into(),
        8 => f64::from_bits(bytes.u64()?).into(),
        9 => Ticks::new(bytes.time()?).ok_or("no time")?.into(),
        10 => Uuid::from_bytes(bytes.array()?).into(),
        _ => return Err(format!("no value of fixed width has the type {of}")),
    })
}

fn slots(row: &[u8], mut bytes: Bytes<'_>, time: u64, seed: u64, dictionary: &Dictionary) -> Read<Row> {
    const INLINE: u16 = 0xffff;
    let (flags, count) = (bytes.u8()?, usize::from(bytes.u8()?));
    ensure!(flags & !7 == 0 && count <= 252, "the flags {flags} and {count} properties");
    let (is_wide, says_large, is_signed) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    let mut found = Vec::new();
    for _ in 0..count {
        let id = bytes.u16()?;
        let (tag, start) = if is_wide {
            let (tag, [a, b, c]) = (bytes.u8()?, bytes.array()?);
            (tag, u32::from_le_bytes([a, b, c, 0]))
        } else {
            let both = bytes.u16()?;
            ((both >> 12) as u8, u32::from(both & 0xfff))
        };
        found.push((id, tag, start as usize));
    }
    ensure!(found.first().is_none_or(|(.., start)| *start == 0), "the first value does not start the heap");
    ensure!(is_wide == found.last().is_some_and(|(.., start)| *start > 4_095), "slots of the other width");
    let start = row.len() - bytes.0.len();
    let end = heap_end(row, start, is_signed)?;
    let ends: Vec<_> = found.iter().skip(1).map(|(.., start)| *start).collect();
    let payloads = Heap { row, seed, start, end }.payloads(&ends, count)?;
    let has_large = payloads.iter().any(|payload| payload.len() > SMALL);
    ensure!(has_large == says_large, "the flag of large values is another");
    let (mut properties, mut last) = (BTreeMap::new(), None);
    for ((id, tag, _), payload) in found.into_iter().zip(payloads) {
        let mut payload = Bytes(payload);
        let name = if id == INLINE {
            ensure!(dictionary.names.len() == 60_000 && tag != 9, "a name stands in its row");
            payload.text()?
        } else {
            dictionary.names.get(usize::from(id)).ok_or_else(|| format!("no name {id}"))?.clone()
        };
        let place = Some((id, if id == INLINE { name.clone() } else { String::new() }));
        ensure!(last < place, "slots that don't rise");
        last = place;
        let value = match tag {
            9 => {
                ensure!(name == "EntityType", "a symbol under {name}");
                let number = payload.u16()?;
                payload.end("a symbol")?;
                let symbol = dictionary.symbols.get(usize::from(number));
                symbol.ok_or_else(|| format!("no symbol {number}"))?.as_str().into()
            }
            tag => tagged(tag, payload.rest())?,
        };
        ensure!(properties.insert(name.clone(), value).is_none(), "two properties are called {name}");
    }
    Ok(Row { time, form: 2, has_large, properties })
}

/// A value by its tag.
fn tagged(tag: u8, payload: &[u8]) -> Read<Value> {
    let is_empty =
        |value: bool| if payload.is_empty() { Ok(value) } else { Err("a Boolean with bytes".to_owned()) };
    Ok(match tag {
        0 => Value::String(text(payload)?),
        1 => Value::Binary(payload.into()),
        2 => is_empty(false)?.into(),
        3 => is_empty(true)?.into(),
        4 => i32::try_from(integer(payload, &[0, 1, 2, 4])?).map_err(|error| error.to_string())?.into(),
        5 => integer(payload, &[0, 1, 2, 4, 8])?.into(),
        6..=8 => {
            ensure!(
                payload.len() == [8, 8, 16][usize::from(tag) - 6],
                "{} bytes of the tag {tag}",
                payload.len()
            );
            fixed(tag + 2, payload)?
        }
        _ => return Err(format!("a value of the tag {tag}")),
    })
}

/// An integer in the fewest of so many bytes.
fn integer(payload: &[u8], lengths: &[usize]) -> Read<i64> {
    ensure!(lengths.contains(&payload.len()), "an integer of {} bytes", payload.len());
    let fill = if payload.last().is_some_and(|last| *last >= 0x80) { 0xff } else { 0 };
    let mut bytes = [fill; 8];
    bytes[..payload.len()].copy_from_slice(payload);
    let number = i64::from_le_bytes(bytes);
    let fits = |length: usize| match length {
        0 => number == 0,
        8 => true,
        length => (-(1_i64 << (8 * length - 1))..1 << (8 * length - 1)).contains(&number),
    };
    let fewest = lengths.iter().copied().find(|length| fits(*length));
    ensure!(fewest == Some(payload.len()), "{number} in {} bytes", payload.len());
    Ok(number)
}
