//! Carrying out prepared plans inside one write transaction.
//!
//! A plan that is refused leaves the transaction as it was: conditions are looked at before the first put, and
//! rows that are to be new are put first, with "no overwrite", and taken back if one of them is there. An error of
//! LMDB is another matter: it spoils the transaction, and the whole group is run again without its culprit.

use std::sync::Arc;

use heed::{MdbError, PutFlags};

use crate::row::encode::{self, Place};
use super::prepare::{self, EncodedGroup, EncodedRange, EncodedRow, Image, Prepared};
use super::range::{self, Ground};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::names::ENTITY_TYPE;
use crate::model::{ETag, Name, Ticks, Value};
use crate::plan::{Act, Condition, Refused};
use crate::row::dict::Dict;
use crate::row::row_write::{self, RowWriter};
use crate::row::version::Proof;
use crate::row::view::{self, RowView};
use crate::row::{DIGEST, Row, key};
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
    /// The counts before the plan that is being carried out.
    before_plan: Counts,
    /// How many names and symbols the dictionary had then, if it had grown.
    known: Option<(usize, usize)>,
    /// The dictionary with the group's own additions, if it has any, and how much of it is on disk.
    grown: Option<Box<(Dict, (usize, usize))>>,
}

#[derive(Default)]
struct Scratch {
    /// How many rows the transaction has put or deleted.
    puts: usize,
    /// Rows that could only be put into bytes in the transaction.
    rows: Vec<u8>,
    applied: Vec<AppliedRow>,
    writer: RowWriter,
    order: Vec<Place>,
}

/// The applied form of a row's change: what is to happen to the row, once every condition of the plan holds.
struct AppliedRow {
    /// The row that is there, if it gives way.
    old: Option<OldRow>,
    new: New,
}

impl AppliedRow {
    /// What is left to be done of a row that has been inserted, or stays as it is.
    const DONE: Self = Self { old: None, new: New::Nothing };

    fn of(old: Option<OldRow>, new: New) -> Self {
        if matches!(new, New::Kept) { Self::DONE } else { Self { old, new } }
    }
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
    /// What is there.
    Kept,
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
        self.tables.push(Touched {
            state: state.clone(),
            counts,
            before: counts.entities,
            before_plan: counts,
            known: None,
            grown: None,
        });
        Ok(self.tables.len() - 1)
    }

    /// Carries out a plan. The outer error spoils the transaction; the inner one refuses the plan alone.
    pub(crate) fn apply(&mut self, plan: &mut Prepared) -> Result<Result<Ticks, Refused>> {
        if let Err(refused) = plan.sealed_at.check() {
            return Ok(Err(plan.locate_group(refused, 0)));
        }
        let timestamp = match self.begin_plan(plan) {
            Ok(timestamp) => timestamp,
            Err(refused) => return Ok(Err(refused)),
        };
        let state = self.state;
        let mut writing = Writing {
            environment: self.environment,
            dbs: self.dbs,
            txn: &mut self.txn,
            state,
            tables: &mut self.tables,
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

    /// Looks at the tables of a plan; the time that it gets.
    fn begin_plan(&mut self, plan: &Prepared) -> Result<Ticks, Refused> {
        let timestamp = self.next_timestamp().map_err(|refused| plan.locate_all(refused))?;
        for (number, group) in plan.groups.iter().enumerate() {
            let at = self.touch(&group.table).map_err(|refused| plan.locate_first(refused, number))?;
            let Some(touched) = self.tables.get_mut(at) else { continue };
            touched.before_plan = touched.counts;
            touched.known = touched.grown.as_ref().map(|grown| grown.0.len());
            let checked = touched.state.check_declarations(group.declarations.iter().copied());
            checked.map_err(|refused| plan.locate_first(refused, number))?;
            touched.state.check_kinds(plan, number)?;
        }
        Ok(timestamp)
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
            if let Some((dict, on_disk)) = touched.grown.as_deref() {
                dict.write_new(*on_disk, self.dbs, &mut self.txn, id)?;
            }
        }
        self.environment.commit(self.txn)?;
        for touched in self.tables {
            if let Some(grown) = touched.grown {
                touched.state.learn(Arc::new(grown.0));
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
    tables: &'g mut [Touched],
    scratch: &'g mut Scratch,
    tree: &'g mut Option<Tree>,
    explored: &'g mut Explored,
}

impl Writing<'_, '_> {
    /// Carries out a plan whose conditions have to be looked at. The outer error spoils the transaction.
    fn change(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<Result<(), Refused>> {
        let examined = self.examine(plan);
        let done = match examined {
            Ok(()) => self.insert(plan, timestamp)?,
            refused => refused,
        };
        if let Err(refused) = done {
            // Names that only a refused plan brought are forgotten.
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

    /// The table of a group of the plan.
    fn touched_by(&self, plan: &Prepared, group: usize) -> Option<&Touched> {
        let group = plan.groups.get(group)?;
        self.tables.iter().find(|touched| touched.state.id == group.table.id)
    }

    /// Puts every row that can be put without a look, and must not be there yet; takes all back if one is.
    fn insert(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<Result<(), Refused>> {
        for (index, row) in plan.rows.iter().enumerate().filter(|(_, row)| row.is_blind()) {
            match self.lacked(plan.key(row), plan.length(row)) {
                // What was there may have been removed by another plan.
                Ok(lacked) if lacked || self.state.is_none() => {}
                Ok(_) => return Ok(Err(self.already_there(plan, index))),
                Err(damaged) => return Ok(Err(plan.locate(damaged, index))),
            }
        }
        for index in 0..plan.rows.len() {
            let Some(group) = plan.rows.get(index).filter(|row| row.is_blind()).map(|row| row.group) else {
                continue;
            };
            let (key, image, seed) = plan.key_and_image(index);
            let checksum = row_write::stamp(image, timestamp, seed);
            self.scratch.puts += 1;
            match self.dbs.data.put_with_flags(self.txn, PutFlags::NO_OVERWRITE, key, image) {
                Ok(()) => {
                    let length = key.len() + image.len();
                    let group = plan.groups.get(group);
                    if let Some(touched) = group.and_then(|group| touched(self.tables, group)) {
                        touched.counts.add(length, checksum);
                    }
                }
                Err(heed::Error::Mdb(MdbError::KeyExist)) => {
                    for row in plan.rows.iter().take(index).filter(|row| row.is_blind()) {
                        self.dbs.data.delete(self.txn, plan.key(row)).map_err(lmdb::error)?;
                    }
                    for group in plan.groups.iter() {
                        if let Some(touched) = touched(self.tables, group) {
                            touched.counts = touched.before_plan;
                        }
                    }
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
    fn already_there(&mut self, plan: &Prepared, index: usize) -> Refused {
        let found = plan.rows.get(index).and_then(|row| self.examine_row(plan, row).err());
        plan.locate(found.unwrap_or_else(|| Error::new(ErrorKind::EntityAlreadyExists)), index)
    }

    /// Looks at the old rows, checks every condition and puts into bytes what is not yet. Writes nothing.
    ///
    /// Rows that are put without a look are looked at only where another is refused: the first that is refused is the
    /// one that is spoken of.
    fn examine(&mut self, plan: &Prepared) -> Result<(), Refused> {
        self.scratch.rows.clear();
        self.scratch.applied.clear();
        self.scratch.applied.reserve(plan.rows.len());
        for (index, row) in plan.rows.iter().enumerate() {
            if row.is_blind() {
                self.scratch.applied.push(AppliedRow::DONE);
                continue;
            }
            match self.known(row).map_or_else(|| self.examine_row(plan, row), Ok) {
                Ok(applied) => self.scratch.applied.push(applied),
                Err(refused) => {
                    let before = plan.rows.iter().enumerate().take(index);
                    let first = before
                        .filter(|(_, row)| row.is_blind())
                        .find_map(|(index, row)| Some((index, self.examine_row(plan, row).err()?)));
                    let (index, refused) = first.unwrap_or((index, refused));
                    return Err(plan.locate(refused, index));
                }
            }
        }
        plan.unchanged.iter().try_for_each(|range| self.examine_range(plan, range))
    }

    /// Whether all rows of a range are those that were read.
    #[cold]
    fn examine_range(&self, plan: &Prepared, range: &EncodedRange) -> Result<(), Refused> {
        let is_settled = self.scratch.puts <= FEW_PUTS;
        let state = open::state_of_write(self.txn);
        let has_written = self.scratch.puts > 0;
        let ground = Ground { environment: self.environment, state, has_written, is_settled };
        let refused = match range::digest(&ground, self.txn, plan.prefix(range)) {
            Ok(digest) if digest == range.digest => return Ok(()),
            Ok(_) => key::locate(
                Error::new(ErrorKind::ConditionNotMet)
                    .because("the rows whose keys begin so are not those that were read"),
                plan.prefix(range),
            ),
            Err(damaged) => damaged,
        };
        Err(plan.locate_group(refused.attempted("rely on"), range.group))
    }

    /// The change of a row that was read in the very state that the transaction began with: nobody has written since,
    /// and it was found sound then.
    fn known(&self, row: &EncodedRow) -> Option<AppliedRow> {
        let Condition::Is(version) = row.condition else { return None };
        let new = match row.act {
            Act::Put(Image::Ready(_)) => New::FromPlan,
            Act::Remove => New::Nothing,
            Act::Keep => New::Kept,
            _ => return None,
        };
        let Proof { checksum, length, state } = Proof::of(&version);
        if state.is_none() || state != self.state {
            return None;
        }
        let old = OldRow { length, checksum, timestamp: version.etag.timestamp() };
        Some(AppliedRow::of(Some(old), new))
    }

    fn examine_row(&mut self, plan: &Prepared, row: &EncodedRow) -> Result<AppliedRow> {
        let (key, seed) = (plan.key(row), row.seed);
        let new = match &row.act {
            Act::Keep => New::Kept,
            Act::Remove => New::Nothing,
            Act::Put(Image::Ready(_)) | Act::Merge(Image::Ready(_)) => New::FromPlan,
            Act::Put(Image::Deferred(properties, digest))
            | Act::Merge(Image::Deferred(properties, digest)) => {
                let unnumbered = Unnumbered { properties, digest: digest.as_ref(), seed };
                let group = plan.groups.get(row.group);
                let Some(touched) = group.and_then(|group| touched(self.tables, group)) else {
                    return Err(Error::new(ErrorKind::TableNotFound));
                };
                New::Scratch(encode_now(self.dbs, self.txn, touched, self.scratch, unnumbered)?)
            }
        };
        let found = self.dbs.data.get(self.txn, key).map_err(lmdb::error)?;
        let old = match found {
            None => {
                // Else another plan has removed it.
                if !self.lacked(key, plan.length(row))? && self.state.is_some() {
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
        let writes = row.act.content().is_some();
        if writes && old_row.is_some_and(Row::is_signed) && !plan.signs(row) {
            return Err(sign::needs_its_struct());
        }
        if let Some(old) = old_row.filter(|_| !row.act.keeps() && row.condition != Condition::Absent) {
            self.check_old(plan, row, old)?;
        }
        check_condition(old_row, row.condition)?;
        let new = match (&row.act, old_row) {
            (Act::Merge(image), Some(old)) => {
                let Scratch { rows, writer, .. } = &mut *self.scratch;
                writer.clear();
                let bytes = match (&new, image) {
                    (New::Scratch(range), _) => rows.get(range.clone()).unwrap_or_default(),
                    (_, Image::Ready(range)) => plan.image(range),
                    (_, Image::Deferred(..)) => &[],
                };
                writer.merge(old, &Row::parse(bytes)?, seed)?;
                if writer.len() > limits::PROPERTIES {
                    return Err(row_write::too_many(writer.len()));
                }
                let whole = writer.finish(rows, None)?..rows.len();
                self.check_merged_size((plan, row.group), key, whole.clone())?;
                New::Scratch(whole)
            }
            _ => new,
        };
        let old =
            old.map(|(row, length)| OldRow { length, checksum: row.checksum(), timestamp: row.timestamp() });
        Ok(AppliedRow::of(old, new))
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
    fn check_merged_size(
        &self,
        (plan, group): (&Prepared, usize),
        key: &[u8],
        range: std::ops::Range<usize>,
    ) -> Result<()> {
        let bytes = self.scratch.rows.get(range).unwrap_or_default();
        // No entity is larger than this: two bytes for each stored one, and the most that names can come to.
        let bound = 2 * (key.len() + bytes.len()) + limits::PROPERTIES * (12 + 2 * limits::NAME_UNITS);
        if bound <= limits::ENTITY_BYTES {
            return Ok(());
        }
        let Some(touched) = self.touched_by(plan, group) else { return Ok(()) };
        let row = Row::parse(bytes)?;
        let dict = self.dict_for(touched, &row)?;
        let size = RowView::new(key, row, dict, false).to_entity()?.size();
        if size > limits::ENTITY_BYTES { Err(prepare::too_large(size)) } else { Ok(()) }
    }

    /// Refuses to change a row that is there if it is one of a declared kind, which is not the plan's to change.
    fn check_old(&self, plan: &Prepared, row: &EncodedRow, old: &Row<'_>) -> Result<()> {
        let guards = |touched: &&Touched| touched.state.guards_against(plan, row.group);
        let Some(touched) = self.touched_by(plan, row.group).filter(guards) else { return Ok(()) };
        let dict = self.dict_for(touched, old)?;
        touched.state.check_old(&RowView::new(plan.key(row), *old, dict, false))
    }

    /// The dictionary with everything that a row needs: also a row that this transaction has put.
    fn dict_for(&self, touched: &Touched, row: &Row<'_>) -> Result<Arc<Dict>> {
        let known = match &touched.grown {
            Some(grown) => Arc::new(grown.0.clone()),
            None => touched.state.dict(),
        };
        if view::covers(&known, row) { Ok(known) } else { touched.state.reload_for(self.dbs, self.txn, row) }
    }

    /// Puts and deletes what was found right.
    fn put(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<()> {
        let Scratch { rows, applied, puts, .. } = &mut *self.scratch;
        *puts += applied.len();
        for (index, applied) in applied.iter().enumerate() {
            let Some(row) = plan.rows.get(index) else { continue };
            let group = plan.groups.get(row.group);
            let Some(touched) = group.and_then(|group| touched(self.tables, group)) else { continue };
            let counts = &mut touched.counts;
            if let Some(old) = &applied.old {
                counts.subtract(old.length, old.checksum);
            }
            let timestamp = match &applied.old {
                Some(old) if plan.keeps_times => old.timestamp,
                _ => timestamp,
            };
            let (key, image, seed) = match &applied.new {
                New::Kept => continue,
                New::Nothing if applied.old.is_none() => continue,
                New::Nothing => {
                    self.dbs.data.delete(self.txn, plan.key(row)).map_err(lmdb::error)?;
                    continue;
                }
                New::Scratch(range) => {
                    (plan.key(row), rows.get_mut(range.clone()).unwrap_or_default(), row.seed)
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

/// The table of a group of a plan that is being carried out: it has been touched.
#[inline]
fn touched<'t>(tables: &'t mut [Touched], group: &EncodedGroup) -> Option<&'t mut Touched> {
    tables.iter_mut().find(|touched| touched.state.id == group.table.id)
}

/// The time by the system's clock. One that is set beyond the calendar is no clock: a store that took its word could
/// never give a later time.
fn clock() -> Ticks {
    Ticks::try_from(std::time::SystemTime::now()).unwrap_or(Ticks::MIN)
}

/// Whether what is there is as it must be.
fn check_condition(old: Option<&Row<'_>>, condition: Condition) -> Result<()> {
    let of_etag = |old: &Row<'_>, etag: ETag| old.timestamp() == etag.timestamp();
    match (condition, old) {
        (Condition::Any, _) | (Condition::Absent, None) | (Condition::Present, Some(_)) => Ok(()),
        (Condition::Absent, Some(_)) => Err(Error::new(ErrorKind::EntityAlreadyExists)),
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
        Box::new((dict, on_disk))
    };
    let dict = &mut touched.grown.insert(grown).0;
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
    encode::write(&crate::plan::borrowed(properties), dict, &mut scratch.order, &mut scratch.writer, seed);
    let from = scratch.writer.finish(&mut scratch.rows, digest)?;
    Ok(from..scratch.rows.len())
}
