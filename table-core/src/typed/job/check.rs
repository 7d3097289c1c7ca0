//! Copies compared with their entities, and made right again.

use super::look::{At, Wrong};
use super::report::{CopyReport, MISCOUNTED, MISLISTED, UNLISTED};
use super::{recount, relist};
use crate::error::{ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::handle::write::carry_out;
use crate::plan::Epoch;
use crate::query::Query;
use crate::schema::Standing;
use crate::sealing::SealedAt;
use crate::typed::change::Change;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::entity::Entity;
use crate::typed::read::key::Key;
use crate::typed::table::Table;

/// Rows that are looked at in one snapshot.
const ROWS: usize = 500;
/// So often a repair goes over the table: what a first pass has removed makes room for the second.
const PASSES: usize = 3;

impl<E: Entity> Table<E> {
    /// Compares every copy of the entities with the entity that it is of, in the indexes that are ready, wherever they lie:
    /// none may be missing, none may say anything else, and none may be of no entity. What is still to
    /// [follow](crate::Store::unsettled) is not wrong. Summaries and index lists are compared, too. A raw write of a row may break that, or
    /// a program that did not know an index.
    ///
    /// It goes once over the table, and over the others where copies lie, a few hundred rows in each snapshot, and holds up
    /// no writer.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Entity, IfMatch, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.table::<Employee>()?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() })?;
    /// assert!(staff.check()?.is_sound());
    ///
    /// // A raw write changes the one row, and its copies stay as they are.
    /// let change = DynamicEntity::new("Sales", "empid_000007").with("Email", "cao@contoso.com");
    /// staff.dynamic().raw().merge(&change, IfMatch::Any)?;
    /// let report = staff.check()?;
    /// assert_eq!((report.missing, report.orphans), (1, 1));
    ///
    /// assert_eq!(staff.repair()?.mended, 2);
    /// assert!(staff.get(Employee::by_email("Sales", "cao@contoso.com"))?.is_some());
    /// assert!(staff.check()?.is_sound());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self) -> Result<CopyReport> {
        let mut report = CopyReport::default();
        self.go_over(&mut report, false)?;
        self.recount(&mut report)?;
        self.relist(&mut report, false)?;
        Ok(report)
    }

    /// Makes every copy right again that [`check`](Self::check) finds wrong: what is missing or stale is written as the entity
    /// says, and orphans go. The report has what was found first, and how much of it was mended; what two entities both
    /// claim in a unique index stays wrong.
    pub fn repair(&self) -> Result<CopyReport> {
        let (mut first, mut mended) = (None, 0);
        for _ in 0..PASSES {
            let mut report = CopyReport::default();
            let mut done = self.go_over(&mut report, true)?;
            done += self.recount(&mut report).and_then(|wrong| self.mend_summaries(&wrong))?;
            done += self.relist(&mut report, true)?;
            mended += done;
            let is_sound = report.is_sound();
            first.get_or_insert(report);
            if is_sound || done == 0 {
                break;
            }
        }
        Ok(CopyReport { mended, ..first.unwrap_or_default() })
    }

    /// Compares the summaries that are ready, each in one snapshot; returns those that are wrong.
    fn recount(&self, report: &mut CopyReport) -> Result<Vec<usize>> {
        let (table, mut wrong) = (self.dynamic(), Vec::new());
        let summaries = E::SCHEMA.indexes.iter().enumerate().filter(|(_, index)| index.summary.is_some());
        for (number, index) in summaries {
            if !driver::standing(Together::alone(table), E::SCHEMA, false)?.is_ready(number) {
                continue;
            }
            let compared = recount::compare::<E>(table, &self.as_stored()?, number)?;
            report.summaries += compared.rows;
            for (partition, row) in compared.differences.keys() {
                report.add(MISCOUNTED, index.name, (index.place.table.source(), partition, row));
            }
            if !compared.differences.is_empty() {
                wrong.push(number);
            }
        }
        Ok(wrong)
    }

    /// Compares the index lists that are ready, each in one snapshot; returns how many ids were put right.
    fn relist(&self, report: &mut CopyReport, mends: bool) -> Result<u64> {
        let (table, mut mended) = (self.dynamic(), 0);
        let lists = E::SCHEMA.indexes.iter().enumerate().filter(|(_, index)| index.list.is_some());
        for (number, index) in lists {
            let standing = driver::standing(Together::alone(table), E::SCHEMA, mends)?;
            if !standing.is_ready(number) {
                continue;
            }
            let compared = relist::compare::<E>(table, &self.as_stored()?, number)?;
            report.lists += compared.rows;
            for ((partition, row), wrong) in &compared.wrong {
                for wrong in wrong {
                    let what = if wrong.is_missing() { UNLISTED } else { MISLISTED };
                    report.add(what, index.name, (index.place.table.source(), partition, row));
                }
            }
            if mends {
                let epoch = Epoch { kind: E::SCHEMA.kind, number: standing.epoch };
                mended += relist::mend::<E>(table, number, &compared, epoch)?;
            }
        }
        Ok(mended)
    }

    fn mend_summaries(&self, wrong: &[usize]) -> Result<u64> {
        wrong.iter().map(|index| recount::mend::<E>(self.dynamic(), *index)).sum()
    }

    /// A snapshot in which every entity is of the version that is declared: another program may begin to convert them at any
    /// time, and copies are then what that one says.
    fn as_stored(&self) -> Result<Snapshot> {
        let snapshot = self.dynamic().snapshot()?;
        snapshot.check_rows_as_stored(self.dynamic(), E::SCHEMA)?;
        Ok(snapshot)
    }

    /// Goes over the tables once; returns how many rows were mended.
    fn go_over(&self, report: &mut CopyReport, mends: bool) -> Result<u64> {
        if const { E::SCHEMA.has_eventual() || E::SCHEMA.holds_eventual() } {
            // A snapshot can look into what was opened before it was taken.
            self.dynamic().exec().store().pending()?.count()?;
        }
        let mut mended = 0;
        for (number, there) in self.dynamic().family().iter().enumerate() {
            mended += self.go_over_one((number, there), report, mends)?;
        }
        Ok(mended)
    }

    fn go_over_one(
        &self,
        (number, there): (usize, &DynamicTable),
        report: &mut CopyReport,
        mends: bool,
    ) -> Result<u64> {
        let table = self.dynamic();
        let (mut after, mut mended) = (None, 0);
        loop {
            let standing = driver::standing(Together::alone(table), E::SCHEMA, mends)?;
            let snapshot = self.as_stored()?;
            let mut wrong = Wrong::default();
            let found = std::cell::RefCell::new((&mut wrong, &mut *report));
            let page = snapshot.page_by(there, Query::new().into(), ROWS, after.as_ref(), |_, view| {
                let (wrong, report) = &mut *found.borrow_mut();
                let at = At { table, there, number, snapshot: &snapshot, standing };
                at.look::<E>(view, report, wrong)
            })?;
            drop(snapshot);
            if mends {
                mended += self.mend(standing, &wrong)?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(mended);
            }
        }
    }

    /// Mends what was found; what somebody has written meanwhile is left as it is.
    fn mend(&self, standing: Standing, wrong: &Wrong) -> Result<u64> {
        let (table, mut mended) = (self.dynamic(), 0);
        for orphan in &wrong.orphans {
            let epoch = Epoch { kind: E::SCHEMA.kind, number: standing.epoch };
            match carry_out(table.family(), &orphan.removal(epoch), &SealedAt::NOTHING) {
                Ok(_) => mended += 1,
                Err(failure) if is_another_s(failure.error.kind()) => {}
                Err(failure) => return Err(failure.error),
            }
        }
        for (partition, row) in &wrong.holders {
            let change = Change::<E>::Update(Box::new(|_| {}));
            let mut attempt = EntityAttempt::new(Key::<E>::stored(partition, row), change).holding_anew();
            match driver::commit(Together::alone(table), &mut [&mut attempt]) {
                Ok(_) => mended += 1,
                Err(error) if is_another_s(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        for (partition, row) in &wrong.entities {
            let mut attempt = EntityAttempt::new(Key::<E>::stored(partition, row), Change::<E>::Refile);
            match driver::commit(Together::alone(table), &mut [&mut attempt]) {
                Ok(_) => mended += 1,
                Err(error) if is_another_s(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(mended)
    }
}

/// Whether a refusal says that others have written the rows, or claim them.
pub(super) fn is_another_s(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConditionNotMet
            | ErrorKind::EntityNotFound
            | ErrorKind::EntityAlreadyExists
            | ErrorKind::UniqueConflict
    )
}
