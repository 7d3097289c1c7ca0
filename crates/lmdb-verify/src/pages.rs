//! LMDB's pages as they lie in the map.
//!
//! Checksums of entries tell much of what is damaged, but not what is left out: a page whose number of entries is damaged
//! gives fewer, each of them right and all in order. The page itself tells it, since its entries fill it without a gap. It
//! also tells that an entry reaches beyond its page, before a read follows it there.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

use heed::types::Bytes;
use heed::{Database, Env, RoTxn};

use crate::error::{Error, Result, damaged};
use crate::fields::Fields;
use crate::header::Header;
use crate::raw_pages;

pub(crate) const BRANCH: u16 = 0x01;
pub(crate) const LEAF: u16 = 0x02;
pub(crate) const OVERFLOW: u16 = 0x04;
pub(crate) const META: u16 = 0x08;
/// A leaf of bare keys without nodes.
pub(crate) const LEAF2: u16 = 0x20;
/// The flags that say what a page is. The others are for memory: a page that is stored has none of them.
pub(crate) const KINDS: u16 = BRANCH | LEAF | OVERFLOW | META | LEAF2;

/// The value stands on pages of its own, and the node holds the first one's number.
pub(crate) const BIG_DATA: u16 = 0x01;
/// The value describes a database.
pub(crate) const SUB_DATABASE: u16 = 0x02;

/// Bytes of a page's header, before its entries' offsets or, on the first of a value's own pages, before the value.
pub const HEADER: usize = 16;
/// Bytes of an entry before its key.
const NODE: usize = 8;

/// Where the pages of an environment lie in memory.
///
/// It tells of a key or a value that LMDB gave out which page it lies on, and whether that page can be right.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    /// Address of the map.
    start: usize,
    length: usize,
    /// The size of a page, a power of two.
    page: usize,
}

impl Pages {
    /// Finds out where LMDB has mapped its file, by the place that the first key of the unnamed database has in both.
    ///
    /// The header is that of the transaction's commit, and `file` is the environment's data file, opened once more. The
    /// first leaf must be one that LMDB can read, as [`raw_pages::check_records`] makes sure of.
    ///
    /// # Safety
    ///
    /// The environment stays open as long as these pages are used, and every transaction, key and value that they are
    /// used with is of this environment.
    #[allow(
        unsafe_code,
        reason = "an environment that is closed, or another's transaction, leads to unmapped memory"
    )]
    pub unsafe fn find<T>(
        env: &Env<T>,
        txn: &RoTxn<'_>,
        main: Database<'_, Bytes, Bytes>,
        header: &Header,
        file: &mut File,
    ) -> Result<Self> {
        let differs = || Error::file("is damaged: what is mapped is not what the file holds");
        if !is_mapped(env, file)? {
            return Err(differs());
        }
        let Some((key, _)) = main.first(txn).map_err(Error::lmdb)? else { return Err(differs()) };
        let (number, bytes) = raw_pages::first_leaf(file, header)?;
        let page = bytes.len();
        let address = key.as_ptr().addr();
        let before = usize::try_from(number).ok().and_then(|number| number.checked_mul(page));
        let start = before.and_then(|before| (address & !(page - 1)).checked_sub(before));
        let found = start.map(|start| Self::at(start, env.info().map_size, page));
        // The address was LMDB's, so the page can be looked at; it must be the one in the file.
        found.filter(|found| found.of(key) == Some(&*bytes)).ok_or_else(differs)
    }

    /// Returns the pages of a map that starts at this address, has so many bytes, and pages of this size: a power of
    /// two.
    pub(crate) fn at(start: usize, length: usize, page: usize) -> Self {
        Self { start, length, page }
    }

    /// Returns the page that a key or a value of a read transaction lies in.
    #[allow(unsafe_code, reason = "heed gives out keys and values, and not the pages they lie in")]
    #[inline]
    pub fn of<'t>(&self, bytes: &'t [u8]) -> Option<&'t [u8]> {
        let page = self.place(bytes);
        if !(self.start..self.start + self.length).contains(&page) {
            return None;
        }
        let page = std::ptr::with_exposed_provenance(page);
        // SAFETY: The address lies in the map, which starts with a page and has whole pages, so all of this page does.
        // The map is LMDB's and foreign to Rust, hence exposed. It stays as long as the environment, and so as long as
        // `bytes`, which LMDB gave out for it, as was promised to `find`. Without `WRITE_MAP` nothing is written through it, and a page that a
        // transaction reads is not written at all while the transaction lives; what LMDB keeps of a page while it
        // changes it lies elsewhere, and is not in the map.
        Some(unsafe { std::slice::from_raw_parts(page, self.page) })
    }

    /// Returns the number of the page that a key or a value lies in, unless it lies elsewhere than in the map.
    #[inline]
    pub fn number(&self, bytes: &[u8]) -> Option<u64> {
        let place = self.place(bytes).checked_sub(self.start).filter(|place| *place < self.length)?;
        u64::try_from(place / self.page).ok()
    }

    /// Returns whether the page that a key or a value lies in says that it is the one of its place. LMDB goes by what
    /// it says.
    #[inline]
    pub fn is_own(&self, bytes: &[u8]) -> bool {
        let own = self.of(bytes).and_then(|page| Fields(page).u64());
        own.is_some() && own == self.number(bytes)
    }

    /// Returns the size of a page, in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.page
    }

    /// Returns so many bytes from the page of this number on; `None` unless they end within the first `file` bytes.
    #[allow(unsafe_code, reason = "heed gives out keys and values, and no pages")]
    #[inline]
    pub(crate) fn span<'t>(
        &self,
        _txn: &'t RoTxn<'_>,
        number: u64,
        length: usize,
        file: u64,
    ) -> Option<&'t [u8]> {
        let from = usize::try_from(number).ok()?.checked_mul(self.page)?;
        let end = from.checked_add(length)?;
        if end > self.length || u64::try_from(end).ok()? > file {
            return None;
        }
        let first = std::ptr::with_exposed_provenance(self.start + from);
        // SAFETY: The bytes lie in the map, and in the file, which never becomes shorter, so none of them is missing.
        // The map is LMDB's and foreign to Rust, hence exposed; the environment keeps it, and the transaction, which is
        // one of it as was promised to `find`, keeps the environment. Nothing is written through it, and what a transaction reads is not written at all while the
        // transaction lives; the header's two pages are asked for under the write lock alone, while no commit runs. A
        // number that a damaged page gives may lead to a page that LMDB is about to take, as it may lead LMDB itself
        // there; whatever bytes are found, each is a `u8`, and nothing that they say is believed.
        Some(unsafe { std::slice::from_raw_parts(first, length) })
    }

    /// Returns the address of the page that a key or a value lies in: to compare.
    #[inline]
    pub fn place(&self, bytes: &[u8]) -> usize {
        bytes.as_ptr().addr() & !(self.page - 1)
    }

    /// Checks the leaf that an entry lies in. One that a write transaction has changed does not lie in the map.
    #[inline]
    pub fn check_leaf(&self, entry: &[u8]) -> Result<()> {
        if self.of(entry).is_none_or(is_whole) { Ok(()) } else { Err(damaged()) }
    }

    /// Checks that a value lies in its page, or in the pages of its own, before it is read.
    #[inline]
    pub fn check_value(&self, value: &[u8]) -> Result<()> {
        let offset = value.as_ptr().addr() - self.place(value);
        // In a leaf, no value stands so near the start.
        let room = if offset == HEADER {
            self.of(value).and_then(run).and_then(|pages| pages.checked_mul(self.page))
        } else {
            Some(self.page)
        };
        if room.is_some_and(|room| offset + value.len() <= room) { Ok(()) } else { Err(damaged()) }
    }

    /// Checks a value as [`check_value`](Self::check_value) does, and returns whether it has more pages of its own than
    /// it takes.
    #[inline]
    pub fn has_spare(&self, value: &[u8]) -> Result<bool> {
        if value.as_ptr().addr() - self.place(value) != HEADER {
            return Ok(false);
        }
        let Some(first) = self.of(value) else { return Ok(false) };
        self.check_value(value)?;
        Ok(run(first).is_some_and(|pages| pages > (HEADER + value.len()).div_ceil(self.page)))
    }

    /// Returns the numbers of the pages that a value has of its own, as the first of them says.
    pub(crate) fn run_of(&self, value: &[u8]) -> Range<u64> {
        let pages = self.of(value).and_then(run).and_then(|pages| u64::try_from(pages).ok());
        let first = self.number(value).unwrap_or_default();
        first..first.saturating_add(pages.unwrap_or_default())
    }
}

/// Returns how many pages a value has of its own, by the first of them.
pub(crate) fn run(first: &[u8]) -> Option<usize> {
    let mut fields = Fields(first);
    fields.bytes(10)?;
    let (flags, pages) = (fields.u16()?, fields.u32()?);
    usize::try_from(pages).ok().filter(|_| flags == OVERFLOW)
}

/// Returns whether a page is a leaf that its entries fill, from the lowest to the end of the page.
pub(crate) fn is_whole(page: &[u8]) -> bool {
    is_filled(page, LEAF, |node| {
        // A value with pages of its own leaves their number here.
        if node >> 32 & u64::from(BIG_DATA) == 0 {
            usize::try_from(node & u64::from(u32::MAX)).ok()
        } else {
            Some(size_of::<u64>())
        }
    })
}

/// Returns whether a page is a branch that its entries fill, from the lowest to the end of the page.
pub(crate) fn is_whole_branch(page: &[u8]) -> bool {
    is_filled(page, BRANCH, |_| Some(0))
}

/// Returns whether a page is of a kind and filled by its entries. `value` gives the bytes of an entry's value by its
/// header.
#[inline]
fn is_filled(page: &[u8], kind: u16, value: impl Fn(u64) -> Option<usize>) -> bool {
    let filled = || {
        let mut fields = Fields(page);
        fields.bytes(10)?;
        let (flags, lower, upper) = (fields.u16()?, usize::from(fields.u16()?), usize::from(fields.u16()?));
        if flags != kind || lower > upper || upper > page.len() {
            return None;
        }
        let offsets = page.get(HEADER..lower)?.as_chunks::<2>();
        // Entries that lie side by side have these sums; with one of them elsewhere, or left out, one of the two is
        // another. All start at even places.
        let (mut length, mut squares, mut starts) = (0, 0, 0);
        for offset in offsets.0 {
            let start = usize::from(u16::from_le_bytes(*offset));
            let node = u64::from_le_bytes(*page.get(start..start + NODE)?.first_chunk()?);
            let key = usize::try_from(node >> 48).ok()?;
            // Of two bytes, of two and of four: their sum is no large number.
            let end = (start + NODE + key + value(node)? + 1) & !1;
            if end > page.len() {
                return None;
            }
            length += end - start;
            squares += (end - start) * (end + start);
            starts |= start;
        }
        let fills = length == page.len() - upper && squares == page.len() * page.len() - upper * upper;
        (offsets.1.is_empty() && fills && starts % 2 == 0).then_some(())
    };
    filled().is_some()
}

/// Returns whether a file is the one that an environment has mapped.
fn is_mapped<T>(env: &Env<T>, file: &File) -> Result<bool> {
    let mapped = env.try_clone_inner_file().map_err(Error::lmdb)?;
    let identity = |file: &File| file.metadata().map(|found| (found.dev(), found.ino()));
    Ok(identity(&mapped).map_err(Error::unread)? == identity(file).map_err(Error::unread)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;

    /// A leaf with entries of different lengths, some changed and some gone.
    fn leaf() -> Vec<u8> {
        let scratch = Scratch::new();
        let value = |length: usize| vec![b'x'; length];
        for row in 0..20 {
            scratch.put(format!("row {:02}", row * 7 % 20).as_bytes(), &value(17 + row * 5));
        }
        scratch.delete(b"row 07");
        scratch.put(b"row 03", &value(61));
        scratch.put(b"large", &value(9_000));
        let txn = scratch.read_txn();
        let (key, value) = scratch.data.first(&txn).unwrap().unwrap();
        let pages = scratch.reader.pages();
        pages.check_leaf(key).unwrap();
        pages.check_value(value).unwrap();
        pages.of(key).unwrap().to_vec()
    }

    #[test]
    fn a_leaf_is_whole_until_a_bit_of_its_structure_flips() {
        let page = leaf();
        assert!(is_whole(&page));
        let at = |at: usize| usize::from(u16::from_le_bytes([page[at], page[at + 1]]));
        let (lower, upper) = (at(12), at(14));
        let mut structure: Vec<usize> = (12..lower).collect();
        for offset in (HEADER..lower).step_by(2) {
            // Sizes of the value and of the key, and the flag that says where the value is.
            structure.extend((at(offset)..at(offset) + 5).chain(at(offset) + 6..at(offset) + 8));
        }
        assert!((lower - HEADER) / 2 == 20 && upper > lower);
        for at in structure {
            for bit in 0..8 {
                let mut flipped = page.clone();
                flipped[at] ^= 1 << bit;
                let unused = at >= HEADER && !(HEADER..lower).contains(&at) && is_unused(&page, at, bit);
                assert!(!is_whole(&flipped) || unused, "byte {at}, bit {bit}");
            }
        }
    }

    /// Whether a flip of this bit changes nothing that LMDB goes by: it rounds lengths up, forgets the value's length
    /// where it stands elsewhere, and has flags that say nothing of a length.
    fn is_unused(page: &[u8], at: usize, bit: u32) -> bool {
        let lower = usize::from(u16::from_le_bytes([page[12], page[13]]));
        let starts = page[HEADER..lower].chunks(2).map(|o| usize::from(u16::from_le_bytes([o[0], o[1]])));
        let start = starts.filter(|start| *start <= at).max().unwrap();
        let large = page[start + 4] & 1 != 0;
        match at - start {
            0 | 6 if bit == 0 => true,
            0..4 => large,
            4 => bit != 0,
            _ => false,
        }
    }
}
