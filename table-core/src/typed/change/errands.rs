//! What a transaction does with messages besides its changes of entities.

use super::attempt::{Attempt, Desk, Need};
use crate::error::{Error, Result};
use crate::messages::Errand;
use crate::plan::{Draft, Seals, Version};
use crate::row::view::RowView;

/// Messages that are sent and completed with changes of entities: an attempt that reads nothing and adds no row.
#[derive(Debug, Default)]
pub(in crate::typed) struct ErrandsAttempt {
    errands: Vec<Errand>,
    /// Why one of them can't be.
    refused: Option<Error>,
}

impl ErrandsAttempt {
    /// Adds one.
    #[cfg_attr(not(feature = "queue"), expect(dead_code, reason = "there is none without queues"))]
    pub(in crate::typed) fn add(&mut self, errand: Result<Errand>) {
        match errand {
            Ok(errand) => self.errands.push(errand),
            Err(error) if self.refused.is_none() => self.refused = Some(error),
            Err(_) => {}
        }
    }

    /// Itself, if there is anything to do.
    pub(in crate::typed) fn checked(self) -> Result<Option<Self>> {
        match self.refused {
            Some(error) => Err(error),
            None if self.errands.is_empty() => Ok(None),
            None => Ok(Some(self)),
        }
    }
}

impl Attempt for ErrandsAttempt {
    fn begin(&mut self) {}

    fn partition(&self) -> Result<Option<&str>> {
        Ok(None)
    }

    fn reads(&self) -> bool {
        false
    }

    fn need(&mut self) -> Result<Option<Need>> {
        Ok(None)
    }

    fn found(&mut self, _row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        Ok(())
    }

    fn take_back(&mut self, _need: Need) {}

    fn make(&mut self) -> Result<()> {
        Ok(())
    }

    fn plan<'p>(
        &'p self,
        _number: usize,
        _seals: &dyn Seals,
        _desk: &'p mut Desk<'p>,
        draft: &mut Draft<'p>,
    ) -> Result<()> {
        draft.add_errands(&self.errands);
        Ok(())
    }

    fn takes_what_it_finds(&self) -> bool {
        false
    }
}
