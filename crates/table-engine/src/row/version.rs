//! The proof of a version: a row that has not changed since it was read need not be read again.

use crate::error::{Error, ErrorKind, Result};
use crate::model::ETag;
use crate::plan::{Condition, Version};
use crate::row::Row;
use crate::row::view::RowView;

/// What is known of a row that was read, beside its `ETag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The checksum of its bytes.
    pub checksum: u64,
    /// How many bytes it has with its key.
    pub length: usize,
    /// The number of the store's state in which it was read and found sound; `None` if it was not looked into.
    pub state: Option<usize>,
}

impl Proof {
    #[inline]
    pub fn of(version: &Version) -> Self {
        let [checksum, length, state] = version.proof;
        let state = state.checked_sub(1).and_then(|state| usize::try_from(state).ok());
        Self { checksum, length: usize::try_from(length).unwrap_or(usize::MAX), state }
    }

    pub(crate) fn version(self, etag: ETag) -> Version {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let state = self.state.map_or(0, |state| number(state).saturating_add(1));
        Version { etag, proof: [self.checksum, number(self.length), state] }
    }
}

/// Returns the version of a row that was read in the state of this number.
#[inline]
pub fn version_of(view: &RowView<'_>, state: usize) -> Version {
    let state = view.is_verified().then_some(state);
    Proof { checksum: view.checksum(), length: view.stored_length(), state }.version(view.etag())
}

/// Refuses a row that is not as the condition demands.
#[inline]
pub fn check_condition(old: Option<&Row<'_>>, condition: Condition) -> Result<()> {
    let of_etag = |old: &Row<'_>, etag: ETag| ETag::from_timestamp(old.timestamp()) == etag;
    match (condition, old) {
        (Condition::Any, _)
        | (Condition::Absent | Condition::StillAbsent, None)
        | (Condition::Present, Some(_)) => Ok(()),
        (Condition::Absent | Condition::StillAbsent, Some(_)) => {
            Err(Error::new(ErrorKind::EntityAlreadyExists))
        }
        (Condition::Present | Condition::Tag(_) | Condition::Is(_), None) => {
            Err(Error::new(ErrorKind::EntityNotFound))
        }
        (Condition::Tag(etag), Some(old)) if of_etag(old, etag) => Ok(()),
        (Condition::Is(version), Some(old)) if of_etag(old, version.etag) => {
            if old.checksum() == Proof::of(&version).checksum {
                return Ok(());
            }
            Err(Error::new(ErrorKind::ConditionNotMet)
                .because("its values were sealed anew meanwhile; try again"))
        }
        (Condition::Tag(_) | Condition::Is(_), Some(_)) => Err(Error::new(ErrorKind::ConditionNotMet)),
    }
}
