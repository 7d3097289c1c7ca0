//! What a change has to ask of a table that is restricted to an access.
//!
//! A restricted table shows and writes no more than its access permits. The change of an entity reads more than it shows: the
//! copies that are to follow, and those who hold copies of it. So what plans a change asks here whether it is permitted, and
//! then reads and writes by the table itself.

use std::fmt;
use std::sync::Arc;

use super::TableExec;
use crate::error::Result;
use crate::messages::QueueOp;
use crate::model::EntityKeys;

/// What may be done: some of reading, adding, updating and deleting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// To read.
    pub const READ: Self = Self(1);
    /// To add.
    pub const ADD: Self = Self(2);
    /// To replace and change.
    pub const UPDATE: Self = Self(4);
    /// To delete.
    pub const DELETE: Self = Self(8);
    /// Everything.
    pub const ALL: Self = Self(15);

    /// Each with its name and its letter in a token, in the order of those.
    pub(crate) const NAMED: [(Self, &'static str, char); 4] = [
        (Self::READ, "read", 'r'),
        (Self::ADD, "add", 'a'),
        (Self::UPDATE, "update", 'u'),
        (Self::DELETE, "delete", 'd'),
    ];

    /// Returns these and others.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns those of these that are among the others.
    #[must_use]
    pub const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns those of these that the others lack.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether the others are among them.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (_, name, _) in Self::NAMED.iter().filter(|(right, ..)| self.has(*right)) {
            write!(f, "{separator}{name}")?;
            separator = ", ";
        }
        if *self == Self::NONE { f.write_str("nothing") } else { Ok(()) }
    }
}

/// A table of a restricted store.
pub trait RestrictedTable: Send + Sync {
    /// Refuses what is not permitted with the entity of these keys.
    fn check(&self, rights: Rights, keys: EntityKeys<'_>) -> Result<()>;

    /// Refuses an entity of another table that one of this table refers to, unless it is inside.
    fn check_source(&self, table: &str, keys: EntityKeys<'_>) -> Result<()>;

    /// Refuses what is asked of a queue, unless it is permitted.
    fn check_queue_op(&self, queue_op: &QueueOp) -> Result<()>;

    /// Refuses everything at a time when the access does not hold.
    fn check_time(&self) -> Result<()>;

    /// Returns whether a row of these keys is there that is not shown.
    fn hides(&self, keys: EntityKeys<'_>) -> Result<bool>;

    /// Returns the table itself.
    fn unrestricted(&self) -> Arc<dyn TableExec>;
}
