//! Changes of the keys: each is a request that demands the state that it was made by, and is made again where others were quicker.
//!
//! A new key is first made known: it seals nothing, and values are looked up by its tokens too. When every process knows it, it
//! becomes the one that seals. So no lookup by tokens misses what another process has written by the newer key before the lookup
//! began. Who has begun that and died leaves a key that is known; the next rotation goes on with it.

use std::collections::BTreeSet;

use table_engine::crypt::{KeyHandle, Scope, Token};
use table_engine::{Error, ErrorKind, Result};

use super::super::planned::body;
use super::key_store::{KeyStore, others_go_on, too_many};
use super::key_table::{ATTEMPTS, Leased, Unanswered, Written, put, put_head};
use super::rows::{KeyRow, SCOPE, ScopeRow, State};
use crate::client::Operation;

/// The most keys that one request destroys, beside the records of a scope and of the state; the service takes 100 operations.
const TOGETHER: usize = 90;

/// A key that is made known.
pub(super) struct Announced {
    scope: Scope,
    pub(super) handle: KeyHandle,
}

impl KeyStore {
    /// Writes a change of the keys, with the state that follows the one by which it was made.
    fn write_change(&self, before: &Leased, mut operations: Vec<Operation>) -> Result<Written> {
        operations.push(put_head(&before.head.next())?);
        let written =
            self.wait(move |table| async move { table.write(&operations, None, Unanswered::Unknown).await })?;
        // What is remembered may not be so any more.
        self.leased_now()?;
        Ok(written)
    }

    /// Reads the records of all scopes.
    pub(super) fn scope_rows(&self) -> Result<Vec<ScopeRow>> {
        let mac = &self.authority()?.mac;
        let found = self.wait(|table| async move { table.rows(SCOPE).await })?;
        found.iter().map(|row| ScopeRow::read(mac, row)).collect()
    }

    /// Makes a new key of a scope known, or finds the one that is. The first key of a scope seals at once.
    pub(super) fn announce(&self, scope: &Scope) -> Result<Announced> {
        let mac = &self.authority()?.mac;
        let mut own = None;
        for _ in 0..ATTEMPTS {
            let (leased, mut row) = (self.leased_now()?, self.scope_row(scope)?);
            let announced = |handle| Announced { scope: scope.clone(), handle };
            if let Some((_, handle)) = row.coming() {
                return Ok(announced(handle));
            }
            // An attempt whose answer was lost, which another process has gone on with.
            if let Some(own) = own.filter(|own| row.keys.iter().any(|(_, handle)| handle == own)) {
                return Ok(announced(own));
            }
            if row.keys.is_empty() {
                self.add_first(scope)?;
                match self.scope_row(scope)?.sealing() {
                    Some(handle) => return Ok(announced(handle)),
                    None => continue,
                }
            }
            let version = next_version(scope, &row)?;
            let new = self.new_key(&leased, scope, version)?;
            own = Some(new.handle);
            row.latest = version;
            row.keys.push((version, new.handle));
            let operations = vec![put(&row.row(mac), row.etag)?, put(&new.row(), None)?];
            if self.write_change(&leased, operations)? == Written::Done {
                return Ok(announced(new.handle));
            }
        }
        Err(others_go_on())
    }

    /// Has keys seal that were made known, when every process knows them.
    pub(super) fn switch(&self, announced: &[Announced]) -> Result<()> {
        for some in announced.chunks(TOGETHER) {
            self.switch_some(some)?;
        }
        Ok(())
    }

    fn switch_some(&self, announced: &[Announced]) -> Result<()> {
        let mac = &self.authority()?.mac;
        for _ in 0..ATTEMPTS {
            let leased = self.settle()?;
            let mut operations = Vec::new();
            for Announced { scope, handle } in announced {
                let mut row = self.scope_row(scope)?;
                let Some((version, _)) = row.keys.iter().find(|(_, known)| known == handle).copied() else {
                    let because = format!("the keys of {scope} were destroyed while it was to get a new one");
                    return Err(Error::new(ErrorKind::ConditionNotMet).because(because));
                };
                if row.current >= version {
                    continue;
                }
                row.current = version;
                operations.push(put(&row.row(mac), row.etag)?);
            }
            if operations.is_empty() || self.write_change(&leased, operations)? == Written::Done {
                return Ok(());
            }
        }
        Err(others_go_on())
    }

    /// Destroys all keys of a scope, and returns how many. A table's scope takes its partitions' with it. When it returns, no
    /// process has any of them.
    pub(super) fn shred(&self, scope: &Scope) -> Result<u64> {
        let of_table = scope.table_number().filter(|_| scope.partition_key().is_none());
        let tags: Vec<_> = match of_table {
            Some(table) => {
                self.scope_rows()?.iter().filter(|row| row.table == table).map(|row| row.tag).collect()
            }
            None => vec![self.scope_row(scope)?.tag],
        };
        let mut shredded = 0;
        for tag in tags {
            shredded += self.end_of_scope(tag, State::Shredded, |_, _| true)?;
        }
        self.settle()?;
        Ok(shredded)
    }

    /// Destroys keys that nothing is left under, but for those that seal by now, or are to; returns how many.
    pub(super) fn end(&self, handles: &BTreeSet<KeyHandle>) -> Result<u64> {
        let mut ended = 0;
        for row in self.scope_rows()? {
            if row.keys.iter().any(|(_, handle)| handles.contains(handle)) {
                ended += self.end_of_scope(row.tag, State::Superseded, |row, (version, handle)| {
                    handles.contains(&handle) && version < row.current
                })?;
            }
        }
        Ok(ended)
    }

    /// Destroys those keys of a scope that `ends` says of, and returns how many.
    fn end_of_scope(
        &self,
        tag: [u8; 16],
        state: State,
        ends: impl Fn(&ScopeRow, (u32, KeyHandle)) -> bool,
    ) -> Result<u64> {
        let mac = &self.authority()?.mac;
        // Those too whose end was written, and the answer lost.
        let mut ended = BTreeSet::new();
        for _ in 0..ATTEMPTS {
            let leased = self.leased_now()?;
            let found = self.wait(move |table| async move { table.row(&ScopeRow::key(&tag)).await })?;
            let done = u64::try_from(ended.len()).unwrap_or(u64::MAX);
            let Some(found) = found else { return Ok(done) };
            let mut row = ScopeRow::read(mac, &found)?;
            // The newest first: if there are more than go at once, one that every process knows is left to seal.
            let some: Vec<_> =
                row.keys.iter().rev().copied().filter(|key| ends(&row, *key)).take(TOGETHER).collect();
            if some.is_empty() {
                return Ok(done);
            }
            row.keys.retain(|key| !some.contains(key));
            if row.sealing().is_none() {
                row.current = row.keys.last().map_or(0, |(version, _)| *version);
            }
            let mut operations = vec![put(&row.row(mac), row.etag)?];
            for (version, handle) in &some {
                let note = KeyRow::destroyed(*handle, *version, state).row();
                operations.push(Operation::replace(note.row_key(), None, body(&note)?));
            }
            self.write_change(&leased, operations)?;
            ended.extend(some.iter().map(|(_, handle)| *handle));
        }
        Err(others_go_on())
    }
}

/// Returns the next version with which no living key makes tokens.
fn next_version(scope: &Scope, row: &ScopeRow) -> Result<u32> {
    let next = row.latest.checked_add(1).filter(|next| {
        let byte = Token::version_byte(*next);
        row.keys.iter().all(|(version, _)| Token::version_byte(*version) != byte)
    });
    next.ok_or_else(|| too_many(scope, row.keys.len()))
}
