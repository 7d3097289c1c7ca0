//! Rows of signed kinds are written by their structs alone.

use super::prepare::Prepared;
use crate::plan::Refused;
use crate::store::records::catalog::TableState;

impl TableState {
    /// Refuses rows of a signed kind that no struct has written, in a group of this table.
    #[inline]
    pub(crate) fn check_unsigned(&self, prepared: &Prepared, group: usize) -> Result<(), Refused> {
        let is_typed = prepared.groups.get(group).is_some_and(|group| group.declarations().next().is_some());
        if !self.signs_some() || is_typed {
            return Ok(());
        }
        let signed = self.signed();
        prepared.check_unsigned(group, &self.dict(), |kind| signed.iter().any(|known| **known == *kind))
    }
}
