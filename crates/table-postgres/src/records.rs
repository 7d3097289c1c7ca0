//! Service records.

#[cfg(feature = "queue")]
use table_engine::__executor::Queues;
use table_engine::__executor::{self as executor, Expected, RECORDS, RecordOwner, ServiceRecords, too_many};
use table_engine::{ErrorKind, Result};

use crate::catalog::column;
use crate::connection::Call;
#[cfg(feature = "queue")]
use crate::error::damaged;
use crate::error::of_server;
use crate::param::{Param, Params};
use crate::store::PostgresStore;
use crate::transaction::BEGIN;

/// The number under which the store's own records lie: tables are numbered from 1.
const STORE: i32 = 0;

impl PostgresStore {
    fn owner(&self, owner: RecordOwner<'_>) -> Result<i32> {
        match owner {
            RecordOwner::Store => Ok(STORE),
            RecordOwner::Table(name) => self.number_of(name),
            #[cfg(feature = "queue")]
            RecordOwner::Queue(name) => {
                let because = || executor::error(ErrorKind::QueueNotFound, "there is no such queue");
                let queue = Queues::find(self.own_queues(), name)?.ok_or_else(because)?;
                // Below 0: tables have the numbers above.
                let number = i32::try_from(queue.number).map_err(|_| damaged("the number of a queue"))?;
                Ok(-number)
            }
            #[cfg(not(feature = "queue"))]
            RecordOwner::Queue(_) => {
                let because = "there is no such queue: the store keeps none";
                Err(executor::error(ErrorKind::QueueNotFound, because))
            }
        }
    }

    fn record_call(&self, verb: &str, owner: i32, name: &str, value: Option<&[u8]>) -> Call {
        let mut params = Params::default();
        params.add(Param::Number(owner.into()));
        params.add(name.into());
        if let Some(value) = value {
            params.add(Param::Bytes(value.to_vec()));
        }
        Call { sql: verb.replace("{records}", &self.catalog.table("_records")), params }
    }
}

impl ServiceRecords for PostgresStore {
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        let owner = self.owner(owner)?;
        let call =
            self.record_call("SELECT value FROM {records} WHERE owner = $1 AND name = $2", owner, name, None);
        self.query(&call)?.first().map(|row| column(row, 0)).transpose()
    }

    fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let number = self.owner(owner)?;
        // Replacements are rare, so all of them wait for each other.
        let begin =
            format!("{BEGIN}; LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", self.catalog.table("_records"));
        let replaced = self.transaction(&begin, |connection| {
            let ask = |verb: &str, value: Option<&[u8]>| {
                let call = self.record_call(verb, number, name, value);
                connection.wait(connection.query(&call)).map_err(of_server)
            };
            let found = ask("SELECT value FROM {records} WHERE owner = $1 AND name = $2", None)?;
            let found: Option<Vec<u8>> = found.first().map(|row| column(row, 0)).transpose()?;
            if !expected.is_met(found.as_deref()) {
                return Ok(None);
            }
            let Some(value) = value else {
                ask("DELETE FROM {records} WHERE owner = $1 AND name = $2", None)?;
                return Ok(Some(()));
            };
            if found.is_none() {
                let others = ask("SELECT count(*) FROM {records} WHERE owner = $1 AND name <> $2", None)?;
                let others: Option<i64> = others.first().map(|row| column(row, 0)).transpose()?;
                if others.is_some_and(|others| usize::try_from(others).is_ok_and(|others| others >= RECORDS))
                {
                    return Err(too_many(owner, name));
                }
            }
            let put = "INSERT INTO {records} (owner, name, value) VALUES ($1, $2, $3)
                       ON CONFLICT (owner, name) DO UPDATE SET value = EXCLUDED.value";
            ask(put, Some(value))?;
            Ok(Some(()))
        })?;
        Ok(replaced.is_some())
    }
}
