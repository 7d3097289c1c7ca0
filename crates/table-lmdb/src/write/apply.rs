//! Carrying out prepared plans inside one write transaction.
//!
//! A plan that is refused leaves the transaction as it was: conditions are looked at before the first put, and
//! rows that are to be new are put first, with "no overwrite", and taken back if one of them is there. An error of
//! LMDB is another matter: it spoils the transaction, and the whole group is run again without its culprit.

use super::encoded::{EncodedGroup, EncodedPlan, EncodedStep};
use super::gathered::Gathered;
use super::transaction::{TableDelta, Transaction, touched};

use lmdb_verify::Tree;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Ticks;
use table_engine::plan::Refused;
use table_engine::row::encode::Place;
use table_engine::row::row_write::RowWriter;
use table_engine::row::{self, Row};

use crate::blobs::{BlobTxnState, Sealed};
use crate::lmdb::{self, Databases, Db, WriteTxn};
use crate::open::Environment;
use crate::records::features::Feature;
use crate::records::index_states::{self, RecordName};

/// The number of rows that can be put before LMDB might write a changed page early: it does when it has changed
/// 131,000, and a row changes at most two for each level of its tree, and those of its own.
pub(super) const FEW_PUTS: usize = 2_048;

/// What a transaction works with. It is kept for the next one, which needs no memory of its own then.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// How many rows the transaction has put or deleted.
    pub(super) puts: usize,
    /// Room for the tables that are written to.
    pub(super) tables: Vec<TableDelta>,
    /// Rows that could only be put into bytes in the transaction.
    pub(super) rows: Vec<u8>,
    pub(super) applied: Vec<AppliedRow>,
    /// What the lists of a plan that is being examined are to say, where that is too much for their rows.
    pub(super) lists: Vec<Sealed>,
    /// The additions of the plan to lists that no earlier plan has changed: their places in it, and the bytes of the
    /// ids with them.
    pub(super) listed: Vec<(usize, usize)>,
    /// The additions of the plan that can wait until the lists are written, by their places in it.
    pub(super) waiting: Vec<usize>,
    pub(super) writer: RowWriter,
    pub(super) order: Vec<Place>,
}

/// More bytes of rows are not kept from one transaction to the next.
const MOST_KEPT: usize = 1 << 20;

impl Scratch {
    /// Forgets what the transaction knew. `None` if the memory is too large to be kept.
    pub(super) fn end(mut self: Box<Self>) -> Option<Box<Self>> {
        self.puts = 0;
        self.rows.clear();
        self.applied.clear();
        self.tables.clear();
        (self.rows.capacity() <= MOST_KEPT).then_some(self)
    }
}

/// The applied form of a row's change: what is to happen to the row, once every condition of the plan holds.
#[derive(Debug)]
pub(super) struct AppliedRow {
    /// The row that is there, if it gives way.
    pub(super) old: Option<OldRow>,
    pub(super) new: New,
}

impl AppliedRow {
    /// What is left to be done of a row that has been inserted, or stays as it is.
    pub(super) const DONE: Self = Self { old: None, new: New::Nothing };

    /// Returns what takes the place of the row that is there; `None` if that stays, or if there is none and none comes.
    pub(super) fn coming(&self) -> Option<&New> {
        if self.old.is_none() && matches!(self.new, New::Nothing) { None } else { Some(&self.new) }
    }

    pub(super) fn of(old: Option<OldRow>, new: New) -> Self {
        if matches!(new, New::Keyspace) { Self::DONE } else { Self { old, new } }
    }
}

/// What is still needed of a row that gives way.
#[derive(Debug)]
pub(super) struct OldRow {
    /// The length of its key and its bytes together.
    pub(super) length: usize,
    pub(super) checksum: u64,
    pub(super) timestamp: Ticks,
}

impl OldRow {
    /// Returns a row whose length with its key is `length`.
    pub(super) fn of(row: &Row<'_>, length: usize) -> Self {
        Self { length, checksum: row.checksum(), timestamp: row.timestamp() }
    }
}

#[derive(Debug)]
pub(super) enum New {
    Nothing,
    /// The row that is there stays.
    Keyspace,
    FromPlan,
    Scratch(std::ops::Range<usize>),
}

impl<'e> Transaction<'e> {
    /// Carries out a plan. The outer error spoils the transaction; the inner one refuses the plan alone.
    pub(crate) fn apply(&mut self, plan: &mut EncodedPlan) -> Result<Result<Ticks, Refused>> {
        if let Err(refused) = plan.sealed_at.check() {
            return Ok(Err(plan.locate_group(refused, 0)));
        }
        if let Some(step) = plan.step.as_deref().filter(|_| plan.is_step_alone()) {
            return Ok(self.carry_step(step)?.map_err(|error| plan.locate_group(error, 0)));
        }
        self.write_lists_for(plan)?;
        let timestamp = match self.begin_plan(plan) {
            Ok(timestamp) => timestamp,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Some(step) = &plan.step
            && let Err(refused) = self.check_step(step)
        {
            return Ok(Err(plan.locate_group(refused, 0)));
        }
        let writes = match self.overlay_queues(plan, timestamp) {
            Ok(writes) => writes,
            Err(error) => return Ok(Err(plan.locate_group(error, 0))),
        };
        let done = self.carry(plan, timestamp)?;
        if done.is_ok() {
            self.carry_out(writes, plan)?;
            self.gather(plan, timestamp);
            if let Some(step) = &plan.step {
                self.write_step(step)?;
            }
        }
        Ok(done.map(|()| {
            self.state = None;
            self.meta.high_water = timestamp;
            timestamp
        }))
    }

    /// Carries out what a plan does to rows and blobs.
    pub(super) fn carry(&mut self, plan: &mut EncodedPlan, timestamp: Ticks) -> Result<Result<(), Refused>> {
        let Scratch { lists, listed, waiting, .. } = &mut *self.scratch;
        lists.clear();
        listed.clear();
        waiting.clear();
        let is_blind = plan.is_blind();
        let mut examined = if is_blind { Ok(()) } else { self.writing().examine(plan) };
        let mut blobs = None;
        let has_blobs = || plan.blobs.is_some() || !self.scratch.lists.is_empty();
        if examined.is_ok() && (has_blobs() || plan.refers || self.meta.features.has(Feature::BlobRows)) {
            match self.overlay_blobs(plan, timestamp) {
                Ok(writes) => blobs = writes,
                Err(refused) => examined = Err(refused),
            }
        }
        let done = match examined {
            Err(refused) if is_blind => Err(refused),
            Ok(()) if is_blind => self.writing().insert(plan, timestamp)?,
            examined => self.writing().change(plan, timestamp, examined)?,
        };
        if done.is_ok() {
            self.carry_out_blobs(blobs, plan)?;
        }
        Ok(done)
    }

    /// Returns the parts of the transaction that one plan works with.
    pub(super) fn writing(&mut self) -> Writing<'_, 'e> {
        Writing {
            environment: self.environment,
            dbs: self.dbs,
            txn: &mut self.txn,
            state: self.state,
            tables: &mut self.tables,
            scratch: &mut self.scratch,
            records: self.records,
            tree: &mut self.tree,
            blobs: Blobs {
                db: self.blobs,
                txn_state: self.blob_txn_state.as_deref(),
                begun: self.begun,
                identity: &self.meta.identity,
            },
            gathered: &self.gathered,
        }
    }

    /// Writes how far a job is, if it is where the step begins. The outer error spoils the transaction.
    fn carry_step(&mut self, step: &EncodedStep) -> Result<Result<Ticks>> {
        let timestamp = match self.next_timestamp() {
            Ok(timestamp) => timestamp,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Err(refused) = self.check_step(step) {
            return Ok(Err(refused));
        }
        self.write_step(step)?;
        self.state = None;
        Ok(Ok(timestamp))
    }

    /// Checks that a job is where its step begins.
    fn check_step(&mut self, step: &EncodedStep) -> Result<()> {
        let EncodedStep { table, step } = step;
        self.touch(table)?;
        if step.epoch.is_some_and(|epoch| !table.is_epoch(&epoch)) {
            return Err(another_epoch());
        }
        match index_states::job(self.dbs, &self.txn, table.id, &step.name) {
            Ok(found) if found.as_ref() == Some(&step.from) => Ok(()),
            Ok(_) => Err(overtaken(&step.name)),
            Err(damaged) => Err(damaged),
        }
    }

    /// Writes how far the job is after the step.
    fn write_step(&mut self, step: &EncodedStep) -> Result<()> {
        let EncodedStep { table, step } = step;
        let job = RecordName { table: table.id, name: &step.name };
        index_states::write_job(self.dbs, &mut self.txn, &mut self.meta, job, step.to.as_ref())
    }

    /// Looks at the tables of a plan. Returns the time that the plan gets.
    fn begin_plan(&mut self, plan: &EncodedPlan) -> Result<Ticks, Refused> {
        let timestamp = self.next_timestamp().map_err(|refused| plan.locate_all(refused))?;
        for (number, group) in plan.groups.iter().enumerate() {
            let touched = self.begin_group(group).map_err(|refused| plan.locate_first(refused, number))?;
            let Some(touched) = touched else { continue };
            let checked = touched.state.check_declarations(group.declarations.iter().copied());
            checked.map_err(|refused| plan.locate_first(refused, number))?;
            if !group.epochs.iter().all(|epoch| touched.state.is_epoch(epoch)) {
                return Err(plan.locate_group(another_epoch(), number));
            }
            touched.state.check_kinds(plan, number)?;
        }
        Ok(timestamp)
    }

    /// Looks at the table of a group of a plan that begins.
    pub(super) fn begin_group(&mut self, group: &EncodedGroup) -> Result<Option<&mut TableDelta>> {
        let at = self.touch(&group.table)?;
        let mut touched = self.tables.get_mut(at);
        if let Some(touched) = &mut touched {
            touched.before_plan = touched.counts;
            touched.known = touched.grown.as_ref().map(|grown| grown.0.len());
        }
        Ok(touched)
    }
}

/// The parts of a transaction that one plan works with.
pub(super) struct Writing<'g, 'e> {
    pub(super) environment: &'e Environment,
    pub(super) dbs: &'e Databases,
    pub(super) txn: &'g mut WriteTxn<'e>,
    /// The number of the state that the transaction began with, as [`Transaction`] has it.
    pub(super) state: Option<usize>,
    pub(super) tables: &'g mut [TableDelta],
    pub(super) scratch: &'g mut Scratch,
    pub(super) records: Tree,
    pub(super) tree: &'g mut Option<Tree>,
    pub(super) blobs: Blobs<'g>,
    /// Lists that plans before have changed.
    pub(super) gathered: &'g Gathered,
}

/// What is known of blobs in a transaction.
#[derive(Clone, Copy)]
pub(super) struct Blobs<'g> {
    pub(super) db: Option<Db>,
    pub(super) txn_state: Option<&'g BlobTxnState>,
    /// The latest time before the transaction: what is later is its own.
    pub(super) begun: Ticks,
    /// The store's identity.
    pub(super) identity: &'g [u8; 16],
}

impl Writing<'_, '_> {
    /// Carries out a plan whose conditions were looked at. The outer error spoils the transaction.
    pub(super) fn change(
        &mut self,
        plan: &mut EncodedPlan,
        timestamp: Ticks,
        examined: Result<(), Refused>,
    ) -> Result<Result<(), Refused>> {
        let done = match examined {
            Ok(()) => self.insert(plan, timestamp)?,
            refused => refused,
        };
        if let Err(refused) = done {
            // Names that only a refused plan brought are not kept in the dictionary.
            for group in plan.groups.iter() {
                let Some(touched) = touched(self.tables, group) else { continue };
                match (&mut touched.grown, touched.known) {
                    (Some(grown), Some(known)) => grown.0.truncate(known),
                    (grown, None) => *grown = None,
                    (None, Some(_)) => {}
                }
            }
            return Ok(Err(refused));
        }
        self.put(plan, timestamp).map(Ok)
    }

    /// Returns the table of a group of the plan.
    pub(super) fn touched_by(&self, plan: &EncodedPlan, group: usize) -> Option<&TableDelta> {
        let group = plan.groups.get(group)?;
        self.tables.iter().find(|touched| touched.state.id == group.table.id)
    }

    /// Puts and deletes what was found right.
    fn put(&mut self, plan: &mut EncodedPlan, timestamp: Ticks) -> Result<()> {
        let Scratch { rows, applied, puts, .. } = &mut *self.scratch;
        *puts += applied.len();
        for (index, applied) in applied.iter().enumerate() {
            let Some((group, seed, _)) = plan.target(index) else { continue };
            let group = plan.groups.get(group);
            let Some(touched) = group.and_then(|group| touched(self.tables, group)) else { continue };
            let counts = &mut touched.counts;
            if let Some(old) = &applied.old {
                counts.subtract(old.length, old.checksum);
            }
            let timestamp = match &applied.old {
                Some(old) if plan.keeps_times => old.timestamp,
                // A row that is added to belongs to many entities, so its version is none of the plan's.
                _ => plan.as_of.filter(|_| index < plan.rows.len()).unwrap_or(timestamp),
            };
            let (key, image, seed) = match &applied.new {
                New::Keyspace => continue,
                New::Nothing if applied.old.is_none() => continue,
                New::Nothing => {
                    let (.., key) = plan.target(index).unwrap_or_default();
                    self.dbs.data.delete(self.txn, key).map_err(lmdb::error)?;
                    continue;
                }
                New::Scratch(range) => {
                    let (.., key) = plan.target(index).unwrap_or_default();
                    (key, rows.get_mut(range.clone()).unwrap_or_default(), seed)
                }
                New::FromPlan => plan.key_and_image(index),
            };
            let checksum = row::stamp(image, timestamp, seed);
            counts.add(key.len() + image.len(), checksum);
            self.dbs.data.put(self.txn, key, image).map_err(lmdb::error)?;
        }
        Ok(())
    }
}

/// Returns the refusal of a plan that keeps other indexes than are to be kept now.
#[cold]
fn another_epoch() -> Error {
    Error::new(ErrorKind::ConditionNotMet)
        .because("an index of the kind has come, gone or become ready meanwhile; plan the change again")
}

/// Returns the refusal of a step that another process has carried out, or of a job that has ended meanwhile.
#[cold]
fn overtaken(name: &str) -> Error {
    Error::new(ErrorKind::ConditionNotMet).because(format!(
        "somebody else goes on with the job `{name}`, or it has ended; look again at how far it is"
    ))
}
