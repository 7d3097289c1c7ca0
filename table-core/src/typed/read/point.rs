//! Point reads of a table as it is now. What looks for a row is not of the entity's type: what is made of the row is kept by a
//! closure.

use super::blind::{BlindKey, ReadRow};
use super::key::Lookup;
use super::missed::look_again;
use super::{look_after, while_it_is_ready};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::row::view::RowView;
use crate::typed::entity::Entity;
use crate::typed::entity::path::{Path, PathKeys};

/// The key that a row is looked for by.
#[derive(Debug)]
pub(in crate::typed) enum Sought<'k> {
    Printed(Result<(&'k str, &'k str)>),
    /// Only a table can print it.
    Blind(&'k BlindKey),
}

impl<'k> Sought<'k> {
    /// The partition key and the row key.
    pub(in crate::typed) fn keys(&self) -> Result<(&'k str, &'k str)> {
        match self {
            Self::Printed(Ok(keys)) => Ok(*keys),
            Self::Printed(Err(error)) => Err(error.again()),
            Self::Blind(key) => Err(key.unseen()),
        }
    }
}

/// Entities that are got by their keys.
pub(in crate::typed) trait Got: Entity {
    /// What the key leads to in the table as it is now.
    fn got<L: Lookup<Self>>(table: &DynamicTable, key: &L) -> Result<Option<L::Output>> {
        if const { L::Path::INDEX.is_none() && Self::SCHEMA.is_wide() } {
            // The head and its parts are those of one moment.
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
/// under its own key is looked for where a former version had it.
fn find(
    table: &DynamicTable,
    path: &'static PathKeys,
    key: &Sought<'_>,
    read: &mut ReadRow<'_>,
) -> Result<bool> {
    look_after(path, table);
    let Some(states) = path.states() else { return find_once(table, path, key, read) };
    let mut found = None;
    let mut find = || found = Some(find_once(table, path, key, read));
    while_it_is_ready(table.member(states.0.table()), path, states, &mut find)?;
    found.unwrap_or_else(|| Err(Error::new(ErrorKind::IndexBuilding)))
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
    let (partition, row) = match keys {
        Ok(keys) => *keys,
        Err(error) => return Err(error.again()),
    };
    let mut is_there = false;
    let mut seen = |view: &RowView<'_>, _| {
        is_there = true;
        read(view)
    };
    match there.read_row((partition, row), &mut seen) {
        Err(error) if error.kind() == ErrorKind::KeySuperseded => {
            there.read_row((partition, row), &mut seen)?;
        }
        done => done?,
    }
    if !is_there && path.is_own() {
        let looked = look_again(path, table, None, (partition, row), read);
        looked.map_err(|e| e.attempted("read from").table(table.name()).partition(partition).row(row))?;
    }
    Ok(true)
}
