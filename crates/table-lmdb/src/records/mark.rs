//! Marks, which say how far a store has come and are kept elsewhere.

use std::fmt;
use std::str::FromStr;

use table_engine::hash::xxh3_64_with_seed;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::fields::Fields;

use super::meta::{IDENTITY, Meta};

/// How far a store has come: which store it is, and the number of its last transaction.
///
/// Nothing in a file can tell that the whole of it is old. A mark that is kept away from the store's files can: opened
/// with [`OpenOptions::not_before`](crate::OpenOptions::not_before), the store is refused if a former file, or a backup,
/// has been put in its place. As text the mark has 64 hex digits.
///
/// A mark does not tell of a former file that was given a higher number, or that was written to until it reached the
/// number again. Sealed values, and rows of kinds that are [signed](trait@table_engine::Entity), can't be made that way.
///
/// ```
/// # use table_core::store::Mark;
/// # use table_core::{DynamicEntity, ErrorKind, Store};
/// # let dir = tempfile::tempdir()?;
/// # let (path, backup) = (dir.path().join("company.tables"), dir.path().join("backup"));
/// let store = Store::open(&path)?;
/// let company = store.create_table("Company")?;
/// store.copy_to(&backup)?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
/// let mark = store.mark()?.to_string(); // to be kept elsewhere
///
/// let mark: Mark = mark.parse()?;
/// # drop((company, store));
/// let store = Store::options().not_before(mark).open(&path)?;
/// let error = Store::options().not_before(mark).open(&backup).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::RolledBack);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    store: [u8; IDENTITY],
    transaction: u64,
}

/// The text `mark`, as a number.
const SEED: u64 = 0x6d61_726b;

/// Bytes before the checksum.
const BYTES: usize = IDENTITY + 8;

impl Mark {
    pub(crate) fn of(meta: &Meta) -> Self {
        Self { store: meta.identity, transaction: meta.transaction }
    }

    /// Refuses a store that has not come as far.
    pub(crate) fn check(self, meta: &Meta) -> Result<()> {
        let error = |because| Err(Error::new(ErrorKind::RolledBack).because(because));
        if self.store != meta.identity {
            return error("it is another store than the one that the mark was taken of".to_owned());
        }
        if meta.transaction >= self.transaction {
            return Ok(());
        }
        error(format!(
            "its last transaction is number {}, and it was marked at number {}: former files are in its place",
            meta.transaction, self.transaction
        ))
    }

    #[inline]
    fn bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let all = self.store.into_iter().chain(self.transaction.to_le_bytes());
        bytes.iter_mut().zip(all).for_each(|(to, from)| *to = from);
        bytes
    }
}

impl fmt::Display for Mark {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        let checksum = xxh3_64_with_seed(&bytes, SEED).to_le_bytes();
        bytes.iter().chain(&checksum).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Mark {
    type Err = Error;

    #[inline]
    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let mut bytes = [0; BYTES + 8];
            if text.len() != 2 * bytes.len() || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            {
                return None;
            }
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
            }
            let (body, checksum) = bytes.split_last_chunk::<8>()?;
            if xxh3_64_with_seed(body, SEED).to_le_bytes() != *checksum {
                return None;
            }
            let mut body = Fields(body);
            Some(Self { store: body.take()?, transaction: body.u64()? })
        };
        read().ok_or_else(|| {
            Error::new(ErrorKind::InvalidMark).because("it is cut short, or changed").attempted("read a mark")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_one_text_and_every_other_is_refused() {
        let mark = Mark { store: *b"0123456789abcdef", transaction: 300 };
        let text = mark.to_string();
        assert!(text.starts_with("303132333435363738396162636465662c01000000000000"), "{text}");
        assert_eq!(text.parse::<Mark>().unwrap(), mark);
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            String::from_utf8(other).unwrap().parse::<Mark>().unwrap_err();
            text[..at].parse::<Mark>().unwrap_err();
        }
        for other in [text.to_uppercase(), format!("{text}00"), "é".repeat(32)] {
            other.parse::<Mark>().unwrap_err();
        }
    }

    #[test]
    fn a_store_that_has_not_come_so_far_is_refused() {
        let mut meta = Meta::initial(1_982);
        meta.transaction = 7;
        let mark = Mark::of(&meta);
        mark.check(&meta).unwrap();
        meta.transaction = 8;
        mark.check(&meta).unwrap();
        meta.transaction = 6;
        assert_eq!(mark.check(&meta).unwrap_err().kind(), ErrorKind::RolledBack);
        let other = Meta { transaction: 9, ..Meta::initial(1_982) };
        let error = mark.check(&other).unwrap_err();
        assert!(error.to_string().contains("another store"), "{error}");
    }
}
