//! A look at all the keys, when they are opened and by a check of the store.

use table_engine::crypt::mac::MacKey;
use table_engine::error::{Error, ErrorKind, Result};

use super::key_store::{Vault, no_keys};
use super::record::{self, KeyRecord, META, Meta, RecordCounts, ScopeRecord};
use super::{DIRECTORY, Encryption, change, keys_note, root};
use crate::lmdb::{self, Db};
use crate::open::aux_env::{self, Access};
use crate::open::{Environment, has_data};
use crate::records::meta;

/// The outcome of a look at every record.
#[derive(Default)]
struct FoundRecords {
    set_digest: RecordCounts,
    /// Records whose checksums do not fit.
    damaged: u64,
}

impl FoundRecords {
    /// Looks at every record. One that is sound must stand in order, and be found where it stands.
    fn walk(db: Db, txn: &heed::RoTxn<'_>, mut see: impl FnMut(&[u8], &[u8])) -> Result<Self> {
        let mut found = Self::default();
        let mut last = Vec::new();
        for pair in db.iter(txn).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            see(key, bytes);
            if key != META {
                found.set_digest.add(key, bytes);
            }
            if meta::opened(key, bytes).is_none() {
                found.damaged += 1;
                continue;
            }
            let is_found = db.get(txn, key).map_err(lmdb::error)?.is_some_and(|found| found == bytes);
            if key <= &last[..] || !is_found {
                return Err(not_whole("a record does not stand where it is looked for"));
            }
            last.clear();
            last.extend_from_slice(key);
        }
        Ok(found)
    }

    /// Compares what was found with the counts. A damaged record concerns its scope alone, and is an error when it is
    /// needed. A missing one could be any scope's.
    fn compare(&self, meta: &Meta) -> Result<()> {
        let records = (self.set_digest.records(), meta.set_digest.records());
        if records.0 != records.1 {
            return Err(not_whole(format!("there are {} records, and should be {}", records.0, records.1)));
        }
        if self.damaged == 0 && self.set_digest != meta.set_digest {
            return Err(not_whole("there are other records than were written last"));
        }
        Ok(())
    }
}

#[cold]
fn not_whole(what: impl Into<String>) -> Error {
    let what = what.into();
    Error::new(ErrorKind::Corrupt)
        .because(format!("the store's keys are damaged: {what}; take them from a backup"))
}

impl Vault {
    /// Makes sure that no record is missing.
    pub(super) fn check_whole(&self) -> Result<()> {
        let txn = self.read_txn()?;
        let meta = self.meta(&txn)?;
        FoundRecords::walk(self.side.db, &txn, |_, _| {})?.compare(&meta)
    }

    /// Finds the problems that show only with the keys.
    fn check_opened(&self, problems: &mut Vec<String>) -> Result<()> {
        let root = self.root()?;
        let txn = self.read_txn()?;
        if self.meta(&txn)?.root != root.number {
            // Another process renews the root key at this moment, and unwraps all keys itself.
            return Ok(());
        }
        for pair in self.side.db.iter(&txn).map_err(lmdb::error)? {
            let (at, bytes) = pair.map_err(lmdb::error)?;
            problems.extend(self.scope_flaw(&txn, at, bytes)?);
            // A record that can't be read is among the problems already.
            let (Ok(handle), Ok(record)) = (record::handle_of(at), KeyRecord::decode(at, bytes)) else {
                continue;
            };
            if !record.is_alive() {
                continue;
            }
            let check = || {
                let scope = self.unwrap(&root, handle, &record)?.scope;
                let keys = self.scope(&txn, scope.as_bytes())?.keys;
                if keys.contains(&(record.version, handle)) {
                    return Ok(());
                }
                Err(not_whole(format!("the record of {scope} lacks the data key {handle}")))
            };
            if let Err(error) = check() {
                problems.push(format!("keys, data key {handle}: {error}"));
            }
        }
        Ok(())
    }
}

impl Vault {
    /// Returns what is wrong with the keys that a record names, if it is a scope's.
    fn scope_flaw(&self, txn: &heed::RoTxn<'_>, at: &[u8], bytes: &[u8]) -> Result<Option<String>> {
        // A record that can't be read is among the problems already.
        let Some(Ok(scope)) =
            record::is_scope(at).then(|| ScopeRecord::decode(self.authenticator()?, at, bytes))
        else {
            return Ok(None);
        };
        for (_, handle) in scope.keys {
            let what = match self.record(txn, handle) {
                Ok(Some(record)) if record.is_alive() => continue,
                Ok(Some(_)) => "was destroyed",
                Ok(None) => "is missing",
                // A damaged record is reported as a problem of its own.
                Err(error) if error.kind() == ErrorKind::Corrupt => continue,
                Err(error) => return Err(error),
            };
            return Ok(Some(format!("keys, the record of a scope: its data key {handle} {what}")));
        }
        Ok(None)
    }
}

/// Looks at everything in the keys of a store, if it has any, and says what is wrong. What is sealed in them is looked at
/// if the store was opened with its provider. That a file can't be read is an error of the look, and says nothing of the keys.
pub(crate) fn check(environment: &Environment, keys: Option<&Encryption>) -> Result<Vec<String>> {
    /// The kinds of errors that are the system's or LMDB's, and no fault of the keys. A disk may be full where the keys
    /// are opened.
    const OF_THE_CALL: [ErrorKind; 3] = [ErrorKind::Io, ErrorKind::DiskFull, ErrorKind::TooManyReaders];
    let mut problems = Vec::new();
    match check_into(environment, keys, &mut problems) {
        Err(error) if OF_THE_CALL.contains(&error.kind()) => Err(error),
        Err(error) => {
            problems.push(format!("keys: {error}"));
            Ok(problems)
        }
        Ok(()) => Ok(problems),
    }
}

fn check_into(
    environment: &Environment,
    keys: Option<&Encryption>,
    problems: &mut Vec<String>,
) -> Result<()> {
    let dir = environment.path.join(DIRECTORY);
    if !has_data(&dir)? {
        return keys_note::check(environment, false);
    }
    let access = Access { create: false, ..(&environment.options).into() };
    let side = keys.map_or_else(
        || aux_env::open(&dir, access, Meta::number_of, |_| Ok(Vec::new())),
        |keys| Ok(keys.vault.side.clone()),
    )?;
    side.check()?;
    let authenticator = keys.map(Encryption::authenticator).transpose()?;
    let (root, is_new) = {
        let txn = side.read_txn()?;
        let own = side.db.get(&txn, META).map_err(lmdb::error)?;
        let own = own.map_or_else(|| Err(no_keys(&side.path)), Meta::decode)?;
        change::check_commit(&side.path, &own, &txn)?;
        let tell = |key: &[u8], record: &[u8]| problems.extend(flaw(authenticator, key, record));
        FoundRecords::walk(side.db, &txn, tell)?.compare(&own)?;
        (own.root, own.is_new)
    };
    keys_note::check(environment, !is_new)?;
    root::check(&side.path, root)?;
    keys.map_or(Ok(()), |keys| keys.vault.check_opened(problems))
}

fn flaw(authenticator: Option<&MacKey>, key: &[u8], record: &[u8]) -> Option<String> {
    let error = record::flaw(authenticator, key, record)?;
    let what = match (key.first(), record::handle_of(key)) {
        (_, Ok(handle)) => format!("data key {handle}"),
        (Some(b's'), _) => "the record of a scope".to_owned(),
        (Some(b'j'), _) => format!("job `{}`", String::from_utf8_lossy(key.get(1..)?).escape_debug()),
        _ => format!("a record under `{}`", key.escape_ascii()),
    };
    Some(format!("keys, {what}: {error}"))
}
