//! LMDB's errors and types in this crate's words.

mod damage;

use heed::types::Bytes;
use heed::{Env, MdbError, WithoutTls};
use lmdb_verify::Pages;

use table_engine::error::{Error, ErrorKind};

pub(crate) use self::damage::{damage, entry_error, file_damage};

/// Read transactions are not tied to a thread, so snapshots and iterators can move between threads.
pub(crate) type LmdbEnv = Env<WithoutTls>;
/// A database as bytes; its handle stays valid as long as the environment.
pub(crate) type Db = heed::Database<'static, Bytes, Bytes>;
/// A database as bytes, while the databases are being opened.
pub(crate) type OpeningDb<'d> = heed::Database<'d, Bytes, Bytes>;
pub(crate) type ReadTxn<'e> = heed::RoTxn<'e, WithoutTls>;
pub(crate) type WriteTxn<'e> = heed::RwTxn<'e>;

/// The named databases, opened once with the environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Databases {
    /// LMDB's unnamed database: the store's own record and each table's counts. It is rewritten by every
    /// commit anyway, so what changes with every commit costs nothing here.
    pub(crate) main: Db,
    /// Every row of every table.
    pub(crate) data: Db,
    /// Each table's property names and their numbers.
    pub(crate) names: Db,
    /// Table names and their numbers.
    pub(crate) catalog: Db,
    /// Tables that were dropped and whose rows are still there.
    pub(crate) tombstones: Db,
    /// Where their pages lie.
    pub(crate) pages: Pages,
}

impl Databases {
    /// Returns the record of a key in a small database. It lies on its page: one that is said to be longer would be
    /// hashed to beyond the end of the file.
    pub(crate) fn record<'t>(
        &self,
        db: Db,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
    ) -> Result<Option<&'t [u8]>, Error> {
        let found = db.get(txn, key).map_err(error)?;
        found.map_or(Ok(()), |record| self.check_extent(record))?;
        Ok(found)
    }

    /// Checks the leaf on which an entry of a small database stands, and that its record lies there, or on pages of its own.
    pub(crate) fn check_entry(&self, key: &[u8], record: &[u8]) -> Result<(), Error> {
        self.pages.check_leaf(key).map_err(damage)?;
        self.check_extent(record)
    }

    fn check_extent(&self, record: &[u8]) -> Result<(), Error> {
        // What a write transaction has changed does not lie in the map.
        if self.pages.of(record).is_some() { self.pages.check_value(record).map_err(damage) } else { Ok(()) }
    }
}

/// Returns the error of a page whose contents can't be right.
#[cold]
pub(crate) fn damaged_page() -> Error {
    Error::new(ErrorKind::Corrupt).because("a page of the store is damaged")
}

/// Returns an error of LMDB or of the operating system as one of this crate.
#[cold]
pub(crate) fn error(error: heed::Error) -> Error {
    if matches!(error, heed::Error::Mdb(MdbError::Panic)) {
        // LMDB answers every call so once it could not write a header, which may have reached the disk all the same.
        return Error::new(ErrorKind::OutcomeUnknown);
    }
    let kind = match &error {
        heed::Error::Mdb(mdb) => match mdb {
            MdbError::MapFull => ErrorKind::MapFull,
            MdbError::TxnFull => ErrorKind::TransactionTooLarge,
            MdbError::ReadersFull => ErrorKind::TooManyReaders,
            MdbError::VersionMismatch | MdbError::MapResized => ErrorKind::Incompatible,
            MdbError::Other(code) => os_kind(std::io::Error::from_raw_os_error(*code).kind()),
            _ => ErrorKind::Corrupt,
        },
        heed::Error::Io(io) => os_kind(io.kind()),
        heed::Error::EnvAlreadyOpened => ErrorKind::OptionsConflict,
        heed::Error::Encoding(_) | heed::Error::Decoding(_) => ErrorKind::Corrupt,
    };
    let because = match &error {
        heed::Error::Mdb(MdbError::MapResized) => {
            "another process opened the store with a larger map and filled it past this one's; \
             open it here with a map at least as large"
        }
        heed::Error::Mdb(MdbError::ReadersFull) => {
            "no reader slot is free: each open snapshot and iterator has one, in all processes together, and a change takes \
             one for as long as it reads what is there; let some go, or have the process that opens the store first give \
             it more of them, by `Store::options().max_readers(..)`"
        }
        _ => "",
    };
    Error::new(kind).because(because).caused_by(error)
}

/// Returns an error of the operating system.
#[cold]
pub(crate) fn io_error(error: std::io::Error) -> Error {
    Error::new(os_kind(error.kind())).caused_by(error)
}

fn os_kind(kind: std::io::ErrorKind) -> ErrorKind {
    use std::io::ErrorKind as Os;
    match kind {
        Os::StorageFull | Os::QuotaExceeded | Os::FileTooLarge => ErrorKind::DiskFull,
        _ => ErrorKind::Io,
    }
}
