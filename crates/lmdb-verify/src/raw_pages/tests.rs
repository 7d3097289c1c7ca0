//! Noise in the place of a file.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::header::TREE;
use crate::pages::META;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

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
        let length = u64::try_from(bytes.len()).unwrap();
        drop(verify(&mut Cursor::new(bytes), &header, length, Contents::Unread));
    }
}
