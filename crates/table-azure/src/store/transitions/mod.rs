//! Changes of the states of kinds, which every process comes to know within a lease.
//!
//! What is noted is gone by for a lease, and a request that was begun within it may be carried out some time later. So a change
//! that something relies on is waited for, for two leases, before that begins; and the states that may meet in the meantime are
//! such that they do no harm:
//!
//! - An index that is read is first closed to its readers, while its writers go on to keep it; then they leave it alone; then its
//!   rows are removed.
//! - An index that is to be filled is first opened: its writers remove its rows and put none. Only when all do so, they put some,
//!   so that no row is left behind by one who still leaves the index alone. When all put them, those of the entities that are
//!   there are added.
//!
//! That others may still go by the states before is noted with the change, and taken back when it was waited for: a job that is
//! broken off, and goes on in another process, waits again.

mod convert;
mod index;
#[cfg(test)]
mod model_tests;

use std::sync::Arc;

use table_engine::Result;
use table_engine::{Error, ErrorKind};

pub(super) use self::convert::OwnedConversion;
pub(super) use self::index::OwnedTransition;
use super::explain;
use super::kinds::{KindRecord, Noted};
use super::service::Service;
use super::table::TableEntry;
use crate::client::Operation;

/// How many leases are waited for.
const LEASES: u32 = 2;
/// How often a note is tried while others note theirs.
const ATTEMPTS: u32 = 16;

impl Service {
    /// Waits until every process goes by the states that are noted of a table. Returns what is noted then.
    pub(super) async fn settle(&self, table: &TableEntry) -> Result<Arc<Noted>> {
        for _ in 0..ATTEMPTS {
            let noted = self.read_noted(table).await?;
            if !noted.is_moving() {
                return Ok(noted);
            }
            tokio::time::sleep(noted.lease().saturating_mul(LEASES)).await;
            let mut becomes = Noted::clone(&*self.read_noted(table).await?);
            becomes.settle(&noted);
            // Another process may have noted something meanwhile, and then it is looked again.
            self.write_noted(table, becomes, Vec::new()).await?;
        }
        let because = "the states of the table's indexes go on changing";
        Err(Error::new(ErrorKind::ConditionNotMet).because(because))
    }

    /// Notes the states of a kind in the place of those that were read, and waits until every process goes by them. Returns what
    /// is noted then; `None` if others have noted something since, or the kind is in yet another epoch.
    async fn move_on(
        &self,
        table: &TableEntry,
        noted: &Noted,
        kind: &str,
        record: KindRecord,
    ) -> Result<Option<Arc<Noted>>> {
        let (mut becomes, epoch) = (noted.clone(), record.states.epoch);
        becomes.set_record(kind, record);
        if !self.write_noted(table, becomes, Vec::new()).await? {
            return Ok(None);
        }
        let settled = self.settle(table).await?;
        Ok(Some(settled).filter(|settled| settled.epoch(kind) == epoch))
    }

    /// Writes rows of jobs.
    pub(super) async fn write_jobs(&self, table: &TableEntry, operations: &[Operation]) -> Result<()> {
        let refused = self.execute_note(&table.name().to_ascii_lowercase(), operations).await?;
        match refused {
            None => Ok(()),
            Some(refusal) if matches!(refusal.status, 404 | 409 | 412) => {
                let because =
                    "another program has written what is noted of the job meanwhile; ask for it again";
                Err(Error::new(ErrorKind::ConditionNotMet).because(because))
            }
            Some(refusal) => Err(explain::refused(&refusal)),
        }
    }
}
