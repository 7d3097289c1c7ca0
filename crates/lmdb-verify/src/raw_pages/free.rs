//! The list of free pages, as a header's commit has it.
//!
//! LMDB keeps it in a tree of its own. Each entry has the number of the transaction that freed the pages, and their
//! count before their numbers, the highest first. An entry may have more room than numbers.

use std::io::{Read, Seek};

use super::{BIG_DATA, BRANCH, DEEPEST, FIRST_PAGE, LEAF, Node, OVERFLOW, PAGE_HEADER, page_head, read_at};
use crate::error::{Cause, Error, Result};
use crate::fields::Fields;
use crate::header::Header;

/// Bytes of a page's number.
const NUMBER: usize = size_of::<u64>();

/// The pages that one transaction freed.
#[derive(Clone, Copy, Debug)]
pub struct Freed<'l> {
    /// The transaction's number. What was left of older ones stands under the number of the youngest of them, or a
    /// smaller one.
    pub transaction: u64,
    /// Numbers of pages, eight bytes each.
    list: &'l [u8],
}

impl Freed<'_> {
    /// Returns how many there are.
    pub fn count(&self) -> u64 {
        u64::try_from(self.list.len() / NUMBER).unwrap_or(u64::MAX)
    }

    /// Returns their numbers, the highest first.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.list.as_chunks().0.iter().copied().map(u64::from_le_bytes)
    }
}

/// Shows every entry of the list, the oldest first. No process may write over its pages: the caller holds a snapshot of
/// the header's commit, or the writers' lock.
pub fn each_freed(
    file: &mut (impl Read + Seek),
    header: &Header,
    mut show: impl FnMut(Freed<'_>) -> Result<()>,
) -> Result<()> {
    let Some(root) = header.free_root else { return Ok(()) };
    let mut page = vec![0; usize::try_from(header.page_size).map_err(|_| damaged(root))?];
    let mut value = Vec::new();
    let (mut pending, mut read) = (vec![(root, 0)], 0);
    while let Some((number, depth)) = pending.pop() {
        read += 1;
        // More pages than there are: some page refers back.
        if depth >= DEEPEST || read > header.last_page || !(FIRST_PAGE..=header.last_page).contains(&number) {
            return Err(damaged(number));
        }
        read_at(file, number * header.page_size, &mut page)?;
        let (kind, lower) = page_head(&page, number).ok_or_else(|| damaged(number))?;
        let offsets = page.get(16..usize::from(lower)).ok_or_else(|| damaged(number))?;
        let nodes = offsets.as_chunks().0.iter().map(|offset| {
            let node = page.get(usize::from(u16::from_le_bytes(*offset))..).and_then(Node::parse);
            node.ok_or_else(|| damaged(number))
        });
        match kind {
            // Turned round, since the last on the list is the first to be read.
            BRANCH => {
                for node in nodes.rev() {
                    pending.push((node?.child(), depth + 1));
                }
            }
            LEAF => {
                for node in nodes {
                    let node = node?;
                    let transaction = node.key.try_into().map(u64::from_le_bytes);
                    let transaction = transaction.map_err(|_| damaged(number))?;
                    let data = node
                        .value(file, header, &mut value)
                        .map_err(|error| if error.is_unread() { error } else { damaged(number) })?;
                    let list = numbers(data).ok_or_else(|| damaged(number))?;
                    show(Freed { transaction, list })?;
                }
            }
            _ => return Err(damaged(number)),
        }
    }
    Ok(())
}

/// Returns the numbers in an entry, without its count and the room behind them.
fn numbers(data: &[u8]) -> Option<&[u8]> {
    let (count, list) = data.split_first_chunk::<NUMBER>()?;
    let bytes = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(NUMBER)?;
    list.get(..bytes)
}

impl<'p> Node<'p> {
    /// Returns the value, which is read into `large` if it has pages of its own.
    fn value<'v>(
        &self,
        file: &mut (impl Read + Seek),
        header: &Header,
        large: &'v mut Vec<u8>,
    ) -> Result<&'v [u8]>
    where
        'p: 'v,
    {
        let none = || Error::file("");
        let size = usize::try_from(self.size).map_err(|_| none())?;
        if self.flags & BIG_DATA == 0 {
            return self.data.get(..size).ok_or_else(none);
        }
        let first = Fields(self.data).u64().ok_or_else(none)?;
        let needed = (PAGE_HEADER + u64::from(self.size)).div_ceil(header.page_size);
        let end = first.checked_add(needed).filter(|end| *end <= header.last_page + 1);
        if first < FIRST_PAGE || end.is_none() {
            return Err(none());
        }
        let mut head = [0; 16];
        read_at(file, first * header.page_size, &mut head)?;
        let (kind, _) = page_head(&head, first).ok_or_else(none)?;
        let pages = head.last_chunk().copied().map_or(0, u32::from_le_bytes);
        if kind != OVERFLOW || u64::from(pages) < needed {
            return Err(none());
        }
        // What the pages hold is in the file, so a false size takes no more memory than the file has.
        let length = file.seek(std::io::SeekFrom::End(0)).map_err(Error::unread)?;
        if (first + needed).checked_mul(header.page_size).is_none_or(|end| end > length) {
            return Err(none());
        }
        large.clear();
        large.resize(size, 0);
        read_at(file, first * header.page_size + PAGE_HEADER, large)?;
        Ok(large)
    }
}

fn damaged(number: u64) -> Error {
    let what = format!("is damaged: page {number} is not of the list of free pages");
    Cause::File { page: Some(number), what }.into()
}
