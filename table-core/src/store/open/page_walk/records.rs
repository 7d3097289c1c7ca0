//! The pages of the small databases, which LMDB reads while a store is opened: the unnamed one, where the small records stand
//! with what LMDB knows of the others, and those of the names, the catalog and the notes of dropped tables.

use std::io::{Read, Seek};

use super::full::{
    Entries, NO_PAGE, Tree, damaged, depth_of_plain_main, nodes, pages_needed, pages_of_value, rise_within,
};
use super::{BIG_DATA, DEEPEST, FIRST_PAGE, Kind, Node, SUB_DATABASE, first_leaf, first_value, read_at};
use crate::store::lmdb::fields::Fields;
use crate::store::open::every_page::is_name;
use crate::store::open::header::{Flaw, Header};

/// The named databases that LMDB itself searches. They have a few pages: an entry for each name, and for each table.
const SMALL: [&str; 3] = ["names", "catalog", "graves"];

/// What is asked of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Its entries lie on it, and are of a kind that LMDB can read.
    Readable,
    /// They fill it without a gap, too, and their keys rise between those that lead to it: LMDB can add to it.
    Whole,
}

/// Makes sure that the pages of the small databases can be followed by LMDB, unless the first is of another program's file, as
/// `is_ours` says of its value. What the entries say is not looked at: it has checksums. Nobody may be writing over the pages:
/// whoever asks holds a snapshot of the header's commit.
pub(in super::super) fn check_records(
    file: &mut (impl Read + Seek),
    header: &Header,
    demand: Demand,
    is_ours: impl Fn(&[u8]) -> bool,
) -> Result<(), Flaw> {
    // Other programs may give this database flags, and what it holds another layout.
    let (Some(root), Some(depth)) = (header.main_root, depth_of_plain_main(header)) else { return Ok(()) };
    let (number, leaf) = first_leaf(file, header)?;
    if demand.entries(&leaf, number, true).is_none() {
        return Err(damaged(number));
    }
    if first_value(&leaf).is_some_and(|value| !is_ours(value)) {
        return Ok(());
    }
    let mut page = vec![0; usize::try_from(header.page_size).map_err(|_| damaged(root))?];
    let (mut pending, mut read) = (vec![Place::root(root, depth, Kind::Main)], 0);
    while let Some(Place { number, left, kind, low, high }) = pending.pop() {
        read += 1;
        // More pages than there are: some page refers back.
        let is_right = read <= header.last_page
            && (FIRST_PAGE..=header.last_page).contains(&number)
            && (1..=DEEPEST).contains(&left);
        if !is_right {
            return Err(damaged(number));
        }
        read_at(file, number * header.page_size, &mut page)?;
        let is_leaf = left == 1;
        let nodes = demand.entries(&page, number, is_leaf).filter(|nodes| !nodes.is_empty());
        let nodes = nodes.ok_or_else(|| damaged(number))?;
        if demand == Demand::Whole && !rise_within(&nodes, is_leaf, (low.as_deref(), high.as_deref()), kind) {
            return Err(damaged(number));
        }
        if !is_leaf {
            let separator = |at: usize| nodes.get(at).map(|node| node.key.to_vec());
            pending.extend(nodes.iter().enumerate().map(|(at, node)| Place {
                number: node.child(),
                left: left - 1,
                kind,
                low: if at == 0 { low.clone() } else { separator(at) },
                high: separator(at + 1).or_else(|| high.clone()),
            }));
            continue;
        }
        for node in &nodes {
            match node.flags {
                // A database that is not said to be one can't be opened.
                0 if kind == Kind::Main && is_name(node.key) => return Err(damaged(number)),
                0 => {}
                BIG_DATA => check_run(file, header, node).ok_or_else(|| damaged(number))??,
                SUB_DATABASE if kind == Kind::Main => {
                    let root = described(node).ok_or_else(|| damaged(number))?;
                    // Only the small ones are looked at here.
                    let is_small = SMALL.iter().any(|name| name.as_bytes() == node.key);
                    pending.extend(Some(root).filter(|root| is_small && root.number != NO_PAGE));
                }
                // LMDB would take what follows for a database of its own, and end the process.
                _ => return Err(damaged(number)),
            }
        }
    }
    Ok(())
}

/// A page to look at.
struct Place {
    number: u64,
    /// Levels from here down to the leaves.
    left: u32,
    kind: Kind,
    /// The least key that it may have, and the first that it may not.
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
}

impl Place {
    /// The root of a tree of so many levels.
    fn root(number: u64, left: u32, kind: Kind) -> Self {
        Self { number, left, kind, low: None, high: None }
    }
}

impl Demand {
    fn entries(self, page: &[u8], number: u64, is_leaf: bool) -> Option<Vec<Node<'_>>> {
        match self {
            Self::Readable => Entries::read(page, number, is_leaf).map(|entries| entries.nodes),
            Self::Whole => nodes(page, number, is_leaf),
        }
    }
}

/// The root of a named database; `None` if its description is damaged.
fn described(node: &Node<'_>) -> Option<Place> {
    let record = node.data.get(..usize::try_from(node.size).ok()?)?;
    let tree = Tree::parse(record).filter(|tree| tree.flags == 0)?;
    Some(Place::root(tree.root, tree.depth.into(), Kind::Named))
}

/// Makes sure that a value which has pages of its own lies within the file's; `None` if it doesn't.
fn check_run(file: &mut (impl Read + Seek), header: &Header, node: &Node<'_>) -> Option<Result<(), Flaw>> {
    let first = Fields(node.data).u64()?;
    let needed = pages_needed(u64::from(node.size), header);
    let is_within = |pages: u64| first.checked_add(pages).is_some_and(|end| end <= header.last_page + 1);
    if first < FIRST_PAGE || !is_within(needed) {
        return None;
    }
    let mut head = [0; 16];
    if let Err(flaw) = read_at(file, first * header.page_size, &mut head) {
        return Some(Err(flaw));
    }
    pages_of_value(&head, first, needed).filter(|pages| is_within(*pages)).map(|_| Ok(()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Cursor;

    use super::*;
    use crate::store::open::place::DATA;
    use crate::store::open::tests::scratch;

    fn is_refused(bytes: &[u8], demand: Demand) -> bool {
        let mut file = Cursor::new(bytes);
        let header = Header::read(&mut file).unwrap();
        check_records(&mut file, &header, demand, |_| true).is_err()
    }

    /// Exchanges the places of two entries that stand side by side on a page.
    fn exchanged(bytes: &[u8], page: usize, at: usize) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let offset = page + 16 + 2 * at;
        bytes[offset..offset + 4].rotate_left(2);
        bytes
    }

    #[test]
    fn lmdb_adds_to_no_small_page_whose_keys_are_out_of_order() {
        let dir = scratch();
        let store = crate::Store::open(dir.path()).unwrap();
        for number in 0..150 {
            let table = store.create_table(&format!("Table{number}")).unwrap();
            table.insert(&crate::DynamicEntity::new("p", "r")).unwrap();
        }
        drop(store);
        let bytes = fs::read(dir.path().join(DATA)).unwrap();
        let (mut leaves, mut branches) = (0, 0);
        for page in (8_192..bytes.len()).step_by(4_096) {
            // What is read at all is refused as another page.
            let mut other = bytes.clone();
            other[page] ^= 1;
            if !is_refused(&other, Demand::Readable) {
                continue;
            }
            let head = |at: usize| u16::from_le_bytes([bytes[page + at], bytes[page + at + 1]]);
            let (is_leaf, entries) = (head(10) == 2, usize::from(head(12) - 16) / 2);
            leaves += usize::from(is_leaf);
            branches += usize::from(!is_leaf);
            // The first key of a branch stands for none.
            for at in usize::from(!is_leaf)..entries - 1 {
                let exchanged = exchanged(&bytes, page, at);
                assert!(is_refused(&exchanged, Demand::Whole), "page {}, entry {at}", page / 4_096);
                assert!(!is_refused(&exchanged, Demand::Readable));
            }
        }
        assert!(leaves >= 10 && branches >= 2, "{leaves} leaves, {branches} branches");
        assert!(!is_refused(&bytes, Demand::Whole));
    }
}
