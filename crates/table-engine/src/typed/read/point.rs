//! Point reads of a table as it is now. What looks for a row is not of the entity's type: what is made of the row is kept by a
//! closure.

use std::cell::Cell;

use super::blind::{BlindKey, ReadRow};
use super::key::Lookup;
use super::missed::look_again;
use super::while_ready;
use crate::error::{ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::model::EntityKeys;
use crate::row::view::RowView;
use crate::typed::entity::Entity;
use crate::typed::entity::path::{Path, PathKeys};

/// The key that a row is looked for by.
#[derive(Debug)]
pub(crate) enum Sought<'k> {
    Printed(Result<EntityKeys<'k>>),
    /// Only a table can print it.
    Blind(&'k BlindKey),
}

impl<'k> Sought<'k> {
    /// Returns the partition key and the row key.
    pub(crate) fn keys(&self) -> Result<EntityKeys<'k>> {
        match self {
            Self::Printed(Ok(keys)) => Ok(*keys),
            Self::Printed(Err(error)) => Err(error.again()),
            Self::Blind(key) => Err(key.unseen()),
        }
    }
}

/// Entities that are got by their keys.
pub(crate) trait Got: Entity {
    /// Returns what the key leads to in the table as it is now.
    fn got<L: Lookup<Self>>(table: &DynamicTable, key: &L) -> Result<Option<L::Output>> {
        #[cfg(feature = "async-testing")]
        if let Some(done) = crate::asynchronous::forced(table, |table| Self::got(table, key)) {
            return done;
        }
        if const { L::Path::INDEX.is_none() && Self::SCHEMA.is_wide() } {
            // The head and its parts are read in one snapshot.
            return super::get(&table.snapshot()?, table, key);
        }
        let mut found = None;
        let mut read = |view: &RowView<'_>| Self::keep::<L>(view, &mut found);
        match find(table, L::Path::KEYS, &key.sought(), &mut read) {
            Ok(true) => Ok(found),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps what a row is read as.
    #[cfg_attr(not(debug_assertions), inline)]
    fn keep<L: Lookup<Self>>(view: &RowView<'_>, found: &mut Option<L::Output>) -> Result<()> {
        match L::read(view) {
            Ok(made) => *found = Some(made),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl<E: Entity> Got for E {}

/// Gives `read` the row that a key leads to, maybe several times; whether what it was given last counts. One that is not found
/// under its own key is looked for where a previous version had it.
fn find(
    table: &DynamicTable,
    path: &'static PathKeys,
    key: &Sought<'_>,
    read: &mut ReadRow<'_>,
) -> Result<bool> {
    let mut is_found = false;
    let mut find = || {
        is_found = find_once(table, path, key, read)?;
        Ok(())
    };
    while_ready(path, table, &mut find)?;
    Ok(is_found)
}

/// Gives `read` the row of these keys as it is now. It is read again if it was sealed anew meanwhile, and the key of what was
/// read is destroyed.
pub(super) fn read_row(table: &DynamicTable, keys: EntityKeys<'_>, read: &mut ReadRow<'_>) -> Result<()> {
    let EntityKeys { partition, row } = keys;
    match table.read_row(partition, row, &mut |view, _| read(view)) {
        Err(error) if error.kind() == ErrorKind::KeySuperseded => {
            table.read_row(partition, row, &mut |view, _| read(view))?;
        }
        done => done?,
    }
    Ok(())
}

fn find_once(
    table: &DynamicTable,
    path: &'static PathKeys,
    key: &Sought<'_>,
    read: &mut ReadRow<'_>,
) -> Result<bool> {
    let there = path.table(table);
    let keys = match key {
        Sought::Blind(blind) => return blind.find(there, read),
        Sought::Printed(keys) => keys,
    };
    let keys = match keys {
        Ok(keys) => *keys,
        Err(error) => return Err(error.again()),
    };
    let is_read = Cell::new(false);
    let mut seen = |view: &RowView<'_>| {
        read(view)?;
        is_read.set(true);
        Ok(())
    };
    read_row(there, keys, &mut seen)?;
    if !is_read.get() && path.is_own() {
        let looked = look_again(path, table, None, keys, &mut seen);
        let EntityKeys { partition, row } = keys;
        looked.map_err(|e| e.attempted("read from").table(table.name()).partition(partition).row(row))?;
    }
    Ok(is_read.get())
}
