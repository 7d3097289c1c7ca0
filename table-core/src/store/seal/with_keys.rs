//! With the keys of the store.

use std::cell::Cell as Once;

use crate::crypt::{Cell, Secret, value};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Value, ValueRef};
use crate::store::keys::Encryption;
use crate::store::{DynamicTable, RowView, missing_provider};

/// The generation of the keys that a plan's values were sealed with; none if nothing was.
#[derive(Clone, Debug)]
pub(crate) struct SealedAt(Option<(Encryption, u64)>);

impl SealedAt {
    /// Of a plan without sealed values.
    pub(crate) const NOTHING: Self = Self(None);

    /// Refuses what was sealed with keys that may be on their way out.
    ///
    /// Asked inside the transaction: a job that counts what is left under a key begins after a transaction that came
    /// after the key had its successor, so it sees whatever passed here before.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.0 {
            Some((keys, generation)) if keys.generation()? != *generation => {
                Err(Error::new(ErrorKind::ConditionNotMet)
                    .because("a key was rotated or destroyed while values were being sealed"))
            }
            _ => Ok(()),
        }
    }

    /// Whether [`check`](Self::check) refuses, so that sealing anew may succeed.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.check(), Err(error) if error.kind() == ErrorKind::ConditionNotMet)
    }
}

/// Seals the values of a plan.
pub(crate) struct Sealer<'t> {
    table: &'t DynamicTable,
    /// Whether the plan is carried out: one that is only shown needs no key, and makes none.
    is_real: bool,
    generation: Once<Option<u64>>,
}

impl<'t> Sealer<'t> {
    /// For a plan that is to be carried out.
    pub(crate) fn new(table: &'t DynamicTable) -> Self {
        Self { table, is_real: true, generation: Once::new(None) }
    }

    /// For a plan that is only shown: gives bytes of the right length.
    pub(crate) fn sham(table: &'t DynamicTable) -> Self {
        Self { is_real: false, ..Self::new(table) }
    }

    /// The value, sealed for a property of the entity of these keys.
    pub(crate) fn seal(
        &self,
        partition: &str,
        row: &str,
        property: &str,
        value: ValueRef<'_>,
    ) -> Result<Vec<u8>> {
        let cell = self.table.cell(partition, row, property)?;
        if !self.is_real {
            return Ok(vec![0; value::sealed_len(value)]);
        }
        let keys = self.table.inner().encryption()?;
        // Before the first value is sealed: a rotation between the two is then seen, if once too often.
        if self.generation.get().is_none() {
            self.generation.set(Some(keys.generation()?));
        }
        keys.seal(&cell, value)
    }

    /// The generation of the keys before the first value was sealed.
    pub(crate) fn sealed_at(&self) -> SealedAt {
        let keys = self.table.inner().encryption().ok();
        SealedAt(self.generation.get().and_then(|generation| Some((keys?.clone(), generation))))
    }
}

/// A value that was opened; wiped when it has been looked at.
pub(crate) type Opened = Secret<Value>;

/// Opens a property of a row; `row` is the key of the entity's own row, also where this one is a copy of it.
pub(crate) fn open(view: &RowView<'_>, row: &str, property: &str, sealed: &[u8]) -> Result<Opened> {
    let partition = view.partition_key();
    let cell = Cell::new(view.table(), &partition, row, property)?;
    let keys = view.dict().keys().ok_or_else(|| missing_provider().partition(&partition).row(row))?;
    keys.open(&cell, sealed).map(Secret::new)
}
