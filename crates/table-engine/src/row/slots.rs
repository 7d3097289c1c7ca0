//! The properties of a row that has no shape: a slot for each, and their values in a heap.

use super::value::{self, Decoded};
use super::{Damaged, INLINE, LARGE, NARROW_MAX, NARROW_SLOT, SIGNED, SMALL, WIDE, WIDE_SLOT};
use crate::model::ValueRef;

/// A property's entry in the slot table. Offsets count from the start of the heap.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub id: u16,
    pub tag: u8,
    pub start: usize,
    pub(crate) end: usize,
}

impl Slot {
    /// Returns its length as stored: with a large value's checksum.
    pub(crate) fn length(&self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

/// Returns number, tag and start of the property whose slot stands first, and the slots after it.
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

/// The slots of a row in order; see [`SlotRow::slots`].
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

/// The slots of a row and its heap.
#[derive(Clone, Copy, Debug)]
pub struct SlotRow<'a> {
    /// The slots, as many as there are properties, and behind them the heap.
    body: &'a [u8],
    count: u8,
    flags: u8,
}

impl<'a> SlotRow<'a> {
    /// Slots and heap of a row with these flags and so many properties; `None` if they are cut short.
    #[inline]
    pub(super) fn new(body: &'a [u8], flags: u8, count: u8) -> Option<Self> {
        let row = Self { body, count, flags };
        (body.len() >= row.table_length()).then_some(row)
    }

    fn table_length(&self) -> usize {
        self.len() * if self.is_wide() { WIDE_SLOT } else { NARROW_SLOT }
    }

    #[inline]
    fn table(&self) -> &'a [u8] {
        self.body.get(..self.table_length()).unwrap_or_default()
    }

    #[inline]
    fn heap(&self) -> &'a [u8] {
        self.body.get(self.table_length()..).unwrap_or_default()
    }

    /// Compares every large value's checksum, and refuses slots that are not in the one form their properties have. Damage
    /// never gets past the checksums; another writer's mistake does, and bisection would read such a row wrongly.
    pub(super) fn verify_whole(&self, seed: u64) -> Result<(), Damaged> {
        const FORM: Damaged = Damaged("the row is not in the form that a writer gives it");
        let (mut last, mut end, mut wide, mut large) = (None, 0, false, false);
        for slot in self.slots() {
            let payload = self.payload(&slot, Some(seed))?;
            let name = if slot.id == INLINE { value::inline_name(payload)?.0 } else { "" };
            let place = Some((slot.id, name));
            if slot.start != end || last >= place {
                return Err(FORM);
            }
            (last, end, wide) = (place, slot.end, slot.start > NARROW_MAX);
            large |= slot.length() > SMALL;
        }
        let flags = if wide { WIDE } else { 0 } | if large { LARGE } else { 0 };
        if end == self.heap().len() && flags == self.flags & !SIGNED { Ok(()) } else { Err(FORM) }
    }

    /// Returns how many properties there are.
    #[expect(clippy::len_without_is_empty, reason = "every caller counts")]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    fn has_large(&self) -> bool {
        self.flags & LARGE != 0
    }

    fn is_wide(&self) -> bool {
        self.flags & WIDE != 0
    }

    /// Returns where the large values lie behind the header, each with its checksum.
    pub fn large(&self) -> impl Iterator<Item = (usize, usize)> {
        let heap = self.table_length();
        // Most rows say that they have none, and so their slots need not be gone through.
        let slots =
            if self.has_large() { self.slots() } else { Slots { next: None, wide: false, heap_length: 0 } };
        let large = slots.filter(|slot| slot.length() > SMALL);
        large.map(move |slot| (heap + slot.start, heap + slot.end))
    }

    /// Returns number, tag and start of the property at this place.
    fn entry(&self, index: usize) -> Option<(u16, u8, usize)> {
        let slot = if self.is_wide() { WIDE_SLOT } else { NARROW_SLOT };
        let (id, tag, start, _) = first_slot(self.table().get(index * slot..)?, self.is_wide())?;
        Some((id, tag, start))
    }

    /// Returns every property in the order of numbers.
    pub(crate) fn slots(&self) -> Slots<'a> {
        let wide = self.is_wide();
        Slots { next: first_slot(self.table(), wide), wide, heap_length: self.heap().len() }
    }

    /// The property at this place in the order of numbers.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub fn slot(&self, index: usize) -> Option<Slot> {
        let wide = self.is_wide();
        let length = if wide { WIDE_SLOT } else { NARROW_SLOT };
        let (id, tag, start, rest) = first_slot(self.table().get(index.checked_mul(length)?..)?, wide)?;
        // A value ends where the next one starts.
        let end = first_slot(rest, wide).map_or_else(|| self.heap().len(), |(_, _, start, _)| start);
        Some(Slot { id, tag, start, end })
    }

    pub(crate) fn checked_slot(&self, index: usize) -> Result<Slot, Damaged> {
        self.slot(index).ok_or(Damaged("the row is cut short"))
    }

    /// Returns the property of this number.
    pub fn find(&self, id: u16) -> Option<Slot> {
        self.slot(self.position(id)?)
    }

    /// Returns the property of this number, which may well be at this place, or one before where a property is absent.
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
        match value::decode(
            slot.tag,
            self.heap().get(slot.start..slot.end).filter(|payload| payload.len() <= SMALL)?,
        ) {
            Ok(Decoded::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns the place of the property of this number, by bisection.
    pub(crate) fn position(&self, id: u16) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
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

    /// Returns the property whose name stands in the row.
    pub fn find_inline(&self, name: &str, seed: Option<u64>) -> Result<Option<Slot>, Damaged> {
        // Those stand last.
        for index in (0..self.len()).rev() {
            let slot = self.checked_slot(index)?;
            if slot.id != INLINE {
                break;
            }
            let (found, _) = value::inline_name(self.payload(&slot, seed)?)?;
            if found == name {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Returns the stored bytes of a property, with a large value's checksum.
    pub(crate) fn stored(&self, slot: &Slot) -> Result<&'a [u8], Damaged> {
        self.heap().get(slot.start..slot.end).ok_or(Damaged("a property lies outside its row"))
    }

    /// Returns the bytes of a property; with a seed, a large one is compared with its checksum.
    #[inline]
    pub fn payload(&self, slot: &Slot, seed: Option<u64>) -> Result<&'a [u8], Damaged> {
        let stored = self.stored(slot)?;
        if stored.len() <= SMALL { Ok(stored) } else { self.large_payload(stored, seed) }
    }

    #[cold]
    fn large_payload(&self, stored: &'a [u8], seed: Option<u64>) -> Result<&'a [u8], Damaged> {
        if self.has_large() { super::large_payload(stored, seed) } else { Err(super::NOT_THE_VALUE) }
    }
}
