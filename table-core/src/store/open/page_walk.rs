//! Whether every page that a store can reach lies within its file.
//!
//! A file may rightly be shorter than its header says: LMDB does not write pages that a transaction took and gave
//! back. It may also have been cut off, by a failing disk or a copy that broke off. Only a walk over the pages that
//! are in use can tell, and it reads the file, since a touch through the map would kill the process.
//!
//! Nothing that is read is believed: a page is visited once, so no cycle holds the walk up, and every offset is
//! checked against its page.

use std::io::{self, Read, Seek, SeekFrom};

use super::header::{Flaw, Header};
use crate::store::lmdb::fields::Fields;
use crate::store::lmdb::pages::{BIG_DATA, BRANCH, KINDS, LEAF, LEAF2, OVERFLOW, SUB_DATABASE};

mod free;
mod full;

pub(super) use self::free::{each_freed, free_pages};
pub(super) use self::full::verify;

const PAGE_HEADER: u64 = 16;
/// Deeper trees LMDB itself can't follow.
pub(super) const DEEPEST: u32 = 32;
/// Pages 0 and 1 are the header's.
pub(super) const FIRST_PAGE: u64 = 2;

/// Walks everything that the header's commit can reach, and says how many pages that is.
pub(super) fn reachable(file: &mut (impl Read + Seek), header: &Header, length: u64) -> Result<u32, Flaw> {
    let pages = length / header.page_size;
    let words =
        usize::try_from(pages / 64 + 1).map_err(|_| Flaw::corrupt("has more pages than can be walked"))?;
    let page_size = usize::try_from(header.page_size).unwrap_or_default();
    let mut walk = PageWalk { header, pages, seen: vec![0; words], pending: Vec::new() };
    for root in [header.free_root, header.main_root].into_iter().flatten() {
        walk.visit(root, 0)?;
    }
    let mut page = vec![0; page_size];
    while let Some((number, depth)) = walk.pending.pop() {
        read_at(file, number * header.page_size, &mut page)?;
        walk.page(file, number, depth, &page)?;
    }
    Ok(walk.seen.iter().map(|word| word.count_ones()).sum())
}

/// The first leaf of the unnamed database: its number and its bytes.
pub(super) fn first_leaf(file: &mut (impl Read + Seek), header: &Header) -> Result<(u64, Vec<u8>), Flaw> {
    let damaged = || Flaw::corrupt("is damaged: the way to the store's own record leads nowhere");
    let mut page = vec![0; usize::try_from(header.page_size).map_err(|_| damaged())?];
    let mut number = header.main_root.ok_or_else(damaged)?;
    for _ in 0..DEEPEST {
        if !(FIRST_PAGE..=header.last_page).contains(&number) {
            return Err(damaged());
        }
        read_at(file, number * header.page_size, &mut page)?;
        let (kind, _) = page_head(&page, number).ok_or_else(damaged)?;
        if kind == LEAF {
            return Ok((number, page));
        }
        let offset = page.get(16..).and_then(|offsets| Fields(offsets).u16()).filter(|_| kind == BRANCH);
        let first = offset.and_then(|offset| Node::parse(page.get(usize::from(offset)..)?));
        number = first.ok_or_else(damaged)?.child();
    }
    Err(damaged())
}

/// A page, as it lies in the file.
#[cfg(feature = "encrypt")]
pub(super) fn read_page(
    file: &mut (impl Read + Seek),
    header: &Header,
    number: u64,
) -> Result<Vec<u8>, Flaw> {
    let mut page = vec![0; usize::try_from(header.page_size).unwrap_or_default()];
    read_at(file, number.saturating_mul(header.page_size), &mut page)?;
    Ok(page)
}

/// The pages below a branch; none of any other page.
#[cfg(feature = "encrypt")]
pub(super) fn children(page: &[u8]) -> Option<Vec<u64>> {
    let (kind, lower) = page_head(page, Fields(page).u64()?)?;
    if kind != BRANCH {
        return Some(Vec::new());
    }
    let offsets = page.get(16..usize::from(lower))?.as_chunks::<2>().0;
    let child = |offset: &[u8; 2]| {
        let start = usize::from(u16::from_le_bytes(*offset));
        page.get(start..).and_then(Node::parse).map(|node| node.child())
    };
    offsets.iter().map(child).collect()
}

/// The value of a leaf's first entry, if it stands on the leaf.
pub(super) fn first_value(leaf: &[u8]) -> Option<&[u8]> {
    let offset = Fields(leaf.get(16..)?).u16()?;
    let node = Node::parse(leaf.get(usize::from(offset)..)?).filter(|node| node.flags == 0)?;
    node.data.get(..usize::try_from(node.size).ok()?)
}

fn read_at(file: &mut (impl Read + Seek), offset: u64, out: &mut [u8]) -> Result<(), Flaw> {
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(out)).map_err(|error| {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Flaw::corrupt("became shorter while it was read"),
            _ => Flaw::Unread(error),
        }
    })
}

struct PageWalk<'h> {
    header: &'h Header,
    /// Whole pages in the file.
    pages: u64,
    /// A bit for every page in the file.
    seen: Vec<u64>,
    /// Pages to read, each with its depth in its tree. At most as many as the file has.
    pending: Vec<(u64, u32)>,
}

impl PageWalk<'_> {
    /// Puts a page of a tree on the list.
    fn visit(&mut self, number: u64, depth: u32) -> Result<(), Flaw> {
        self.claim(number, 1)?;
        if depth >= DEEPEST {
            return Err(Flaw::corrupt(format!("is damaged: page {number} lies deeper than any tree")));
        }
        self.pending.push((number, depth));
        Ok(())
    }

    /// Marks a run of pages as used by what is being read now, and by nothing else.
    fn claim(&mut self, first: u64, count: u64) -> Result<(), Flaw> {
        let end =
            first.checked_add(count).filter(|end| first >= FIRST_PAGE && *end <= self.header.last_page + 1);
        let Some(end) = end else {
            return Err(Flaw::corrupt(format!(
                "is damaged: it refers to {count} pages from {first}, and its last page is number {}",
                self.header.last_page
            )));
        };
        if end > self.pages {
            return Err(Flaw::corrupt(format!(
                "is shorter than its data: page {} is in use, and the file ends after {} of {} pages; \
                 restore it from a copy",
                end - 1,
                self.pages,
                self.header.last_page + 1
            )));
        }
        for number in first..end {
            let bit = 1 << (number % 64);
            match usize::try_from(number / 64).ok().and_then(|word| self.seen.get_mut(word)) {
                Some(word) if *word & bit == 0 => *word |= bit,
                _ => return Err(Flaw::corrupt(format!("is damaged: page {number} is used twice"))),
            }
        }
        Ok(())
    }

    /// Lists what a page refers to.
    fn page(
        &mut self,
        file: &mut (impl Read + Seek),
        number: u64,
        depth: u32,
        page: &[u8],
    ) -> Result<(), Flaw> {
        let damaged = || Flaw::corrupt(format!("is damaged: page {number} is not a page of a tree"));
        let (kind, lower) = page_head(page, number).ok_or_else(damaged)?;
        match kind {
            BRANCH | LEAF => {}
            // Bare keys refer to nothing.
            _ if kind == LEAF | LEAF2 => return Ok(()),
            _ => return Err(damaged()),
        }
        let offsets = page.get(16..usize::from(lower)).ok_or_else(damaged)?;
        for offset in offsets.chunks_exact(2) {
            let offset = Fields(offset).u16().filter(|offset| *offset >= lower).ok_or_else(damaged)?;
            let node = page.get(usize::from(offset)..).and_then(Node::parse).ok_or_else(damaged)?;
            if kind == BRANCH {
                self.visit(node.child(), depth + 1)?;
            } else if node.flags & BIG_DATA != 0 {
                let first = Fields(node.data).u64().ok_or_else(damaged)?;
                self.run(file, first, u64::from(node.size))?;
            } else {
                let size = usize::try_from(node.size).map_err(|_| damaged())?;
                let data = node.data.get(..size).ok_or_else(damaged)?;
                if node.flags & SUB_DATABASE != 0 {
                    let root = sub_database_root(data).ok_or_else(damaged)?;
                    if root != u64::MAX {
                        self.visit(root, 0)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The pages of a value of `size` bytes.
    fn run(&mut self, file: &mut (impl Read + Seek), first: u64, size: u64) -> Result<(), Flaw> {
        let needed = (PAGE_HEADER - 1 + size) / self.header.page_size + 1;
        self.claim(first, needed)?;
        let mut head = [0; 16];
        read_at(file, first * self.header.page_size, &mut head)?;
        let damaged = || Flaw::corrupt(format!("is damaged: page {first} does not start a value"));
        let (kind, _) = page_head(&head, first).ok_or_else(damaged)?;
        let pages = head.last_chunk().copied().map(u32::from_le_bytes).map_or(0, u64::from);
        // A value that shrank in place keeps its pages.
        let more = pages.checked_sub(needed).filter(|_| kind == OVERFLOW).ok_or_else(damaged)?;
        self.claim(first + needed, more)
    }
}

/// What a page is, and where its list of nodes ends, if it is the page of this number.
fn page_head(page: &[u8], number: u64) -> Option<(u16, u16)> {
    let mut fields = Fields(page);
    let is = fields.u64()?;
    fields.u16()?;
    let (flags, lower) = (fields.u16()?, fields.u16()?);
    (is == number).then_some((flags & KINDS, lower))
}

fn sub_database_root(data: &[u8]) -> Option<u64> {
    let mut fields = Fields(data);
    fields.bytes(40)?;
    let root = fields.u64()?;
    fields.0.is_empty().then_some(root)
}

/// An entry of a page.
struct Node<'p> {
    key: &'p [u8],
    /// In a leaf, the size of the value; in a branch, the lower half of the child's number.
    size: u32,
    flags: u16,
    /// What follows the key, up to the end of the page.
    data: &'p [u8],
}

impl<'p> Node<'p> {
    fn parse(bytes: &'p [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let (size, flags, key) = (fields.u32()?, fields.u16()?, fields.u16()?);
        let key = fields.bytes(usize::from(key))?;
        Some(Self { key, size, flags, data: fields.0 })
    }

    /// In a branch the flags hold the upper part of the number.
    fn child(&self) -> u64 {
        u64::from(self.size) | u64::from(self.flags) << 32
    }
}

#[cfg(test)]
mod tests;
