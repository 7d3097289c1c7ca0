//! Carrying out prepared plans inside one write transaction.
//!
//! A plan that is refused leaves the transaction as it was: conditions are looked at before the first put, and
//! rows that are to be new are put first, with "no overwrite", and taken back if one of them is there. An error of
//! LMDB is another matter: it spoils the transaction, and the whole group is run again without its culprit.

use std::sync::Arc;

use heed::{MdbError, PutFlags};

use super::encode::{self, Place};
use super::prepare::{self, Action, Image, Prepared, Step};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::names::ENTITY_TYPE;
use crate::model::{IfMatch, Name, Ticks, Value};
use crate::plan::ReadVersion;
use crate::row::dict::Dict;
use crate::row::row_write::{self, RowWriter};
use crate::row::view::{self, RowView};
use crate::row::{DIGEST, Row};
use crate::sealing::sign;
use crate::store::lmdb::{self, Databases, WriteTxn};
use crate::store::open::{self, Environment, Explored, Tree};
use crate::store::opened::Inner;
use crate::store::records::catalog::TableState;
use crate::store::records::counts::Counts;
use crate::store::records::meta::Meta;
use crate::store::scan::read;

/// So many rows can be put before LMDB might write a changed page early: it does when it has changed 131,000, and a row
/// changes at most two for each level of its tree, and those of its own.
const FEW_PUTS: usize = 2_048;

/// A write transaction and what it will leave in the small records.
pub(crate) struct Group<'e> {
    environment: &'e Environment,
    pub(crate) dbs: &'e Databases,
    pub(crate) txn: WriteTxn<'e>,
    pub(crate) meta: Meta,
    /// The clock when the group began: one look serves every plan in it.
    now: Ticks,
    /// The number of the state that the transaction began with, until something is written.
    state: Option<usize>,
    tables: Vec<Touched>,
    scratch: Scratch,
    /// The tree that the transaction began with, once it has been asked for.
    tree: Option<Tree>,
    explored: Explored,
    /// How many rows LMDB counted at the beginning.
    rows: u64,
}

/// A table that the group has written to.
struct Touched {
    state: Arc<TableState>,
    counts: Counts,
    /// How many rows the table had at the beginning.
    before: u64,
    /// The dictionary with the group's own additions, if it has any, and how much of it is on disk.
    grown: Option<(Dict, (usize, usize))>,
}

#[derive(Default)]
struct Scratch {
    /// How many rows the transaction has put or deleted.
    puts: usize,
    /// Rows that could only be put into bytes in the transaction.
    rows: Vec<u8>,
    changes: Vec<Change>,
    writer: RowWriter,
    order: Vec<Place>,
}

/// What is to happen to one row, once every condition of the plan holds.
struct Change {
    /// The row that is there.
    old: Option<OldRow>,
    new: New,
}

impl Change {
    /// What is left to be done of a row that has been inserted.
    const DONE: Self = Self { old: None, new: New::Nothing };
}

/// What is still needed of a row that gives way.
struct OldRow {
    /// Of its key and its bytes.
    length: usize,
    checksum: u64,
    timestamp: Ticks,
}

enum New {
    Nothing,
    FromPlan,
    Scratch(std::ops::Range<usize>),
}

impl<'e> Group<'e> {
    pub(crate) fn begin(inner: &'e Inner) -> Result<Self> {
        let txn = inner.environment.write_txn()?;
        let dbs = &inner.environment.dbs;
        let meta = Meta::begin(dbs.main, &txn)?;
        // A write transaction has the number of the state that it will make.
        let state = txn.id().checked_sub(1);
        let (tables, scratch) = (Vec::new(), Scratch::default());
        let environment = &inner.environment;
        let (tree, explored) = (None, Explored::default());
        let rows = dbs.data.len(&txn).map_err(lmdb::error)?;
        Ok(Self { environment, dbs, txn, meta, now: clock(), state, tables, scratch, tree, explored, rows })
    }

    /// The time that the next plan gets: the clock's, or one tick more than the last where the clock is behind.
    fn next_timestamp(&self) -> Result<Ticks> {
        let after = Ticks::new(self.meta.high_water.get() + 1).ok_or_else(|| {
            Error::new(ErrorKind::Incompatible)
                .because("the store's time has reached the end of the year 9999")
        })?;
        Ok(self.now.max(after))
    }

    /// The place of a table among those touched; it must not have been dropped.
    fn touch(&mut self, state: &Arc<TableState>) -> Result<usize> {
        if let Some(at) = self.tables.iter().position(|touched| touched.state.id == state.id) {
            return Ok(at);
        }
        state.check_generation(self.dbs, &self.txn, &self.meta)?;
        let counts = Counts::read(self.dbs.main, &self.txn, state.id).map_err(|e| e.table(&state.name))?;
        self.tables.push(Touched { state: state.clone(), counts, before: counts.entities, grown: None });
        Ok(self.tables.len() - 1)
    }

    /// Carries out a plan. The outer error spoils the transaction; the inner one refuses the plan alone.
    pub(crate) fn apply(&mut self, plan: &mut Prepared) -> Result<Result<Ticks>> {
        if let Err(refused) = plan.sealed_at.check() {
            return Ok(Err(refused.table(&plan.table.name)));
        }
        let (timestamp, at) =
            match self.next_timestamp().and_then(|time| Ok((time, self.touch(&plan.table)?))) {
                Ok(ready) => ready,
                Err(refused) => return Ok(Err(plan.locate(refused, 0))),
            };
        let Some(touched) = self.tables.get_mut(at) else { return Ok(Ok(timestamp)) };
        if let Err(refused) = touched.state.check_declarations(plan.declarations()) {
            return Ok(Err(plan.locate(refused, 0)));
        }
        if let Err(refused) = touched.state.check_kinds(plan) {
            return Ok(Err(refused));
        }
        let is_guarded = touched.state.guards_against(plan);
        let state = self.state;
        let mut writing = Writing {
            environment: self.environment,
            dbs: self.dbs,
            txn: &mut self.txn,
            state,
            is_guarded,
            touched,
            scratch: &mut self.scratch,
            tree: &mut self.tree,
            explored: &mut self.explored,
        };
        let done = if plan.is_blind() {
            writing.insert(plan, timestamp)?
        } else {
            writing.change(plan, timestamp)?
        };
        Ok(done.map(|()| {
            self.state = None;
            self.meta.high_water = timestamp;
            timestamp
        }))
    }

    /// Whether LMDB counts as many rows as have come and gone: one that did not find what it was to replace has put a
    /// second one beside it.
    fn check_rows(&self) -> Result<()> {
        let come =
            |sum: u64, table: &Touched| sum.wrapping_add(table.counts.entities).wrapping_sub(table.before);
        let expected = self.tables.iter().fold(self.rows, come);
        let counted = self.dbs.data.len(&self.txn).map_err(lmdb::error)?;
        if counted == expected { Ok(()) } else { Err(lmdb::damaged_page()) }
    }

    /// Writes the small records and commits.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.check_rows()?;
        self.meta.write(self.dbs.main, &mut self.txn)?;
        for touched in &mut self.tables {
            let id = touched.state.id;
            touched.counts.write(self.dbs.main, &mut self.txn, id)?;
            if let Some((dict, on_disk)) = &touched.grown {
                dict.write_new(*on_disk, self.dbs, &mut self.txn, id)?;
            }
        }
        self.environment.commit(self.txn)?;
        for touched in self.tables {
            if let Some((dict, _)) = touched.grown {
                touched.state.learn(Arc::new(dict));
            }
        }
        Ok(())
    }
}

/// The parts of a group that one plan works with.
struct Writing<'g, 'e> {
    environment: &'e Environment,
    dbs: &'e Databases,
    txn: &'g mut WriteTxn<'e>,
    /// As the group has it.
    state: Option<usize>,
    /// Whether rows of declared kinds that are there are to be left alone.
    is_guarded: bool,
    touched: &'g mut Touched,
    scratch: &'g mut Scratch,
    tree: &'g mut Option<Tree>,
    explored: &'g mut Explored,
}

impl Writing<'_, '_> {
    /// Carries out a plan whose conditions have to be looked at. The outer error spoils the transaction.
    fn change(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<Result<()>> {
        let known = self.touched.grown.as_ref().map(|(dict, _)| dict.len());
        let examined = self.examine(plan);
        let done = match examined {
            Ok(()) => self.insert(plan, timestamp)?,
            refused => refused,
        };
        if let Err(refused) = done {
            // Names that only a refused plan brought are forgotten.
            match (&mut self.touched.grown, known) {
                (Some((dict, _)), Some(known)) => dict.truncate(known),
                (grown, None) => *grown = None,
                (None, Some(_)) => {}
            }
            return Ok(Err(refused));
        }
        self.put(plan, timestamp).map(Ok)
    }

    /// Puts every row that can be put without a look, and must not be there yet; takes all back if one is.
    fn insert(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<Result<()>> {
        for (index, step) in plan.steps.iter().enumerate().filter(|(_, step)| step.is_blind()) {
            match self.lacked(plan.key(step), plan.length(step)) {
                // What was there may have been removed by another plan.
                Ok(lacked) if lacked || self.state.is_none() => {}
                Ok(_) => return Ok(Err(self.already_there(plan, index))),
                Err(damaged) => return Ok(Err(plan.locate(damaged, index))),
            }
        }
        let before = self.touched.counts;
        for index in 0..plan.steps.len() {
            if !plan.steps.get(index).is_some_and(Step::is_blind) {
                continue;
            }
            let (key, image, seed) = plan.key_and_image(index);
            let checksum = row_write::stamp(image, timestamp, seed);
            self.scratch.puts += 1;
            match self.dbs.data.put_with_flags(self.txn, PutFlags::NO_OVERWRITE, key, image) {
                Ok(()) => self.touched.counts.add(key.len() + image.len(), checksum),
                Err(heed::Error::Mdb(MdbError::KeyExist)) => {
                    for step in plan.steps.iter().take(index).filter(|step| step.is_blind()) {
                        self.dbs.data.delete(self.txn, plan.key(step)).map_err(lmdb::error)?;
                    }
                    self.touched.counts = before;
                    return Ok(Err(self.already_there(plan, index)));
                }
                Err(error) => return Err(lmdb::error(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Whether the store had no row of this key when the transaction began. An error if that can't be told, since a page
    /// is damaged: LMDB might not find a row that is there, and put another of its key beside it.
    fn lacked(&mut self, key: &[u8], length: usize) -> Result<bool> {
        let tree = match *self.tree {
            Some(tree) => tree,
            None => match Tree::find(self.environment, self.txn, open::state_of_write(self.txn))? {
                Some(tree) => *self.tree.insert(tree),
                None => return read::verify_miss(self.environment, self.txn, key).map(|()| true),
            },
        };
        tree.lacks_for(self.environment, self.txn, (key, length), self.explored, read::verify_alone)
    }

    /// What is said of a row that should not be there. Whether it is sound is looked at first.
    #[cold]
    fn already_there(&mut self, plan: &Prepared, index: usize) -> Error {
        let found = plan.steps.get(index).and_then(|step| self.examine_step(plan, step).err());
        plan.locate(found.unwrap_or_else(|| Error::new(ErrorKind::EntityAlreadyExists)), index)
    }

    /// Looks at the old rows, checks every condition and puts into bytes what is not yet. Writes nothing.
    ///
    /// Rows that are put without a look are looked at only where another is refused: the first that is refused is the
    /// one that is spoken of.
    fn examine(&mut self, plan: &Prepared) -> Result<()> {
        self.scratch.rows.clear();
        self.scratch.changes.clear();
        self.scratch.changes.reserve(plan.steps.len());
        for (index, step) in plan.steps.iter().enumerate() {
            if step.is_blind() {
                self.scratch.changes.push(Change::DONE);
                continue;
            }
            match self.known(step).map_or_else(|| self.examine_step(plan, step), Ok) {
                Ok(change) => self.scratch.changes.push(change),
                Err(refused) => {
                    let before = plan.steps.iter().enumerate().take(index);
                    let first = before
                        .filter(|(_, step)| step.is_blind())
                        .find_map(|(index, step)| Some((index, self.examine_step(plan, step).err()?)));
                    let (index, refused) = first.unwrap_or((index, refused));
                    return Err(plan.locate(refused, index));
                }
            }
        }
        Ok(())
    }

    /// The change of a row that was read in the very state that the transaction began with: nobody has written since,
    /// and it was found sound then.
    fn known(&self, step: &Step) -> Option<Change> {
        let (version, new) = match (step.action, &step.image) {
            (Action::ReplaceRead(version), Image::Ready(_)) => (version, New::FromPlan),
            (Action::DeleteRead(version), Image::None) => (version, New::Nothing),
            _ => return None,
        };
        let ReadVersion { etag, digest, length, state } = version;
        if state.is_none() || state != self.state {
            return None;
        }
        Some(Change { old: Some(OldRow { length, checksum: digest, timestamp: etag.timestamp() }), new })
    }

    fn examine_step(&mut self, plan: &Prepared, step: &Step) -> Result<Change> {
        let (key, seed) = (plan.key(step), step.seed);
        let new = match &step.image {
            Image::None => New::Nothing,
            Image::Ready(_) => New::FromPlan,
            Image::Deferred(properties, digest) => {
                let row = Unnumbered { properties, digest: digest.as_ref(), seed };
                New::Scratch(encode_now(self.dbs, self.txn, self.touched, self.scratch, row)?)
            }
        };
        let found = self.dbs.data.get(self.txn, key).map_err(lmdb::error)?;
        let old = match found {
            None => {
                // Else another plan has removed it.
                if !self.lacked(key, plan.length(step))? && self.state.is_some() {
                    return Err(read::out_of_order());
                }
                None
            }
            Some(bytes) => {
                self.check_value(bytes)?;
                let old = Row::parse(bytes)?;
                old.verify(seed)?;
                Some((old, key.len() + bytes.len()))
            }
        };
        let old_row = old.as_ref().map(|(row, _)| row);
        if old_row.is_some_and(Row::is_signed) && !matches!(new, New::Nothing) && !plan.signs(step) {
            return Err(sign::needs_its_struct());
        }
        if let Some(old) = old_row.filter(|_| self.is_guarded && !step.adds()) {
            let dict = self.dict_for(old)?;
            self.touched.state.check_old(&RowView::new(key, *old, dict, false))?;
        }
        let merges = match step.action {
            Action::Insert | Action::Absent if old_row.is_some() => {
                return Err(Error::new(ErrorKind::EntityAlreadyExists));
            }
            Action::Insert | Action::InsertOrReplace | Action::Remove | Action::Absent => false,
            Action::InsertOrMerge => old_row.is_some(),
            Action::Replace(condition) | Action::Delete(condition) => {
                meets(old_row, condition)?;
                false
            }
            Action::ReplaceRead(version) | Action::DeleteRead(version) => {
                meets(old_row, version.etag.into())?;
                if old_row.is_some_and(|old| old.checksum() != version.digest) {
                    return Err(Error::new(ErrorKind::ConditionNotMet)
                        .because("its values were sealed anew meanwhile; try again"));
                }
                false
            }
            Action::Merge(condition) => {
                meets(old_row, condition)?;
                true
            }
        };
        let new = match old_row {
            Some(old) if merges => {
                let Scratch { rows, writer, .. } = &mut *self.scratch;
                writer.clear();
                let bytes = match &new {
                    New::Scratch(range) => rows.get(range.clone()).unwrap_or_default(),
                    New::FromPlan | New::Nothing => match &step.image {
                        Image::Ready(range) => plan.image(range),
                        _ => &[],
                    },
                };
                writer.merge(old, &Row::parse(bytes)?, seed)?;
                if writer.len() > limits::PROPERTIES {
                    return Err(row_write::too_many(writer.len()));
                }
                let whole = writer.finish(rows, None)?..rows.len();
                self.check_merged_size(key, whole.clone())?;
                New::Scratch(whole)
            }
            _ => new,
        };
        let old =
            old.map(|(row, length)| OldRow { length, checksum: row.checksum(), timestamp: row.timestamp() });
        Ok(Change { old, new })
    }

    /// Checks that what was found lies in its page, and that the page is in use.
    fn check_value(&self, bytes: &[u8]) -> Result<()> {
        // What this transaction has changed does not lie in the map.
        let Some(pages) = self.dbs.pages.filter(|pages| pages.of(bytes).is_some()) else { return Ok(()) };
        // But where it has changed very much, LMDB writes some of it early, on pages that were free.
        if self.scratch.puts > FEW_PUTS {
            return Ok(());
        }
        pages.check_value(bytes)?;
        if !pages.is_own(bytes) {
            return Err(lmdb::damaged_page());
        }
        self.environment.check_in_use(self.txn, open::state_of_write(self.txn), bytes)
    }

    /// A merged entity may be larger than either of its parts.
    fn check_merged_size(&self, key: &[u8], range: std::ops::Range<usize>) -> Result<()> {
        let bytes = self.scratch.rows.get(range).unwrap_or_default();
        // No entity is larger than this: two bytes for each stored one, and the most that names can come to.
        let bound = 2 * (key.len() + bytes.len()) + limits::PROPERTIES * (12 + 2 * limits::NAME_UNITS);
        if bound <= limits::ENTITY_BYTES {
            return Ok(());
        }
        let row = Row::parse(bytes)?;
        let dict = self.dict_for(&row)?;
        let size = RowView::new(key, row, dict, false).to_entity()?.size();
        if size > limits::ENTITY_BYTES { Err(prepare::too_large(size)) } else { Ok(()) }
    }

    /// The dictionary with everything that a row needs: also a row that this transaction has put.
    fn dict_for(&self, row: &Row<'_>) -> Result<Arc<Dict>> {
        let known = match &self.touched.grown {
            Some((dict, _)) => Arc::new(dict.clone()),
            None => self.touched.state.dict(),
        };
        if view::covers(&known, row) {
            Ok(known)
        } else {
            self.touched.state.reload_for(self.dbs, self.txn, row)
        }
    }

    /// Puts and deletes what was found right.
    fn put(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<()> {
        let Scratch { rows, changes, puts, .. } = &mut *self.scratch;
        *puts += changes.len();
        for (index, change) in changes.iter().enumerate() {
            let Some(step) = plan.steps.get(index) else { continue };
            let counts = &mut self.touched.counts;
            if let Some(old) = &change.old {
                counts.subtract(old.length, old.checksum);
            }
            let timestamp = match &change.old {
                Some(old) if plan.keeps_times => old.timestamp,
                _ => timestamp,
            };
            let (key, image, seed) = match &change.new {
                New::Nothing if change.old.is_none() => continue,
                New::Nothing => {
                    self.dbs.data.delete(self.txn, plan.key(step)).map_err(lmdb::error)?;
                    continue;
                }
                New::Scratch(range) => {
                    (plan.key(step), rows.get_mut(range.clone()).unwrap_or_default(), step.seed)
                }
                New::FromPlan => plan.key_and_image(index),
            };
            let checksum = row_write::stamp(image, timestamp, seed);
            counts.add(key.len() + image.len(), checksum);
            self.dbs.data.put(self.txn, key, image).map_err(lmdb::error)?;
        }
        Ok(())
    }
}

/// The time by the system's clock. One that is set beyond the calendar is no clock: a store that took its word could
/// never give a later time.
fn clock() -> Ticks {
    Ticks::try_from(std::time::SystemTime::now()).unwrap_or(Ticks::MIN)
}

/// Whether the row is there, in the version demanded.
fn meets(old: Option<&Row<'_>>, condition: IfMatch) -> Result<()> {
    match (old, condition) {
        (None, _) => Err(Error::new(ErrorKind::EntityNotFound)),
        (Some(_), IfMatch::Any) => Ok(()),
        (Some(old), IfMatch::ETag(etag)) if old.timestamp() == etag.timestamp() => Ok(()),
        (Some(_), IfMatch::ETag(_)) => Err(Error::new(ErrorKind::ConditionNotMet)),
    }
}

/// A row some of whose names have no number yet.
#[derive(Clone, Copy)]
struct Unnumbered<'a> {
    properties: &'a [(Name, Value)],
    digest: Option<&'a [u8; DIGEST]>,
    seed: u64,
}

/// Puts a row into bytes, numbering the names that have no number yet.
fn encode_now(
    dbs: &Databases,
    txn: &WriteTxn<'_>,
    touched: &mut Touched,
    scratch: &mut Scratch,
    row: Unnumbered<'_>,
) -> Result<std::ops::Range<usize>> {
    let grown = if let Some(grown) = touched.grown.take() {
        grown
    } else {
        // Another process may have numbered them meanwhile.
        let dict = (*touched.state.reload(dbs, txn)?).clone();
        let on_disk = dict.len();
        (dict, on_disk)
    };
    let (dict, _) = touched.grown.insert(grown);
    let Unnumbered { properties, digest, seed } = row;
    for (name, value) in properties {
        if dict.id(name).is_none() && !dict.names_full() {
            dict.push_name(name.clone());
        }
        if let (ENTITY_TYPE, Value::String(text)) = (&**name, value)
            && dict.id(ENTITY_TYPE).is_some()
            && dict.symbol_id(text).is_none()
            && dict.takes_symbol(text)
        {
            dict.push_symbol(text.as_str().into());
        }
    }
    scratch.writer.clear();
    encode::write(&prepare::borrowed(properties), dict, &mut scratch.order, &mut scratch.writer, seed);
    let from = scratch.writer.finish(&mut scratch.rows, digest)?;
    Ok(from..scratch.rows.len())
}
