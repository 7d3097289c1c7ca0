//! The map's service records.

use table_engine::__executor::{self as executor, Expected, RECORDS, RecordOwner, ServiceRecords, too_many};
use table_engine::{ErrorKind, Result};

use super::{MapStore, State, missing};

/// The number under which the store's own records lie: tables are numbered from 1.
const STORE: u32 = 0;

fn number(state: &State, owner: RecordOwner<'_>) -> Result<u32> {
    match owner {
        RecordOwner::Store => Ok(STORE),
        RecordOwner::Table(name) => {
            state.tables.get(&name.to_ascii_lowercase()).map(|table| table.id).ok_or_else(missing)
        }
        RecordOwner::Queue(_) => Err(executor::error(ErrorKind::QueueNotFound, "the map has no queues")),
    }
}

impl ServiceRecords for MapStore {
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        let state = self.state();
        let records = state.service.get(&number(&state, owner)?);
        Ok(records.and_then(|records| records.get(name).cloned()))
    }

    fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let mut state = self.state();
        let number = number(&state, owner)?;
        let records = state.service.entry(number).or_default();
        if !expected.is_met(records.get(name).map(Vec::as_slice)) {
            return Ok(false);
        }
        match value {
            Some(_) if records.len() >= RECORDS && !records.contains_key(name) => {
                return Err(too_many(owner, name));
            }
            Some(value) => drop(records.insert(name.into(), value.to_vec())),
            None => drop(records.remove(name)),
        }
        Ok(true)
    }
}
