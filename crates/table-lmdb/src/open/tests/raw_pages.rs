//! The look at real files, cut files and noise.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use lmdb_verify::Header;
use lmdb_verify::raw_pages::{Contents, verify};
use proptest::prelude::*;

use table_engine::error::ErrorKind;

use super::{rightly_short, scratch, varied};
use crate::lmdb;
use crate::open::atomic_create::DATA;
use crate::open::copy_to;

fn header(bytes: &[u8]) -> Header {
    Header::read(&mut Cursor::new(bytes)).unwrap()
}

/// Walks what there is of a file, with the header of the whole.
fn walk(bytes: &[u8], header: &Header) -> Result<u64, String> {
    let length = u64::try_from(bytes.len()).unwrap();
    verify(&mut Cursor::new(bytes), header, length, Contents::Unread).map_err(|flaw| {
        let error = lmdb::file_damage(flaw, Path::new(DATA), "");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        error.to_string()
    })
}

fn varied_bytes() -> Vec<u8> {
    let dir = scratch();
    drop(varied(dir.path()));
    fs::read(dir.path().join(DATA)).unwrap()
}

fn compact_bytes() -> Vec<u8> {
    let dir = scratch();
    let [store, copy] = ["store", "copy"].map(|name| dir.path().join(name));
    copy_to(&varied(&store).0.env, &copy).unwrap();
    fs::read(copy.join(DATA)).unwrap()
}

#[test]
fn a_compact_file_is_reached_to_its_last_page() {
    let bytes = compact_bytes();
    let header = header(&bytes);
    assert_eq!(header.bytes(), u64::try_from(bytes.len()).unwrap());
    // All but the two header pages, each once.
    assert_eq!(walk(&bytes, &header), Ok(header.last_page - 1));
}

#[test]
fn any_missing_page_of_a_compact_file_is_missed() {
    let bytes = compact_bytes();
    let header = header(&bytes);
    for length in (8_192..bytes.len()).step_by(1_024) {
        let error = walk(&bytes[..length], &header).unwrap_err();
        assert!(error.contains("is shorter than its data"), "{error}");
    }
}

#[test]
fn free_pages_may_be_missing() {
    let dir = scratch();
    drop(rightly_short(dir.path()));
    let bytes = fs::read(dir.path().join(DATA)).unwrap();
    let header = header(&bytes);
    assert!(header.bytes() > u64::try_from(bytes.len()).unwrap());
    let used = walk(&bytes, &header).unwrap();
    assert!(used < header.last_page - 1);
}

#[test]
fn a_header_page_that_a_later_commit_has_taken_means_nothing() {
    let mut bytes = varied_bytes();
    let header = header(&bytes);
    let used = walk(&bytes, &header).unwrap();
    // The commit after the next one, whose pages are others.
    let page = usize::try_from(header.transaction % 2 * header.page_size).unwrap();
    bytes[page..page + 4_096].fill(0);
    assert_eq!(walk(&bytes, &header), Ok(used));
}

#[test]
fn a_cycle_ends() {
    let bytes = varied_bytes();
    let header = header(&bytes);
    let main = header.main_root.unwrap();
    let start = usize::try_from(main * header.page_size).unwrap();
    let key = bytes[start..].windows(4).position(|window| window == b"data").unwrap();
    // The root stands last in the description of the database, which follows its name.
    let root = start + key + 4 + 40;
    let mut cyclic = bytes;
    cyclic[root..root + 8].copy_from_slice(&main.to_le_bytes());
    let error = walk(&cyclic, &header).unwrap_err();
    assert!(error.contains("is used twice"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damage_anywhere_is_survived(
        damage in proptest::collection::vec((8_192_usize..400_000, any::<u8>()), 1..40),
        cut in prop_oneof![Just(usize::MAX), 8_192_usize..400_000],
    ) {
        static BYTES: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(varied_bytes);
        let mut bytes = BYTES.clone();
        let header = header(&bytes);
        // Damage close to the fields that lead on does more than damage anywhere.
        for (at, byte) in damage {
            let at = if byte % 2 == 0 { at / 4_096 * 4_096 + at % 48 } else { at };
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
        }
        bytes.truncate(cut);
        drop(walk(&bytes, &header));
    }
}
