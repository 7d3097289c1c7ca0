//! A stored row, read in place: packed, under a key, with its names as numbers. Any backend may store rows so.
//!
//! `docs/internals/format.md` has the layout. Most rows have a [shape](shape::Shape), which the dictionary knows and which
//! says where each property lies; the others say it themselves, in slots. What the header says is read without the
//! dictionary, and so are checksums, so that a row can be verified by who knows nothing of its table.
//!
//! Everything is read bytewise and lazily: a row is never decoded further than asked, and bytes that are not a row give
//! [`None`] or an error, whatever they are.

pub mod dict;
pub mod encode;
pub mod fast_path;
pub mod key;
pub mod kind;
pub mod merge;
pub(crate) mod named;
pub(crate) mod numbers;
pub mod partition;
pub(crate) mod properties;
pub mod row_write;
pub mod selection;
pub mod shape;
pub mod shape_write;
pub(crate) mod shaped;
pub mod slots;
pub mod value;
pub mod vault;
pub mod version;
pub mod view;

use crate::hash::{xxh3_64, xxh3_64_with_seed};

use self::dict::Dict;
use self::shaped::ShapedRow;
use self::slots::SlotRow;
use crate::error::{Error, ErrorKind};
use crate::model::Ticks;

/// Time and form, and two bytes of which the form says what they are.
pub const HEADER: usize = 10;
pub const CHECKSUM: usize = 8;
/// The bits of the first word that hold the time; what is above them is the form.
const TIME: u64 = (1 << 62) - 1;
const FORM_BITS: u32 = 62;
/// A shape whose heap has ends of one byte, of two bytes; slots. The fourth form is no row's.
const NARROW_SHAPE: u64 = 0;
const WIDE_SHAPE: u64 = 1;
const SLOTS: u64 = 2;
/// On a shape's number: a keyed digest stands before the checksum.
pub(crate) const SIGNED_SHAPE: u16 = 1 << 15;
/// Slots of six bytes instead of four: some value starts beyond the first 4,095 bytes.
pub(crate) const WIDE: u8 = 1;
/// Some value is larger than [`SMALL`] and carries a checksum of its own.
pub(crate) const LARGE: u8 = 2;
/// A keyed digest stands before the checksum.
pub(crate) const SIGNED: u8 = 4;
/// Bytes of a keyed digest.
pub const DIGEST: usize = 16;
pub const NARROW_SLOT: usize = 4;
pub(crate) const WIDE_SLOT: usize = 6;
/// The largest offset in a narrow slot.
pub(crate) const NARROW_MAX: usize = 0xfff;
/// The largest value that the row's own checksum covers.
pub const SMALL: usize = 256;
/// Bytes of a large value's own checksum.
pub(crate) const LARGE_CHECKSUM: usize = 4;
/// The number of a property whose name stands before its value.
pub const INLINE: u16 = 0xffff;

const SHORT: Damaged = Damaged("the row is cut short");
const NOT_THE_VALUE: Damaged = Damaged("a property's checksum does not fit");

/// The bytes are not a row, or not the row that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged(pub &'static str);

impl From<Damaged> for Error {
    #[cold]
    fn from(damaged: Damaged) -> Self {
        Self::new(ErrorKind::Corrupt).because(damaged.0)
    }
}

/// Returns the seed that binds a row's checksums to its key, so that a row found under another key is refused.
#[inline]
pub fn key_seed(key: &[u8]) -> u64 {
    xxh3_64(key)
}

/// Returns the checksum of a large value.
pub fn large_checksum(value: &[u8], seed: u64) -> [u8; LARGE_CHECKSUM] {
    let [a, b, c, d, ..] = xxh3_64_with_seed(value, seed).to_le_bytes();
    [a, b, c, d]
}

/// Returns a large value without the checksum behind it, which is compared if there is a seed.
#[cold]
fn large_payload(stored: &[u8], seed: Option<u64>) -> Result<&[u8], Damaged> {
    match stored.split_last_chunk::<LARGE_CHECKSUM>() {
        Some((payload, sum))
            if payload.len() > SMALL && seed.is_none_or(|seed| large_checksum(payload, seed) == *sum) =>
        {
            Ok(payload)
        }
        _ => Err(NOT_THE_VALUE),
    }
}

/// Returns the checksum of a row: of everything before it but the large values, whose own checksums are covered.
pub(crate) fn row_checksum(row: &Row<'_>, seed: u64) -> Option<u64> {
    match row.body {
        Body::Shaped(shaped) if shaped.is_narrow() => Some(xxh3_64_with_seed(row.covered(), seed)),
        Body::Shaped(shaped) => hash_runs(row.covered(), shaped.large(), seed),
        Body::Slots(slots) => hash_runs(row.covered(), slots.large(), seed),
    }
}

/// Hashes what is covered without these stretches behind the header, but for the checksum at the end of each.
fn hash_runs(covered: &[u8], large: impl Iterator<Item = (usize, usize)>, seed: u64) -> Option<u64> {
    let (mut hash, mut from) = (seed, 0);
    for (start, end) in large {
        hash = xxh3_64_with_seed(covered.get(from..HEADER + start)?, hash);
        from = (HEADER + end).checked_sub(LARGE_CHECKSUM)?;
    }
    Some(xxh3_64_with_seed(covered.get(from..)?, hash))
}

/// The header of a row that has a shape, small values and no digest.
struct NarrowHead<'a> {
    timestamp: Ticks,
    shape: u16,
    /// What lies between the header and the checksum.
    body: &'a [u8],
}

impl<'a> NarrowHead<'a> {
    #[inline]
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (word, rest) = bytes.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<2>()?;
        let (body, _) = rest.split_last_chunk::<CHECKSUM>()?;
        let (word, shape) = (u64::from_le_bytes(*word), u16::from_le_bytes(*number));
        // Of form 0, the word is the time.
        let timestamp = Ticks::new(word)?;
        (word >> FORM_BITS == NARROW_SHAPE && shape & SIGNED_SHAPE == 0).then_some(Self {
            timestamp,
            shape,
            body,
        })
    }
}

/// Returns whether the bytes are those of a row of this shape whose values are all small, which carries no digest. With a key,
/// its checksum is compared too. Where it is not so, nothing is known of the row.
#[inline]
pub fn fits_fast_path(bytes: &[u8], shape: u16, key: Option<&[u8]>) -> bool {
    let is_right = |key: &[u8]| {
        bytes.split_last_chunk::<CHECKSUM>().is_some_and(|(covered, sum)| {
            xxh3_64_with_seed(covered, key_seed(key)) == u64::from_le_bytes(*sum)
        })
    };
    NarrowHead::of(bytes).is_some_and(|head| head.shape == shape) && key.is_none_or(is_right)
}

/// The bytes of a row; only the header has been looked at.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    bytes: &'a [u8],
    timestamp: Ticks,
    is_signed: bool,
    body: Body<'a>,
}

/// What a row holds, by its form.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    Shaped(ShapedRow<'a>),
    Slots(SlotRow<'a>),
}

impl<'a> Row<'a> {
    /// Reads the header. Checksums are for [`verify`](Self::verify).
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Damaged> {
        match Self::parse_plain(bytes) {
            Some(row) => Ok(row),
            None => Self::parse_any(bytes),
        }
    }

    /// Reads the header of a row as most are: with a shape, small values and no digest. `None` of any other.
    #[inline]
    pub(crate) fn parse_plain(bytes: &'a [u8]) -> Option<Self> {
        let NarrowHead { timestamp, shape, body } = NarrowHead::of(bytes)?;
        Some(Self { bytes, timestamp, is_signed: false, body: Body::Shaped(ShapedRow::narrow(shape, body)) })
    }

    #[inline(never)]
    fn parse_any(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or(SHORT)?;
        let [a, b, c, d, e, f, g, h, low, high] = *header;
        let word = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let timestamp = Ticks::new(word & TIME).ok_or(Damaged("the row's time is out of range"))?;
        let form = word >> FORM_BITS;
        let (mut rest, _) = rest.split_last_chunk::<CHECKSUM>().ok_or(SHORT)?;
        let number = u16::from_le_bytes([low, high]);
        let is_signed = if form == SLOTS { low & SIGNED != 0 } else { number & SIGNED_SHAPE != 0 };
        if is_signed {
            (rest, _) = rest.split_last_chunk::<DIGEST>().ok_or(SHORT)?;
        }
        let number = number & !SIGNED_SHAPE;
        let body = match form {
            NARROW_SHAPE => Body::Shaped(ShapedRow::narrow(number, rest)),
            WIDE_SHAPE => Body::Shaped(ShapedRow::wide(number, rest).ok_or(SHORT)?),
            SLOTS if low & !(WIDE | LARGE | SIGNED) != 0 => {
                return Err(Damaged("the row has unknown flags"));
            }
            SLOTS => Body::Slots(SlotRow::new(rest, low, high).ok_or(SHORT)?),
            _ => return Err(Damaged("the row is of an unknown form")),
        };
        Ok(Self { bytes, timestamp, is_signed, body })
    }

    /// Compares the row's checksum; large values are compared when they are read.
    #[inline]
    pub fn verify(&self, seed: u64) -> Result<(), Damaged> {
        if row_checksum(self, seed) == Some(self.checksum()) {
            Ok(())
        } else {
            Err(Damaged("the row's checksum does not fit"))
        }
    }

    /// Compares every checksum there is, and refuses a row that is not in the form which a writer gives its properties: a
    /// mistake of another writer's gets past the checksums. The dictionary must [cover](view::covers) the row.
    pub fn verify_whole(&self, seed: u64, dict: &Dict) -> Result<(), Damaged> {
        self.verify(seed)?;
        match self.body {
            Body::Slots(slots) => slots.verify_whole(seed),
            Body::Shaped(shaped) => {
                let shape = dict.shape(shaped.shape()).ok_or(shape::UNKNOWN)?;
                shaped.verify_whole(shape, seed)
            }
        }
    }

    #[inline]
    pub fn timestamp(&self) -> Ticks {
        self.timestamp
    }

    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn body(&self) -> &Body<'a> {
        &self.body
    }

    /// Returns the number of its shape, if it has one.
    #[inline]
    pub fn shape(&self) -> Option<u16> {
        match self.body {
            Body::Shaped(shaped) => Some(shaped.shape()),
            Body::Slots(_) => None,
        }
    }

    /// Returns whether the row carries a keyed digest.
    #[inline]
    pub fn is_signed(&self) -> bool {
        self.is_signed
    }

    /// Returns the keyed digest, if the row is signed.
    pub fn digest(&self) -> Option<[u8; DIGEST]> {
        self.covered().last_chunk().filter(|_| self.is_signed).copied()
    }

    /// Returns everything before the checksum.
    #[inline]
    fn covered(&self) -> &'a [u8] {
        self.bytes.split_last_chunk::<CHECKSUM>().map_or(&[], |(covered, _)| covered)
    }

    /// Returns what it holds as it is stored: all of it but time, digest and checksum.
    fn content(&self) -> (u64, [u8; 2], &'a [u8]) {
        let covered = self.covered();
        let signed = if self.is_signed { DIGEST } else { 0 };
        let content = covered.get(HEADER..covered.len().saturating_sub(signed)).unwrap_or_default();
        let (form, mut word) = match (covered.get(..8).and_then(<[u8]>::first_chunk), covered.get(8..)) {
            (Some(word), Some([low, high, ..])) => (u64::from_le_bytes(*word) >> FORM_BITS, [*low, *high]),
            _ => (0, [0; 2]),
        };
        if let Body::Slots(_) = self.body {
            word = [word[0] & !SIGNED, word[1]];
        } else {
            word = (u16::from_le_bytes(word) & !SIGNED_SHAPE).to_le_bytes();
        }
        (form, word, content)
    }

    /// Returns whether both hold the same properties in the same form, whenever they were written, signed or not.
    pub fn has_content_of(&self, other: &Row<'_>) -> bool {
        self.content() == other.content()
    }

    /// Returns the checksum as stored.
    #[inline]
    pub fn checksum(&self) -> u64 {
        self.bytes.last_chunk::<CHECKSUM>().map_or(0, |sum| u64::from_le_bytes(*sum))
    }
}

/// Returns the first word of a row: its time and its form.
fn first_word(form: u64, timestamp: Ticks) -> u64 {
    timestamp.get() | form << FORM_BITS
}

/// Sets the time of a row and its checksum; returns the checksum.
#[inline]
pub fn stamp(bytes: &mut [u8], timestamp: Ticks, seed: u64) -> u64 {
    let mut form = SLOTS;
    if let Some(at) = bytes.first_chunk_mut::<8>() {
        form = u64::from_le_bytes(*at) >> FORM_BITS;
        *at = first_word(form, timestamp).to_le_bytes();
    }
    let sum = match bytes.split_last_chunk::<CHECKSUM>() {
        // Such a row has no large value.
        Some((covered, _)) if form == NARROW_SHAPE => xxh3_64_with_seed(covered, seed),
        _ => Row::parse(bytes).ok().and_then(|row| row_checksum(&row, seed)).unwrap_or(0),
    };
    if let Some(at) = bytes.last_chunk_mut::<CHECKSUM>() {
        *at = sum.to_le_bytes();
    }
    sum
}

/// Appends a keyed digest and the room for a checksum.
fn close(out: &mut Vec<u8>, digest: Option<&[u8; DIGEST]>) {
    out.extend_from_slice(digest.map_or(&[], |digest| &digest[..]));
    out.extend_from_slice(&[0; CHECKSUM]);
}
