//! Whether a small environment is sound throughout: looked at in its file, before anything of it is touched through the
//! map.
//!
//! LMDB believes its pages. A bit that is another in a page's number, in an offset or in a flag leads it out of the
//! file, which kills the process. A store is too large to be read at each opening; what lies beside it is not.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::header::{Flaw, Header, LAYOUT_KNOWN};
use super::place::DATA;
use super::{page_walk, retrying};
use crate::error::Result;
use crate::store::lmdb::LmdbEnv;
use crate::store::lmdb::fields::Fields;
use crate::store::lmdb::pages;

/// The list of free pages has numbers for keys, and no other flag.
const INTEGER_KEYS: u16 = 0x08;

/// How often a commit may come between two looks before the lock is asked for, which who only reads can't have.
const ATTEMPTS: usize = 100;

/// Checks the newest commit of the environment in a directory.
pub(super) fn check(env: &LmdbEnv, dir: &Path) -> Result<()> {
    let data = dir.join(DATA);
    let check = || {
        let mut file = File::open(&data).map_err(Flaw::Unread)?;
        check_file(env, &mut file)
    };
    check().map_err(|flaw| flaw.of(&data))
}

fn check_file(env: &LmdbEnv, file: &mut File) -> Result<(), Flaw> {
    if !LAYOUT_KNOWN {
        return Ok(());
    }
    let unread = |error| Flaw::Unread(std::io::Error::other(error));
    for _ in 0..ATTEMPTS {
        // Its pages stay as they are while it is read.
        let txn = retrying(env, || env.read_txn()).map_err(unread)?;
        let header = Header::read(file)?;
        if usize::try_from(header.transaction) == Ok(txn.id()) {
            return check_pages(file, &header);
        }
    }
    // Somebody has committed between the two looks each time. Nobody does while the lock is held.
    let lock = env.write_txn().map_err(unread)?;
    let header = Header::read(file)?;
    let checked = if usize::try_from(header.transaction.wrapping_add(1)) == Ok(lock.id()) {
        check_pages(file, &header)
    } else {
        Err(Flaw::corrupt("is damaged: what is mapped is not what the file holds"))
    };
    drop(lock);
    checked
}

fn check_pages(file: &mut (impl Read + Seek), header: &Header) -> Result<(), Flaw> {
    check_flags(file, header)?;
    let length = file.seek(SeekFrom::End(0)).map_err(Flaw::Unread)?;
    page_walk::reachable(file, header, length)?;
    let mut used = BTreeSet::new();
    for (root, is_main) in [(header.main_root, true), (header.free_root, false)] {
        let mut pending: Vec<_> = root.into_iter().collect();
        // The walk has shown that no page is reached twice.
        while let Some(number) = pending.pop() {
            used.insert(number);
            let page = page_walk::read_page(file, header, number)?;
            let damaged = || Flaw::corrupt(format!("is damaged: page {number} is not whole"));
            let children = page_walk::children(&page).ok_or_else(damaged)?;
            let is_leaf = || pages::is_whole(&page) && (!is_main || pages::is_plain(&page));
            if children.is_empty() && !is_leaf() {
                return Err(damaged());
            }
            pending.extend(children);
        }
    }
    // The next change overwrites what is listed as free.
    page_walk::each_freed(file, header, |freed| {
        let mut sound = (1..=header.transaction).contains(&freed.transaction);
        let mut before = u64::MAX;
        for page in freed.pages() {
            sound &= page < before && (2..=header.last_page).contains(&page) && used.insert(page);
            before = page;
        }
        if sound { Ok(()) } else { Err(Flaw::corrupt("is damaged: its list of free pages names one in use")) }
    })
}

/// The flags by which LMDB compares keys and takes values apart.
fn check_flags(file: &mut (impl Read + Seek), header: &Header) -> Result<(), Flaw> {
    let page = page_walk::read_page(file, header, header.transaction % 2)?;
    let flags = || {
        let mut fields = Fields(&page);
        fields.bytes(16 + 4 + 4 + 8 + 8 + 4)?;
        let free = fields.u16()?;
        fields.bytes(48 - 2)?;
        Some((free, fields.u16()?))
    };
    if flags() == Some((INTEGER_KEYS, 0)) {
        return Ok(());
    }
    Err(Flaw::corrupt("is damaged: its header gives its databases other flags than they have"))
}
