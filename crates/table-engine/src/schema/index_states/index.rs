//! The states of an index.

use std::fmt;

/// How far an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// It has no row.
    Absent,
    /// Rows that it may have from earlier are being removed; writers leave it alone.
    Purge,
    /// The copies of the entities that are there are being made; writers keep it, and what it has to be unique. A copy may
    /// be missing.
    Backfill,
    /// Two entities claim what is to be unique, so no more copies are made until one of them changes.
    Blocked(Blocked),
    /// Every entity has its copies there, and it is read.
    Ready {
        /// The executor's number of the state of the store from which on it is: readers of earlier states must not
        /// read it.
        since: u64,
    },
    /// Its rows are being removed; writers leave it alone.
    Dropping,
}

/// Two entities that claim one key in an index where keys are to be unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The partition and the row key that both claim.
    pub key: (String, String),
    /// The keys of the entity that has it.
    pub has: (String, String),
    /// The keys of the one that wants it.
    pub wants: (String, String),
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [has, wants] = [&self.has, &self.wants];
        if has.0 == wants.0 && has.0 == self.key.0 {
            let (partition, [has, wants]) = (self.key.0.escape_debug(), [&has.1, &wants.1]);
            return write!(
                f,
                "in partition `{partition}` the rows `{}` and `{}` both claim the key `{}`",
                has.escape_debug(),
                wants.escape_debug(),
                self.key.1.escape_debug()
            );
        }
        write!(f, "the rows")?;
        for (word, (partition, row)) in [("", has), (" and", wants)] {
            write!(f, "{word} `{}` of partition `{}`", row.escape_debug(), partition.escape_debug())?;
        }
        let (partition, row) = (self.key.0.escape_debug(), self.key.1.escape_debug());
        write!(f, " both claim the key `{row}` in partition `{partition}`")
    }
}

/// What happens to an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    dead_code,
    reason = "copies in other tables than their entities', and conversion, ask for some of them"
)]
pub enum IndexEvent {
    /// It is to be made anew, maybe by another declaration.
    Rebuild,
    /// No row from earlier is left.
    Purged,
    /// A second entity claims a key that is to be unique.
    Block(Blocked),
    /// The job goes on, whichever of the two entities has changed meanwhile.
    Unblock,
    /// Every entity has its copies.
    Backfilled {
        /// The number of the state that says so.
        since: u64,
    },
    /// It is to go.
    Drop,
    /// None of its rows is left.
    Dropped,
    /// The table of its entities was dropped, and the index lies elsewhere.
    EntitiesDropped,
    /// The table where it lies was dropped, and its entities lie elsewhere.
    RowsDropped,
    /// Its entities are being converted to another version.
    Convert,
}

impl IndexState {
    /// Returns the state after an event; `None` if it can't happen in this one.
    #[must_use]
    pub fn next(&self, event: IndexEvent) -> Option<Self> {
        use IndexEvent as On;
        Some(match (self, event) {
            // To fill it at once would be wrong: rows from earlier stand where copies belong to others now.
            (_, On::Rebuild) => Self::Purge,
            (Self::Purge, On::Purged)
            | (Self::Blocked(_), On::Unblock)
            | (Self::Ready { .. } | Self::Backfill | Self::Blocked(_), On::RowsDropped) => Self::Backfill,
            (Self::Backfill, On::Block(by)) => Self::Blocked(by),
            (Self::Backfill, On::Backfilled { since }) => Self::Ready { since },
            (Self::Absent, On::Drop)
            | (_, On::Purged | On::Unblock | On::Block(_) | On::Backfilled { .. }) => {
                return None;
            }
            (_, On::Drop) => Self::Dropping,
            (Self::Dropping, On::Dropped) => Self::Absent,
            (_, On::Dropped) => return None,
            (Self::Ready { .. } | Self::Backfill | Self::Blocked(_), On::EntitiesDropped | On::Convert) => {
                Self::Purge
            }
            (
                Self::Absent | Self::Purge | Self::Dropping,
                On::EntitiesDropped | On::RowsDropped | On::Convert,
            ) => self.clone(),
        })
    }

    /// Returns whether writers must keep it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Backfill | Self::Blocked(_) | Self::Ready { .. })
    }

    /// Returns whether an entity may be without its copies there though it is kept.
    #[must_use]
    pub fn may_lack(&self) -> bool {
        matches!(self, Self::Backfill | Self::Blocked(_))
    }

    /// Returns what is said of one that can't be read.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Absent => "has not been made yet",
            Self::Purge => "is being made: rows of former times are being removed",
            Self::Backfill => "is being made: the copies of entities that are there are being added",
            Self::Blocked(_) => "can't be made: two entities claim one of its keys",
            Self::Ready { .. } => "is ready",
            Self::Dropping => "is being dropped",
        }
    }
}
