//! Service records, awaited.

use std::fmt;

use super::{AsyncTables, Reads};
use crate::error::Result;
use crate::executor::service_records::{Expected, RecordOwner};

/// What the server keeps with the store and with its tables, read and written by calls that are awaited.
#[doc(hidden)]
#[derive(Clone)]
pub struct AsyncRecords {
    tables: AsyncTables,
}

impl AsyncTables {
    /// Returns what the server keeps with the store and with its tables.
    #[doc(hidden)]
    pub fn service_records(&self) -> AsyncRecords {
        AsyncRecords { tables: self.clone() }
    }
}

impl AsyncRecords {
    /// Returns the value of a record; `None` if there is none of the name. A store that answers at once is read by the thread
    /// that polls, unless the handle says that reads are made elsewhere.
    pub async fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        let tables = self.tables.blocking();
        if self.tables.reading() == Reads::Inline && tables.backend().async_backend().is_none() {
            return tables.service_records()?.get(owner, name);
        }
        let (owner, name) = (Kept::of(owner), name.to_owned());
        self.tables.run(move |tables| tables.service_records()?.get(owner.as_owner(), &name)).await
    }

    /// Gives a record another value, or removes it with `None`, if it is what is expected, on a thread of the pool; returns
    /// whether it was. The thread has copies of both values: what must be wiped from memory is written by
    /// [`AsyncTables::run`] and the blocking form.
    pub async fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let (owner, name) = (Kept::of(owner), name.to_owned());
        let (is_any, value) = (matches!(expected, Expected::Any), value.map(<[u8]>::to_vec));
        let known = match expected {
            Expected::Value(known) => Some(known.to_vec()),
            Expected::Any | Expected::Absent => None,
        };
        let write = move |tables: &crate::Tables| {
            let expected = match &known {
                Some(known) => Expected::Value(known),
                None if is_any => Expected::Any,
                None => Expected::Absent,
            };
            tables.service_records()?.replace(owner.as_owner(), &name, expected, value.as_deref())
        };
        self.tables.run(write).await
    }
}

/// An owner whose name is kept, for another thread.
enum Kept {
    Store,
    Table(String),
    Queue(String),
}

impl Kept {
    /// Keeps the name of an owner.
    fn of(owner: RecordOwner<'_>) -> Self {
        match owner {
            RecordOwner::Store => Self::Store,
            RecordOwner::Table(name) => Self::Table(name.to_owned()),
            RecordOwner::Queue(name) => Self::Queue(name.to_owned()),
        }
    }

    fn as_owner(&self) -> RecordOwner<'_> {
        match self {
            Self::Store => RecordOwner::Store,
            Self::Table(name) => RecordOwner::Table(name),
            Self::Queue(name) => RecordOwner::Queue(name),
        }
    }
}

impl fmt::Debug for AsyncRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncRecords").finish_non_exhaustive()
    }
}
