//! Service records of a store on LMDB.

use table_engine::error::Result;
use table_engine::executor::ServiceRecords;
use table_engine::executor::service_records::{Expected, RecordOwner, too_many};

use super::store::found;
use crate::handle::shared::Shared;
use crate::lmdb::Databases;
use crate::open::{Durability, OptionalDb};
use crate::queues::{Outcome, ServiceWork, Wanted, Work, missed};
use crate::records::meta::Meta;
use crate::records::service::{self, Replacement};
use crate::records::sort::RecordName;

impl ServiceRecords for Shared {
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        self.writer.check_running()?;
        if let RecordOwner::Queue(queue) = owner {
            return self.look(|view, _| view.service(queue, name))?.ok_or_else(missed);
        }
        let (txn, dbs) = (self.environment.read_txn()?, &self.environment.dbs);
        let meta = Meta::read(dbs.main, &txn)?;
        let table = number(dbs, &txn, &meta, owner)?;
        service::get(dbs, &txn, &meta, RecordName { table, name })
    }

    fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        self.writer.check_writable()?;
        // A transaction that changes nothing is a commit all the same. Who comes too late is told without one.
        if !matches!(expected, Expected::Any) && !expected.is_met(self.get(owner, name)?.as_deref()) {
            return Ok(false);
        }
        let replaced = match owner {
            RecordOwner::Queue(queue) => self.replace_of_queue(queue, name, expected, value)?,
            _ => self.replace_of_table(owner, name, expected, value)?,
        };
        if replaced && self.environment.options.durability == Durability::Relaxed {
            // A new key is told to its users when this returns: a power cut must not take it back.
            let _lead = self.writer.lead()?;
            self.environment.flush().map_err(|error| self.writer.explain_failure(self, error))?;
        }
        Ok(replaced)
    }
}

impl Shared {
    /// Replaces a record of a table, or of the store.
    fn replace_of_table(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        self.transact(|txn, dbs, meta| {
            let table = number(dbs, txn, meta, owner)?;
            let replacement = Replacement { expected, value, too_many: &|| too_many(owner, name) };
            service::replace(dbs, txn, meta, RecordName { table, name }, &replacement)
        })
    }

    /// Replaces a record of a queue, by the transaction that other writers share.
    fn replace_of_queue(
        &self,
        queue: &str,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        if self.optional_db(OptionalDb::Queues)?.is_none() {
            return Err(missed());
        }
        let (expected, value) = (Wanted::of(expected), value.map(Into::into));
        let work = ServiceWork { queue: queue.into(), name: name.into(), expected, value };
        Ok(self.work(vec![Work::Service(work)])? == [Outcome::Replaced(true)])
    }
}

/// Returns the number under which the records of an owner lie.
fn number(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta, owner: RecordOwner<'_>) -> Result<u32> {
    match owner {
        RecordOwner::Store => Ok(service::STORE),
        RecordOwner::Table(name) => Ok(found(dbs, txn, meta, name)?.id),
        RecordOwner::Queue(_) => Err(missed()),
    }
}
