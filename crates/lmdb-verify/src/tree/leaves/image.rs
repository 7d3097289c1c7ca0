//! A tree of rows as LMDB lays out its pages, made of plain bytes, to walk over it damaged: for tests and for the fuzzer.

use std::ops::Range;

use super::{Entry, LeafWalk, Source};
use crate::error::{Result, damaged};
use crate::pages::{BIG_DATA, BRANCH, HEADER, LEAF, OVERFLOW};
use crate::tree::{NO_PAGE, NODE, Tree};

/// Bytes of a page: few, so that few rows make a tree of several levels.
const PAGE: usize = 256;
/// The most bytes of an entry on a leaf; what is longer has pages of its own.
const MOST: usize = (PAGE - HEADER) / 2 - 2;
const CHECKSUM: usize = 8;

/// A key and its value.
pub type Row = (Vec<u8>, Vec<u8>);

/// The pages of a tree.
#[derive(Debug)]
pub struct Image {
    /// The pages, one after another.
    pub bytes: Vec<u8>,
    /// The rows that it was made of, in order.
    pub rows: Vec<Row>,
    /// Whether a walk verifies entries.
    pub verifies: bool,
    /// A page that is out of use.
    pub free: Option<u64>,
    root: u64,
    depth: u32,
}

/// Numbers that a seed gives.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed ^ mixed >> 31) >> 33).unwrap_or(0) % limit.max(1)
    }
}

/// Returns a checksum of an entry: FNV-1a, of the key's length as well, so that no byte moves from one to the other.
fn checksum(key: &[u8], content: &[u8]) -> [u8; CHECKSUM] {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let length = u64::try_from(key.len()).unwrap_or(u64::MAX).to_le_bytes();
    let sum = length.iter().chain(key).chain(content).fold(0xcbf2_9ce4_8422_2325, add);
    sum.to_le_bytes()
}

impl Image {
    /// Returns a tree of up to so many rows.
    pub fn of(seed: u64, most: usize, verifies: bool) -> Self {
        let mut random = Random(seed);
        let mut rows: Vec<Row> = (0..random.below(most + 1))
            .map(|row| {
                let key = format!("{:03}{}", row * 2, "k".repeat(random.below(8))).into_bytes();
                let length = if random.below(12) == 0 { 100 + random.below(500) } else { random.below(30) };
                let mut value: Vec<u8> =
                    (0..length).map(|_| u8::try_from(random.below(256)).unwrap_or(0)).collect();
                let sum = checksum(&key, &value);
                value.extend(sum);
                (key, value)
            })
            .collect();
        rows.sort();
        let mut image = Self {
            bytes: vec![0; 2 * PAGE],
            rows: Vec::new(),
            verifies,
            free: None,
            root: NO_PAGE,
            depth: 0,
        };
        let mut level: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (key, value) in &rows {
            level.push((key.clone(), image.leaf_node(key, value)));
        }
        image.rows = rows;
        let mut kind = LEAF;
        while !level.is_empty() {
            level = image.pages_of(kind, level, &mut random);
            (image.depth, kind) = (image.depth + 1, BRANCH);
            if let [_] = level.as_slice() {
                image.root = image.last_page();
                break;
            }
        }
        image
    }

    fn last_page(&self) -> u64 {
        u64::try_from(self.bytes.len() / PAGE - 1).unwrap_or(u64::MAX)
    }

    fn leaf_node(&mut self, key: &[u8], value: &[u8]) -> Vec<u8> {
        if NODE + key.len() + value.len() <= MOST {
            return node(u32::try_from(value.len()).unwrap_or(0), 0, key, value);
        }
        let first = self.last_page() + 1;
        let pages = (HEADER + value.len()).div_ceil(PAGE);
        let end = self.bytes.len() + pages * PAGE;
        self.bytes.extend(first.to_le_bytes());
        self.bytes.extend([0; 2]);
        self.bytes.extend(OVERFLOW.to_le_bytes());
        self.bytes.extend(u32::try_from(pages).unwrap_or(0).to_le_bytes());
        self.bytes.extend(value);
        self.bytes.resize(end, 0);
        node(u32::try_from(value.len()).unwrap_or(0), BIG_DATA, key, &first.to_le_bytes())
    }

    /// Puts entries on pages, and gives those that lead to the pages.
    fn pages_of(&mut self, kind: u16, entries: Vec<Row>, random: &mut Random) -> Vec<Row> {
        let mut above = Vec::new();
        let mut entries = entries.into_iter().peekable();
        while let Some((first, mut entry)) = entries.next() {
            if kind == BRANCH {
                // The first key of a branch stands for none.
                entry = node_without_key(&entry);
            }
            let mut page = vec![entry];
            let mut room = (PAGE - HEADER).saturating_sub(random.below(80) + entry_bytes(&page));
            // A branch has two entries at least.
            while let Some((_, next)) = entries.peek()
                && (next.len() + 2 <= room || kind == BRANCH && page.len() < 2)
            {
                room = room.saturating_sub(next.len() + 2);
                page.extend(entries.next().map(|(_, entry)| entry));
            }
            self.put_page(kind, &page);
            let number = self.last_page();
            let [a, b, c, d, e, f, ..] = number.to_le_bytes();
            let entry = node(u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]), &first, &[]);
            above.push((first, entry));
        }
        above
    }

    fn put_page(&mut self, kind: u16, nodes: &[Vec<u8>]) {
        let (number, end) = (self.last_page() + 1, self.bytes.len() + PAGE);
        let mut upper = PAGE;
        let offsets: Vec<u16> = nodes
            .iter()
            .map(|node| {
                upper = upper.saturating_sub(node.len());
                u16::try_from(upper).unwrap_or(0)
            })
            .collect();
        let lower = u16::try_from(HEADER + 2 * nodes.len()).unwrap_or(0);
        self.bytes.extend(number.to_le_bytes());
        self.bytes.extend([0; 2]);
        for field in [kind, lower, u16::try_from(upper).unwrap_or(0)] {
            self.bytes.extend(field.to_le_bytes());
        }
        self.bytes.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        self.bytes.resize(end - (PAGE - upper), 0);
        self.bytes.extend(nodes.iter().rev().flatten());
    }

    /// Returns the rows between two keys in the direction of a walk, verified where rows are, and how the walk ended.
    pub fn walk(&self, range: Range<&[u8]>, reverse: bool) -> (Vec<Row>, Result<()>) {
        let mut rows = Vec::new();
        let ended = self.walk_into(range, reverse, &mut rows);
        (rows, ended)
    }

    fn walk_into(&self, range: Range<&[u8]>, reverse: bool, rows: &mut Vec<Row>) -> Result<()> {
        let entries = u64::try_from(self.rows.len()).unwrap_or(u64::MAX);
        let tree = Tree { state: 0, root: self.root, depth: self.depth, entries };
        let mut walk = LeafWalk::begin(self, &tree, range.clone(), reverse)?;
        while let Some(leaf) = walk.leaf(self, range.clone())? {
            while let Some(row) = walk.next_of(self, leaf) {
                let row = row?;
                if self.verifies {
                    self.verify(row)?;
                }
                rows.push((row.key.to_vec(), row.bytes.to_vec()));
            }
        }
        Ok(())
    }
}

/// Returns how many bytes entries take on a page, with their offsets.
fn entry_bytes(entries: &[Vec<u8>]) -> usize {
    entries.iter().map(|entry| entry.len() + 2).sum()
}

fn node(size: u32, flags: u16, key: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut node = size.to_le_bytes().to_vec();
    node.extend(flags.to_le_bytes());
    node.extend(u16::try_from(key.len()).unwrap_or(0).to_le_bytes());
    node.extend(key.iter().chain(rest));
    node.resize(node.len().next_multiple_of(2), 0);
    node
}

fn node_without_key(entry: &[u8]) -> Vec<u8> {
    let mut node = entry.get(..NODE - 2).unwrap_or_default().to_vec();
    node.extend([0; 2]);
    node
}

impl<'p> Source<'p> for &'p Image {
    fn page(self, number: u64) -> Option<&'p [u8]> {
        self.span(number, PAGE).filter(|_| number >= 2)
    }

    fn span(self, number: u64, length: usize) -> Option<&'p [u8]> {
        let start = usize::try_from(number).ok()?.checked_mul(PAGE)?;
        self.bytes.get(start..start.checked_add(length)?)
    }

    fn check_in_use(self, pages: &[u64]) -> Result<()> {
        if self.free.is_some_and(|free| pages.contains(&free)) { Err(damaged()) } else { Ok(()) }
    }

    fn verifies(self) -> bool {
        self.verifies
    }

    fn verify(self, row: Entry<'p>) -> Result<()> {
        let sound = row.bytes.split_last_chunk().is_some_and(|(value, sum)| *sum == checksum(row.key, value));
        if sound { Ok(()) } else { Err(damaged()) }
    }
}
