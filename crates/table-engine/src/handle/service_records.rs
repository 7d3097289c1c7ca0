//! Service records as a server holds them.

use std::fmt;

use super::tables::Tables;
use crate::error::{Error, Result};
use crate::executor::service_records::{Expected, RecordOwner, ServiceRecords, check_name, check_value};

/// What the server keeps with the store, with its tables and with its queues: small values under names.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Records<'t> {
    inner: &'t dyn ServiceRecords,
}

impl Tables {
    /// Returns what the server keeps with the store and with its tables; [`Unsupported`](crate::ErrorKind::Unsupported) if the
    /// store keeps none.
    #[doc(hidden)]
    pub fn service_records(&self) -> Result<Records<'_>> {
        let found = self.backend().service_records();
        found.map(|inner| Records { inner }).map_err(|e| e.attempted("find the service records"))
    }
}

impl Records<'_> {
    /// Returns the value of a record; `None` if there is none of the name.
    pub fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        let read = || {
            check_name(name)?;
            self.inner.get(owner, name)
        };
        read().map_err(|error| placed(error, "read a service record", owner))
    }

    /// Gives a record another value, or removes it with `None`, if it is what is expected; returns whether it was. Of several
    /// processes that replace one value at one time, one succeeds.
    pub fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let write = || {
            check_name(name)?;
            value.map_or(Ok(()), |value| check_value(name, value))?;
            self.inner.replace(owner, name, expected, value)
        };
        write().map_err(|error| placed(error, "write a service record", owner))
    }
}

/// Says of an error what was attempted, and of which table.
#[cold]
fn placed(error: Error, attempted: &'static str, owner: RecordOwner<'_>) -> Error {
    let error = error.attempted(attempted);
    match owner {
        RecordOwner::Store => error,
        RecordOwner::Table(name) => error.table(name),
        RecordOwner::Queue(name) => error.queue(name),
    }
}

impl fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}
