//! Keys that live as long as the process: for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::envelope::{self, Purpose};
use super::key::{Derivation, SecretKey};
use super::provider::{KeyError, KeyId, KeyProvider};
use crate::error::Result;

/// A [`KeyProvider`] that keeps its keys in memory alone: for tests, and for stores that end with the process. When it
/// is dropped, everything that was sealed under its keys is lost.
///
/// ```
/// use std::sync::Arc;
/// use table_core::Store;
/// use table_core::crypt::MemoryKeys;
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryKeys(Mutex<Keys>);

struct Keys {
    current: KeyId,
    by_id: BTreeMap<KeyId, Derivation>,
    made: u64,
}

impl MemoryKeys {
    /// Makes a provider with one new key.
    pub fn new() -> Result<Self> {
        let current = KeyId::new("memory/1")?;
        let by_id = BTreeMap::from([(current.clone(), SecretKey::generate()?.derivation())]);
        Ok(Self(Mutex::new(Keys { current, by_id, made: 1 })))
    }

    /// Makes a new key, which wraps from now on; gives its name.
    pub fn rotate(&self) -> Result<KeyId> {
        let key = SecretKey::generate()?.derivation();
        let mut keys = self.lock();
        keys.made += 1;
        keys.current = KeyId::new(format!("memory/{}", keys.made))?;
        let id = keys.current.clone();
        keys.by_id.insert(id.clone(), key);
        Ok(id)
    }

    /// Destroys a key; whether there was one.
    pub fn forget(&self, id: &KeyId) -> bool {
        self.lock().by_id.remove(id).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyProvider for MemoryKeys {
    fn current(&self) -> Result<KeyId, KeyError> {
        Ok(self.lock().current.clone())
    }

    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        wrap(self.lock().by_id.get(id), key, context)
    }

    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        unwrap(self.lock().by_id.get(id), wrapped, context)
    }
}

/// Names no keys, and says only how many there are.
impl fmt::Debug for MemoryKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.lock();
        f.debug_struct("MemoryKeys").field("current", &keys.current).field("keys", &keys.by_id.len()).finish()
    }
}

/// Wraps as this crate's own providers do, once they have found the key.
pub(super) fn wrap(by: Option<&Derivation>, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
    let by = by.ok_or_else(KeyError::not_found)?;
    Ok(envelope::seal(by, Purpose::RootKey, context, key.expose())?)
}

pub(super) fn unwrap(by: Option<&Derivation>, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
    let by = by.ok_or_else(KeyError::not_found)?;
    let key = envelope::open(by, Purpose::RootKey, context, wrapped).map_err(|_| KeyError::refused())?;
    SecretKey::from_slice(&zeroize::Zeroizing::new(key)).ok_or_else(KeyError::refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_what_it_wrapped_in_the_same_context_and_nothing_else() {
        let keys = MemoryKeys::new().unwrap();
        let first = keys.current().unwrap();
        let secret = SecretKey::generate().unwrap();
        let wrapped = keys.wrap(&first, &secret, b"context").unwrap();
        let second = keys.rotate().unwrap();
        assert_eq!(keys.current().unwrap(), second);
        assert_eq!(keys.unwrap(&first, &wrapped, b"context").unwrap().expose(), secret.expose());
        assert!(keys.unwrap(&first, &wrapped, b"other").unwrap_err().is_refused());
        assert!(keys.unwrap(&second, &wrapped, b"context").unwrap_err().is_refused());
        for length in 0..wrapped.len() {
            assert!(keys.unwrap(&first, &wrapped[..length], b"context").unwrap_err().is_refused());
        }
        // The right key sealed it, and yet it is no key.
        let short =
            envelope::seal(&keys.lock().by_id[&first], Purpose::RootKey, b"context", &[7; 31]).unwrap();
        assert!(keys.unwrap(&first, &short, b"context").unwrap_err().is_refused());
        assert!(keys.forget(&first) && !keys.forget(&first));
        assert!(keys.wrap(&first, &secret, b"context").unwrap_err().is_not_found());
        assert!(keys.unwrap(&first, &wrapped, b"context").unwrap_err().is_not_found());
    }

    #[test]
    fn names_have_a_length() {
        assert!(KeyId::new("").is_err());
        assert!(KeyId::new("x".repeat(1_025)).is_err());
        assert_eq!(KeyId::new("x".repeat(1_024)).unwrap().as_str().len(), 1_024);
    }
}
