//! Which keys are one: those that lead to the same row, however they were spelled.
//!
//! A key that no row can have is the same as another that is refused in the same words.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::{IndexKey, Key, Keys, Partition};
use crate::error::Result;
use crate::model::EntityKeys;
use crate::schema::KeyPair;

/// Copies a result: a key, or an error that says the same.
fn again<T: Clone>(made: &Result<T>) -> Result<T> {
    match made {
        Ok(key) => Ok(key.clone()),
        Err(error) => Err(error.again()),
    }
}

/// Returns whether both are the same text, or refused in the same words.
pub(super) fn are_same<T: PartialEq>(a: &Result<T>, b: &Result<T>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a == b,
        (Err(a), Err(b)) => a.kind() == b.kind() && a.to_string() == b.to_string(),
        _ => false,
    }
}

fn hash_pair<H: Hasher>(made: &Result<KeyPair>, state: &mut H) {
    match made {
        Ok(keys) => keys.as_keys().hash(state),
        Err(error) => error.kind().hash(state),
    }
}

fn show<T: fmt::Debug>(f: &mut fmt::Formatter<'_>, name: &str, made: &Result<T>) -> fmt::Result {
    match made {
        Ok(key) => f.debug_tuple(name).field(key).finish(),
        Err(error) => f.debug_tuple(name).field(error).finish(),
    }
}

fn show_pair(f: &mut fmt::Formatter<'_>, name: &str, made: &Result<KeyPair>) -> fmt::Result {
    match made {
        Ok(keys) => {
            let EntityKeys { partition, row } = keys.as_keys();
            f.debug_tuple(name).field(&partition).field(&row).finish()
        }
        Err(_) => show(f, name, made),
    }
}

impl<E> Clone for Key<E> {
    fn clone(&self) -> Self {
        Self { keys: again(&self.keys), entity: self.entity }
    }
}

impl<E> PartialEq for Key<E> {
    fn eq(&self, other: &Self) -> bool {
        are_same(&self.keys, &other.keys)
    }
}

impl<E> Eq for Key<E> {}

impl<E> Hash for Key<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_pair(&self.keys, state);
    }
}

impl<E> fmt::Debug for Key<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_pair(f, "Key", &self.keys)
    }
}

impl<E> Clone for Partition<E> {
    fn clone(&self) -> Self {
        Self { key: again(&self.key), entity: self.entity }
    }
}

impl<E> PartialEq for Partition<E> {
    fn eq(&self, other: &Self) -> bool {
        are_same(&self.key, &other.key)
    }
}

impl<E> Eq for Partition<E> {}

impl<E> Hash for Partition<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.key {
            Ok(key) => key.hash(state),
            Err(error) => error.kind().hash(state),
        }
    }
}

impl<E> fmt::Debug for Partition<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "Partition", &self.key)
    }
}

impl<P> Clone for IndexKey<P> {
    fn clone(&self) -> Self {
        let keys = match &self.keys {
            Keys::Printed(keys) => Keys::Printed(again(keys)),
            Keys::Blind(key) => Keys::Blind(key.clone()),
        };
        Self { keys, path: self.path }
    }
}

impl<P> PartialEq for IndexKey<P> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.keys, &other.keys) {
            (Keys::Printed(a), Keys::Printed(b)) => are_same(a, b),
            (Keys::Blind(a), Keys::Blind(b)) => {
                are_same(&a.without_tokens(), &b.without_tokens()) && a.asks_the_same(b)
            }
            _ => false,
        }
    }
}

impl<P> Eq for IndexKey<P> {}

/// A value that is looked up by its token is left out: nothing of it gets into a hash.
impl<P> Hash for IndexKey<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.keys {
            Keys::Printed(keys) => hash_pair(keys, state),
            Keys::Blind(key) => hash_pair(&key.without_tokens(), state),
        }
    }
}

/// Shows no value that is looked up by its token.
impl<P> fmt::Debug for IndexKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.keys {
            Keys::Printed(keys) => show_pair(f, "IndexKey", keys),
            Keys::Blind(key) => f.debug_tuple("IndexKey").field(key).finish(),
        }
    }
}
