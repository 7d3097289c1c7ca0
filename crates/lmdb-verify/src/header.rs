//! LMDB's two header pages, read from the file and not through the map.
//!
//! LMDB believes its header: it maps what the header says there is, and a page past the end of the file kills the
//! process that touches it. So the header is read first, and what can be known from it is checked.
//!
//! The layout is that of LMDB 0.9's data format 1 on a 64-bit little-endian machine: LMDB writes its words as the machine has
//! them, and this crate compiles for no other machine.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::error::{Cause, Error, Foreign, Result};
use crate::fields::Fields;

const MAGIC: u32 = 0xbeef_c0de;
const FORMAT: u32 = 1;
/// Page header, then magic, version, address, map size, two databases, last page, transaction.
const META_BYTES: usize = 16 + 4 + 4 + 8 + 8 + 48 + 48 + 8 + 8;
/// The flag of a header page.
const META: u16 = 0x08;
/// Bytes of the description of a tree.
pub const TREE: usize = 48;
/// The root of a database that holds nothing.
const NO_PAGE: u64 = u64::MAX;

/// A commit, as its meta page describes it: where its trees start, and how many pages it has.
///
/// LMDB keeps two, the first pages of the file, and each commit overwrites the older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a page: a power of two.
    pub page_size: u64,
    /// Bytes that the file may grow to, as the last writers were told.
    pub map_size: u64,
    /// The last page that any commit has used. It may be free, and then the file may end before it.
    pub last_page: u64,
    /// The commit's number.
    pub transaction: u64,
    /// Where the list of free pages starts, unless it is empty.
    pub free_root: Option<u64>,
    /// Where the unnamed database starts, unless it is empty.
    pub main_root: Option<u64>,
    /// LMDB's descriptions of these two trees. The next commit but one overwrites the header page, so they can't be read
    /// again.
    pub trees: [[u8; TREE]; 2],
}

impl Header {
    /// Reads both pages and takes the newer one, as LMDB does.
    pub fn read(file: &mut (impl Read + Seek)) -> Result<Self> {
        Self::read_both(file).map(|(newer, _)| newer)
    }

    /// Reads both pages, the newer one first.
    pub fn read_both(file: &mut (impl Read + Seek)) -> Result<(Self, Self)> {
        let length = file.seek(SeekFrom::End(0)).map_err(Error::unread)?;
        if length == 0 {
            return Err(Cause::Foreign(Foreign::Empty).into());
        }
        let mut first = Self::read_one(file, 0)?;
        let mut second = Self::read_one(file, first.page_size)?;
        // Commits follow one another. Two pages that don't may have been read during a commit.
        while first.transaction.abs_diff(second.transaction) != 1
            && (first.transaction, second.transaction) != (0, 0)
        {
            let before = (first, second);
            first = Self::read_one(file, 0)?;
            second = Self::read_one(file, first.page_size)?;
            if (first, second) == before {
                return Err(Error::file(format!(
                    "is damaged: its header pages are of commits {} and {}, which don't follow one another",
                    first.transaction, second.transaction
                )));
            }
        }
        if first.page_size != second.page_size {
            return Err(Error::file("is damaged: its two header pages give different page sizes"));
        }
        let is_second = first.transaction < second.transaction;
        let (newer, older) = if is_second { (second, first) } else { (first, second) };
        // Commits alternate between the pages; LMDB finds a commit's page by its number.
        let (even, parity) = (newer == first, newer.transaction % 2);
        if even != (parity == 0) {
            return Err(Error::file("is damaged: its newest commit stands on the wrong header page"));
        }
        Ok((newer, older))
    }

    /// Reads the page of this very commit; `None` if another one has it by now.
    pub fn of_commit(
        file: &mut (impl Read + Seek),
        page_size: u64,
        transaction: u64,
    ) -> Result<Option<Self>> {
        let offset = transaction % 2 * page_size;
        let header = Self::read_one(file, offset)?;
        if header.transaction != transaction {
            return Ok(None);
        }
        // A process may be writing it, the number last: when it is read again, the write is done.
        Ok((Self::read_one(file, offset)? == header).then_some(header))
    }

    /// Returns how many bytes the file has if it is whole.
    pub fn bytes(&self) -> u64 {
        // Checked when the page was read.
        (self.last_page + 1) * self.page_size
    }

    /// Gives a copy that LMDB has numbered anew, and that no other process has open, this number. A commit's page
    /// follows from its number, and the other one's is the number before.
    pub fn renumber(&self, file: &mut (impl Read + Write + Seek), transaction: u64) -> io::Result<()> {
        let mut read = |page: u64| {
            let mut bytes = [0; META_BYTES];
            file.seek(SeekFrom::Start(page * self.page_size))?;
            file.read_exact(&mut bytes).map(|()| bytes)
        };
        let (newest, other) = (read(self.transaction % 2)?, read((self.transaction + 1) % 2)?);
        for (page, mut bytes, transaction) in [
            (transaction % 2, newest, transaction),
            ((transaction + 1) % 2, other, transaction.saturating_sub(1)),
        ] {
            if let Some(number) = bytes.first_chunk_mut() {
                *number = page.to_le_bytes();
            }
            if let Some(last) = bytes.last_chunk_mut() {
                *last = transaction.to_le_bytes();
            }
            file.seek(SeekFrom::Start(page * self.page_size))?;
            file.write_all(&bytes)?;
        }
        Ok(())
    }

    fn read_one(file: &mut (impl Read + Seek), offset: u64) -> Result<Self> {
        let mut page = Vec::with_capacity(META_BYTES);
        file.seek(SeekFrom::Start(offset)).map_err(Error::unread)?;
        file.take(u64::try_from(META_BYTES).unwrap_or_default())
            .read_to_end(&mut page)
            .map_err(Error::unread)?;
        let parsed = Self::parse(&page);
        if offset > 0 {
            // The first page was LMDB's, so this file is, and damaged.
            return parsed.ok().flatten().ok_or_else(|| {
                Error::file(if page.len() < META_BYTES {
                    "is cut off within its header; restore it from a copy"
                } else {
                    "is damaged: its second header page is none"
                })
            });
        }
        parsed?.ok_or_else(|| Cause::Foreign(Foreign::NotLmdb).into())
    }

    /// Parses a page; `None` if it is no header page, an error if it is one that can't be used.
    pub(crate) fn parse(page: &[u8]) -> Result<Option<Self>> {
        let mut fields = Fields(page);
        let Some((flags, magic, version)) = (|| {
            fields.bytes(8 + 2)?;
            let flags = fields.u16()?;
            fields.bytes(4)?;
            Some((flags, fields.u32()?, fields.u32()?))
        })() else {
            return Ok(None);
        };
        if magic != MAGIC || flags & META == 0 {
            return Ok(None);
        }
        if version != FORMAT {
            return Err(Cause::Foreign(Foreign::Format(version)).into());
        }
        let rest = (|| {
            fields.bytes(8)?;
            let map_size = fields.u64()?;
            let trees = [*fields.bytes(TREE)?.first_chunk()?, *fields.bytes(TREE)?.first_chunk()?];
            let (last_page, transaction) = (fields.u64()?, fields.u64()?);
            // The list of free pages, which has no name, has the size of pages in the place of its padding.
            let page_size = u64::from(Fields(&trees[0]).u32()?);
            let root = |tree: &[u8; TREE]| {
                let root = tree.last_chunk().copied().map(u64::from_le_bytes)?;
                Some((root != NO_PAGE).then_some(root))
            };
            let (free_root, main_root) = (root(&trees[0])?, root(&trees[1])?);
            Some(Self { page_size, map_size, last_page, transaction, free_root, main_root, trees })
        })();
        let Some(header) = rest else {
            return Err(Error::file("is cut off within its header; restore it from a copy"));
        };
        if !header.page_size.is_power_of_two() || !(512..=65_536).contains(&header.page_size) {
            return Err(Error::file(format!("is damaged: its pages have {} bytes", header.page_size)));
        }
        // With some, LMDB does not find the entries that were written.
        if header.trees[1].get(4..6) != Some(&[0, 0][..]) {
            return Err(Error::file("is damaged: its main database has flags that it never had"));
        }
        let bytes = header.last_page.checked_add(1).and_then(|pages| pages.checked_mul(header.page_size));
        // LMDB takes no page past its map, and notes the size of the largest.
        if header.last_page == 0
            || bytes.is_none_or(|bytes| bytes > header.map_size || isize::try_from(bytes).is_err())
        {
            return Err(Error::file(format!(
                "is damaged: its last page is number {}, and it may grow to {} bytes",
                header.last_page, header.map_size
            )));
        }
        Ok(Some(header))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    /// Both header pages of a new, empty reader, the second newer by one commit if `transaction` is odd.
    fn headers(page_size: u32, last_page: u64, transaction: u64) -> Vec<u8> {
        let page = |number: u64, transaction: u64| {
            let mut page = Vec::new();
            page.extend(number.to_le_bytes());
            page.extend([0, 0, 8, 0, 0, 0, 0, 0]);
            page.extend(MAGIC.to_le_bytes());
            page.extend(FORMAT.to_le_bytes());
            page.extend([0; 8]);
            page.extend((1_u64 << 30).to_le_bytes());
            page.extend(page_size.to_le_bytes());
            page.extend([0; 36]);
            page.extend(NO_PAGE.to_le_bytes());
            page.extend([0; 40]);
            page.extend(7_u64.to_le_bytes());
            page.extend(last_page.to_le_bytes());
            page.extend(transaction.to_le_bytes());
            page.resize(usize::try_from(page_size).unwrap(), 0);
            page
        };
        [page(0, transaction & !1), page(1, transaction.saturating_sub(1) | 1)].concat()
    }

    fn read(bytes: &[u8]) -> Result<Header> {
        Header::read(&mut Cursor::new(bytes))
    }

    #[test]
    fn the_newer_page_is_taken() {
        for (transaction, newest) in [(4, 4), (5, 5)] {
            let header = read(&headers(4_096, 9, transaction)).unwrap();
            assert_eq!((header.transaction, header.page_size, header.last_page), (newest, 4_096, 9));
            assert_eq!((header.free_root, header.main_root), (None, Some(7)));
            assert_eq!(header.bytes(), 40_960);
        }
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let good = headers(4_096, 9, 4);
        let with = |at: usize, bytes: &[u8]| {
            let mut file = good.clone();
            file[at..at + bytes.len()].copy_from_slice(bytes);
            file
        };
        for (file, is_foreign, text) in [
            (Vec::new(), true, "is empty"),
            (b"PK".to_vec(), true, "not a file of LMDB"),
            (vec![0; 65_536], true, "not a file of LMDB"),
            (with(16, &[0]), true, "not a file of LMDB"),
            (with(20, &[2]), true, "data format 2"),
            (with(40, &[1]), false, "4097 bytes"),
            (with(92, &[32]), false, "flags that it never had"),
            (with(4_096 + 93, &[64]), false, "second header page is none"),
            (with(40, &[0, 0, 0, 1]), false, "16777216 bytes"),
            (with(4_096 + 16, &[0]), false, "second header page"),
            (with(136, &[0xff; 8]), false, "last page"),
            (with(136, &[0; 8]), false, "last page"),
            (with(144, &[7]), false, "don't follow one another"),
            (good[..100].to_vec(), false, "cut off"),
            (good[..4_096].to_vec(), false, "cut off"),
            (good[..4_200].to_vec(), false, "cut off"),
        ] {
            let error = read(&file).unwrap_err();
            assert_eq!(matches!(error.cause(), Cause::Foreign(_)), is_foreign, "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn a_flipped_bit_hardly_ever_makes_the_older_commit_the_newest() {
        for transaction in [4, 5] {
            let good = headers(4_096, 9, transaction);
            let flips = [0, 4_096].into_iter().flat_map(|page| (0..64).map(move |bit| (page, bit)));
            let taken: Vec<_> = flips
                .filter_map(|(page, bit)| {
                    let mut file = good.clone();
                    file[page + 144 + bit / 8] ^= 1 << (bit % 8);
                    read(&file).ok().map(|header| header.transaction)
                })
                .collect();
            // Commit 4 may become 6, which may follow on 5.
            assert_eq!(taken, if transaction == 5 { vec![6] } else { vec![] });
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_a_header_or_an_error(
            page_size in prop_oneof![Just(512_u32), Just(4_096)],
            damage in proptest::collection::vec((0_usize..1_024, any::<u8>()), 0..20),
            length in 0_usize..1_024,
        ) {
            let mut file = headers(page_size, 9, 4);
            for (at, byte) in damage {
                file[at] = byte;
            }
            let whole = read(&file);
            prop_assert!(whole.is_err() || whole.is_ok_and(|header| header.bytes() > 0));
            prop_assert!(read(&file[..length.min(512)]).is_err());
        }
    }
}
