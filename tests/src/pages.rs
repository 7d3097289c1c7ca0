//! What stands at each place of an LMDB data file: enough of its layout to aim at a place, or to name one.
//!
//! The file is whole when it is read here; damage is done afterwards.

use std::fmt;

/// What a byte of the file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// One of the two header pages.
    Meta,
    /// Anything of the list of free pages.
    FreeList,
    /// Anything of the unnamed database but slack: the roots of the others, and small records.
    Main,
    /// A small database: names with the states of kinds and jobs, catalog, graves.
    Small,
    /// The database of queues.
    Queues,
    /// The header of a branch page of the rows.
    BranchHeader,
    /// Where a branch page's entries lie.
    BranchOffset,
    /// The number of the page that a branch entry leads to, and the length of its key.
    BranchNode,
    /// The key of a branch entry.
    BranchKey,
    /// The header of a leaf page of the rows.
    LeafHeader,
    /// Where a leaf's rows lie.
    LeafOffset,
    /// A row's lengths and flags, or the number of the page where its large value stands.
    LeafNode,
    /// A row's key.
    LeafKey,
    /// A row.
    LeafValue,
    /// The header of the pages of a large value.
    LargeHeader,
    /// A large value.
    LargeValue,
    /// Nothing, within a page that is in use.
    Slack,
    /// A page that is not in use, and what it held before.
    Stale,
}

impl Place {
    /// Whether it is LMDB's own, and not a row.
    pub fn is_structure(self) -> bool {
        !matches!(self, Self::LeafKey | Self::LeafValue | Self::LargeValue | Self::Slack | Self::Stale)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{self:?}");
        f.pad(&name)
    }
}

/// Bytes of a page.
pub const PAGE: usize = 4_096;
const HEADER: usize = 16;
/// Magic, version, address, map size, two databases, last page, transaction.
const META: usize = 4 + 4 + 8 + 8 + 48 + 48 + 8 + 8;

/// The place of every byte of a file.
pub fn places(file: &[u8]) -> Vec<Place> {
    let mut map = Map { file, places: vec![Place::Stale; file.len()] };
    for page in 0..2 {
        map.fill(page * PAGE, PAGE, Place::Slack);
        map.fill(page * PAGE, HEADER + META, Place::Meta);
    }
    let transaction = |page: usize| map.u64(page * PAGE + 16 + 128);
    let newest = usize::from(transaction(1) > transaction(0)) * PAGE + 16;
    let (free, main) = (map.u64(newest + 24 + 40), map.u64(newest + 24 + 48 + 40));
    map.tree(free, &Kind::All(Place::FreeList));
    map.tree(main, &Kind::All(Place::Main));
    map.places
}

/// How to name the bytes of a tree.
enum Kind {
    All(Place),
    Rows,
}

struct Map<'f> {
    file: &'f [u8],
    places: Vec<Place>,
}

impl Map<'_> {
    fn u16(&self, at: usize) -> usize {
        usize::from(u16::from_le_bytes(self.file[at..at + 2].try_into().unwrap()))
    }

    fn u64(&self, at: usize) -> usize {
        u64::from_le_bytes(self.file[at..at + 8].try_into().unwrap()) as usize
    }

    fn fill(&mut self, from: usize, length: usize, place: Place) {
        self.places[from..from + length].fill(place);
    }

    fn tree(&mut self, root: usize, kind: &Kind) {
        if root == usize::MAX {
            return;
        }
        let page = root * PAGE;
        let (flags, lower) = (self.u16(page + 10), self.u16(page + 12));
        let branch = flags & 1 != 0;
        let name = |ours, branches, leaves| match kind {
            Kind::All(_) if ours == Place::Slack => Place::Slack,
            Kind::All(place) => *place,
            Kind::Rows if branch => branches,
            Kind::Rows => leaves,
        };
        self.fill(page, PAGE, Place::Slack);
        self.fill(page, HEADER, name(Place::Stale, Place::BranchHeader, Place::LeafHeader));
        self.fill(page + HEADER, lower - HEADER, name(Place::Stale, Place::BranchOffset, Place::LeafOffset));
        for offset in (HEADER..lower).step_by(2) {
            let node = page + self.u16(page + offset);
            let (low, high, flags) = (self.u16(node), self.u16(node + 2), self.u16(node + 4));
            let key_length = self.u16(node + 6);
            let (key, data) = (node + 8, node + 8 + key_length);
            self.fill(node, 8, name(Place::Stale, Place::BranchNode, Place::LeafNode));
            self.fill(key, key_length, name(Place::Stale, Place::BranchKey, Place::LeafKey));
            let size = low | high << 16;
            if branch {
                self.tree(size | flags << 32, kind);
            } else if flags & 1 != 0 {
                self.fill(data, 8, name(Place::Stale, Place::LeafNode, Place::LeafNode));
                let first = self.u64(data) * PAGE;
                self.fill(first, HEADER, name(Place::Stale, Place::LargeHeader, Place::LargeHeader));
                let pages =
                    u32::from_le_bytes(self.file[first + 12..first + 16].try_into().unwrap()) as usize;
                self.fill(first + HEADER, pages * PAGE - HEADER, Place::Slack);
                self.fill(first + HEADER, size, name(Place::Stale, Place::LargeValue, Place::LargeValue));
            } else {
                self.fill(data, size, name(Place::Stale, Place::LeafValue, Place::LeafValue));
                if flags & 2 != 0 {
                    let kind = match &self.file[key..data] {
                        b"data" => Kind::Rows,
                        b"queues" => Kind::All(Place::Queues),
                        _ => Kind::All(Place::Small),
                    };
                    let root = self.u64(data + 40);
                    self.tree(root, &kind);
                }
            }
        }
    }
}
