//! Rows that must not be there yet, of many plans: proved to be absent together, in the order of their keys.

use super::group::Member;
use super::transaction::Transaction;
use crate::store::open::Rising;
use crate::store::scan::read;

/// Of fewer rows each is proved to be absent when its plan is carried out.
const MANY: usize = 16;

/// So many bytes of a key are compared at once: as many as there is room for beside a row's place.
const WORD: usize = size_of::<u128>() - size_of::<u32>();

impl Transaction<'_> {
    /// Proves of rows that must not be there that they are not, while nothing has been written. Where that can't be told,
    /// or a row is there, its plan finds out.
    pub(super) fn prove_absent(&mut self, members: &[Member]) {
        let all = || members.iter().flat_map(|member| &member.prepared.rows);
        // Another transaction may have tried the same plans before.
        all().for_each(|row| row.is_absent.set(false));
        let count = all().count();
        if count < MANY {
            return;
        }
        let Ok(Some(tree)) = self.writing().tree() else { return };
        let mut rows = Vec::with_capacity(count);
        for Member { prepared, .. } in members {
            let blind = prepared.rows.iter().filter(|row| row.is_blind());
            rows.extend(blind.map(|row| (prepared.key(row), prepared.length(row), row)));
        }
        let mut rising = Rising::new(tree, self.environment, &self.txn, &mut self.scratch.explored);
        for word in in_order(&rows, |(key, ..)| key) {
            let Some((key, length, row)) = at(&rows, word) else { continue };
            row.is_absent.set(rising.lacks((key, *length), read::verify_alone).is_ok_and(|lacks| lacks));
        }
    }
}

/// The row whose place is behind this word.
fn at<R>(rows: &[R], word: u128) -> Option<&R> {
    rows.get(usize::try_from(word & u128::from(u32::MAX)).ok()?)
}

/// The places of rows, in the order of their keys, each behind a part of the key.
fn in_order<R>(rows: &[R], key: impl for<'r> Fn(&'r R) -> &'r [u8]) -> Vec<u128> {
    let first = rows.first().map(&key).unwrap_or_default();
    // Rows of a load are mostly of one partition. What is behind that tells most of them apart.
    let common = rows.iter().map(|row| in_common(first, key(row))).min().unwrap_or_default();
    let word = |key: &[u8]| {
        let rest = key.get(common..).unwrap_or_default();
        let mut word = [0; WORD];
        match rest.first_chunk() {
            Some(whole) => word = *whole,
            None => word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from),
        }
        let [a, b, c, d, e, f, g, h, i, j, k, l] = word;
        u128::from_be_bytes([a, b, c, d, e, f, g, h, i, j, k, l, 0, 0, 0, 0])
    };
    let mut order: Vec<_> =
        rows.iter().zip(0_u32..).map(|(row, place)| word(key(row)) | u128::from(place)).collect();
    // Numbers alone are sorted in half the time that pairs take.
    order.sort_unstable();
    let is_alike = |a: &u128, b: &u128| a >> u32::BITS == b >> u32::BITS;
    for alike in order.chunk_by_mut(is_alike).filter(|alike| alike.len() > 1) {
        alike.sort_unstable_by(|a, b| at(rows, *a).map(&key).cmp(&at(rows, *b).map(&key)));
    }
    order
}

/// How many bytes two keys begin with in common.
fn in_common(a: &[u8], b: &[u8]) -> usize {
    let (words, _) = a.as_chunks::<8>();
    let same = words.iter().zip(b.as_chunks::<8>().0).take_while(|(a, b)| a == b).count() * 8;
    let rest = a.iter().zip(b).skip(same);
    same + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::{at, in_common, in_order};
    use proptest::prelude::*;

    #[test]
    fn what_keys_have_in_common_is_counted_in_bytes() {
        let key = b"a partition, and a row key";
        for end in 0..key.len() {
            let mut other = key.to_vec();
            other[end] ^= 1;
            assert_eq!((in_common(key, &other), in_common(&other, key)), (end, end));
            assert_eq!((in_common(key, &key[..end]), in_common(&key[..end], key)), (end, end));
        }
        assert_eq!(in_common(key, key), key.len());
    }

    proptest! {
        #[test]
        fn keys_come_in_their_order_however_long_they_are_alike(
            common in proptest::collection::vec(0_u8..3, 0..20),
            rests in proptest::collection::vec(proptest::collection::vec(0_u8..2, 0..24), 0..60),
        ) {
            let keys: Vec<Vec<u8>> = rests.iter().map(|rest| [&common[..], rest].concat()).collect();
            let order: Vec<_> = in_order(&keys, |key| key).into_iter().map(|word| at(&keys, word).unwrap()).collect();
            let mut sorted: Vec<_> = keys.iter().collect();
            sorted.sort();
            prop_assert_eq!(order, sorted);
        }
    }
}
