//! Service records of a store on LMDB.

use table_engine::error::Result;
use table_engine::executor::ServiceRecords;
use table_engine::executor::service_records::{Expected, RecordOwner, too_many};

use super::store::found;
use crate::handle::shared::Shared;
use crate::lmdb::Databases;
use crate::open::Durability;
use crate::records::meta::Meta;
use crate::records::service::{self, Replacement};
use crate::records::sort::RecordName;

impl ServiceRecords for Shared {
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        self.writer.check_running()?;
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
        let replaced = self.transact(|txn, dbs, meta| {
            let table = number(dbs, txn, meta, owner)?;
            let replacement = Replacement { expected, value, too_many: &|| too_many(owner, name) };
            service::replace(dbs, txn, meta, RecordName { table, name }, &replacement)
        })?;
        if replaced && self.environment.options.durability == Durability::Relaxed {
            // A new key is told to its users when this returns: a power cut must not take it back.
            let _lead = self.writer.lead()?;
            self.environment.flush().map_err(|error| self.writer.explain_failure(self, error))?;
        }
        Ok(replaced)
    }
}

/// Returns the number under which the records of an owner lie.
fn number(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta, owner: RecordOwner<'_>) -> Result<u32> {
    match owner {
        RecordOwner::Store => Ok(service::STORE),
        RecordOwner::Table(name) => Ok(found(dbs, txn, meta, name)?.id),
    }
}
