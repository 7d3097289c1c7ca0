//! What stands at each place of an LMDB data file: enough of its layout to aim at a place, or to name one.
//!
//! The file is whole when it is read here; damage is done afterwards.

use std::fmt;
use std::ops::Range;

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
    /// The record of a template of periods, with their floor.
    Template,
    /// The database of queues.
    Queues,
    /// What is to follow, in the same database.
    Pending,
    /// The database of blobs, but for their bytes.
    Blobs,
    /// The bytes of blobs.
    Segment,
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
        let rows = [Self::LeafKey, Self::LeafValue, Self::LargeValue];
        let others = [Self::Segment, Self::Slack, Self::Stale];
        !rows.contains(&self) && !others.contains(&self)
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
    Map::of(file).places
}

/// The bytes of the rows, with their keys, of the tables whose names begin so; their numbers are below 64.
pub fn rows_of(file: &[u8], tables: &str) -> Vec<usize> {
    let (map, start) = (Map::of(file), tables.to_ascii_lowercase());
    let wanted: Vec<u32> =
        map.tables.iter().filter(|(name, _)| name.starts_with(&start)).map(|(_, number)| *number).collect();
    let rows = map.rows.into_iter().filter(|(first, _)| wanted.contains(&u32::from(*first)));
    rows.flat_map(|(_, range)| range).collect()
}

/// How to name the bytes of a tree.
#[derive(Clone, Copy)]
enum Kind {
    All(Place),
    Catalog,
    Queues,
    Blobs,
    Segments,
    Rows,
}

impl Kind {
    /// What a record of this key is, where not all are the same.
    fn of_record(self, key: &[u8]) -> Self {
        Self::All(match (self, key) {
            (Self::Blobs, [5, ..]) => return Self::Segments,
            (Self::Catalog, [.., b'{']) => Place::Template,
            (Self::Queues, [7 | 8, ..]) => Place::Pending,
            (Self::Queues, _) => Place::Queues,
            (Self::Blobs, _) => Place::Blobs,
            (Self::Catalog, _) => Place::Small,
            (one, _) => return one,
        })
    }

    /// What the pages of the tree are, but for its records.
    fn of_pages(self) -> Self {
        match self {
            Self::Catalog => Self::All(Place::Small),
            Self::Queues => Self::All(Place::Queues),
            Self::Blobs => Self::All(Place::Blobs),
            one => one,
        }
    }

    /// What something is that is this in the tree of the rows.
    fn name(self, of_row: Place) -> Place {
        match (self.of_pages(), of_row) {
            (Self::All(place), _) => place,
            (Self::Segments, Place::LeafValue | Place::LargeValue) => Place::Segment,
            (Self::Segments, Place::LargeHeader) => Place::LargeHeader,
            (Self::Segments, _) => Place::Blobs,
            _ => of_row,
        }
    }
}

struct Map<'f> {
    file: &'f [u8],
    places: Vec<Place>,
    /// The tables of the catalog, by name.
    tables: Vec<(String, u32)>,
    /// Each row: the first byte of its key, and where it lies.
    rows: Vec<(u8, Range<usize>)>,
}

impl<'f> Map<'f> {
    fn of(file: &'f [u8]) -> Self {
        let places = vec![Place::Stale; file.len()];
        let mut map = Self { file, places, tables: Vec::new(), rows: Vec::new() };
        for page in 0..2 {
            map.fill(page * PAGE, PAGE, Place::Slack);
            map.fill(page * PAGE, HEADER + META, Place::Meta);
        }
        let transaction = |page: usize| map.u64(page * PAGE + 16 + 128);
        let newest = usize::from(transaction(1) > transaction(0)) * PAGE + 16;
        let (free, main) = (map.u64(newest + 24 + 40), map.u64(newest + 24 + 48 + 40));
        map.tree(free, Kind::All(Place::FreeList));
        map.tree(main, Kind::All(Place::Main));
        map
    }

    fn u16(&self, at: usize) -> usize {
        usize::from(u16::from_le_bytes(self.file[at..at + 2].try_into().unwrap()))
    }

    fn u64(&self, at: usize) -> usize {
        u64::from_le_bytes(self.file[at..at + 8].try_into().unwrap()) as usize
    }

    fn fill(&mut self, from: usize, length: usize, place: Place) {
        self.places[from..from + length].fill(place);
    }

    /// Notes a record of the catalog, and a row.
    fn note(&mut self, kind: Kind, key: Range<usize>, value: Range<usize>) {
        match kind {
            Kind::Catalog => {
                let name = String::from_utf8_lossy(&self.file[key]).into_owned();
                let number = u32::from_le_bytes(self.file[value][..4].try_into().unwrap());
                self.tables.push((name, number));
            }
            Kind::Rows => {
                let first = self.file[key.start];
                self.rows.extend([(first, key), (first, value)]);
            }
            _ => {}
        }
    }

    fn tree(&mut self, root: usize, kind: Kind) {
        if root == usize::MAX {
            return;
        }
        let page = root * PAGE;
        let (flags, lower) = (self.u16(page + 10), self.u16(page + 12));
        let branch = flags & 1 != 0;
        let [header, offsets, nodes, keys] = match flags & 1 != 0 {
            true => [Place::BranchHeader, Place::BranchOffset, Place::BranchNode, Place::BranchKey],
            false => [Place::LeafHeader, Place::LeafOffset, Place::LeafNode, Place::LeafKey],
        };
        self.fill(page, PAGE, Place::Slack);
        self.fill(page, HEADER, kind.name(header));
        self.fill(page + HEADER, lower - HEADER, kind.name(offsets));
        for offset in (HEADER..lower).step_by(2) {
            let node = page + self.u16(page + offset);
            let (low, high, flags) = (self.u16(node), self.u16(node + 2), self.u16(node + 4));
            let key_length = self.u16(node + 6);
            let (key, data) = (node + 8, node + 8 + key_length);
            let record = if branch { kind } else { kind.of_record(&self.file[key..data]) };
            self.fill(node, 8, record.name(nodes));
            self.fill(key, key_length, record.name(keys));
            let size = low | high << 16;
            if branch {
                self.tree(size | flags << 32, kind);
            } else if flags & 1 != 0 {
                self.fill(data, 8, record.name(Place::LeafNode));
                let first = self.u64(data) * PAGE;
                self.fill(first, HEADER, record.name(Place::LargeHeader));
                let pages =
                    u32::from_le_bytes(self.file[first + 12..first + 16].try_into().unwrap()) as usize;
                self.fill(first + HEADER, pages * PAGE - HEADER, Place::Slack);
                self.fill(first + HEADER, size, record.name(Place::LargeValue));
                self.note(kind, key..data, first + HEADER..first + HEADER + size);
            } else {
                self.fill(data, size, record.name(Place::LeafValue));
                self.note(kind, key..data, data..data + size);
                if flags & 2 != 0 {
                    let kind = match &self.file[key..data] {
                        b"data" => Kind::Rows,
                        b"queues" => Kind::Queues,
                        b"blobs" => Kind::Blobs,
                        b"catalog" => Kind::Catalog,
                        _ => Kind::All(Place::Small),
                    };
                    let root = self.u64(data + 40);
                    self.tree(root, kind);
                }
            }
        }
    }
}
