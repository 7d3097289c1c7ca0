//! Rows of declared kinds are written by their structs, which keep their copies and sign them; by their properties only
//! through a handle that says so, and signed ones never.

use table_engine::error::{Error, Result};
use table_engine::plan::Refused;
use table_engine::row::view::RowView;
use table_engine::sealing::sign;

use super::encoded::EncodedPlan;
use crate::records::catalog::TableState;

impl TableState {
    /// Refuses rows of declared kinds that no struct has written, in a group of this table.
    #[inline]
    pub(crate) fn check_kinds(&self, prepared: &EncodedPlan, group: usize) -> Result<(), Refused> {
        if !self.declares_some() || prepared.is_declared(group) {
            return Ok(());
        }
        prepared.check_kinds(group, &self.dict(), |kind| {
            let check = self.with_declared(kind, |declared| {
                if declared.is_signed && prepared.is_raw {
                    Err(sign::needs_its_struct())
                } else if prepared.is_raw {
                    Ok(())
                } else {
                    Err(declared.refusal())
                }
            });
            check.unwrap_or(Ok(()))
        })
    }

    /// Returns whether a group of this table must leave alone the rows of declared kinds that are there.
    #[inline]
    pub(crate) fn guards_against(&self, prepared: &EncodedPlan, group: usize) -> bool {
        self.declares_some() && !prepared.is_raw && !prepared.is_declared(group)
    }

    /// Refuses to change or to remove a row that is there and of a declared kind.
    pub(crate) fn check_old(&self, old: &RowView<'_>) -> Result<(), Error> {
        let Some(kind) = old.kind()? else { return Ok(()) };
        self.with_declared(kind, |declared| Err(declared.refusal())).unwrap_or(Ok(()))
    }
}
