//! What keeps an account's keys in step with the store's record of them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use table_core::__executor::{Expected, RecordOwner};
use table_core::Tables;
use table_core::asynchronous::AsyncTables;
use zeroize::Zeroizing;

use super::error::AccountError;
use super::keys::{AccountKeys, Given, KeyName};
use super::text;

#[cfg(test)]
mod tests;

/// How long keys are taken for what the store has.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long they are after a request that none of them has verified.
pub const LOOK_AFTER_FAILURE: Duration = Duration::from_millis(20);

/// The name of the store's record.
const RECORD: &str = "account-keys";

/// How often a record is read again that others change meanwhile.
const ATTEMPTS: usize = 16;

/// The keys of an account as the store has them, shared by all that verify requests.
pub struct KeyKeeper {
    name: Box<str>,
    tables: AsyncTables,
    known: Mutex<Known>,
}

struct Known {
    keys: Arc<AccountKeys>,
    /// When the record was looked at last.
    looked: Instant,
}

impl KeyKeeper {
    /// Returns the keys of a store's account, made of what is given if the store has none yet. Of processes that start at one
    /// time, one makes them. An account of another name is an error, and given keys that are not the store's are left out: see
    /// [`is_as_given`](Self::is_as_given).
    pub async fn open(tables: AsyncTables, name: &str, given: Given) -> Result<Self, AccountError> {
        let asked = name.to_owned();
        // On a thread of the pool: that it waits for the disk is nothing that a task should do.
        let opened = tables.run(move |tables| Ok(read_or_make(tables, &asked, &given))).await?;
        let keys = opened?;
        if keys.name() != name {
            return Err(AccountError::OtherAccount(keys.name().to_owned()));
        }
        let known = Known { keys: Arc::new(keys), looked: Instant::now() };
        Ok(Self { name: name.into(), tables, known: Mutex::new(known) })
    }

    /// Returns the account's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the keys as they are now, at most [a second](LOOK_EVERY) old.
    pub async fn current(&self) -> Result<Arc<AccountKeys>, AccountError> {
        self.looked_at(Instant::now(), LOOK_EVERY).await
    }

    /// Returns the keys to verify a request by once more, if they are others than the ones of this generation, none of which has
    /// verified it.
    pub async fn after_failure(&self, generation: u64) -> Result<Option<Arc<AccountKeys>>, AccountError> {
        let keys = self.looked_at(Instant::now(), LOOK_AFTER_FAILURE).await?;
        Ok((keys.generation() != generation).then_some(keys))
    }

    /// Puts a new random key in the place of one and returns it, as Base64. What the former one has signed is refused from now
    /// on; by other processes, within [a second](LOOK_EVERY). The other key stays as it is, even if another process exchanges
    /// that at the same time.
    pub async fn rotate(&self, which: KeyName) -> Result<Zeroizing<String>, AccountError> {
        let exchanged = self.tables.run(move |tables| Ok(exchange(tables, which))).await?;
        let keys = Arc::new(exchanged?);
        let key = Zeroizing::new(keys.key(which).to_owned());
        self.know(keys, Instant::now());
        Ok(key)
    }

    /// Returns whether the keys are those that are given; where none is given, any is.
    pub fn is_as_given(&self, given: &Given) -> bool {
        let keys = self.known().keys.clone();
        let is = |given: &Option<Zeroizing<String>>, which| {
            given.as_ref().is_none_or(|given| given.as_str() == keys.key(which))
        };
        is(&given.key1, KeyName::Key1) && is(&given.key2, KeyName::Key2)
    }

    /// Returns the keys, from the store if they have not been looked at for so long.
    async fn looked_at(&self, now: Instant, every: Duration) -> Result<Arc<AccountKeys>, AccountError> {
        let looking = {
            let mut known = self.known();
            if now.saturating_duration_since(known.looked) < every {
                return Ok(known.keys.clone());
            }
            // Others that come while this one looks take what is known.
            Looking { keeper: self, former: Some(std::mem::replace(&mut known.looked, now)) }
        };
        let found = self.tables.service_records().get(RecordOwner::Store, RECORD).await?;
        let keys = text::read(&found.map(Zeroizing::new).ok_or(AccountError::Removed)?)?;
        looking.end();
        Ok(self.know(Arc::new(keys), now))
    }

    /// Takes in keys that were read or written, unless later ones are known by now, as where a read was slower than an exchange
    /// by this process; returns those that are known.
    fn know(&self, keys: Arc<AccountKeys>, now: Instant) -> Arc<AccountKeys> {
        let mut known = self.known();
        if keys.generation() > known.keys.generation() {
            known.keys = keys;
        }
        known.looked = known.looked.max(now);
        known.keys.clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A look at the record that has begun. One that fails, or whose request goes away meanwhile, counts as none: the next request
/// looks, so that keys that may have been exchanged are not taken for a second more.
struct Looking<'k> {
    keeper: &'k KeyKeeper,
    /// When the record had been looked at before.
    former: Option<Instant>,
}

impl Looking<'_> {
    fn end(mut self) {
        self.former = None;
    }
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        if let Some(former) = self.former {
            self.keeper.known().looked = former;
        }
    }
}

impl fmt::Debug for KeyKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyKeeper").field("keys", &self.known().keys).finish_non_exhaustive()
    }
}

/// Returns the text of the record, if the store has one.
fn record(tables: &Tables) -> Result<Option<Zeroizing<Vec<u8>>>, AccountError> {
    Ok(tables.service_records()?.get(RecordOwner::Store, RECORD)?.map(Zeroizing::new))
}

/// Puts the text of keys in the place of what is expected, and returns whether that was there.
fn replace(tables: &Tables, expected: Expected<'_>, keys: &AccountKeys) -> Result<bool, AccountError> {
    let text = text::write(keys);
    Ok(tables.service_records()?.replace(RecordOwner::Store, RECORD, expected, Some(text.as_slice()))?)
}

fn read_or_make(tables: &Tables, name: &str, given: &Given) -> Result<AccountKeys, AccountError> {
    for _ in 0..ATTEMPTS {
        if let Some(found) = record(tables)? {
            return text::read(&found);
        }
        let keys = AccountKeys::new(name, given)?;
        if replace(tables, Expected::Absent, &keys)? {
            return Ok(keys);
        }
    }
    Err(AccountError::Busy)
}

fn exchange(tables: &Tables, which: KeyName) -> Result<AccountKeys, AccountError> {
    let mut first: Option<AccountKeys> = None;
    for _ in 0..ATTEMPTS {
        let found = record(tables)?.ok_or(AccountError::Removed)?;
        let keys = text::read(&found)?;
        // Another process that has exchanged the same key meanwhile has given its new one out: that must stay.
        if first.as_ref().is_some_and(|first| first.key(which) != keys.key(which)) {
            return Err(AccountError::Exchanged(which));
        }
        let exchanged = keys.exchanged(which)?;
        if replace(tables, Expected::Value(&found), &exchanged)? {
            return Ok(exchanged);
        }
        first.get_or_insert(keys);
    }
    Err(AccountError::Busy)
}
