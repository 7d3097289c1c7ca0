//! What is noted of kinds at the moment of a snapshot.
//!
//! A reader asks whether an index is ready before it reads by it. Mostly it is, and this process knows so: then that is taken to
//! be so at the snapshot's moment too, and the first statement that is asked there brings the generation along, which says
//! whether it was. So such a question costs no round trip.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use table_engine::schema::{self, Schema};
use table_engine::{ErrorKind, Result};
use tokio_postgres::Row;

use crate::catalog::column;
use crate::error::damaged;
use crate::kinds::{self, Kinds};
use crate::snapshot::PostgresSnapshot;
use crate::table::{PostgresTable, STATE};

/// What is to be so of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    pub(crate) schema: &'static Schema,
    pub(crate) of: CheckOf,
}

/// What of a kind is to be read.
#[derive(Clone, Copy)]
pub(crate) enum CheckOf {
    /// The rows of the index of this number.
    Index(usize),
    /// The entities' own rows; `as_stored`: without being converted.
    Rows { as_stored: bool },
}

/// What was taken to be so, by what was noted at a generation.
struct Assumed {
    table: PostgresTable,
    check: Check,
    generation: i64,
}

/// What is noted of kinds at one moment, as far as it was asked for.
#[derive(Default)]
pub(crate) struct KindsThen {
    /// The store's generation at that moment, once that is known.
    generation: Cell<Option<i64>>,
    /// By the tables' numbers.
    known: RefCell<Vec<(u32, Arc<Kinds>)>>,
    assumed: RefCell<Vec<Assumed>>,
}

impl Check {
    /// Refuses what can't be read by what is noted.
    fn by(self, snapshot: &PostgresSnapshot, table: &PostgresTable, kinds: &Kinds) -> Result<()> {
        match self.of {
            CheckOf::Rows { as_stored } => PostgresTable::check_rows_by(kinds, self.schema, as_stored),
            CheckOf::Index(index) => {
                let (layout, states) = table.living(kinds, self.schema, |call| snapshot.query(call))?;
                let (mask, _) = schema::index_mask(layout.as_ref(), &states, self.schema);
                if mask.reads(index, STATE) { Ok(()) } else { Err(table.unread_index(self.schema, index)) }
            }
        }
    }

    /// Returns whether it is so as far as this process knows, and at which generation.
    fn is_known(self, table: &PostgresTable) -> Result<Option<i64>> {
        let generation = table.store.generation();
        let Some(mask) = table.entry.masks.get(self.schema, generation, false) else {
            // What is noted by now is known afterwards.
            return match table.mask(self.schema, false) {
                // The snapshot may have been taken before the table was dropped.
                Err(error) if error.kind() != ErrorKind::TableNotFound => Err(error),
                _ => Ok(None),
            };
        };
        let is_so = match self.of {
            CheckOf::Index(index) => mask.reads(index, STATE),
            CheckOf::Rows { .. } if !mask.looks_at_rows() => true,
            CheckOf::Rows { as_stored } => table
                .entry
                .kinds_at(generation)
                .is_some_and(|kinds| PostgresTable::check_rows_by(&kinds, self.schema, as_stored).is_ok()),
        };
        Ok(is_so.then_some(generation))
    }
}

impl KindsThen {
    /// Returns whether something was taken to be so that is to be made sure of.
    pub(crate) fn has_assumed(&self) -> bool {
        !self.assumed.borrow().is_empty()
    }

    /// Refuses what can't be read at the snapshot's moment.
    pub(crate) fn check(
        &self,
        snapshot: &PostgresSnapshot,
        table: &PostgresTable,
        check: Check,
    ) -> Result<()> {
        // Who asks for rows as they are stored may ask for nothing else.
        if self.generation.get().is_none() && !matches!(check.of, CheckOf::Rows { as_stored: true }) {
            for _ in 0..2 {
                if let Some(generation) = check.is_known(table)? {
                    self.assumed.borrow_mut().push(Assumed { table: table.clone(), check, generation });
                    return Ok(());
                }
            }
        }
        check.by(snapshot, table, &*self.kinds(snapshot, table)?)
    }

    /// Returns what is noted of a table's kinds at the snapshot's moment.
    pub(crate) fn kinds(&self, snapshot: &PostgresSnapshot, table: &PostgresTable) -> Result<Arc<Kinds>> {
        let entry = &table.entry;
        if let Some(known) = self.generation.get().and_then(|generation| entry.kinds_at(generation)) {
            return Ok(known);
        }
        let known =
            self.known.borrow().iter().find(|(id, _)| *id == entry.id).map(|(_, known)| known.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let answer = snapshot.query(kinds::read(&snapshot.store().catalog, entry.id))?;
        let found = kinds::found(&answer)?;
        self.generation.set(Some(found.generation));
        let found = snapshot.store().learn(entry, found);
        self.known.borrow_mut().push((entry.id, found.clone()));
        Ok(found)
    }

    /// Takes in the generation at the snapshot's moment, and makes sure of what was taken to be so.
    pub(crate) fn begin(&self, snapshot: &PostgresSnapshot, answer: &[Row]) -> Result<()> {
        let row = answer.first().ok_or_else(|| damaged("the record of the store"))?;
        let generation = column(row, 0)?;
        self.generation.set(Some(generation));
        snapshot.store().observe_generation(generation);
        for Assumed { table, check, generation: by } in self.assumed.take() {
            if by != generation {
                check.by(snapshot, &table, &*self.kinds(snapshot, &table)?)?;
            }
        }
        Ok(())
    }
}
