//! What a transaction does with messages besides its changes of entities.

use super::attempt::{Attempt, Desk, Need};
use crate::error::{Error, Result};
use crate::handle::store::Store;
use crate::messages::Errand;
use crate::model::ETag;
use crate::plan::{Draft, Plan, Seals, Version, WriteExplain};
use crate::row::view::RowView;
use crate::sealing::SealedAt;

/// Messages that are sent and completed with changes of entities: an attempt that reads nothing and adds no row.
#[derive(Debug, Default)]
pub(crate) struct ErrandsAttempt {
    errands: Vec<Errand>,
    /// Why one of them can't be.
    refused: Option<Error>,
}

impl ErrandsAttempt {
    /// Adds one.
    #[cfg_attr(not(feature = "queue"), expect(dead_code, reason = "there is none without queues"))]
    pub(crate) fn add(&mut self, errand: Result<Errand>) {
        match errand {
            Ok(errand) => self.errands.push(errand),
            Err(error) if self.refused.is_none() => self.refused = Some(error),
            Err(_) => {}
        }
    }

    /// Itself, if there is anything to do.
    pub(crate) fn checked(self) -> Result<Option<Self>> {
        match self.refused {
            Some(error) => Err(error),
            None if self.errands.is_empty() => Ok(None),
            None => Ok(Some(self)),
        }
    }
}

/// Sends and completes messages that go with no change: no table comes with them.
pub(crate) fn commit(store: &Store, attempt: ErrandsAttempt) -> Result<ETag> {
    let plan = attempt.into_plan();
    let done = store.backend().abilities().check(&plan);
    let done = done.and_then(|()| store.backend().commit(&[], &plan, &SealedAt::NOTHING));
    done.map_err(|refused| plan.judge(refused).error.attempted("commit a transaction"))
}

/// The rows that such touch: none.
#[expect(clippy::unnecessary_wraps, reason = "as changes are shown")]
pub(crate) fn explain(_: &Store, attempt: ErrandsAttempt) -> Result<WriteExplain> {
    Ok(WriteExplain::of(&attempt.into_plan()))
}

impl ErrandsAttempt {
    fn into_plan(self) -> Plan<'static> {
        Plan { errands: self.errands, is_wide: true, ..Plan::default() }
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
