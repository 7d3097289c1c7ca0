//! The data keys that a process remembers.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::data_key::{DataKey, KeyHandle};

/// How many keys each half holds.
const HALF: usize = 512;

/// A map that forgets keys which have not been asked for in a long time. When the young half is full it becomes the old
/// one, and the former old half is dropped, which wipes it.
#[derive(Debug)]
struct Halves<K> {
    young: HashMap<K, Arc<DataKey>>,
    old: HashMap<K, Arc<DataKey>>,
}

impl<K> Default for Halves<K> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new() }
    }
}

impl<K: Hash + Eq> Halves<K> {
    fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<Arc<DataKey>>
    where
        K: Borrow<Q>,
    {
        if let Some(found) = self.young.get(key) {
            return Some(found.clone());
        }
        let (key, found) = self.old.remove_entry(key)?;
        self.put(key, found.clone());
        Some(found)
    }

    fn put(&mut self, key: K, value: Arc<DataKey>) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

/// Data keys by name, and those that seal by scope.
#[derive(Debug, Default)]
pub struct KeyCache {
    by_handle: Halves<KeyHandle>,
    by_scope: Halves<Box<[u8]>>,
    /// The generation that the store's keys had when the first of them was read.
    pub generation: u64,
}

impl KeyCache {
    /// Returns the key of this name.
    pub fn key(&mut self, handle: KeyHandle) -> Option<Arc<DataKey>> {
        self.by_handle.get(&handle)
    }

    /// Returns the key that seals in a scope.
    pub fn current(&mut self, scope: &[u8]) -> Option<Arc<DataKey>> {
        self.by_scope.get(scope)
    }

    /// Remembers a key.
    pub fn put(&mut self, key: &Arc<DataKey>) {
        self.by_handle.put(key.handle(), key.clone());
    }

    /// Remembers a key as the one that seals in a scope.
    pub fn put_current(&mut self, scope: &[u8], key: &Arc<DataKey>) {
        self.put(key);
        self.by_scope.put(scope.into(), key.clone());
    }

    /// Forgets every key: some may not be current any more, or not be at all.
    pub fn clear(&mut self) {
        (self.by_handle, self.by_scope) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypt::{Scope, SecretKey};

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_asked_for() {
        let mut cache = KeyCache::default();
        let key = |number: u64| {
            Arc::new(DataKey::new(KeyHandle(number), 1, Scope::store(), &SecretKey::generate().unwrap()))
        };
        let first = key(0);
        cache.put_current(b"scope", &first);
        for number in 1..5_000 {
            cache.put(&key(number));
            assert!(cache.key(KeyHandle(0)).is_some(), "asked for all the time, and gone at {number}");
        }
        assert!(cache.key(KeyHandle(1)).is_none());
        assert!(cache.by_handle.young.len() + cache.by_handle.old.len() <= 2 * HALF);
        assert!(cache.current(b"scope").is_some() && cache.current(b"other").is_none());
        cache.clear();
        assert!(cache.key(KeyHandle(0)).is_none() && cache.current(b"scope").is_none());
        assert_eq!(Arc::strong_count(&first), 1, "what is forgotten is dropped, and so wiped");
        for number in 0..512 {
            cache.put(&key(number));
        }
        assert!((0..512).all(|number| cache.key(KeyHandle(number)).is_some()), "so many are held at once");
    }
}
