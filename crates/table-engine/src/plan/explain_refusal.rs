//! What an executor's refusal means to the entities that were planned.

use super::content::RowKind;
use super::row_write::{Condition, Group, Plan, Refused};
use super::size::PlanSize;
use crate::error::{Error, ErrorKind};

/// Why a plan was not carried out.
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// Which of the changes it is about.
    pub(crate) of: Option<usize>,
    /// Whether another plan, made from what is stored now, may succeed.
    pub(crate) was_stale: bool,
}

impl Plan<'_> {
    /// Returns a refusal in the words of the entities, and whether it only says that another writer has changed what the plan
    /// was made from.
    pub(crate) fn explain_refusal(&self, refused: Refused) -> Failure {
        let Refused { error, group, row } = refused;
        if error.kind() == ErrorKind::BatchTooLarge {
            let error = error.because(self.size(group).to_string()).attempted("write to");
            return Failure { error, of: None, was_stale: false };
        }
        if let Some(addition) = row.and_then(|row| self.addition(group, row)) {
            let what = format!("what is counted of it, `{}`,", addition.amounts.kind_name());
            let error = self.in_table_of(error, addition.of, addition.table(), &what);
            return Failure { error, of: Some(addition.of), was_stale: false };
        }
        let Some(row) = row.and_then(|row| self.row(group, row)) else {
            let has_others =
                |group: &Group<'_>| !group.unchanged.is_empty() || group.epochs.first().is_some();
            let has_others = self.groups.get(group).is_some_and(has_others);
            let was_stale = has_others && error.kind() == ErrorKind::ConditionNotMet;
            return Failure { error, of: None, was_stale };
        };
        let kind = error.kind();
        let was_read = matches!(row.condition, Condition::Is(_));
        let was_stale = was_read && matches!(kind, ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound)
            || row.condition == Condition::StillAbsent && kind == ErrorKind::EntityAlreadyExists;
        let error = match row.index() {
            Some(name) if kind == ErrorKind::EntityAlreadyExists => {
                if row.kind.is_some_and(|kind| kind.unique_index().is_some()) {
                    error
                        .with_kind(ErrorKind::UniqueConflict)
                        .because(format!("another entity has this key in the unique index `{name}`"))
                } else {
                    // The key holds the entity's own, and the entity is not there.
                    error
                        .with_kind(ErrorKind::Corrupt)
                        .because(format!("a copy of index `{name}` is there without its entity"))
                }
            }
            None if kind == ErrorKind::EntityAlreadyExists => match row.kind.map_or(0, RowKind::part) {
                0 => error,
                part => error.with_kind(ErrorKind::Corrupt).because(format!(
                    "a row is there where part {part} of the entity is to be, which is not there"
                )),
            },
            Some(name) if kind == ErrorKind::TableNotFound => {
                self.in_table_of(error, row.of, row.table(), &format!("its index `{name}`"))
            }
            _ => error,
        };
        Failure { error, of: Some(row.of), was_stale }
    }

    /// Says of a table that is no more, in which something of an entity lies, whose table that concerns.
    #[cold]
    fn in_table_of(&self, error: Error, of: usize, there: &str, what: &str) -> Error {
        let own = self.groups.iter().find_map(|group| {
            let own = group.rows.iter().find(|row| row.of == of && row.is_own())?;
            Some((own, group.partition))
        });
        let Some((own, partition)) = own else { return error };
        let table = own.table();
        if error.kind() != ErrorKind::TableNotFound || table.eq_ignore_ascii_case(there) {
            return error;
        }
        let because = format!(
            "{what} lies in table `{there}`: {}; open `{table}` anew, and run `Table::rebuild`",
            error.reason()
        );
        let error = error.because(because).attempted(own.act.describe(own.condition)).table(table);
        error.partition(partition).row(own.key)
    }

    /// Returns what the rows of a group that are written take in the body of a request.
    fn size(&self, group: usize) -> PlanSize {
        let mut size = PlanSize::default();
        let Some(group) = self.groups.get(group) else { return size };
        for row in &group.rows {
            if let Some(bytes) = row.body(row.table(), group.partition) {
                size.add(row.index(), bytes);
            }
        }
        for addition in &group.additions {
            let name = addition.amounts.kind_name();
            size.add(Some(name), addition.body(addition.table(), group.partition));
        }
        size
    }
}
