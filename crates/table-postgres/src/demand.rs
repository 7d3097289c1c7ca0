//! What must be so of the rows of a plan.

use table_engine::__executor::{self as executor, Condition};
use table_engine::Result;
use table_engine::row::version::Proof;

use crate::clock::time_of;

/// What must be so of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    Absent,
    Present,
    /// It is of this time.
    Tag(i64),
    /// It is the one that was read.
    Is(RowVersion),
    Nothing,
}

/// What tells a row from what it was before and what it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowVersion {
    pub(crate) time: i64,
    /// How often it was written without a new time. Of a row that was read it is not known, and mostly 0.
    pub(crate) again: i32,
    /// The checksum of the row as it is packed; `None` if nothing has been read of it.
    pub(crate) checksum: Option<u64>,
}

impl From<Condition> for Demand {
    fn from(condition: Condition) -> Self {
        match condition {
            Condition::Any => Self::Nothing,
            Condition::Absent | Condition::StillAbsent => Self::Absent,
            Condition::Present => Self::Present,
            Condition::Tag(etag) => Self::Tag(time_of(etag)),
            Condition::Is(version) => {
                let checksum = Some(Proof::of(&version).checksum);
                Self::Is(RowVersion { time: time_of(version.etag), again: 0, checksum })
            }
        }
    }
}

impl RowVersion {
    /// Returns whether this row may be the one that was found, as far as both were looked at.
    fn may_be(&self, found: &Self) -> bool {
        let differ = self.checksum.zip(found.checksum).is_some_and(|(one, other)| one != other);
        self.time == found.time && !differ
    }
}

impl Demand {
    /// Returns whether only a look at the row itself tells if it is the one that is demanded: it was written without a new time.
    pub(crate) fn hides(self, found: Option<RowVersion>) -> bool {
        matches!((self, found), (Self::Is(wanted), Some(found)) if wanted.time == found.time && wanted.again != found.again)
    }

    /// Refuses what was found, the row or nothing.
    pub(crate) fn check(self, found: Option<RowVersion>) -> Result<()> {
        use table_engine::ErrorKind::{ConditionNotMet, EntityAlreadyExists, EntityNotFound};
        let refused = match (self, found) {
            (Self::Nothing, _) | (Self::Absent, None) | (Self::Present, Some(_)) => return Ok(()),
            (Self::Tag(wanted), Some(found)) if wanted == found.time => return Ok(()),
            (Self::Is(wanted), Some(found)) if wanted.may_be(&found) => return Ok(()),
            (Self::Absent, Some(_)) => EntityAlreadyExists,
            (_, None) => EntityNotFound,
            (Self::Tag(_) | Self::Is(_), Some(_)) => ConditionNotMet,
        };
        Err(executor::error(refused, ""))
    }
}
