//! What an access permits, asked call by call.

use std::sync::Arc;

use super::checks::{Check, is_on};
use crate::access::{Access, Names};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Rights;
use crate::messages::{ByReceipt, QueueOp, Task};
use crate::model::{EntityKeys, Ticks};
use crate::plan::{Act, Condition, RowWrite};

/// An access, as handles ask it.
#[derive(Clone, Debug)]
pub(super) struct Limits(Arc<Access>);

impl Limits {
    pub(super) fn new(access: Access) -> Self {
        Self(Arc::new(access))
    }

    pub(super) fn access(&self) -> &Access {
        &self.0
    }

    /// Refuses everything at a time when the access does not hold.
    pub(super) fn check_time(&self) -> Result<()> {
        if self.0.holds_at(Ticks::now()) || !is_on(Check::Time) {
            return Ok(());
        }
        let when = if self.0.from.is_some_and(|from| Ticks::now() < from) { "yet" } else { "any more" };
        Err(refused(format!("the access does not hold {when}: it is to {}", self.0)))
    }

    /// Refuses what takes permissions that the access has not.
    pub(super) fn check(&self, rights: Rights) -> Result<()> {
        self.check_time()?;
        let missing = rights.without(self.0.rights);
        if missing == Rights::NONE || !is_on(Check::Rights) {
            return Ok(());
        }
        Err(refused(format!("it takes the permission to {missing}, and the access is to {}", self.0)))
    }

    /// Refuses to write the entity of these keys, if it lies outside.
    pub(super) fn check_inside(&self, table: &str, keys: EntityKeys<'_>) -> Result<()> {
        if self.covers(table, keys) || !is_on(Check::WritesOutside) {
            return Ok(());
        }
        Err(outside(format!("the entity lies outside the access, which is to {}", self.0)))
    }

    /// Refuses that an entity refers to one of another table that lies outside: it would get copies of its fields.
    pub(super) fn check_source(&self, table: &str, keys: EntityKeys<'_>) -> Result<()> {
        if self.covers(table, keys) || !is_on(Check::Sources) {
            return Ok(());
        }
        let because = format!(
            "it refers to an entity of table `{table}` outside the access, and would hold copies of its fields; the access \
             is to {}",
            self.0
        );
        Err(outside(because))
    }

    /// Returns whether the entity of these keys is inside.
    pub(super) fn covers(&self, table: &str, keys: EntityKeys<'_>) -> bool {
        self.0.tables.has(table) && self.0.range.contains(keys.partition, keys.row)
    }

    /// Returns whether every entity of every table is inside.
    pub(super) fn are_of_keys(&self) -> bool {
        !(self.0.range.is_all() && self.0.tables == Names::All)
    }

    /// Refuses a table that the access is not to, whether or not there is one.
    pub(super) fn check_table(&self, name: &str) -> Result<()> {
        self.check_time()?;
        if self.0.tables.has(name) || !is_on(Check::Tables) {
            return Ok(());
        }
        Err(self.is_not_to())
    }

    /// Returns the refusal of what no access permits.
    #[cold]
    pub(super) fn never(&self, what: &str) -> Error {
        refused(format!("no access permits to {what}; it is to {}", self.0))
    }

    /// Returns the refusal of a queue or container that the access is not to.
    #[cold]
    pub(super) fn is_not_to(&self) -> Error {
        refused(format!("the access is to {}", self.0))
    }
}

#[cold]
fn refused(because: String) -> Error {
    Error::new(ErrorKind::NotPermitted).because(because)
}

#[cold]
fn outside(because: String) -> Error {
    Error::new(ErrorKind::OutsideRange).because(because)
}

/// Returns what the write of a row takes: of one that is added or replaced, whatever is there, both.
pub(super) fn rights_for(row: &RowWrite<'_>) -> Rights {
    rights_of(row.act.bare(), row.condition)
}

fn rights_of(act: Act<()>, condition: Condition) -> Rights {
    match (act, condition) {
        (Act::Keep, _) => Rights::READ,
        (Act::Remove, _) => Rights::DELETE,
        (Act::Put(()) | Act::Merge(()), Condition::Absent) => Rights::ADD,
        (Act::Put(()) | Act::Merge(()), Condition::Any | Condition::StillAbsent) => {
            Rights::ADD.and(Rights::UPDATE)
        }
        (Act::Put(()) | Act::Merge(()), _) => Rights::UPDATE,
    }
}

/// Returns what is asked of a queue takes; `None` of what no access permits.
pub(super) fn rights_of_task(queue_op: &QueueOp) -> Option<Rights> {
    let take = Rights::READ.and(Rights::DELETE);
    match &queue_op.task {
        Task::Send(_) | Task::Post(_) => Some(Rights::ADD),
        Task::Receive { .. }
        | Task::Complete(_)
        | Task::CompleteEach(_)
        | Task::Extend(..)
        | Task::ExtendEach(..)
        | Task::Release(..)
        | Task::ByReceipt(_, ByReceipt::Delete | ByReceipt::Release(_)) => Some(take),
        Task::Update(..) | Task::ByReceipt(_, ByReceipt::Update(..)) => Some(take.and(Rights::UPDATE)),
        Task::Pause(_) | Task::Clear { .. } => None,
    }
}
