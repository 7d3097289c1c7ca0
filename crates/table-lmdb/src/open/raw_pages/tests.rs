//! The look at real files, cut files and noise.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use table_engine::error::ErrorKind;

use super::*;
use crate::lmdb::pages::META;
use crate::open::atomic_create::DATA;
use crate::open::copy_to;
use crate::open::header::TREE;
use crate::open::tests::{rightly_short, scratch, varied};

fn header(bytes: &[u8]) -> Header {
    Header::read(&mut Cursor::new(bytes)).unwrap()
}

/// Walks what there is of a file, with the header of the whole.
fn walk(bytes: &[u8], header: &Header) -> Result<u64, String> {
    let length = u64::try_from(bytes.len()).unwrap();
    verify(&mut Cursor::new(bytes), header, length, Contents::Unread).map_err(|flaw| {
        let error = flaw.of(Path::new(DATA));
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

    #[test]
    fn noise_is_survived(
        seed in any::<u64>(),
        kinds in proptest::collection::vec(any::<u8>(), 30),
        root in 0_u64..40,
        depth in 1_u16..5,
        last_page in 1_u64..60,
    ) {
        let mut state = seed | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut bytes = Vec::new();
        for (number, kind) in kinds.iter().enumerate() {
            // A plausible head, and noise, with small numbers among it so that pages find each other.
            bytes.extend(u64::try_from(number).unwrap().to_le_bytes());
            bytes.extend([0, 0, [BRANCH, LEAF, OVERFLOW, META][usize::from(kind % 4)].to_le_bytes()[0], 0]);
            bytes.extend([16 + kind / 8 % 16 * 2, 0, 0, 0]);
            while bytes.len() % 512 != 0 {
                let word = next();
                let small = word % 3 != 0;
                bytes.extend((if small { word % 480 } else { word }).to_le_bytes());
            }
        }
        let tree = |flags: u16, depth: u16, root: u64| {
            let mut tree = [0; TREE];
            tree[4..6].copy_from_slice(&flags.to_le_bytes());
            tree[6..8].copy_from_slice(&depth.to_le_bytes());
            tree[40..].copy_from_slice(&root.to_le_bytes());
            tree
        };
        let header = Header {
            page_size: 512,
            map_size: 1 << 20,
            last_page,
            transaction: 2,
            free_root: None,
            main_root: Some(root),
            trees: [tree(8, 0, u64::MAX), tree(0, depth, root)],
        };
        drop(walk(&bytes, &header));
    }
}
