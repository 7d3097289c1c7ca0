//! Sound files of every kind, and each bit of what LMDB goes by.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use lmdb_verify::Header;
use lmdb_verify::raw_pages::{Contents, each_freed, verify};

use table_engine::error::ErrorKind;

use super::{rightly_short, scratch, varied};
use crate::lmdb;
use crate::open::atomic_create::DATA;
use crate::open::copy_to;

/// Kinds of pages, by their flags.
const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;

fn verified(bytes: &[u8]) -> Result<(), String> {
    let told = |flaw| {
        let error = lmdb::file_damage(flaw, Path::new(DATA), "");
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Incompatible), "{error}");
        error.to_string()
    };
    let header = Header::read(&mut Cursor::new(bytes)).map_err(told)?;
    verify(&mut Cursor::new(bytes), &header, u64::try_from(bytes.len()).unwrap(), Contents::Unread)
        .map(drop)
        .map_err(told)
}

/// A store of two levels with values large and small, and with free pages.
fn small() -> Vec<u8> {
    let dir = scratch();
    let store = crate::Store::open(dir.path()).unwrap();
    let table = store.create_table("Table").unwrap();
    for round in 0..3 {
        for row in 0..25 {
            let length = if row == 7 { 9_000 } else { 300 + round };
            let entity = table_engine::DynamicEntity::new("p", format!("{row:02}"));
            table.put(&entity.with("Text", "x".repeat(length))).unwrap();
        }
    }
    drop((table, store));
    fs::read(dir.path().join(DATA)).unwrap()
}

#[test]
fn sound_files_are_sound() {
    let dir = scratch();
    let [one, short, copy] = ["varied", "short", "copy"].map(|name| dir.path().join(name));
    let store = varied(&one);
    copy_to(&store.0.env, &copy).unwrap();
    drop((store, rightly_short(&short)));
    for path in [one, short, copy] {
        verified(&fs::read(path.join(DATA)).unwrap()).unwrap();
    }
    let dir = scratch();
    drop(crate::Store::open(dir.path()).unwrap());
    verified(&fs::read(dir.path().join(DATA)).unwrap()).unwrap();
    verified(&small()).unwrap();
}

/// What LMDB goes by on a page that is in use: where it is, and what may change there without harm.
fn structure(bytes: &[u8]) -> Vec<usize> {
    let header = Header::read(&mut Cursor::new(bytes)).unwrap();
    let page_size = usize::try_from(header.page_size).unwrap();
    let mut free = Vec::new();
    each_freed(&mut Cursor::new(bytes), &header, |freed| {
        free.extend(freed.pages());
        Ok(())
    })
    .unwrap();
    let number = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let mut places = Vec::new();
    // Of the newest header: the sizes of pages, the trees, the last page and the transaction.
    let newest = usize::try_from(header.transaction % 2).unwrap() * page_size;
    places.extend((newest + 40..newest + 152).chain(newest + 16..newest + 24));
    for page in 2..=usize::try_from(header.last_page).unwrap() {
        let start = page * page_size;
        let flags = number(start + 10);
        if free.contains(&u64::try_from(page).unwrap())
            || !matches!(u16::try_from(flags), Ok(BRANCH | LEAF | OVERFLOW))
        {
            continue;
        }
        let is = u64::from_le_bytes(bytes[start..start + 8].try_into().unwrap());
        if is != u64::try_from(page).unwrap() {
            // The middle of a value.
            continue;
        }
        places.extend((start..start + 8).chain(start + 10..start + 16));
        if flags == usize::from(OVERFLOW) {
            continue;
        }
        for offset in (16..number(start + 12)).step_by(2) {
            let node = start + number(start + offset);
            places.extend([start + offset, start + offset + 1]);
            places.extend(node..node + 8);
        }
    }
    places
}

#[test]
fn every_flipped_bit_of_the_structure_is_found_or_means_nothing() {
    let good = small();
    let places = structure(&good);
    assert!(places.len() > 600, "{}", places.len());
    let (bits, mut silent) = (places.len() * 8, Vec::new());
    for place in places {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[place] ^= 1 << bit;
            if verified(&bytes).is_ok() {
                silent.push((place, bit));
            }
        }
    }
    // The sizes of values that have pages of their own may differ within a page, a leaf's entries lie at even places,
    // so the length of the last value may be odd or even, and the header's padding and the unnamed database's mean nothing.
    println!("{} of {bits} bits", silent.len());
    assert!(silent.len() < 100, "{}: {silent:?}", silent.len());
}

#[test]
fn a_page_that_is_lost_is_missed() {
    let good = small();
    let header = Header::read(&mut Cursor::new(&good)).unwrap();
    let page = usize::try_from(header.free_root.unwrap() * header.page_size).unwrap();
    // The count of the first entry of the list.
    let node = page + usize::from(u16::from_le_bytes([good[page + 16], good[page + 17]]));
    let count = node + 8 + 8;
    let pages = u64::from_le_bytes(good[count..count + 8].try_into().unwrap());
    assert!(pages > 0);
    let mut bytes = good;
    bytes[count..count + 8].copy_from_slice(&(pages - 1).to_le_bytes());
    let error = verified(&bytes).unwrap_err();
    assert!(error.contains("1 of its pages are neither used nor free"), "{error}");
}
