//! A stored row, read in place: packed, under a key, with its names as numbers. Whoever executes plans may store rows so.
//!
//! `docs/format.md` has the layout. Everything is read bytewise and lazily: a row is never decoded further than
//! asked, and bytes that are not a row give [`None`] or an error, whatever they are.

pub(crate) mod dict;
pub(crate) mod encode;
pub(crate) mod key;
pub(crate) mod kind;
pub(crate) mod named;
pub(crate) mod numbers;
pub(crate) mod partition;
pub(crate) mod row_write;
pub(crate) mod selection;
pub(crate) mod vault;
pub(crate) mod version;
pub(crate) mod view;

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, ErrorKind};
use crate::model::{Ticks, ValueRef};

pub(crate) const VERSION: u8 = 1;
/// Version, flags, number of properties, timestamp.
pub(crate) const HEADER: usize = 11;
pub(crate) const CHECKSUM: usize = 8;
/// Slots of six bytes instead of four: some value starts beyond the first 4,095 bytes.
pub(crate) const WIDE: u8 = 1;
/// Some value is larger than [`SMALL`] and carries a checksum of its own.
pub(crate) const LARGE: u8 = 2;
/// A keyed digest stands before the checksum.
pub(crate) const SIGNED: u8 = 4;
/// Bytes of a keyed digest.
pub(crate) const DIGEST: usize = 16;
pub(crate) const NARROW_SLOT: usize = 4;
pub(crate) const WIDE_SLOT: usize = 6;
/// The largest offset in a narrow slot.
pub(crate) const NARROW_MAX: usize = 0xfff;
/// The largest value that the row's own checksum covers.
pub(crate) const SMALL: usize = 256;
/// Bytes of a large value's own checksum.
pub(crate) const LARGE_CHECKSUM: usize = 4;
/// The number of a property whose name stands before its value.
pub(crate) const INLINE: u16 = 0xffff;

/// How a value is written; the numbers are the format's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    String,
    Binary,
    False,
    True,
    Int32,
    Int64,
    Double,
    DateTime,
    Guid,
    /// A string that stands in the table's dictionary.
    Symbol,
}

impl Tag {
    const ALL: [Self; 10] = [
        Self::String,
        Self::Binary,
        Self::False,
        Self::True,
        Self::Int32,
        Self::Int64,
        Self::Double,
        Self::DateTime,
        Self::Guid,
        Self::Symbol,
    ];

    #[inline]
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::String => 0,
            Self::Binary => 1,
            Self::False => 2,
            Self::True => 3,
            Self::Int32 => 4,
            Self::Int64 => 5,
            Self::Double => 6,
            Self::DateTime => 7,
            Self::Guid => 8,
            Self::Symbol => 9,
        }
    }
}

/// The seed that binds a row's checksums to its key, so that a row found under another key is refused.
pub(crate) fn key_seed(key: &[u8]) -> u64 {
    xxh3_64_with_seed(key, 0)
}

/// The checksum of a large value.
pub(crate) fn large_checksum(value: &[u8], seed: u64) -> [u8; LARGE_CHECKSUM] {
    let [a, b, c, d, ..] = xxh3_64_with_seed(value, seed).to_le_bytes();
    [a, b, c, d]
}

/// The checksum of a row: of everything before it but the large values, whose own checksums are covered.
pub(crate) fn row_checksum(row: &Row<'_>, seed: u64) -> Option<u64> {
    if !row.has_large() {
        return Some(xxh3_64_with_seed(row.covered(), seed));
    }
    let covered = row.covered();
    let heap = row.heap_start();
    let mut hash = seed;
    let mut from = 0;
    for slot in row.slots() {
        if slot.length() > SMALL {
            let end = (heap + slot.end).checked_sub(LARGE_CHECKSUM)?;
            hash = xxh3_64_with_seed(covered.get(from..heap + slot.start)?, hash);
            from = end;
        }
    }
    Some(xxh3_64_with_seed(covered.get(from..)?, hash))
}

/// One property as the slot table has it; the offsets count from the start of the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) id: u16,
    pub(crate) tag: u8,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Slot {
    /// As stored: with a large value's checksum.
    pub(crate) fn length(&self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

/// The bytes of a row; only the header has been looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    bytes: &'a [u8],
    /// The slots, as many as there are properties.
    table: &'a [u8],
    heap: &'a [u8],
    count: usize,
    flags: u8,
    timestamp: Ticks,
}

/// Number, tag and start of the property whose slot stands first, and the slots after it.
#[expect(clippy::inline_always, reason = "for each field of each row, a call costs as much as what it does")]
#[inline(always)]
fn first_slot(table: &[u8], wide: bool) -> Option<(u16, u8, usize, &[u8])> {
    if wide {
        let ([a, b, tag, c, d, e], rest) = table.split_first_chunk::<WIDE_SLOT>()?;
        let start = usize::from(*c) | usize::from(*d) << 8 | usize::from(*e) << 16;
        Some((u16::from_le_bytes([*a, *b]), *tag, start, rest))
    } else {
        let ([a, b, c, d], rest) = table.split_first_chunk::<NARROW_SLOT>()?;
        let packed = u16::from_le_bytes([*c, *d]);
        Some((u16::from_le_bytes([*a, *b]), d >> 4, usize::from(packed) & NARROW_MAX, rest))
    }
}

/// The slots of a row in order; see [`Row::slots`].
#[derive(Clone, Debug)]
pub(crate) struct Slots<'a> {
    next: Option<(u16, u8, usize, &'a [u8])>,
    wide: bool,
    heap_length: usize,
}

impl Iterator for Slots<'_> {
    type Item = Slot;

    #[inline]
    fn next(&mut self) -> Option<Slot> {
        let (id, tag, start, rest) = self.next?;
        self.next = first_slot(rest, self.wide);
        // A value ends where the next one starts.
        let end = self.next.map_or(self.heap_length, |(_, _, start, _)| start);
        Some(Slot { id, tag, start, end })
    }
}

/// The bytes are not a row, or not the row that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged(pub(crate) &'static str);

impl From<Damaged> for Error {
    #[cold]
    fn from(damaged: Damaged) -> Self {
        Self::new(ErrorKind::Corrupt).because(damaged.0)
    }
}

impl<'a> Row<'a> {
    /// Reads the header. Checksums are for [`verify`](Self::verify).
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Damaged> {
        const SHORT: Damaged = Damaged("the row is cut short");
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or(SHORT)?;
        let [version, flags, count, timestamp @ ..] = *header;
        if version != VERSION {
            return Err(Damaged("the row is of an unknown version"));
        }
        if flags & !(WIDE | LARGE | SIGNED) != 0 {
            return Err(Damaged("the row has unknown flags"));
        }
        let timestamp =
            Ticks::new(u64::from_le_bytes(timestamp)).ok_or(Damaged("the row's time is out of range"))?;
        let count = usize::from(count);
        let slots = count * if flags & WIDE == 0 { NARROW_SLOT } else { WIDE_SLOT };
        let (table, rest) = rest.split_at_checked(slots).ok_or(SHORT)?;
        let (mut heap, _) = rest.split_last_chunk::<CHECKSUM>().ok_or(SHORT)?;
        if flags & SIGNED != 0 {
            (heap, _) = heap.split_last_chunk::<DIGEST>().ok_or(SHORT)?;
        }
        Ok(Self { bytes, table, heap, count, flags, timestamp })
    }

    /// Compares the row's checksum; large values are compared when they are read.
    pub(crate) fn verify(&self, seed: u64) -> Result<(), Damaged> {
        if row_checksum(self, seed) == Some(self.checksum()) {
            Ok(())
        } else {
            Err(Damaged("the row's checksum does not fit"))
        }
    }

    /// Compares every checksum there is, and refuses a row that is not in the one form its properties have. Damage
    /// never gets past the checksums; another writer's mistake does, and bisection would read such a row wrongly.
    pub(crate) fn verify_whole(&self, seed: u64) -> Result<(), Damaged> {
        const FORM: Damaged = Damaged("the row is not in the form that a writer gives it");
        self.verify(seed)?;
        let (mut last, mut end, mut wide, mut large) = (None, 0, false, false);
        for slot in self.slots() {
            let payload = self.payload(&slot, Some(seed))?;
            let name = if slot.id == INLINE { inline_name(payload)?.0 } else { "" };
            let place = Some((slot.id, name));
            if slot.start != end || last >= place {
                return Err(FORM);
            }
            (last, end, wide) = (place, slot.end, slot.start > NARROW_MAX);
            large |= slot.length() > SMALL;
        }
        let flags = if wide { WIDE } else { 0 } | if large { LARGE } else { 0 };
        if end == self.heap.len() && flags == self.flags & !SIGNED { Ok(()) } else { Err(FORM) }
    }

    pub(crate) fn timestamp(&self) -> Ticks {
        self.timestamp
    }

    /// How many properties the row has.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn has_large(&self) -> bool {
        self.flags & LARGE != 0
    }

    /// Whether it carries a keyed digest.
    #[inline]
    pub(crate) fn is_signed(&self) -> bool {
        self.flags & SIGNED != 0
    }

    /// The keyed digest, if the row is signed.
    pub(crate) fn digest(&self) -> Option<[u8; DIGEST]> {
        self.covered().last_chunk().filter(|_| self.is_signed()).copied()
    }

    fn is_wide(&self) -> bool {
        self.flags & WIDE != 0
    }

    fn heap_start(&self) -> usize {
        HEADER + self.table.len()
    }

    /// Everything before the checksum.
    fn covered(&self) -> &'a [u8] {
        self.bytes.split_last_chunk::<CHECKSUM>().map_or(&[], |(covered, _)| covered)
    }

    /// Whether both hold the same properties in the same form, whenever they were written, signed or not.
    pub(crate) fn has_content_of(&self, other: &Row<'_>) -> bool {
        (self.flags ^ other.flags) & !SIGNED == 0 && self.table == other.table && self.heap == other.heap
    }

    /// The checksum as stored.
    pub(crate) fn checksum(&self) -> u64 {
        self.bytes.last_chunk::<CHECKSUM>().map_or(0, |sum| u64::from_le_bytes(*sum))
    }

    /// Number, tag and start of the property at this place.
    fn entry(&self, index: usize) -> Option<(u16, u8, usize)> {
        let slot = if self.is_wide() { WIDE_SLOT } else { NARROW_SLOT };
        let (id, tag, start, _) = first_slot(self.table.get(index * slot..)?, self.is_wide())?;
        Some((id, tag, start))
    }

    /// Every property in the order of numbers.
    pub(crate) fn slots(&self) -> Slots<'a> {
        let wide = self.is_wide();
        Slots { next: first_slot(self.table, wide), wide, heap_length: self.heap.len() }
    }

    /// The property at this place in the order of numbers.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn slot(&self, index: usize) -> Option<Slot> {
        let wide = self.is_wide();
        let length = if wide { WIDE_SLOT } else { NARROW_SLOT };
        let (id, tag, start, rest) = first_slot(self.table.get(index.checked_mul(length)?..)?, wide)?;
        // A value ends where the next one starts.
        let end = first_slot(rest, wide).map_or(self.heap.len(), |(_, _, start, _)| start);
        Some(Slot { id, tag, start, end })
    }

    pub(crate) fn checked_slot(&self, index: usize) -> Result<Slot, Damaged> {
        self.slot(index).ok_or(Damaged("the row is cut short"))
    }

    /// The property of this number.
    pub(crate) fn find(&self, id: u16) -> Option<Slot> {
        self.slot(self.position(id)?)
    }

    /// The property of this number, which may well be at this place, or one before where a property is absent.
    #[inline]
    pub(crate) fn find_near(&self, guess: usize, id: u16) -> Option<Slot> {
        for place in [guess, guess.wrapping_sub(1)] {
            if let Some(slot) = self.slot(place)
                && slot.id == id
            {
                return Some(slot);
            }
        }
        self.find(id)
    }

    /// What the property at this place holds, if it has this number and is small: the short way to most.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn small_at(&self, place: usize, id: u16) -> Option<ValueRef<'a>> {
        let slot = self.slot(place).filter(|slot| slot.id == id)?;
        match decode(slot.tag, self.heap.get(slot.start..slot.end).filter(|payload| payload.len() <= SMALL)?)
        {
            Ok(Decoded::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// The place of the property of this number, by bisection.
    pub(crate) fn position(&self, id: u16) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let (found, ..) = self.entry(middle)?;
            match found.cmp(&id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The property whose name stands in the row.
    pub(crate) fn find_inline(&self, name: &str, seed: Option<u64>) -> Result<Option<Slot>, Damaged> {
        // Those stand last.
        for index in (0..self.count).rev() {
            let slot = self.checked_slot(index)?;
            if slot.id != INLINE {
                break;
            }
            let (found, _) = inline_name(self.payload(&slot, seed)?)?;
            if found == name {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// The stored bytes of a property, with a large value's checksum.
    pub(crate) fn stored(&self, slot: &Slot) -> Result<&'a [u8], Damaged> {
        self.heap.get(slot.start..slot.end).ok_or(Damaged("a property lies outside its row"))
    }

    /// The bytes of a property; with a seed, a large one is compared with its checksum.
    #[inline]
    pub(crate) fn payload(&self, slot: &Slot, seed: Option<u64>) -> Result<&'a [u8], Damaged> {
        let stored = self.stored(slot)?;
        if stored.len() <= SMALL { Ok(stored) } else { self.large_payload(stored, seed) }
    }

    fn large_payload(&self, stored: &'a [u8], seed: Option<u64>) -> Result<&'a [u8], Damaged> {
        match stored.split_last_chunk::<LARGE_CHECKSUM>() {
            Some((payload, sum))
                if payload.len() > SMALL
                    && self.has_large()
                    && seed.is_none_or(|seed| large_checksum(payload, seed) == *sum) =>
            {
                Ok(payload)
            }
            _ => Err(Damaged("a property's checksum does not fit")),
        }
    }
}

/// Splits a payload into the name that stands before the value, and the value.
pub(crate) fn inline_name(payload: &[u8]) -> Result<(&str, &[u8]), Damaged> {
    const BAD: Damaged = Damaged("a property's name can't be read");
    let (length, rest) = payload.split_first_chunk::<2>().ok_or(BAD)?;
    let (name, value) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or(BAD)?;
    Ok((std::str::from_utf8(name).map_err(|_| BAD)?, value))
}

/// The value of a payload; a symbol's text is looked up by the caller.
pub(crate) enum Decoded<'a> {
    Value(ValueRef<'a>),
    Symbol(u16),
}

/// Reads a value.
#[inline(always)]
pub(crate) fn decode(tag: u8, payload: &[u8]) -> Result<Decoded<'_>, Damaged> {
    const BAD: Damaged = Damaged("a property's value can't be read");
    let tag = Tag::from_code(tag).ok_or(BAD)?;
    let value = match tag {
        Tag::String => std::str::from_utf8(payload).ok().map(ValueRef::String),
        Tag::Binary => Some(ValueRef::Binary(payload)),
        Tag::False | Tag::True => payload.is_empty().then_some(ValueRef::Boolean(tag == Tag::True)),
        Tag::Int32 => integer(payload).and_then(|v| i32::try_from(v).ok()).map(ValueRef::Int32),
        Tag::Int64 => integer(payload).map(ValueRef::Int64),
        Tag::Double => exactly(payload).map(|bytes| ValueRef::Double(f64::from_le_bytes(bytes))),
        Tag::DateTime => {
            exactly(payload).and_then(|bytes| Ticks::new(u64::from_le_bytes(bytes))).map(ValueRef::DateTime)
        }
        Tag::Guid => exactly(payload).map(|bytes| ValueRef::Guid(Uuid::from_bytes(bytes))),
        Tag::Symbol => {
            return exactly(payload).map(|bytes| Decoded::Symbol(u16::from_le_bytes(bytes))).ok_or(BAD);
        }
    };
    value.map(Decoded::Value).ok_or(BAD)
}

#[inline]
fn exactly<const N: usize>(payload: &[u8]) -> Option<[u8; N]> {
    payload.try_into().ok()
}

/// A signed integer in the fewest of 0, 1, 2, 4 and 8 bytes that hold it: in more it is refused, so that one value
/// has one form.
#[inline]
fn integer(payload: &[u8]) -> Option<i64> {
    let (value, fewest) = match *payload {
        [] => (0, true),
        [a] => (i64::from(i8::from_le_bytes([a])), a != 0),
        [a, b] => {
            let value = i16::from_le_bytes([a, b]);
            (i64::from(value), i8::try_from(value).is_err())
        }
        [a, b, c, d] => {
            let value = i32::from_le_bytes([a, b, c, d]);
            (i64::from(value), i16::try_from(value).is_err())
        }
        _ => {
            let value = i64::from_le_bytes(exactly(payload)?);
            (value, i32::try_from(value).is_err())
        }
    };
    fewest.then_some(value)
}
