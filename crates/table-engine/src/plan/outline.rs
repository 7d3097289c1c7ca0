//! What is left of a plan while its answer is waited for: enough to say whom a refusal concerns.

#[cfg(feature = "async")]
use super::Committed;
use super::by_properties::with_properties;
#[cfg(feature = "async")]
use super::explain_refusal::Failure;
#[cfg(feature = "async")]
use super::row_write::Refused;
use super::row_write::{Act, Condition, Group, Plan, Range, RowWrite};
use super::{Addition, Amounts, Epoch, OneOrMore, RowKind};
#[cfg(feature = "async")]
use crate::error::ErrorKind;

/// A plan without its contents, which refers to nothing of the changes.
#[derive(Debug)]
pub(crate) struct PlanOutline {
    /// All keys, one behind another.
    text: String,
    groups: Vec<GroupOutline>,
    rows: Vec<RowOutline>,
}

#[derive(Debug)]
struct GroupOutline {
    table: usize,
    /// The partition key's end in the text.
    partition: usize,
    /// How many rows it has.
    rows: usize,
    additions: Vec<AdditionOutline>,
    relies_on_ranges: bool,
    epochs: OneOrMore<Epoch>,
}

#[derive(Debug)]
struct RowOutline {
    /// The row key's end in the text.
    key: usize,
    condition: Condition,
    act: Act<()>,
    kind: Option<RowKind>,
    of: usize,
}

#[derive(Debug)]
struct AdditionOutline {
    key: Box<str>,
    amounts: Amounts,
    of: usize,
}

impl PlanOutline {
    /// Notes the outline of a plan.
    pub(crate) fn of(plan: &Plan<'_>) -> Self {
        let rows = plan.groups.iter().map(|group| group.rows.len()).sum();
        let bytes = plan
            .groups
            .iter()
            .map(|group| group.partition.len() + group.rows.iter().map(|row| row.key.len()).sum::<usize>());
        let mut outline = Self {
            text: String::with_capacity(bytes.sum()),
            groups: Vec::with_capacity(plan.groups.len()),
            rows: Vec::with_capacity(rows),
        };
        plan.groups.iter().for_each(|group| outline.add(group));
        outline
    }

    fn add(&mut self, group: &Group<'_>) {
        self.text.push_str(group.partition);
        let partition = self.text.len();
        for row in &group.rows {
            self.text.push_str(row.key);
            self.rows.push(RowOutline {
                key: self.text.len(),
                condition: row.condition,
                act: row.act.bare(),
                kind: row.kind,
                of: row.of,
            });
        }
        let additions = group.additions.iter().map(|addition| AdditionOutline {
            key: addition.key.into(),
            amounts: addition.amounts.clone(),
            of: addition.of,
        });
        self.groups.push(GroupOutline {
            table: group.table,
            partition,
            rows: group.rows.len(),
            additions: additions.collect(),
            relies_on_ranges: !group.unchanged.is_empty(),
            epochs: group.epochs.clone(),
        });
    }

    /// Returns a refusal in the words of the entities, as [`Plan::explain_refusal`] does.
    #[cfg(feature = "async")]
    #[cold]
    pub(crate) fn explain_refusal(&self, refused: Refused) -> Failure {
        if refused.error.kind() == ErrorKind::BatchTooLarge {
            // What is too large is known no more; the store has said it.
            return Failure { error: refused.error.attempted("write to"), of: None, was_stale: false };
        }
        self.with_plan(|plan| plan.explain_refusal(refused))
    }

    /// Returns the answer with a version for each operation.
    #[cfg(feature = "async")]
    #[inline]
    pub(crate) fn by_operations(&self, committed: Committed) -> Committed {
        if committed.is_of_rows() { self.with_plan(|plan| committed.by_operations(plan)) } else { committed }
    }

    /// Returns what `run` makes of the plan, in which rows have no contents.
    #[cold]
    pub(crate) fn with_plan<T>(&self, run: impl FnOnce(&Plan<'_>) -> T) -> T {
        let (mut rows, mut start) = (self.rows.iter(), 0);
        let mut text = |end: usize| {
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            text
        };
        let mut groups = OneOrMore::default();
        for outline in &self.groups {
            let mut group = Group::new(text(outline.partition), Vec::with_capacity(outline.rows));
            group.table = outline.table;
            for row in rows.by_ref().take(outline.rows) {
                let act = with_properties(row.act, &[]);
                let (condition, kind, of) = (row.condition, row.kind, row.of);
                group.rows.push(RowWrite { key: text(row.key), condition, act, kind, of });
            }
            group.additions.extend(outline.additions.iter().map(|addition| Addition {
                key: &addition.key,
                amounts: addition.amounts.clone(),
                of: addition.of,
            }));
            group.unchanged.extend(outline.relies_on_ranges.then_some(Range { prefix: "", digest: 0 }));
            group.epochs = outline.epochs.clone();
            groups.push(group);
        }
        run(&Plan { groups, ..Plan::default() })
    }
}
