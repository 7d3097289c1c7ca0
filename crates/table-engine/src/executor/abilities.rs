//! What an executor can do with a plan, and which reads it has.

use crate::error::{Error, ErrorKind};
use crate::plan::{Condition, Group, OutboxOp, Plan, Refused, RowWrite};

/// What an executor can do beyond the least. Every executor writes rows of one partition together, each under a condition
/// on that row.
///
/// A plan that asks for more is refused before the executor sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an ability by itself")]
pub struct Abilities {
    /// `groups`: it carries out several groups together, of other partitions and tables.
    pub groups: bool,
    /// `rows`: the most rows that a group may write.
    pub rows: usize,
    /// `expect`: it demands something of rows that it does not write.
    pub expect: bool,
    /// It demands of rows that it does not write that they are there, in any version or in one, by giving them a new version:
    /// each counts as a row that is written. The demand that a copy is still missing is left to its entity's version.
    pub expects_present: bool,
    /// `range`: it demands of a range that no row has come or gone.
    pub range: bool,
    /// `times`: it writes rows and leaves them their times.
    pub times: bool,
    /// `queues`: it has queues, and sends and completes messages with the rows.
    pub queues: bool,
    /// `additions`: it adds to numbers of rows, whatever they are.
    pub additions: bool,
    /// `eventual`: it notes, with the rows, which copies are to follow. A store without `groups` carries out a plan that
    /// propagates them row by row: it puts each copy as of its entity's version, or leaves a mark where one is to be no more,
    /// unless what is there is of a later version.
    pub eventual: bool,
    /// `snapshot`: several reads see one state of the store. Without it, each read of a
    /// [`ReadSnapshot`](super::ReadSnapshot) sees what is there when it is made, and each batch of a cursor.
    pub snapshot: bool,
    /// `reverse`: it gives rows from the last to the first.
    pub reverse: bool,
    /// `nans`: it keeps the bits of every NaN. Without it a NaN comes back as some NaN.
    pub nans: bool,
}

impl Abilities {
    /// Every ability that the program is built with.
    pub const ALL: Self = Self {
        groups: true,
        rows: usize::MAX,
        expect: true,
        expects_present: true,
        range: true,
        times: true,
        queues: cfg!(feature = "queue"),
        additions: true,
        eventual: true,
        snapshot: true,
        reverse: true,
        nans: true,
    };

    /// The abilities of the service.
    pub const SERVICE: Self = Self {
        groups: false,
        rows: crate::limits::BATCH_OPERATIONS,
        expect: false,
        expects_present: false,
        range: false,
        times: false,
        queues: false,
        additions: false,
        eventual: false,
        snapshot: false,
        reverse: false,
        nans: false,
    };

    /// Refuses a plan that asks for more, and names the ability that is missing.
    #[inline]
    pub fn check(&self, plan: &Plan<'_>) -> Result<(), Refused> {
        if *self == Self::ALL { Ok(()) } else { self.check_each(plan) }
    }

    fn check_each(&self, plan: &Plan<'_>) -> Result<(), Refused> {
        let propagates = |outbox_op: &OutboxOp| matches!(outbox_op, OutboxOp::Propagate(..));
        if self.eventual && !self.groups && plan.outbox_ops.iter().any(propagates) {
            // It is no change of entities, whose rows would have to come together.
            return Ok(());
        }
        if !self.groups && plan.groups.len() > 1 {
            let because = format!(
                "the store changes rows of one partition at a time, and the change is of {}: that takes the ability \
                 `groups`, which copies elsewhere do without if they are `eventual`",
                plan.groups.len()
            );
            return Err(refused(because, 1, None));
        }
        if !self.times && plan.keeps_times {
            let because =
                "the store writes no row without giving it a new time: that takes the ability `times`";
            return Err(refused(because.into(), 0, None));
        }
        if !self.queues && !plan.queue_ops.is_empty() {
            return Err(Refused::whole(no_queues()));
        }
        if !self.eventual && (!plan.outbox_ops.is_empty() || plan.as_of.is_some()) {
            return Err(Refused::whole(no_outbox()));
        }
        let notes = if self.groups { 0 } else { check_following(plan)? };
        for (at, group) in plan.groups.iter().enumerate() {
            let written = group.written() + notes + if self.expect { 0 } else { demanded(group) };
            if written > self.rows {
                let because = format!(
                    "the change writes {written} rows of a partition, the store {} at a time: that is its ability `rows`",
                    self.rows
                );
                return Err(refused(because, at, None));
            }
            let holds = |row: &RowWrite<'_>| demands_presence(row) || is_told_by_entity(row);
            let lacks = |row: &RowWrite<'_>| demands(row) && !(self.expects_present && holds(row));
            if let (false, Some(row)) = (self.expect, group.rows.iter().position(lacks)) {
                let because = if self.expects_present {
                    "the store demands of rows that it does not write no more than that they are there: that takes the \
                     ability `expect`"
                } else {
                    "the store demands nothing of rows that it does not write: that takes the ability `expect`"
                };
                return Err(refused(because.into(), at, Some(row)));
            }
            if let (false, Some(addition)) = (self.additions, group.additions.first()) {
                let (amounts, name) = (&addition.amounts, addition.amounts.name());
                let what = if amounts.are_ids() { "list" } else { "summary" };
                let because = format!(
                    "the store can't add to what a row holds, and the change does, for the {what} `{name}`: that takes the \
                     ability `additions`"
                );
                return Err(refused(because, at, Some(group.rows.len())));
            }
            if !self.range && !group.unchanged.is_empty() {
                let because =
                    "the store can't tell whether rows have come or gone: that takes the ability `range`";
                return Err(refused(because.into(), at, None));
            }
        }
        Ok(())
    }
}

/// Returns whether something is demanded of a row that is not written.
fn demands(row: &RowWrite<'_>) -> bool {
    row.act.keeps() && row.condition != Condition::Any
}

/// Returns whether what is demanded of a row is that it is there.
fn demands_presence(row: &RowWrite<'_>) -> bool {
    matches!(row.condition, Condition::Present | Condition::Tag(_) | Condition::Is(_))
}

/// Returns whether what is demanded is that a copy is still missing. Who makes it gives its entity a new version, whose old one
/// the plan demands too.
fn is_told_by_entity(row: &RowWrite<'_>) -> bool {
    row.condition == Condition::StillAbsent && row.index().is_some()
}

/// Returns how many rows of a group are not written, and something is demanded of them.
fn demanded(group: &Group<'_>) -> usize {
    group.rows.iter().filter(|row| demands(row)).count()
}

/// How many rows a store without `groups` writes with an entity to note what is to follow: the entry, and the entity's version,
/// which outlives it.
const NOTES: usize = 2;

/// Refuses what can't follow row by row; returns how many rows note what is to follow.
fn check_following(plan: &Plan<'_>) -> Result<usize, Refused> {
    let mut notes = 0;
    for outbox_op in &plan.outbox_ops {
        let lacks = match outbox_op {
            OutboxOp::Follow(follow) => {
                notes += NOTES;
                let list = follow.wanted.iter().chain(&follow.before).find(|copy| copy.is_list);
                list.map(|list| format!("the list `{}`", list.index))
            }
            OutboxOp::DeferredDependents(deferred) => {
                Some(format!("what others hold of a `{}`", deferred.kind))
            }
            _ => None,
        };
        if let Some(what) = lacks {
            let because = format!(
                "the store writes rows of one partition at a time, and so {what} can't follow later: that takes the \
                 ability `groups`"
            );
            return Err(refused(because, 0, None));
        }
    }
    Ok(notes)
}

/// Returns what an executor without queues says of them.
#[cold]
pub(crate) fn no_queues() -> Error {
    let because = "the store has no queues: that takes the ability `queues`";
    Error::new(ErrorKind::Unsupported).because(because)
}

/// Returns what an executor without snapshots says of them.
#[cold]
pub(crate) fn no_snapshots() -> Error {
    let because = "the store can't show one state to several reads: that takes the ability `snapshot`";
    Error::new(ErrorKind::Unsupported).because(because)
}

/// Returns what an executor says that gives rows in one direction alone.
#[cold]
pub(crate) fn no_reverse() -> Error {
    let because = "the store gives no rows from the last to the first: that takes the ability `reverse`, or \
                   `.buffered(n)`, which says how many rows may be held for it";
    Error::new(ErrorKind::Unsupported).because(because)
}

/// Returns what an executor without blobs says of them.
#[cold]
pub(crate) fn no_blobs() -> Error {
    let because = "the store keeps no blobs: that takes the ability `blobs`";
    Error::new(ErrorKind::Unsupported).because(because)
}

/// Returns what an executor says that notes nothing of what is to follow.
#[cold]
pub(crate) fn no_outbox() -> Error {
    let because = "the store can't note which copies are to follow later: that takes the ability `eventual`";
    Error::new(ErrorKind::Unsupported).because(because)
}

#[cold]
fn refused(because: String, group: usize, row: Option<usize>) -> Refused {
    Refused { error: Error::new(ErrorKind::Unsupported).because(because), group, row }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{QueueId, QueueOp, Task};
    use crate::outbox::Source;
    use crate::plan::{Act, Content, CopyPlace, Follow, Range};

    fn write<'p>(key: &'p str, condition: Condition, act: Act<Content<'p>>) -> RowWrite<'p> {
        RowWrite { key, condition, act, kind: None, of: 0 }
    }

    fn group<'p>(partition: &'p str, rows: Vec<RowWrite<'p>>) -> Group<'p> {
        Group::new(partition, rows)
    }

    fn plan(groups: Vec<Group<'_>>) -> Plan<'_> {
        Plan { groups: groups.into_iter().collect(), ..Plan::default() }
    }

    #[test]
    fn what_the_service_cannot_do_is_refused_by_the_name_of_the_ability() {
        let removal = |key| write(key, Condition::Any, Act::Remove);
        let kept = |condition| write("kept", condition, Act::Keep);
        let range = Range { prefix: "a", digest: 1 };
        let many: Vec<_> = (0..101).map(|at| format!("{at}")).collect();
        let rows = |count: usize| many.iter().take(count).map(|key| removal(key)).collect();
        let queue_op =
            QueueOp { queue: QueueId { store: 1, number: 1 }, name: None, task: Task::Pause(true) };
        let source = Source { table: 1, partition: "p".into(), row: "r".into() };
        let outbox_op = OutboxOp::Propagate(source, 7);
        let refused = [
            ("`groups`", 1, None, plan(vec![group("p", rows(1)), group("q", rows(1))])),
            ("`rows`", 0, None, plan(vec![group("p", rows(101))])),
            ("`expect`", 0, Some(1), plan(vec![group("p", vec![removal("a"), kept(Condition::Absent)])])),
            ("`range`", 0, None, plan(vec![Group { unchanged: vec![range], ..group("p", rows(1)) }])),
            ("`queues`", 0, None, Plan { queue_ops: vec![queue_op], ..plan(vec![group("p", rows(1))]) }),
            ("`eventual`", 0, None, Plan { outbox_ops: vec![outbox_op], ..plan(vec![group("p", rows(1))]) }),
            ("`times`", 0, None, Plan { keeps_times: true, ..plan(vec![group("p", rows(1))]) }),
        ];
        for (ability, group, row, plan) in refused {
            Abilities::ALL.check(&plan).unwrap();
            let refused = Abilities::SERVICE.check(&plan).unwrap_err();
            assert_eq!(refused.error.kind(), ErrorKind::Unsupported, "{ability}");
            assert_eq!((refused.group, refused.row), (group, row), "{ability}");
            assert!(refused.error.to_string().contains(ability), "{ability}: {}", refused.error);
        }
        // Of a store that gives what it demands a new version, each such row counts.
        let touching = Abilities { expects_present: true, ..Abilities::SERVICE };
        let demanding = |count: usize, condition| {
            plan(vec![group("p", rows(count).into_iter().chain([kept(condition)]).collect())])
        };
        touching.check(&demanding(99, Condition::Present)).unwrap();
        for (count, condition, ability) in [
            (100, Condition::Present, "`rows`"),
            (1, Condition::Absent, "`expect`"),
            (1, Condition::StillAbsent, "`expect`"),
        ] {
            let error = touching.check(&demanding(count, condition)).unwrap_err().error;
            assert!(error.to_string().contains(ability), "{error}");
        }
        // A copy that is right as it is demands nothing.
        let most = plan(vec![group("p", rows(100).into_iter().chain([kept(Condition::Any)]).collect())]);
        Abilities::SERVICE.check(&most).unwrap();
    }

    #[test]
    fn a_store_without_groups_counts_what_notes_copies_and_refuses_those_that_it_can_t_put_by_themselves() {
        let abilities = Abilities { eventual: true, ..Abilities::SERVICE };
        let keys: Vec<_> = (0..99).map(|at| format!("{at}")).collect();
        let rows = |count: usize| {
            keys.iter().take(count).map(|key| write(key, Condition::Any, Act::Remove)).collect()
        };
        let copy = |is_list| CopyPlace {
            index: "by_name",
            table: "Names".into(),
            partition: "p".into(),
            row: "r".into(),
            is_list,
        };
        let follow = |is_list| {
            OutboxOp::Follow(Follow {
                table: 0,
                partition: "p".into(),
                row: "r".into(),
                kind: "employee",
                before: vec![copy(is_list)],
                wanted: Vec::new(),
                without: Vec::new(),
            })
        };
        let with =
            |count, outbox_op| Plan { outbox_ops: vec![outbox_op], ..plan(vec![group("p", rows(count))]) };
        abilities.check(&with(98, follow(false))).unwrap();
        let most = abilities.check(&with(99, follow(false))).unwrap_err().error.to_string();
        assert!(most.contains("101 rows") && most.contains("`rows`"), "{most}");
        let list = abilities.check(&with(1, follow(true))).unwrap_err().error.to_string();
        assert!(list.contains("list `by_name`") && list.contains("`groups`"), "{list}");
        let source = Source { table: 1, partition: "p".into(), row: "r".into() };
        let propagates = Plan {
            outbox_ops: vec![OutboxOp::Propagate(source, 7)],
            ..plan(vec![group("p", rows(1)), group("q", rows(1))])
        };
        abilities.check(&propagates).unwrap();
    }
}
