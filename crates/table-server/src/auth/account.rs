//! The account, and its keys.

use std::sync::{Arc, PoisonError, RwLock};

use table_core::access::sas::{AccountKey, SasError};

/// An account: its name, and one or two keys, either of which signs.
///
/// With two, one can be exchanged while clients use the other. `Debug` shows no key.
#[derive(Debug)]
pub struct Account {
    name: Box<str>,
    keys: RwLock<Keys>,
}

#[derive(Debug)]
struct Keys {
    first: AccountKey,
    second: Option<AccountKey>,
    /// Both, as requests take them.
    all: Arc<[AccountKey]>,
}

/// Which of an account's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNumber {
    /// The first.
    First,
    /// The second.
    Second,
}

impl Account {
    /// Makes an account of its name and the text of its keys, which is Base64.
    pub fn new(name: &str, first: &str, second: Option<&str>) -> Result<Self, SasError> {
        let first = AccountKey::new(name, first)?;
        let second = second.map(|second| AccountKey::new(name, second)).transpose()?;
        Ok(Self { name: name.into(), keys: RwLock::new(Keys::of(first, second)) })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its keys, as they are now.
    #[must_use]
    pub fn keys(&self) -> Arc<[AccountKey]> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner).all)
    }

    /// Exchanges a key: from now on nothing is taken that the one before has signed.
    pub fn set_key(&self, number: KeyNumber, key: &str) -> Result<(), SasError> {
        let key = AccountKey::new(&self.name, key)?;
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        *keys = match number {
            KeyNumber::First => Keys::of(key, keys.second.clone()),
            KeyNumber::Second => Keys::of(keys.first.clone(), Some(key)),
        };
        Ok(())
    }
}

impl Keys {
    fn of(first: AccountKey, second: Option<AccountKey>) -> Self {
        let all = std::iter::once(first.clone()).chain(second.clone()).collect();
        Self { first, second, all }
    }
}
