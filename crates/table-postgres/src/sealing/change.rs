//! Changes of the keys: one after another, each a transaction that holds their row.

use std::cell::Cell;
use std::collections::BTreeSet;

use table_engine::__executor as executor;
use table_engine::crypt::token::Token;
use table_engine::crypt::{KeyHandle, Scope, SecretKey, key};
use table_engine::{ErrorKind, Result, Ticks};
use tokio_postgres::Row;

use super::data_keys::Unwrapped;
use super::key_rows::{ALIVE, KEY_COLUMNS, KeyRow, SHREDDED, ScopeRow, VaultRow, tag_of};
use super::key_store::{KeyStore, PATIENCE, gone, without_end};
use super::root::{NewRoot, Root};
use crate::connection::Call;
use crate::driver::DrivenConnection;
use crate::error::of_server;
use crate::param::{Param, Params};
use crate::transaction::{BEGIN, repeatable};

/// When a scope gets a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Add {
    /// Only if it has none.
    IfNone,
    /// In any case.
    Always,
}

/// A change that is being made.
pub(super) struct Change<'c> {
    keys: &'c KeyStore,
    connection: &'c DrivenConnection,
    /// The keys' own row, as it was before.
    pub(super) vault: VaultRow,
}

impl Change<'_> {
    pub(super) fn query(&self, call: &Call) -> Result<Vec<Row>> {
        self.connection.wait(self.connection.query(call)).map_err(of_server)
    }

    /// Returns a scope's record; an empty one if it never had a key.
    pub(super) fn scope(&self, scope: &Scope) -> Result<ScopeRow> {
        let keys = self.keys;
        let answer = self.query(&keys.tables().scope(&tag_of(&keys.authenticator, scope.as_bytes())))?;
        let found = answer.first().map(|row| ScopeRow::read(&keys.authenticator, row, 2 + KEY_COLUMNS));
        let new = || ScopeRow { table: scope.table_number().unwrap_or_default(), ..ScopeRow::default() };
        Ok(found.transpose()?.flatten().map_or_else(new, |(_, record)| record))
    }

    /// Writes the record of the scope of this digest.
    pub(super) fn put_scope(&self, tag: &[u8; 16], record: &ScopeRow) -> Result<()> {
        let (versions, handles) =
            record.keys.iter().map(|(version, handle)| (i64::from(*version), handle.0.cast_signed())).unzip();
        let mut params = Params::default();
        for param in [
            Param::Bytes(tag.to_vec()),
            Param::Number(record.table.into()),
            Param::Number(record.latest.into()),
            Param::Numbers(versions),
            Param::Numbers(handles),
            Param::Bytes(record.mac(&self.keys.authenticator, tag).to_vec()),
        ] {
            params.add(param);
        }
        let sql = format!(
            "INSERT INTO {} (scope, table_id, latest, versions, handles, mac) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (scope) DO UPDATE SET table_id = EXCLUDED.table_id, latest = EXCLUDED.latest,
                versions = EXCLUDED.versions, handles = EXCLUDED.handles, mac = EXCLUDED.mac",
            self.keys.tables().scopes
        );
        self.query(&Call { sql, params }).map(drop)
    }

    /// Writes keys that are alive.
    fn put_keys(&self, rows: &[KeyRow]) -> Result<()> {
        let mut params = Params::default();
        let numbers = |of: fn(&KeyRow) -> i64| Param::Numbers(rows.iter().map(of).collect());
        let bytes = |of: fn(&KeyRow) -> &Vec<u8>| {
            Param::MaybeBytes(rows.iter().map(|row| Some(of(row).clone())).collect())
        };
        for param in [
            numbers(|row| row.handle.0.cast_signed()),
            numbers(|row| row.version.into()),
            numbers(|row| row.made),
            bytes(|row| &row.check),
            bytes(|row| &row.wrapped),
        ] {
            params.add(param);
        }
        let sql = format!(
            "INSERT INTO {} (handle, version, made, state, key_check, wrapped)
             SELECT h, v, m, {ALIVE}, c, w FROM unnest($1, $2, $3, $4, $5) AS n(h, v, m, c, w)
             ON CONFLICT (handle) DO UPDATE SET key_check = EXCLUDED.key_check, wrapped = EXCLUDED.wrapped",
            self.keys.tables().keys
        );
        self.query(&Call { sql, params }).map(drop)
    }

    /// Destroys keys: what is left of them is the note of how.
    pub(super) fn end_keys(&self, handles: &[KeyHandle], state: i16) -> Result<()> {
        let mut params = Params::default();
        let handles = handles.iter().map(|handle| handle.0.cast_signed()).collect();
        let handles = params.add(Param::Numbers(handles));
        let sql = format!(
            "UPDATE {} SET state = {state}, key_check = NULL, wrapped = NULL WHERE handle = ANY ({handles})",
            self.keys.tables().keys
        );
        self.query(&Call { sql, params }).map(drop)
    }

    /// Says that what processes remember of the keys may not be so any more.
    pub(super) fn raise_generation(&self) -> Result<()> {
        let sql = format!("UPDATE {} SET generation = generation + 1", self.keys.tables().vault);
        self.query(&Call { sql, params: Params::default() }).map(drop)
    }
}

impl KeyStore {
    /// Makes a change of the keys, unless it comes to nothing. What an attempt has done whose answer was lost, the next one sees.
    pub(super) fn change<T>(&self, run: impl Fn(&Change<'_>) -> Result<Option<T>>) -> Result<Option<T>> {
        let begin = format!("{BEGIN}; SELECT FROM {} FOR UPDATE", self.tables().vault);
        repeatable(&self.pool, &begin, |connection| {
            let answer = connection.wait(connection.query(&self.tables().vault())).map_err(of_server)?;
            let vault = VaultRow::read(answer.first().ok_or_else(gone)?)?;
            self.observe(vault.generation);
            run(&Change { keys: self, connection, vault })
        })
    }

    /// Gives a scope a new key; or, if asked so, leaves the one that it has.
    pub(super) fn add(&self, scope: &Scope, add: Add) -> Result<KeyHandle> {
        let (handle, key) = (KeyHandle(key::random_number()?), SecretKey::generate()?);
        let unwrapped = Unwrapped { key, scope: scope.clone() };
        for _ in 0..PATIENCE {
            let root = self.known_root();
            let added = self.change(|change| {
                if change.vault.root != root.number {
                    return Ok(None);
                }
                let mut record = change.scope(scope)?;
                let has_happened = record.keys.iter().any(|(_, known)| *known == handle);
                match record.current() {
                    Some(current) if has_happened || add == Add::IfNone => return Ok(Some(current)),
                    // If the scope had no key before, no process remembers one.
                    Some(_) => change.raise_generation()?,
                    None => {}
                }
                let version = next_version(scope, &record)?;
                let made = Ticks::now().get().cast_signed();
                let new =
                    KeyRow { handle, version, made, state: ALIVE, check: Vec::new(), wrapped: Vec::new() };
                change.put_keys(&[self.wrap(&root, new, &unwrapped)?])?;
                record.latest = version;
                record.keys.push((version, handle));
                change.put_scope(&tag_of(&self.authenticator, scope.as_bytes()), &record)?;
                Ok(Some(handle))
            })?;
            if let Some(added) = added {
                self.refresh()?;
                return Ok(added);
            }
            self.refresh_root()?;
        }
        Err(without_end())
    }

    /// Takes in the generation that the keys have now.
    pub(super) fn refresh(&self) -> Result<()> {
        self.observe_row(&self.query(&self.tables().generation())?)
    }

    /// Takes in the root key that there is now.
    fn refresh_root(&self) -> Result<()> {
        let answer = self.query(&self.tables().vault())?;
        let row = VaultRow::read(answer.first().ok_or_else(gone)?)?;
        self.root(row.root).map(drop)
    }

    /// Destroys all keys of a scope, and returns how many. A table's scope takes its partitions' with it.
    pub(super) fn shred(&self, scope: &Scope) -> Result<u64> {
        let shredded = Cell::new(0_usize);
        self.change(|change| {
            let of_table = scope.table_number().filter(|_| scope.partition_key().is_none());
            let scopes: Vec<_> = match of_table {
                Some(table) => {
                    let answer = change.query(&self.tables().scopes_of(table))?;
                    let scopes = answer.iter().map(|row| ScopeRow::read(&self.authenticator, row, 0));
                    scopes.filter_map(Result::transpose).collect::<Result<_>>()?
                }
                None => vec![(tag_of(&self.authenticator, scope.as_bytes()), change.scope(scope)?)],
            };
            let mut handles = Vec::new();
            for (tag, mut record) in scopes {
                if record.keys.is_empty() {
                    continue;
                }
                handles.extend(record.keys.drain(..).map(|(_, handle)| handle));
                change.put_scope(&tag, &record)?;
            }
            // An attempt whose answer was lost may have destroyed them before.
            shredded.set(shredded.get().max(handles.len()));
            if !handles.is_empty() {
                change.end_keys(&handles, SHREDDED)?;
                change.raise_generation()?;
            }
            Ok(Some(()))
        })?;
        self.refresh()?;
        Ok(u64::try_from(shredded.get()).unwrap_or(u64::MAX))
    }

    /// Puts all data keys under a new root key, and returns those that don't open: they stay as they are.
    pub(super) fn rewrap(&self) -> Result<Vec<KeyHandle>> {
        let new = NewRoot::make(&self.identity, &*self.provider)?;
        for _ in 0..PATIENCE {
            let old = self.known_root();
            let rewrapped = self.change(|change| {
                if change.vault.root == new.root.number {
                    return Ok(Some(Vec::new()));
                }
                if change.vault.root != old.number {
                    return Ok(None);
                }
                self.rewrap_in(change, &old, &new).map(Some)
            })?;
            if let Some(damaged) = rewrapped {
                self.remember_root(new.root);
                return Ok(damaged);
            }
            self.refresh_root()?;
        }
        Err(without_end())
    }

    fn rewrap_in(&self, change: &Change<'_>, old: &Root, new: &NewRoot) -> Result<Vec<KeyHandle>> {
        let (mut damaged, mut rows) = (Vec::new(), Vec::new());
        for row in change.query(&self.tables().alive())? {
            let Some(row) = KeyRow::read(&row, 0)? else { continue };
            let Ok(key) = self.unwrap(old, &row) else {
                damaged.push(row.handle);
                continue;
            };
            let row = self.wrap(&new.root, row, &key)?;
            // Before the old one goes, the new one must open.
            self.unwrap(&new.root, &row)?;
            rows.push(row);
        }
        change.put_keys(&rows)?;
        let mac_key = change.vault.mac_key().rewrap(&self.identity, old, &new.root)?;
        let mut params = Params::default();
        for param in [
            Param::Number(new.root.number),
            Param::Text(new.provider_key.clone()),
            Param::Bytes(new.check.to_vec()),
            Param::Bytes(new.wrapped.clone()),
            Param::Bytes(mac_key.check),
            Param::Bytes(mac_key.wrapped),
        ] {
            params.add(param);
        }
        let sql = format!(
            "UPDATE {} SET root = $1, provider_key = $2, root_check = $3, root_wrapped = $4, mac_check = $5,
                mac_wrapped = $6",
            self.tables().vault
        );
        change.query(&Call { sql, params })?;
        Ok(damaged)
    }

    /// Destroys keys that nothing is left under, but for those that seal by now; returns how many.
    pub(super) fn end(&self, handles: &BTreeSet<KeyHandle>) -> Result<u64> {
        let ended = Cell::new(0_usize);
        self.change(|change| {
            let mut gone = Vec::new();
            for row in change.query(&self.tables().all_scopes())? {
                let Some((tag, mut record)) = ScopeRow::read(&self.authenticator, &row, 0)? else { continue };
                let current = record.current();
                let ends = |handle: &KeyHandle| handles.contains(handle) && Some(*handle) != current;
                let before = gone.len();
                gone.extend(record.keys.iter().map(|(_, handle)| *handle).filter(ends));
                if gone.len() > before {
                    record.keys.retain(|(_, handle)| !ends(handle));
                    change.put_scope(&tag, &record)?;
                }
            }
            ended.set(ended.get().max(gone.len()));
            if !gone.is_empty() {
                change.end_keys(&gone, super::key_rows::SUPERSEDED)?;
                change.raise_generation()?;
            }
            Ok(Some(()))
        })?;
        self.refresh()?;
        Ok(u64::try_from(ended.get()).unwrap_or(u64::MAX))
    }
}

/// Returns the next version with which no living key makes tokens.
fn next_version(scope: &Scope, record: &ScopeRow) -> Result<u32> {
    let next = record.latest.checked_add(1).filter(|next| {
        let byte = Token::version_byte(*next);
        record.keys.iter().all(|(version, _)| Token::version_byte(*version) != byte)
    });
    next.ok_or_else(|| {
        let because = format!(
            "{scope} has {} keys, as many as there can be: `Encryption::destroy_unused` destroys those that nothing is sealed \
             with any more",
            record.keys.len()
        );
        executor::error(ErrorKind::KeyUnavailable, because)
    })
}
