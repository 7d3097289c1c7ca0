//! Rows of signed kinds are written by their structs alone.

use super::prepare::Prepared;
use crate::error::Error;
use crate::store::records::catalog::TableState;

impl TableState {
    /// Refuses rows of a signed kind that no struct has written.
    #[inline]
    pub(crate) fn check_unsigned(&self, prepared: &Prepared) -> Result<(), Error> {
        if !self.signs_some() || prepared.declarations().next().is_some() {
            return Ok(());
        }
        let signed = self.signed();
        prepared.check_unsigned(&self.dict(), |kind| signed.iter().any(|known| **known == *kind))
    }
}
