//! The pages of the unnamed database, where the small records stand, and what LMDB knows of the other databases.

use std::io::{Read, Seek};

use super::full::{damaged, depth_of_plain_main, nodes};
use super::{DEEPEST, FIRST_PAGE, first_leaf, first_value, read_at};
use crate::store::open::header::{Flaw, Header};

/// Makes sure that the entries of these pages lie on them and fill them, unless the first is of another program's file, as
/// `is_ours` says of its value. What the entries say is not looked at: it has checksums. Nobody may be writing over the pages:
/// whoever asks holds a snapshot of the header's commit.
pub(in super::super) fn check_records(
    file: &mut (impl Read + Seek),
    header: &Header,
    is_ours: impl Fn(&[u8]) -> bool,
) -> Result<(), Flaw> {
    // Other programs may give this database flags, and what it holds another layout.
    let (Some(root), Some(depth)) = (header.main_root, depth_of_plain_main(header)) else { return Ok(()) };
    let (number, leaf) = first_leaf(file, header)?;
    if nodes(&leaf, number, true).is_none() {
        return Err(damaged(number));
    }
    if first_value(&leaf).is_some_and(|value| !is_ours(value)) {
        return Ok(());
    }
    let mut page = vec![0; usize::try_from(header.page_size).map_err(|_| damaged(root))?];
    let (mut pending, mut read) = (vec![(root, depth)], 0);
    while let Some((number, left)) = pending.pop() {
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
        let nodes = nodes(&page, number, is_leaf).filter(|nodes| !nodes.is_empty());
        let nodes = nodes.ok_or_else(|| damaged(number))?;
        if !is_leaf {
            pending.extend(nodes.iter().map(|node| (node.child(), left - 1)));
        }
    }
    Ok(())
}
