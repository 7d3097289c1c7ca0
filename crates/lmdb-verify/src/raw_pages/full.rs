//! A walk over a whole file, which tells whether LMDB can go by it without harm: each page, each entry, each count.
//!
//! A file may rightly be shorter than its header says: LMDB does not write pages that a transaction took and gave
//! back. It may also have been cut off, by a failing disk or a copy that broke off. Only this walk can tell: the pages
//! that the file lacks must be free. It reads the file, since a touch through the map would kill the process.
//!
//! LMDB believes its pages. A length that reaches past its page, a page that two trees have, a number of pages that is
//! too large: each can end the process, or have it write into what is in use. Behind this walk nothing of the kind is
//! left in the file as it is now.

use std::io::{Read, Seek};
use std::ops::Range;

use super::{
    BIG_DATA, BRANCH, DEEPEST, FIRST_PAGE, Kind, LEAF, Node, OVERFLOW, PAGE_HEADER, SUB_DATABASE, each_freed,
    read_at,
};
use crate::error::{Cause, Error, Result};
use crate::fields::Fields;
use crate::header::{Header, TREE};
use crate::page_set::PageSet;

/// The flag of a database whose keys are numbers, as the list of free pages has them.
const INTEGER_KEYS: u16 = 0x08;
/// The root of a database that holds nothing.
pub(super) const NO_PAGE: u64 = u64::MAX;
/// Bytes of an entry before its key.
const NODE: usize = 8;

/// A test of an entry, by its key and its value: whether its checksum is right, say.
pub type IsSound = fn(&[u8], &[u8]) -> bool;

/// How far the entries of named databases are checked.
#[derive(Clone, Copy, Debug)]
pub enum Contents {
    /// Values are not read.
    Unread,
    /// Each entry passes the test of its database, if there is one for the database of this name.
    Verified(fn(&[u8]) -> Option<IsSound>),
}

/// Checks all that the header's commit can reach, in a file of this length, and says how many of its pages are in use.
/// No process may write over its pages: the caller holds a snapshot of it.
pub fn verify(
    file: &mut (impl Read + Seek),
    header: &Header,
    length: u64,
    contents: Contents,
) -> Result<u64> {
    verify_as(file, header, length, Kind::Main, contents)
}

/// Checks all that the header's commit can reach in an environment without named databases.
pub fn verify_unnamed(file: &mut (impl Read + Seek), header: &Header, length: u64) -> Result<u64> {
    verify_as(file, header, length, Kind::Named, Contents::Unread)
}

fn verify_as(
    file: &mut (impl Read + Seek),
    header: &Header,
    length: u64,
    main_kind: Kind,
    contents: Contents,
) -> Result<u64> {
    let unread = || Error::file("is damaged: its header does not describe its trees");
    let [free, main] = header.trees.each_ref().map(|tree| Tree::parse(tree).ok_or_else(unread));
    let (free, main) = (free?, main?);
    if (free.flags, main.flags) != (INTEGER_KEYS, 0) {
        return Err(unread());
    }
    let mut whole = Whole::new(header, length, contents)?;
    whole.tree(file, &free, Kind::Free)?;
    whole.tree(file, &main, main_kind)?;
    let used = whole.claimed;
    each_freed(file, header, |freed| whole.freed(freed.transaction, freed.pages()))?;
    let lost = (header.last_page - 1).saturating_sub(whole.claimed);
    if lost > 0 {
        return Err(Error::file(format!("is damaged: {lost} of its pages are neither used nor free")));
    }
    Ok(used)
}

/// Returns how many levels the unnamed database's tree has, unless it has flags.
pub(super) fn depth_of_plain_main(header: &Header) -> Option<u32> {
    let [_, main] = &header.trees;
    Tree::parse(main).filter(|tree| tree.flags == 0).map(|tree| tree.depth.into())
}

/// A database's description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) flags: u16,
    pub(super) depth: u16,
    branches: u64,
    leaves: u64,
    overflow: u64,
    entries: u64,
    pub(super) root: u64,
}

impl Tree {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        fields.u32()?;
        let tree = Self {
            flags: fields.u16()?,
            depth: fields.u16()?,
            branches: fields.u64()?,
            leaves: fields.u64()?,
            overflow: fields.u64()?,
            entries: fields.u64()?,
            root: fields.u64()?,
        };
        fields.0.is_empty().then_some(tree)
    }
}

struct Whole<'h> {
    header: &'h Header,
    /// Whole pages in the file.
    pages: u64,
    seen: PageSet,
    /// How many pages that has.
    claimed: u64,
    /// The longest entry on a leaf, and the longest key.
    longest: (usize, usize),
    contents: Contents,
    /// The test of an entry's checksum in the database that is being looked at, if entries are checked.
    is_sound: Option<IsSound>,
    /// Room for a value that has pages of its own.
    value: Vec<u8>,
}

impl<'h> Whole<'h> {
    fn new(header: &'h Header, length: u64, contents: Contents) -> Result<Self> {
        let pages = length / header.page_size;
        let last = header.last_page;
        // The pages that the file lacks are listed in it, at eight bytes each.
        if last / (header.page_size / 8 + 1) > pages {
            return Err(Error::file(format!(
                "is damaged: its last page is number {last}, and of those that the file lacks some are neither used nor \
                 free"
            )));
        }
        let half = usize::try_from((header.page_size - PAGE_HEADER) / 2).unwrap_or_default() & !1;
        let node = half.saturating_sub(2);
        let longest = (node, node.saturating_sub(NODE + TREE));
        let seen = PageSet::up_to(last);
        let (is_sound, value) = (None, Vec::new());
        Ok(Self { header, pages, seen, claimed: 0, longest, contents, is_sound, value })
    }

    /// Notes that a run of pages belongs to what is being looked at.
    fn claim(&mut self, first: u64, count: u64, last: u64) -> Result<()> {
        let end = first.checked_add(count).filter(|end| first >= FIRST_PAGE && *end <= last + 1);
        let end = end.ok_or_else(|| {
            Error::file(format!("is damaged: it refers to {count} pages from {first} of {}", last + 1))
        })?;
        for number in first..end {
            if !self.seen.add(number) {
                return Err(Error::file(format!("is damaged: page {number} is used twice")));
            }
        }
        self.claimed += count;
        Ok(())
    }

    /// Notes that a run of pages is in use, so that the file must have them.
    fn claim_used(&mut self, first: u64, count: u64) -> Result<()> {
        let (pages, last) = (self.pages, self.header.last_page);
        let end = first.checked_add(count).filter(|end| *end > pages && *end <= last + 1);
        if let Some(end) = end {
            return Err(Error::file(format!(
                "is shorter than its data: page {} is in use, and the file ends after {pages} of {} pages; restore it \
                 from a copy",
                end - 1,
                last + 1
            )));
        }
        self.claim(first, count, last)
    }

    fn tree(&mut self, file: &mut (impl Read + Seek), tree: &Tree, kind: Kind) -> Result<()> {
        let mut found = Tree { flags: tree.flags, depth: tree.depth, root: tree.root, ..Tree::default() };
        if tree.root == NO_PAGE {
            found.depth = 0;
        } else {
            if u32::from(tree.depth) > DEEPEST || tree.depth == 0 {
                return Err(damaged(tree.root));
            }
            let place = Place { number: tree.root, left: tree.depth, low: None, high: None };
            self.page(file, &place, kind, &mut found)?;
        }
        if found == *tree {
            return Ok(());
        }
        Err(Error::file("is damaged: a tree has not the pages and the entries that it counts"))
    }

    fn page(
        &mut self,
        file: &mut (impl Read + Seek),
        place: &Place<'_>,
        kind: Kind,
        found: &mut Tree,
    ) -> Result<()> {
        let number = place.number;
        self.claim_used(number, 1)?;
        let mut page = vec![0; usize::try_from(self.header.page_size).unwrap_or_default()];
        read_at(file, number * self.header.page_size, &mut page)?;
        let is_leaf = place.left == 1;
        let nodes = nodes(&page, number, is_leaf).ok_or_else(|| damaged(number))?;
        self.check_keys(&nodes, place, kind).ok_or_else(|| damaged(number))?;
        if is_leaf {
            found.leaves += 1;
            found.entries += u64::try_from(nodes.len()).unwrap_or_default();
            return nodes.iter().try_for_each(|node| self.entry(file, number, node, kind, found));
        }
        found.branches += 1;
        for (at, node) in nodes.iter().enumerate() {
            let separator = |at: usize| nodes.get(at).map(|node| node.key);
            let child = Place {
                number: node.child(),
                left: place.left - 1,
                low: if at == 0 { place.low } else { Some(node.key) },
                high: separator(at + 1).or(place.high),
            };
            self.page(file, &child, kind, found)?;
        }
        Ok(())
    }

    /// Checks that the keys of a page rise, and stay between those that lead to it; `None` if they don't.
    fn check_keys(&self, nodes: &[Node<'_>], place: &Place<'_>, kind: Kind) -> Option<()> {
        let (is_leaf, longest) = (place.left == 1, self.longest.1);
        let lengths = if kind == Kind::Free { 8..=8 } else { 1..=longest };
        // The first key of a branch stands for whatever is less than the second, and may be empty.
        let (skipped, least) = if is_leaf { (0, 1) } else { (1, 2) };
        let keys = nodes.get(skipped..)?.iter().map(|node| node.key);
        if nodes.len() < least || nodes.first()?.key.len() > longest {
            return None;
        }
        let mut before = place.low.map(|low| (low, is_leaf));
        for key in keys {
            let order = before.map(|(before, may_equal)| (kind.compare(before, key), may_equal));
            let rises = order.is_none_or(|(order, may_equal)| order.is_lt() || may_equal && order.is_eq());
            let ends = place.high.is_none_or(|high| kind.compare(key, high).is_lt());
            if !lengths.contains(&key.len()) || !rises || !ends {
                return None;
            }
            before = Some((key, false));
        }
        Some(())
    }

    /// Looks at an entry of a leaf: at its value, and at what that leads to.
    fn entry(
        &mut self,
        file: &mut (impl Read + Seek),
        number: u64,
        node: &Node<'_>,
        kind: Kind,
        found: &mut Tree,
    ) -> Result<()> {
        let size = usize::try_from(node.size).map_err(|_| damaged(number))?;
        match node.flags {
            BIG_DATA => {
                let first = Fields(node.data).u64().ok_or_else(|| damaged(number))?;
                found.overflow += self.run(file, first, u64::from(node.size))?;
                let Some(is_sound) = self.is_sound else { return Ok(()) };
                self.value.resize(size, 0);
                read_at(file, first * self.header.page_size + PAGE_HEADER, &mut self.value)?;
                if is_sound(node.key, &self.value) { Ok(()) } else { Err(damaged(first)) }
            }
            0 | SUB_DATABASE if NODE + node.key.len() + size > self.longest.0 => Err(damaged(number)),
            0 => {
                let value = node.data.get(..size).ok_or_else(|| damaged(number))?;
                let is_right = self.is_sound.is_none_or(|is_sound| is_sound(node.key, value));
                if is_right { Ok(()) } else { Err(damaged(number)) }
            }
            SUB_DATABASE if kind == Kind::Main => {
                let tree = node.data.get(..size).and_then(Tree::parse).filter(|tree| tree.flags == 0);
                let tree = tree.ok_or_else(|| damaged(number))?;
                self.is_sound = match self.contents {
                    Contents::Unread => None,
                    Contents::Verified(test_of) => test_of(node.key),
                };
                let done = self.tree(file, &tree, Kind::Named);
                self.is_sound = None;
                done
            }
            _ => Err(damaged(number)),
        }
    }

    /// Claims the pages of a value of `size` bytes. Returns how many there are.
    fn run(&mut self, file: &mut (impl Read + Seek), first: u64, size: u64) -> Result<u64> {
        let needed = pages_needed(size, self.header);
        self.claim_used(first, needed)?;
        let mut head = [0; 16];
        read_at(file, first * self.header.page_size, &mut head)?;
        let pages = pages_of_value(&head, first, needed).ok_or_else(|| damaged(first))?;
        self.claim_used(first + needed, pages - needed)?;
        Ok(pages)
    }

    /// Takes in an entry of the list of free pages, whose numbers must fall.
    fn freed(&mut self, transaction: u64, pages: impl Iterator<Item = u64>) -> Result<()> {
        if !(1..=self.header.transaction).contains(&transaction) {
            return Err(Error::file(format!("is damaged: transaction {transaction} has freed pages")));
        }
        let mut before = u64::MAX;
        for page in pages {
            if page >= before {
                return Err(Error::file("is damaged: the list of free pages is not in order"));
            }
            before = page;
            self.claim(page, 1, self.header.last_page)?;
        }
        Ok(())
    }
}

/// Where a page stands in its tree.
struct Place<'p> {
    number: u64,
    /// Levels from here down to the leaves.
    left: u16,
    /// The least key that it may have, and the first that it may not.
    low: Option<&'p [u8]>,
    high: Option<&'p [u8]>,
}

/// Returns the entries of a page that they fill without a gap; `None` if it is another page, or damaged.
pub(super) fn nodes(page: &[u8], number: u64, is_leaf: bool) -> Option<Vec<Node<'_>>> {
    let Entries { nodes, mut ranges, room } = Entries::read(page, number, is_leaf)?;
    ranges.sort_unstable();
    let end = ranges.iter().try_fold(room.end, |end, (start, next)| (*start == end).then_some(*next))?;
    (room.start <= room.end && end == page.len()).then_some(nodes)
}

/// The entries of a page, each of which lies on it.
pub(super) struct Entries<'p> {
    pub(super) nodes: Vec<Node<'p>>,
    /// From where to where each of them lies.
    ranges: Vec<(usize, usize)>,
    /// Where the room on the page begins and ends, as the page has it.
    room: Range<usize>,
}

impl<'p> Entries<'p> {
    /// Reads the entries of a page; `None` if it is another page, or an entry does not lie on it.
    pub(super) fn read(page: &'p [u8], number: u64, is_leaf: bool) -> Option<Self> {
        let mut fields = Fields(page);
        let is = fields.u64()?;
        fields.u16()?;
        let (flags, lower, upper) = (fields.u16()?, usize::from(fields.u16()?), usize::from(fields.u16()?));
        // Any other flag means that the page is being changed: LMDB would write to it where it lies.
        if is != number || flags != if is_leaf { LEAF } else { BRANCH } {
            return None;
        }
        let (offsets, rest) = page.get(16..lower)?.as_chunks();
        if !rest.is_empty() {
            return None;
        }
        let (mut nodes, mut ranges) = (Vec::with_capacity(offsets.len()), Vec::with_capacity(offsets.len()));
        for offset in offsets {
            let start = usize::from(u16::from_le_bytes(*offset));
            let node = Node::parse(page.get(start..)?)?;
            let value = match (is_leaf, node.flags & BIG_DATA != 0) {
                (false, _) => 0,
                (true, true) => size_of::<u64>(),
                (true, false) => usize::try_from(node.size).ok()?,
            };
            if value > node.data.len() {
                return None;
            }
            let end = start.checked_add((NODE + node.key.len()).checked_add(value)?.next_multiple_of(2))?;
            ranges.push((start, end));
            nodes.push(node);
        }
        Some(Self { nodes, ranges, room: lower..upper })
    }
}

/// Returns how many pages a value of `size` bytes takes.
pub(super) fn pages_needed(size: u64, header: &Header) -> u64 {
    (PAGE_HEADER + size).div_ceil(header.page_size)
}

/// Returns how many pages a value has that begins on this page and takes as many at least; `None` if it doesn't say so.
pub(super) fn pages_of_value(head: &[u8; 16], first: u64, needed: u64) -> Option<u64> {
    let mut fields = Fields(head);
    let is = fields.u64()?;
    fields.u16()?;
    let (flags, pages) = (fields.u16()?, u64::from(fields.u32()?));
    // A value that shrank in place keeps its pages.
    (is == first && flags == OVERFLOW && pages >= needed).then_some(pages)
}

pub(super) fn damaged(number: u64) -> Error {
    let what = format!("is damaged: page {number} is not what its tree needs there");
    Cause::File { page: Some(number), what }.into()
}
