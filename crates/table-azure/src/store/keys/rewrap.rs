//! All keys under a new root key. The keys are too many for one request, so each says which root key it lies under, and the former
//! one stays until nothing does.

use std::sync::Arc;

use table_engine::crypt::KeyHandle;
use table_engine::{ETag, ErrorKind, Result};

use super::super::planned::body;
use super::key_store::{KeyStore, others_go_on, unwrap_under};
use super::key_table::{ATTEMPTS, Leased, Unanswered, Written, gone, put, put_head};
use super::root::{self, Root};
use super::rows::{AUTHORITY, AuthorityRow, HEAD, Head, KEY, KeyRow, ROOT, RootRow, State};
use crate::client::Operation;

/// How many rows one request changes; the service takes 100 operations.
const TOGETHER: usize = 90;

impl KeyStore {
    /// Puts all data keys under a new root key, and returns those that don't open: they stay as they are. Where it was broken off,
    /// the next one does what was left.
    pub(super) fn rewrap(&self) -> Result<Vec<KeyHandle>> {
        self.new_root()?;
        for _ in 0..ATTEMPTS {
            // From then on no process puts a new key under a former root key.
            let head = self.settle()?.head;
            // Another process may have made yet another root key. It may die, too, so that this one goes on under that.
            let Some(root) = self.root(&head.identity, head.root)? else { continue };
            if let Some(damaged) = self.rewrap_keys(&root)? {
                self.remove_roots(&root, &damaged)?;
                return Ok(damaged);
            }
        }
        Err(others_go_on())
    }

    /// Makes a root key for new data keys, which wraps the key of digests as well.
    fn new_root(&self) -> Result<()> {
        let identity = &self.authority()?.identity;
        let (new, new_row) = root::make(identity, &*self.provider)?;
        for _ in 0..ATTEMPTS {
            let leased = self.leased_now()?;
            if leased.head.root == new.number {
                self.remember_root(new);
                return Ok(());
            }
            let found = self.wait(|table| async move { table.row(AUTHORITY).await })?.ok_or_else(gone)?;
            let row = AuthorityRow::read(&found)?;
            let Some(old) = self.root(identity, row.root)? else { continue };
            let key = root::unwrap_authority(identity, &old, &row)?;
            let rewrapped = root::wrap_authority(identity, &new, &key)?;
            // Before the old one goes, the new one must open.
            root::unwrap_authority(identity, &new, &rewrapped)?;
            let head = Head { root: new.number, ..leased.head.next() };
            let operations = [put(&new_row.row(), None)?, put(&rewrapped.row(), row.etag)?, put_head(&head)?];
            let written =
                self.wait(
                    move |table| async move { table.write(&operations, None, Unanswered::Unknown).await },
                )?;
            if written == Written::Done {
                self.remember_root(new);
                return Ok(());
            }
        }
        Err(others_go_on())
    }

    fn key_rows(&self) -> Result<Vec<KeyRow>> {
        let found = self.wait(|table| async move { table.rows(KEY).await })?;
        found.iter().map(KeyRow::read).collect()
    }

    /// Wraps the data keys anew, and returns those that don't open; `None` if another root key wraps new ones by now.
    fn rewrap_keys(&self, new: &Arc<Root>) -> Result<Option<Vec<KeyHandle>>> {
        let identity = &self.authority()?.identity;
        let mut missed = Vec::new();
        for _ in 0..ATTEMPTS {
            let leased = self.leased_now()?;
            if leased.head.root != new.number {
                return Ok(None);
            }
            let (mut damaged, mut rewrapped) = (Vec::new(), Vec::new());
            let missed_before = std::mem::take(&mut missed);
            let alive = |row: &KeyRow| row.state == State::Alive && row.root != new.number;
            for row in self.key_rows()?.into_iter().filter(alive) {
                let key = match self.unwrap(&row) {
                    Ok(Some(key)) => key,
                    // Another process may have wrapped it anew since it was read, and then it is not so in the next round.
                    Ok(None) => {
                        missed.push(row.handle);
                        continue;
                    }
                    Err(error) if error.kind() == ErrorKind::DecryptionFailed => {
                        damaged.push(row.handle);
                        continue;
                    }
                    // A root key that can't be had now would be removed with all that lies under it.
                    Err(error) => return Err(error),
                };
                let etag = row.etag;
                let row = self.wrap(new, row, &key)?;
                // Before the old one goes, the new one must open.
                unwrap_under(new, identity, &row)?;
                rewrapped.push((row, etag));
            }
            if rewrapped.is_empty() && missed == missed_before {
                damaged.append(&mut missed);
                return Ok(Some(damaged));
            }
            for some in rewrapped.chunks(TOGETHER) {
                let operations = some.iter().map(|(row, etag)| put(&row.row(), *etag));
                self.write_under(&self.leased_now()?, new, operations.collect::<Result<_>>()?)?;
            }
        }
        Err(others_go_on())
    }

    /// Removes the former root keys, under which no key is left that opens.
    fn remove_roots(&self, new: &Arc<Root>, damaged: &[KeyHandle]) -> Result<()> {
        let leased = self.leased_now()?;
        let keys = self.key_rows()?;
        let is_needed = |root: &RootRow| {
            let lies_there = |row: &KeyRow| row.state == State::Alive && row.root == root.number;
            root.number == new.number
                || keys.iter().any(|row| lies_there(row) && !damaged.contains(&row.handle))
        };
        let found = self.wait(|table| async move { table.rows(ROOT).await })?;
        let mut operations = Vec::new();
        for row in &found {
            if !is_needed(&RootRow::read(row)?) {
                let tag = row.etag().map_or_else(|| "*".to_owned(), |etag: ETag| etag.to_string());
                operations.push(Operation::delete(row.row_key(), tag));
            }
        }
        // What others keep from going goes with the next new root key.
        operations.truncate(TOGETHER);
        if operations.is_empty() { Ok(()) } else { self.write_under(&leased, new, operations).map(drop) }
    }

    /// Changes rows if this root key still wraps new keys, in the state that was read.
    fn write_under(&self, leased: &Leased, new: &Root, mut operations: Vec<Operation>) -> Result<Written> {
        if leased.head.root != new.number {
            return Ok(Written::Beaten);
        }
        let tag = leased.head.etag.map(|etag| etag.to_string());
        operations.push(Operation::replace(HEAD, tag, body(&leased.head.row())?));
        self.wait(move |table| async move { table.write(&operations, None, Unanswered::Unknown).await })
    }
}
