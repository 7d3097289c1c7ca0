//! An account's name and its two keys.

use std::fmt;
use std::sync::Arc;

use table_core::access::sas::AccountKey;
use zeroize::Zeroizing;

use super::error::AccountError;
use super::text;

/// The bytes of a key that is made at random.
const KEY_BYTES: usize = 64;

/// The fewest and the most bytes of a key that is given.
const GIVEN_BYTES: std::ops::RangeInclusive<usize> = 32..=256;

/// Which of the two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// The first.
    Key1,
    /// The second.
    Key2,
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key1 => "key1",
            Self::Key2 => "key2",
        })
    }
}

/// The keys that an account gets at the first start over a store, each as Base64. One that is not given is made at random.
#[derive(Clone, Default)]
pub struct Given {
    /// The first key.
    pub key1: Option<Zeroizing<String>>,
    /// The second key.
    pub key2: Option<Zeroizing<String>>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |key: &Option<_>| key.is_some();
        f.debug_struct("Given").field("key1", &has(&self.key1)).field("key2", &has(&self.key2)).finish()
    }
}

/// An account: its name and its two keys, either of which signs, so that one can be exchanged while clients use the other.
///
/// Keys are wiped from memory when they are dropped, and `Debug` shows none.
pub struct AccountKeys {
    name: Box<str>,
    key1: Zeroizing<String>,
    key2: Zeroizing<String>,
    generation: u64,
    signing: Arc<[AccountKey]>,
}

impl AccountKeys {
    /// Makes the keys of an account of what is given and of random bytes.
    pub fn new(name: &str, given: &Given) -> Result<Self, AccountError> {
        let key = |key: &Option<Zeroizing<String>>, which| match key {
            Some(key) => is_key(key).then(|| key.clone()).ok_or(AccountError::Key(which)),
            None => random_key(),
        };
        let (key1, key2) = (key(&given.key1, KeyName::Key1)?, key(&given.key2, KeyName::Key2)?);
        Self::of(name, key1, key2, 1)
    }

    /// Makes an account of what was read of it.
    pub(super) fn of(
        name: &str,
        key1: Zeroizing<String>,
        key2: Zeroizing<String>,
        generation: u64,
    ) -> Result<Self, AccountError> {
        if !is_name(name) {
            return Err(AccountError::Name(name.to_owned()));
        }
        if key1 == key2 {
            return Err(AccountError::SameKeys);
        }
        let signing = |key: &str, which| AccountKey::new(name, key).map_err(|_| AccountError::Key(which));
        let signing = [signing(&key1, KeyName::Key1)?, signing(&key2, KeyName::Key2)?].into();
        Ok(Self { name: name.into(), key1, key2, generation, signing })
    }

    /// Returns the account with a new key in the place of one.
    pub(super) fn exchanged(&self, which: KeyName) -> Result<Self, AccountError> {
        let new = random_key()?;
        let (key1, key2) = match which {
            KeyName::Key1 => (new, self.key2.clone()),
            KeyName::Key2 => (self.key1.clone(), new),
        };
        Self::of(&self.name, key1, key2, self.generation.saturating_add(1))
    }

    /// Returns the account's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a key as Base64, as connection strings have it.
    #[must_use]
    pub fn key(&self, which: KeyName) -> &str {
        match which {
            KeyName::Key1 => &self.key1,
            KeyName::Key2 => &self.key2,
        }
    }

    /// Returns how often the keys have changed, counted from 1. No two states of them have one number.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns both keys as what verifies signatures.
    #[must_use]
    pub fn signing(&self) -> &Arc<[AccountKey]> {
        &self.signing
    }
}

impl fmt::Debug for AccountKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, generation, .. } = self;
        f.debug_struct("AccountKeys")
            .field("name", name)
            .field("generation", generation)
            .finish_non_exhaustive()
    }
}

/// Returns whether a text is the name of an account, as the service has them.
pub(crate) fn is_name(name: &str) -> bool {
    (3..=24).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Returns whether a text is a key that is long enough not to be guessed.
pub(crate) fn is_key(key: &str) -> bool {
    // Four letters stand for three bytes, and each `=` at the end for one that is not there.
    let bytes = key.trim_end_matches('=').len() * 3 / 4;
    GIVEN_BYTES.contains(&bytes) && AccountKey::new("given", key).is_ok()
}

/// Returns a new key of random bytes.
fn random_key() -> Result<Zeroizing<String>, AccountError> {
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut *bytes).map_err(AccountError::Random)?;
    Ok(text::base64(&*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(key1: Option<&str>, key2: Option<&str>) -> Given {
        let key = |key: Option<&str>| key.map(|key| Zeroizing::new(key.to_owned()));
        Given { key1: key(key1), key2: key(key2) }
    }

    #[test]
    fn keys_that_are_not_given_are_random() {
        let [one, other] = [(); 2].map(|()| AccountKeys::new("contoso", &Given::default()).unwrap());
        let all = [&one, &other].map(|keys| [keys.key(KeyName::Key1), keys.key(KeyName::Key2)]);
        let distinct: std::collections::BTreeSet<_> = all.as_flattened().iter().collect();
        assert_eq!(distinct.len(), 4);
        assert!(distinct.iter().all(|key| key.len() == 88 && is_key(key)), "64 bytes each");
        assert_eq!((one.name(), one.generation(), one.signing().len()), ("contoso", 1, 2));
    }

    #[test]
    fn what_is_given_is_taken_if_it_is_a_key() {
        let [first, second] = [[1; 32], [2; 32]].map(|bytes| text::base64(&bytes));
        let keys = AccountKeys::new("contoso", &given(Some(&first), Some(&second))).unwrap();
        assert_eq!((keys.key(KeyName::Key1), keys.key(KeyName::Key2)), (&**first, &**second));
        let keys = AccountKeys::new("contoso", &given(None, Some(&second))).unwrap();
        assert_eq!(keys.key(KeyName::Key2), &**second);

        let short = text::base64(&[1; 31]);
        let long = text::base64(&[1; 257]);
        for key in ["", "c2VjcmV0", "no key at all, and yet as long as one would be", &short, &long] {
            let error = AccountKeys::new("contoso", &given(Some(&first), Some(key))).unwrap_err();
            assert!(matches!(error, AccountError::Key(KeyName::Key2)), "{error}");
            assert!(key.is_empty() || !format!("{error} {error:?}").contains(key), "{error}");
        }
        let error = AccountKeys::new("contoso", &given(Some(&first), Some(&first))).unwrap_err();
        assert!(matches!(error, AccountError::SameKeys), "{error}");
        for name in ["", "ab", "Contoso", "con-toso", "\u{e9}\u{e9}\u{e9}", &"a".repeat(25)] {
            let error = AccountKeys::new(name, &Given::default()).unwrap_err();
            assert!(matches!(error, AccountError::Name(_)), "{error}");
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let first = text::base64(&[1; 32]);
        let given = given(Some(&first), None);
        let keys = AccountKeys::new("contoso", &given).unwrap();
        let shown = format!("{given:?} {keys:?}");
        assert!(shown.contains("contoso") && !shown.contains(&**first), "{shown}");
        assert!(!shown.contains(keys.key(KeyName::Key2)), "{shown}");
    }
}
