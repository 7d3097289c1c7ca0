//! Rows that must not be there yet, of many plans: proved to be absent together, in the order of their keys.

use super::commit::Member;
use super::encoded::EncodedRow;
use super::transaction::Transaction;
use crate::store::open::Rising;
use crate::store::scan::read;

/// Of fewer rows each is proved to be absent when its plan is carried out.
const MANY: usize = 16;

/// So many bytes of a key are compared at once.
const WORD: usize = size_of::<u128>();

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
        for (_, place) in in_order(&rows) {
            let Some((key, length, row)) = usize::try_from(place).ok().and_then(|place| rows.get(place))
            else {
                continue;
            };
            row.is_absent.set(rising.lacks((key, *length), read::verify_alone).is_ok_and(|lacks| lacks));
        }
    }
}

/// The places of rows, in the order of their keys.
fn in_order(rows: &[(&[u8], usize, &EncodedRow)]) -> Vec<(u128, u32)> {
    let key =
        |place: u32| usize::try_from(place).ok().and_then(|place| rows.get(place)).map(|(key, ..)| *key);
    let first = key(0).unwrap_or_default();
    // Rows of a load are mostly of one partition. What is behind that tells most of them apart.
    let common = rows.iter().map(|(key, ..)| in_common(first, key)).min().unwrap_or_default();
    let word = |key: &[u8]| {
        let rest = key.get(common..).unwrap_or_default();
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; WORD];
            for (to, from) in word.iter_mut().zip(rest) {
                *to = *from;
            }
            word
        });
        u128::from_be_bytes(word)
    };
    let mut order: Vec<_> = rows.iter().map(|(key, ..)| word(key)).zip(0..).collect();
    order.sort_unstable_by(|(a, i), (b, j)| a.cmp(b).then_with(|| key(*i).cmp(&key(*j))));
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
    use super::in_common;

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
}
