//! The table of keys as it is asked, and what a process goes by of it.
//!
//! The service can't write a row of a table and demand something of the keys in one request. So every process goes by what it has
//! read of the keys for the time of a lease, and sends nothing afterwards that was sealed by it. What is to rely on a change of the
//! keys waits for two leases first, as with the [states of indexes](super::super::transitions).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use table_engine::crypt::KeyHandle;
use table_engine::crypt::data_key::DataKey;
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result};

use super::super::explain;
use super::super::planned::body;
use super::rows::{HEAD, Head, PARTITION};
use crate::client::{Client, Failure, Operation, Outcome, PageRequest};

/// How many leases are waited for.
const LEASES: u32 = 2;
/// How often something is tried that others do, too.
pub(super) const ATTEMPTS: u32 = 32;
/// How many keys are remembered. What is forgotten is read again.
const REMEMBERED: usize = 65_536;

/// The table of keys.
pub(crate) struct KeyTable {
    pub(super) client: Arc<Client>,
    pub(super) name: String,
    /// For how long the keys are gone by, of a store that has none yet.
    pub(super) lease: Duration,
    known: Mutex<Known>,
}

/// What a process goes by.
#[derive(Default)]
struct Known {
    leased: Option<Leased>,
    keys: HashMap<KeyHandle, Arc<DataKey>>,
    scopes: HashMap<Vec<u8>, Arc<ScopeKeys>>,
}

/// What was read of the keys' state, and until when it is gone by.
#[derive(Clone, Debug)]
pub(crate) struct Leased {
    pub(super) head: Head,
    pub(crate) until: Instant,
}

impl Leased {
    pub(crate) fn generation(&self) -> u64 {
        self.head.generation
    }
}

/// The keys of a scope that are alive.
#[derive(Debug)]
pub(super) struct ScopeKeys {
    /// The one that seals.
    pub(super) current: Arc<DataKey>,
    /// All of them, the newest first.
    pub(super) alive: Vec<Arc<DataKey>>,
}

/// What has become of rows that were to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Done,
    /// They are not as they were read: others were quicker, or the same request was before its answer was lost.
    Beaten,
}

/// What is said of rows that may have been written or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// It makes no difference to the caller: the service was not reached.
    Harmless,
    /// The outcome is unknown.
    Unknown,
}

impl KeyTable {
    pub(super) fn new(client: Arc<Client>, name: String, lease: Duration) -> Self {
        Self { client, name, lease, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a row, if it is there.
    pub(super) async fn row(&self, key: &str) -> Result<Option<DynamicEntity>> {
        match self.client.entity(&self.name, PARTITION, key).await.map_err(explain::unread) {
            // It is made with the first key.
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(None),
            found => found,
        }
    }

    /// Returns the rows whose keys begin so.
    pub(super) async fn rows(&self, prefix: &str) -> Result<Vec<DynamicEntity>> {
        let filter =
            format!("PartitionKey eq '{PARTITION}' and RowKey ge '{prefix}' and RowKey lt '{prefix}~'");
        let (mut request, mut found) = (PageRequest { filter, ..PageRequest::default() }, Vec::new());
        loop {
            match self.client.page(&self.name, &request).await.map_err(explain::unread) {
                Err(error) if error.kind() == ErrorKind::TableNotFound => return Ok(found),
                page => {
                    let page = page?;
                    found.extend(page.entities);
                    request.after = page.next;
                }
            }
            if request.after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Writes rows together or not at all; `until` is when the lease ends of what they were made by.
    pub(super) async fn write(
        &self,
        operations: &[Operation],
        until: Option<Instant>,
        unanswered: Unanswered,
    ) -> Result<Written> {
        match self.client.execute_until(&self.name, PARTITION, operations, until).await {
            Ok(Outcome::Done(_)) => Ok(Written::Done),
            Ok(Outcome::Refused { refusal, .. }) if refusal.code == "TableNotFound" => {
                match self.client.create_table(&self.name).await.map_err(explain::unread) {
                    // Another program may have made it meanwhile.
                    Err(error) if error.kind() != ErrorKind::TableAlreadyExists => Err(error),
                    _ => Ok(Written::Beaten),
                }
            }
            Ok(Outcome::Refused { refusal, .. }) if matches!(refusal.status, 404 | 409 | 412) => {
                Ok(Written::Beaten)
            }
            Ok(Outcome::Refused { refusal, .. }) => Err(explain::refused(&refusal)),
            Err(Failure::Expired) => Ok(Written::Beaten),
            Err(failure @ (Failure::NoAnswer(_) | Failure::Unsettled(_)))
                if unanswered == Unanswered::Harmless =>
            {
                let because = failure.to_string();
                Err(Error::new(ErrorKind::Unreachable).because(because).caused_by(failure))
            }
            Err(failure) => Err(explain::unwritten(failure)),
        }
    }

    /// Reads the keys' state now; `None` if there are no keys yet.
    pub(super) async fn read_head(&self) -> Result<Option<Leased>> {
        for _ in 0..ATTEMPTS {
            // The lease begins when it is asked for, not when the answer comes.
            let asked = Instant::now();
            let Some(row) = self.row(HEAD).await? else { return Ok(None) };
            let head = Head::read(&row)?;
            let until = asked + head.lease;
            if let Some(leased) = self.observe(Leased { head, until }) {
                return Ok(Some(leased));
            }
        }
        let because =
            "the table of keys is older than what this process has read of it before: was it restored?";
        Err(Error::new(ErrorKind::KeyUnavailable).because(because))
    }

    /// Takes in a state that was read. Returns what is gone by now: `None` if a later state is known already.
    fn observe(&self, read: Leased) -> Option<Leased> {
        let mut known = self.known();
        if let Some(before) = &known.leased {
            if before.head.generation > read.head.generation {
                return None;
            }
            if before.head.generation < read.head.generation {
                (known.keys, known.scopes) = Default::default();
            } else if before.until > read.until {
                let until = before.until;
                return Some(Leased { until, ..read });
            }
        }
        known.leased = Some(read.clone());
        Some(read)
    }

    /// Returns the keys' state if it was read within the lease.
    pub(super) fn held(&self) -> Option<Leased> {
        self.known().leased.clone().filter(|leased| Instant::now() < leased.until)
    }

    /// Returns the keys' state, as it was a lease ago at the earliest.
    pub(crate) async fn leased(&self) -> Result<Leased> {
        match self.held() {
            Some(leased) => Ok(leased),
            None => self.read_head().await?.ok_or_else(gone),
        }
    }

    /// Returns what is remembered of a key.
    pub(super) fn known_key(&self, handle: KeyHandle) -> Option<Arc<DataKey>> {
        self.known().keys.get(&handle).cloned()
    }

    /// Returns what is remembered of a scope.
    pub(super) fn known_scope(&self, scope: &[u8]) -> Option<Arc<ScopeKeys>> {
        self.known().scopes.get(scope).cloned()
    }

    /// Remembers a key that was read in this generation, unless there is another by now.
    pub(super) fn remember_key(&self, generation: u64, key: &Arc<DataKey>) {
        let mut known = self.known();
        if known.leased.as_ref().is_some_and(|leased| leased.generation() == generation) {
            if known.keys.len() >= REMEMBERED {
                known.keys.clear();
            }
            known.keys.insert(key.handle(), key.clone());
        }
    }

    /// Remembers the keys of a scope that were read in this generation, unless there is another by now.
    pub(super) fn remember_scope(&self, generation: u64, scope: &[u8], keys: &Arc<ScopeKeys>) {
        let mut known = self.known();
        if known.leased.as_ref().is_some_and(|leased| leased.generation() == generation) {
            if known.scopes.len() >= REMEMBERED {
                known.scopes.clear();
            }
            known.scopes.insert(scope.to_vec(), keys.clone());
        }
    }

    /// Waits until every process goes by the keys as they are, and returns their state then.
    pub(crate) async fn settle(&self) -> Result<Leased> {
        for _ in 0..ATTEMPTS {
            let found = self.read_head().await?.ok_or_else(gone)?;
            if !found.head.is_moving {
                return Ok(found);
            }
            tokio::time::sleep(found.head.lease.saturating_mul(LEASES)).await;
            let now = self.read_head().await?.ok_or_else(gone)?;
            if now.generation() == found.generation() && now.head.is_moving {
                let settled = Head { is_moving: false, ..now.head };
                // Another process may have said so, or changed something meanwhile, and then it is looked again.
                self.write(&[put_head(&settled)?], None, Unanswered::Harmless).await?;
            }
        }
        let because = "the keys go on changing";
        Err(Error::new(ErrorKind::ConditionNotMet).because(because))
    }
}

/// Returns what puts a state in the place of the one that was read.
pub(super) fn put_head(head: &Head) -> Result<Operation> {
    let tag = head.etag.map(|etag| etag.to_string());
    Ok(Operation::replace(HEAD, tag, body(&head.row())?))
}

/// Returns what puts a row in the place of the one with this version, or where none is.
pub(super) fn put(row: &DynamicEntity, before: Option<ETag>) -> Result<Operation> {
    let body = body(row)?;
    Ok(match before {
        Some(etag) => Operation::replace(row.row_key(), Some(etag.to_string()), body),
        None => Operation::insert(row.row_key(), body),
    })
}

/// Returns the error of a store whose keys are not there any more.
#[cold]
pub(super) fn gone() -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because("the table of the store's keys is gone, or has lost its state")
}
