//! A map of few entries.

use std::borrow::Borrow;

/// A map that is a list, in the order of its keys. It is for few entries, since an insertion moves those behind it: the tree of
/// the standard library is 5,000 lines and more of LLVM's for each type of entry, and this is a few hundred.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> SortedMap<K, V> {
    /// Makes a map of no entries.
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the entries in the order of their keys.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns the values in the order of their keys.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.0.into_iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    /// Returns the value of a key.
    #[doc(hidden)]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().and_then(|at| self.0.get(at)).map(|(_, value)| value)
    }

    /// Returns the value of a key, to be changed.
    #[doc(hidden)]
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Puts a value under a key, in the place of the one that is there.
    #[doc(hidden)]
    pub fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => {
                if let Some(entry) = self.0.get_mut(at) {
                    entry.1 = value;
                }
            }
            Err(at) => self.0.insert(at, (key, value)),
        }
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_holds_what_a_tree_holds() {
        let (mut map, mut tree) = (SortedMap::<u32, u32>::new(), BTreeMap::new());
        let mut random = 1_u32;
        for value in 0..500 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = (random >> 16) % 100;
            map.insert(key, value);
            tree.insert(key, value);
            assert_eq!(map.get_mut(&key), tree.get_mut(&key));
        }
        assert!((0..200).all(|key| map.get(&key) == tree.get(&key)));
        assert!(map.iter().eq(tree.iter()));
        assert_eq!(map.clone().into_iter().collect::<SortedMap<_, _>>().0, map.0);
        assert!(map.into_values().eq(tree.into_values()));
    }
}
