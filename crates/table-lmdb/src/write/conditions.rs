//! Whether a prepared plan may be carried out: what is there of each of its rows, and whether that meets the row's condition.
//!
//! All of a plan's conditions are looked at before its first put, so nothing has to be taken back here.

use lmdb_verify::state_of_write;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::plan::{Act, Condition, Refused};
use table_engine::row::version::{Proof, check_condition};
use table_engine::row::view::RowView;
use table_engine::row::{Row, key};
use table_engine::sealing::sign;

use super::apply::{AppliedRow, FEW_PUTS, New, OldRow, Writing};
use super::encoded::{EncodedPlan, EncodedRange, EncodedRow, Image};
use super::insert::Becomes;
use super::range::{self, Ground};
use super::transaction::{TableDelta, touched};
use crate::lmdb;

impl Writing<'_, '_> {
    /// Looks at the old rows, checks every condition and puts into bytes what is not yet. Writes nothing.
    ///
    /// Rows that are put without a look are looked at only where another is refused, since the error names the first
    /// that is refused.
    pub(super) fn examine(&mut self, plan: &EncodedPlan) -> Result<(), Refused> {
        self.scratch.rows.clear();
        self.scratch.applied.clear();
        self.scratch.applied.reserve(plan.rows.len());
        for (index, row) in plan.rows.iter().enumerate() {
            if row.is_blind() {
                self.scratch.applied.push(AppliedRow::DONE);
                continue;
            }
            let examined = self.known(row).map_or_else(|| self.examine_row(plan, row), Ok);
            match examined.and_then(|applied| self.reached(plan, row, applied)) {
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
        for (at, addition) in plan.additions.iter().enumerate() {
            match self.examine_addition(plan, at, addition) {
                Ok(applied) => self.scratch.applied.push(applied),
                Err(refused) => return Err(plan.locate_addition(refused, addition)),
            }
        }
        plan.unchanged.iter().try_for_each(|range| self.examine_range(plan, range))
    }

    /// Has the pages looked at that change for a row.
    fn reached(&mut self, plan: &EncodedPlan, row: &EncodedRow, applied: AppliedRow) -> Result<AppliedRow> {
        if let Some(new) = applied.coming() {
            self.meet(plan.key(row), Becomes::of(new))?;
        }
        Ok(applied)
    }

    /// Checks that all rows of a range are those that were read.
    #[cold]
    fn examine_range(&self, plan: &EncodedPlan, range: &EncodedRange) -> Result<(), Refused> {
        let changed_little = self.scratch.puts <= FEW_PUTS;
        let state = state_of_write(self.txn);
        let has_written = self.scratch.puts > 0;
        let ground = Ground { environment: self.environment, state, has_written, changed_little };
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

    /// Returns the change of a row that was read in the very state that the transaction began with: no process has
    /// written since, and the row was found sound then.
    fn known(&self, row: &EncodedRow) -> Option<AppliedRow> {
        let Condition::Is(version) = row.condition else { return None };
        let new = match row.act {
            Act::Put(Image::Ready(_)) => New::FromPlan,
            Act::Remove => New::Nothing,
            Act::Keep => New::Keyspace,
            _ => return None,
        };
        let Proof { checksum, length, state } = Proof::of(&version);
        if state.is_none() || state != self.state || self.may_have_pages(length) {
            return None;
        }
        let old = OldRow { length, checksum, timestamp: version.etag.timestamp() };
        Some(AppliedRow::of(Some(old), new))
    }

    /// Returns whether a row that is so long with its key may have pages of its own that were not looked at. How many,
    /// the first of them says, and LMDB frees as many.
    fn may_have_pages(&self, length: usize) -> bool {
        // LMDB puts what would fill half of a page on pages of its own, or a little less.
        !self.environment.reader.has_met_all() && length >= self.dbs.pages.size() / 4
    }

    pub(super) fn examine_row(&mut self, plan: &EncodedPlan, row: &EncodedRow) -> Result<AppliedRow> {
        let (key, seed) = (plan.key(row), row.seed);
        let new = match &row.act {
            Act::Keep => New::Keyspace,
            Act::Remove => New::Nothing,
            Act::Put(Image::Ready(_)) | Act::Merge(Image::Ready(_)) => New::FromPlan,
            Act::Put(Image::Deferred(deferred)) | Act::Merge(Image::Deferred(deferred)) => {
                let group = plan.groups.get(row.group);
                let Some(touched) = group.and_then(|group| touched(self.tables, group)) else {
                    return Err(Error::new(ErrorKind::TableNotFound));
                };
                New::Scratch(self.scratch.encode_now(self.dbs, self.txn, touched, deferred, seed)?)
            }
        };
        // Before the transaction has written, what it sees lies in the map.
        let found = if self.state.is_some() {
            self.tree()?.get(&self.environment.reader, self.txn, key).map_err(lmdb::damage)?
        } else {
            self.dbs.data.get(self.txn, key).map_err(lmdb::error)?
        };
        let old = match found {
            None => {
                let may_be_new =
                    matches!(row.condition, Condition::Absent | Condition::StillAbsent | Condition::Any);
                // A row that is put has its leaf looked at, which proves as much.
                if !may_be_new || row.act.content().is_none() {
                    self.check_miss(key)?;
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
        if let Some(old) = old_row.filter(|_| writes) {
            self.check_unsigned(plan, row, old)?;
        }
        if let Some(old) = old_row.filter(|_| {
            !row.act.keeps() && !matches!(row.condition, Condition::Absent | Condition::StillAbsent)
        }) {
            self.check_old(plan, row, old)?;
        }
        check_condition(old_row, row.condition)?;
        let going = old.as_ref().map(|(row, length)| OldRow::of(row, *length));
        let new = match (&row.act, old_row) {
            (Act::Merge(image), Some(old)) => {
                let bytes = match (&new, image) {
                    (New::Scratch(range), _) => self.scratch.rows.get(range.clone()).unwrap_or_default(),
                    (_, Image::Ready(range)) => plan.image(range),
                    (_, Image::Deferred(..)) => &[],
                };
                let merged = self.merge(plan, row, old, bytes)?;
                New::Scratch(self.put_merged(plan, row, merged)?)
            }
            _ => new,
        };
        Ok(AppliedRow::of(going, new))
    }

    /// Checks that what was found lies in its page, that the page is in use, and that its pages are its own.
    pub(super) fn check_value(&self, bytes: &[u8]) -> Result<()> {
        // What this transaction has changed does not lie in the map.
        let pages = self.dbs.pages;
        // If it has changed very much, LMDB has written some of that early, on pages that were free.
        if pages.of(bytes).is_none() || self.scratch.puts > FEW_PUTS {
            return Ok(());
        }
        pages.check_value(bytes).map_err(lmdb::damage)?;
        let state = state_of_write(self.txn);
        self.environment.check_in_use(self.txn, state, bytes)?;
        self.environment.reader.check_run(self.txn, state, bytes).map_err(lmdb::damage)
    }

    /// Refuses to write over a row that is signed, or should be, with one that is not.
    #[inline]
    fn check_unsigned(&self, plan: &EncodedPlan, row: &EncodedRow, old: &Row<'_>) -> Result<()> {
        if old.is_signed() {
            if plan.signs(row) {
                return Ok(());
            }
            // Who writes rows of declared kinds by their properties is told so in one way.
            self.check_old(plan, row, old)?;
            return Err(sign::needs_its_struct());
        }
        let signs = |touched: &&TableDelta| touched.state.signs_some() && !plan.signs(row);
        let Some(touched) = self.touched_by(plan, row.group).filter(signs) else { return Ok(()) };
        let dict = self.dict_for(touched, old)?;
        touched.state.check_genuine(&RowView::new(plan.key(row), *old, dict, false))
    }

    /// Refuses to change a row that is there if it is one of a declared kind, which is not the plan's to change.
    fn check_old(&self, plan: &EncodedPlan, row: &EncodedRow, old: &Row<'_>) -> Result<()> {
        let guards = |touched: &&TableDelta| touched.state.guards_against(plan, row.group);
        let Some(touched) = self.touched_by(plan, row.group).filter(guards) else { return Ok(()) };
        let dict = self.dict_for(touched, old)?;
        touched.state.check_old(&RowView::new(plan.key(row), *old, dict, false))
    }
}
