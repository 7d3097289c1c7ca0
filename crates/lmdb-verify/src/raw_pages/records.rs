//! The pages of the small databases, which LMDB reads when databases are opened: those of the unnamed one, where LMDB's
//! records of the others stand, and of the others that are small.

use std::io::{Read, Seek};

use super::full::{
    Entries, NO_PAGE, Tree, damaged, depth_of_plain_main, nodes, pages_needed, pages_of_value,
};
use super::{BIG_DATA, DEEPEST, FIRST_PAGE, Kind, Node, SUB_DATABASE, first_leaf, first_value, read_at};
use crate::error::Result;
use crate::fields::Fields;
use crate::header::Header;
use crate::names::Names;

/// What is asked of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Its entries lie on it, and are of a kind that LMDB can read.
    Readable,
    /// Its entries also fill it without a gap, so LMDB can add to it.
    Whole,
}

/// Makes sure that the pages of the small databases can be followed by LMDB, unless the first is of another program's
/// file, as `is_ours` says of its value. What the entries say is not looked at: it has checksums. No process may write
/// over the pages: the caller holds a snapshot of the header's commit.
pub fn check_records(
    file: &mut (impl Read + Seek),
    header: &Header,
    demand: Demand,
    names: &Names,
    is_ours: impl Fn(&[u8]) -> bool,
) -> Result<()> {
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
    let (mut pending, mut read) = (vec![Place { number: root, left: depth, kind: Kind::Main }], 0);
    while let Some(Place { number, left, kind }) = pending.pop() {
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
        if !is_leaf {
            pending.extend(nodes.iter().map(|node| Place { number: node.child(), left: left - 1, kind }));
            continue;
        }
        for node in &nodes {
            match node.flags {
                // A database that is not said to be one can't be opened.
                0 if kind == Kind::Main && names.have(node.key) => return Err(damaged(number)),
                0 => {}
                BIG_DATA => check_run(file, header, node).ok_or_else(|| damaged(number))??,
                SUB_DATABASE if kind == Kind::Main => {
                    let root = described(node).ok_or_else(|| damaged(number))?;
                    // Only the small ones are looked at here.
                    let is_small = names.small.iter().any(|name| name.as_bytes() == node.key);
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
}

impl Demand {
    fn entries(self, page: &[u8], number: u64, is_leaf: bool) -> Option<Vec<Node<'_>>> {
        match self {
            Self::Readable => Entries::read(page, number, is_leaf).map(|entries| entries.nodes),
            Self::Whole => nodes(page, number, is_leaf),
        }
    }
}

/// Returns the root of a named database; `None` if its description is damaged.
fn described(node: &Node<'_>) -> Option<Place> {
    let record = node.data.get(..usize::try_from(node.size).ok()?)?;
    let tree = Tree::parse(record).filter(|tree| tree.flags == 0)?;
    Some(Place { number: tree.root, left: tree.depth.into(), kind: Kind::Named })
}

/// Makes sure that a value which has pages of its own lies within the file's; `None` if it doesn't.
fn check_run(file: &mut (impl Read + Seek), header: &Header, node: &Node<'_>) -> Option<Result<()>> {
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
