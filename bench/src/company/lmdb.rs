//! What both hand-written engines share: an LMDB environment, and keys.

use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithoutTls};

use super::engine::{Opening, SyncMode};
use crate::Result;

pub(crate) type Data = Database<'static, Bytes, Bytes>;

/// Ends the department, and the last name, in a key.
pub(super) const END: u8 = 0;

pub(crate) struct Lmdb<const DATABASES: usize> {
    pub(crate) env: Env<WithoutTls>,
    pub(crate) databases: [Data; DATABASES],
}

impl<const DATABASES: usize> Lmdb<DATABASES> {
    #[allow(unsafe_code, reason = "heed can't know that nobody else changes the file under the map")]
    pub(crate) fn open(dir: &Path, opening: &Opening, names: [&str; DATABASES]) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(opening.map).max_readers(1_024).max_dbs(8);
        if opening.sync == SyncMode::Lax {
            // SAFETY: no database of a benchmark needs to survive the machine.
            unsafe { options.flags(EnvFlags::NO_SYNC) };
        }
        // SAFETY: the directory is this run's own; nothing but LMDB touches the files in it.
        let env = unsafe { options.open(dir)? };
        let mut databases = Vec::new();
        for name in names {
            let txn = env.write_txn()?;
            let created = env.create_databases_and_commit(txn, |opener, txn| {
                let database = opener.create_database::<Bytes, Bytes>(txn, Some(name))?;
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(database))
            })?;
            match created {
                CommitOrAbort::Commit(database) => databases.push(database),
                CommitOrAbort::Abort(()) => return Err("a database could not be made".into()),
            }
        }
        let databases = <[Data; DATABASES]>::try_from(databases).map_err(|_| "a database is missing")?;
        Ok(Self { env, databases })
    }
}

/// A key in a buffer that is used again and again.
#[derive(Default)]
pub(super) struct KeyBuffer(Vec<u8>);

impl KeyBuffer {
    /// Joins the pieces.
    pub(super) fn of(&mut self, pieces: &[&[u8]]) -> &[u8] {
        self.0.clear();
        for piece in pieces {
            self.0.extend_from_slice(piece);
        }
        &self.0
    }
}

/// The eight digits of an id.
pub(super) fn digits(mut id: u32) -> [u8; 8] {
    let mut digits = [b'0'; 8];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(id % 10).unwrap_or(0);
        id /= 10;
    }
    digits
}

/// Text up to a byte, and what follows it.
pub(super) fn split(key: &[u8], end: u8) -> Result<(&str, &[u8])> {
    let at = key.iter().position(|byte| *byte == end).ok_or("a key lacks its separator")?;
    let (text, rest) = key.split_at(at);
    Ok((std::str::from_utf8(text)?, rest.get(1..).unwrap_or_default()))
}

/// The id that these digits are.
pub(super) fn id_of(digits: &[u8]) -> Result<u32> {
    Ok(std::str::from_utf8(digits)?.parse()?)
}
