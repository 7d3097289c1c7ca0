//! Pages as they lie in the file, read and not touched through the map.
//!
//! Nothing that is read is believed: every offset is checked against its page, and no cycle holds a walk up. No process may
//! write over the pages meanwhile: the file is closed, or the caller holds a snapshot of the header's commit.
//!
//! ```
//! use std::fs::File;
//!
//! use heed::EnvOpenOptions;
//! use lmdb_verify::Header;
//! use lmdb_verify::raw_pages::{Contents, verify};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! // SAFETY: No other program changes the file.
//! drop(unsafe { EnvOpenOptions::new().open(dir.path())? });
//!
//! let mut file = File::open(dir.path().join("data.mdb"))?;
//! let header = Header::read(&mut file)?;
//! let length = file.metadata()?.len();
//! let used = verify(&mut file, &header, length, Contents::Unread)?;
//! assert_eq!(used, 0);
//! # Ok(())
//! # }
//! ```

use std::cmp::Ordering;
use std::io::{self, Read, Seek, SeekFrom};

use crate::error::{Cause, Error, Result};
use crate::fields::Fields;
use crate::header::Header;
use crate::pages::{BIG_DATA, BRANCH, KINDS, LEAF, OVERFLOW, SUB_DATABASE};

mod free;
mod full;
mod records;

pub use self::free::{Freed, each_freed};
pub use self::full::{Contents, IsSound, verify, verify_unnamed};
pub use self::records::{Demand, check_records};

const PAGE_HEADER: u64 = 16;
/// The most levels of a tree that LMDB can follow.
pub(crate) const DEEPEST: u32 = 32;
/// Pages 0 and 1 are the header's.
pub(crate) const FIRST_PAGE: u64 = 2;

/// The kind of a tree, by what its entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The list of free pages, whose keys are numbers.
    Free,
    /// An unnamed database that has the descriptions of named ones among its values.
    Main,
    /// A named database, whose values are no more than values.
    Named,
}

impl Kind {
    /// Returns how keys are ordered.
    pub(crate) fn compare(self, one: &[u8], other: &[u8]) -> Ordering {
        let number = |key: &[u8]| key.try_into().map_or(0, u64::from_le_bytes);
        if self == Self::Free { number(one).cmp(&number(other)) } else { one.cmp(other) }
    }
}

/// Returns the first leaf of the unnamed database: its number and its bytes.
pub fn first_leaf(file: &mut (impl Read + Seek), header: &Header) -> Result<(u64, Vec<u8>)> {
    let damaged = || Error::from(Cause::FirstLeaf);
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

/// Returns the value of a leaf's first entry, if it stands on the leaf.
pub fn first_value(leaf: &[u8]) -> Option<&[u8]> {
    let offset = Fields(leaf.get(16..)?).u16()?;
    let node = Node::parse(leaf.get(usize::from(offset)..)?).filter(|node| node.flags == 0)?;
    node.data.get(..usize::try_from(node.size).ok()?)
}

fn read_at(file: &mut (impl Read + Seek), offset: u64, out: &mut [u8]) -> Result<()> {
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(out)).map_err(|error| {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::file("became shorter while it was read"),
            _ => Error::unread(error),
        }
    })
}

/// Returns the flags of a page and the end of its list of nodes, if it is the page of this number.
fn page_head(page: &[u8], number: u64) -> Option<(u16, u16)> {
    let mut fields = Fields(page);
    let is = fields.u64()?;
    fields.u16()?;
    let (flags, lower) = (fields.u16()?, fields.u16()?);
    (is == number).then_some((flags & KINDS, lower))
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

    /// Returns the page that an entry of a branch leads to. The flags hold the upper part of its number.
    fn child(&self) -> u64 {
        u64::from(self.size) | u64::from(self.flags) << 32
    }
}

#[cfg(test)]
mod tests;
