//! A plan that is encoded: what it does to each row, apart from the caller's memory, so that it can be sent as often as it takes.

use std::sync::Arc;

use table_engine::__executor::{
    self as executor, Act, Amounts, Epoch, Group, PackedRow, Plan, Refused, SealedAt, TableExec,
};
use table_engine::model::EntityKeys;
use table_engine::row::version::{Proof, version_of};
use table_engine::schema::Schema;
use table_engine::{Error, Result, Value};

#[cfg(feature = "blob")]
use crate::blobs::Reference;
use crate::body::Body;
use crate::clock::time_of;
use crate::demand::Demand;
use crate::error::missing;
use crate::keys::escape;
use crate::outbox::PlanEntries;
#[cfg(feature = "queue")]
use crate::queues::PlanMessages;
#[cfg(feature = "blob")]
use crate::row_content::references;
use crate::row_content::{body, kind_of, owned};
use crate::store::PostgresStore;
use crate::table::{TableEntry, own};

/// What a plan does.
pub(crate) struct Work {
    /// The tables that it is of.
    pub(crate) tables: Vec<Arc<TableEntry>>,
    pub(crate) rows: Vec<WorkRow>,
    pub(crate) ranges: Vec<WorkRange>,
    /// What must be so of kinds, of the groups that rely on something.
    pub(crate) kinds: Vec<WorkKinds>,
    /// Each partition once: its table's number, and its stored key.
    pub(crate) partitions: Vec<(u32, String)>,
    /// Whether rows of declared kinds may be written by their properties.
    pub(crate) is_raw: bool,
    /// Whether rows that are there keep their times.
    pub(crate) keeps_times: bool,
    /// The generation of the keys at which its values were sealed, if any were.
    pub(crate) sealed_at: Option<u64>,
    /// The time of the rows that it puts, if that is not its own: copies that follow are of the entity's.
    pub(crate) as_of: Option<i64>,
    /// The blobs that its rows are to refer to, with the places of the rows.
    #[cfg(feature = "blob")]
    pub(crate) references: Vec<(usize, Reference)>,
    /// What it does to the outbox.
    pub(crate) entries: Option<PlanEntries>,
    /// What it does with messages of queues.
    #[cfg(feature = "queue")]
    pub(crate) messages: Option<PlanMessages>,
}

/// What is done to a row.
#[derive(Clone)]
pub(crate) struct WorkRow {
    /// Its place in the plan.
    pub(crate) group: usize,
    pub(crate) at: usize,
    /// The table's place among the plan's.
    pub(crate) table: usize,
    pub(crate) partition_key: String,
    pub(crate) row_key: String,
    /// The stored keys.
    pub(crate) partition: String,
    pub(crate) row: String,
    pub(crate) demand: Demand,
    pub(crate) act: WorkAct,
    /// What is attempted with it, in words.
    pub(crate) attempted: &'static str,
    /// Whether a declaration has made the row.
    pub(crate) is_declared: bool,
    /// What the row calls itself, if it says and no declaration has made it.
    pub(crate) kind: Option<String>,
    /// Whether it is to refer to blobs.
    #[cfg(feature = "blob")]
    pub(crate) refers: bool,
}

/// What becomes of a row.
#[derive(Clone)]
pub(crate) enum WorkAct {
    Keep,
    Remove,
    Put(Body),
    /// What is there takes over these properties.
    Merge(Vec<(String, Value)>),
    /// These amounts are added to what is there.
    Add(Amounts),
}

#[cfg(feature = "blob")]
impl WorkAct {
    /// Returns the content that a row gets whatever was there, if it does.
    fn body(&self) -> Option<&Body> {
        if let Self::Put(body) = self { Some(body) } else { None }
    }
}

/// The rows of a partition whose keys begin with a prefix, which must be those that were read.
pub(crate) struct WorkRange {
    pub(crate) group: usize,
    pub(crate) table: usize,
    pub(crate) partition_key: String,
    pub(crate) prefix: String,
    pub(crate) digest: i64,
}

/// What a group relies on of the kinds that its rows are of.
#[derive(Clone)]
pub(crate) struct WorkKinds {
    pub(crate) group: usize,
    pub(crate) table: usize,
    /// The epochs in which the rows were planned.
    pub(crate) epochs: Vec<Epoch>,
    /// The declarations that have made the rows, each once.
    pub(crate) declarations: Vec<&'static Schema>,
}

impl WorkKinds {
    /// Returns what a group of this number relies on; `None` if on nothing.
    fn of(number: usize, group: &Group<'_>) -> Option<Self> {
        let mut declarations: Vec<&'static Schema> = Vec::new();
        for schema in group.schemas() {
            if !declarations.iter().any(|known| std::ptr::eq(*known, schema)) {
                declarations.push(schema);
            }
        }
        let epochs: Vec<Epoch> = group.epochs.iter().copied().collect();
        let relies = !epochs.is_empty() || !declarations.is_empty();
        relies.then_some(Self { group: number, table: group.table, epochs, declarations })
    }
}

/// Returns what this process knows of tables, which are all of this store.
fn entries_of(store: &PostgresStore, tables: &[&dyn TableExec]) -> Result<Vec<Arc<TableEntry>>> {
    let entry = |table: &&dyn TableExec| {
        let table = own(*table)?;
        if std::ptr::eq(&raw const *table.store, store) { Ok(table.entry.clone()) } else { Err(missing()) }
    };
    tables.iter().map(entry).collect()
}

impl Work {
    /// Encodes a plan of these tables.
    pub(crate) fn of(
        store: &PostgresStore,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Self, Refused> {
        executor::check_rules(plan)?;
        let tables = entries_of(store, tables).map_err(Refused::whole)?;
        let entries = PlanEntries::of(&plan.outbox_ops, &tables).map_err(Refused::whole)?;
        let mut work = Self {
            tables,
            rows: Vec::new(),
            ranges: Vec::new(),
            kinds: Vec::new(),
            partitions: Vec::new(),
            is_raw: plan.is_raw,
            keeps_times: plan.keeps_times,
            sealed_at: sealed_at.generation(),
            as_of: plan.as_of.map(time_of),
            #[cfg(feature = "blob")]
            references: Vec::new(),
            entries,
            #[cfg(feature = "queue")]
            messages: PlanMessages::of(store.own_queues(), &plan.queue_ops).map_err(Refused::whole)?,
        };
        for (number, group) in plan.groups.iter().enumerate() {
            let Some(id) = work.tables.get(group.table).map(|entry| entry.id) else {
                return Err(Refused { error: missing(), group: number, row: None });
            };
            let partition = escape(group.partition).into_owned();
            let of_row = |at: usize, key: &str| WorkRow {
                group: number,
                at,
                table: group.table,
                partition_key: group.partition.to_owned(),
                row_key: key.to_owned(),
                partition: partition.clone(),
                row: escape(key).into_owned(),
                demand: Demand::Nothing,
                act: WorkAct::Keep,
                attempted: "write to",
                is_declared: true,
                kind: None,
                #[cfg(feature = "blob")]
                refers: false,
            };
            // Taken at once: they are large, and to move them costs more than to fill them.
            work.rows.reserve_exact(group.rows.len() + group.additions.len());
            for (at, row) in group.rows.iter().enumerate() {
                let act = match &row.act {
                    Act::Keep => WorkAct::Keep,
                    Act::Remove => WorkAct::Remove,
                    Act::Put(content) => {
                        let entry = work.tables.get(group.table);
                        let made = body(
                            entry.map(|entry| &**entry),
                            EntityKeys::new(group.partition, row.key),
                            content,
                        );
                        WorkAct::Put(made.map_err(|error| Refused { error, group: number, row: Some(at) })?)
                    }
                    Act::Merge(content) => WorkAct::Merge(owned(content)),
                };
                #[cfg(feature = "blob")]
                let of = work.rows.len();
                #[cfg(feature = "blob")]
                let found = references(act.body(), row.act.content());
                #[cfg(feature = "blob")]
                let refers = !found.is_empty();
                #[cfg(feature = "blob")]
                work.references.extend(found.into_iter().map(|one| (of, one)));
                // What a declaration has made is examined by that.
                let content = row.act.content().filter(|_| row.kind.is_none());
                let kind = content.and_then(kind_of);
                let (demand, is_declared) = (row.condition.into(), row.kind.is_some());
                let attempted = row.act.describe(row.condition);
                work.rows.push(WorkRow {
                    demand,
                    act,
                    attempted,
                    is_declared,
                    kind,
                    #[cfg(feature = "blob")]
                    refers,
                    ..of_row(at, row.key)
                });
            }
            for (at, addition) in (group.rows.len()..).zip(&group.additions) {
                let act = WorkAct::Add(addition.amounts.clone());
                work.rows.push(WorkRow { act, ..of_row(at, addition.key) });
            }
            for range in &group.unchanged {
                work.ranges.push(WorkRange {
                    group: number,
                    table: group.table,
                    partition_key: group.partition.to_owned(),
                    prefix: range.prefix.to_owned(),
                    digest: range.digest.cast_signed(),
                });
            }
            work.kinds.extend(WorkKinds::of(number, group));
            // A group that only states an epoch is of no partition.
            if !group.rows.is_empty() || !group.additions.is_empty() || !group.unchanged.is_empty() {
                work.partitions.push((id, partition));
            }
        }
        // In one order for all plans, so that two seldom wait for each other.
        work.partitions.sort_unstable();
        work.partitions.dedup();
        Ok(work)
    }

    /// Returns whether it demands something that other plans may undo by rows that it does not write: that rows are still
    /// absent, or that a range is as it was.
    pub(crate) fn demands_absence(&self) -> bool {
        let demands = |row: &WorkRow| matches!((&row.act, row.demand), (WorkAct::Keep, Demand::Absent));
        !self.ranges.is_empty() || self.rows.iter().any(demands)
    }

    /// Returns whether it changes rows and demands nothing but of them.
    pub(crate) fn is_of_rows_alone(&self) -> bool {
        #[cfg(feature = "queue")]
        if self.messages.is_some() {
            return false;
        }
        #[cfg(feature = "blob")]
        if !self.references.is_empty() {
            return false;
        }
        self.entries.is_none() && !self.demands_absence()
    }

    /// Returns the places of the tables in whose kinds' states it was planned.
    pub(crate) fn held(&self) -> Vec<usize> {
        let with_epochs = self.kinds.iter().filter(|kinds| !kinds.epochs.is_empty());
        let mut held: Vec<usize> = with_epochs.map(|kinds| kinds.table).collect();
        held.sort_unstable();
        held.dedup();
        held
    }

    /// Returns whether it writes rows by their properties, of which the layouts say whether they may be.
    pub(crate) fn asks_layouts(&self) -> bool {
        self.rows.iter().any(|row| !row.is_declared)
    }

    /// Says of a table that was not found what it is called now, if it has another name.
    #[cold]
    pub(crate) fn say_new_name(&self, store: &PostgresStore, refused: Refused) -> Refused {
        let error = self.tables.iter().fold(refused.error, |error, entry| store.say_new_name(entry, error));
        Refused { error, ..refused }
    }

    /// Says of a refusal where it is, for who has no plan to look at.
    #[cold]
    pub(crate) fn located(&self, refused: Refused) -> Refused {
        let Refused { error, group, row } = refused;
        let of_group = |found: &&WorkRow| found.group == group;
        let found = match row {
            Some(at) => self.rows.iter().find(|found| of_group(found) && found.at == at),
            None => self.rows.iter().find(of_group),
        };
        let Some(found) = found else { return Refused { error, group, row } };
        let table = self.tables.get(found.table).map_or("", |entry| &*entry.name);
        let error = error.table(table).partition(&found.partition_key);
        let error = match row {
            Some(_) => error.attempted(found.attempted).row(&found.row_key),
            None => error.attempted("commit a batch to"),
        };
        Refused { error, group, row }
    }
}

impl WorkRow {
    /// Returns about how many bytes the row takes that is written, and its keys.
    pub(crate) fn bytes(&self) -> usize {
        let body = match &self.act {
            WorkAct::Put(body) => body.json.0.len(),
            WorkAct::Keep | WorkAct::Remove | WorkAct::Merge(_) | WorkAct::Add(_) => 0,
        };
        self.partition.len() + self.row.len() + body
    }

    pub(crate) fn refused(&self, error: Error) -> Refused {
        // A row that many entities share has other keys than the one whose change it is of.
        let error = match self.act {
            WorkAct::Add(_) => error.partition(&self.partition_key).row(&self.row_key),
            _ => error,
        };
        Refused { error, group: self.group, row: Some(self.at) }
    }
}

/// Returns the checksum of a row, as it stands in the proof of its version.
pub(crate) fn checksum(row: &PackedRow) -> Result<u64> {
    // The state is another part of the proof.
    Ok(Proof::of(&version_of(&row.view()?, 0)).checksum)
}
