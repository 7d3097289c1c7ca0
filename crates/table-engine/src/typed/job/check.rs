//! Copies compared with their entities.

use std::cell::RefCell;

use super::blobs::open_blobs;
use super::kind::of_struct;
use super::report::CopyReport;
use super::shared_rows;
use super::verify_copies::{At, Wrong};
use crate::error::Result;
use crate::executor::telemetry;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::query::Query;
use crate::schema::Schema;
use crate::typed::change::driver::{self, Together};
use crate::typed::entity::Entity;
use crate::typed::table::Table;

/// How many rows are looked at in one snapshot.
const ROWS: usize = 500;

impl<E: Entity> Table<E> {
    /// Compares every copy of the entities with the entity that it is of, in the indexes that are ready, wherever they lie:
    /// none may be missing, none may say anything else, and none may be of no entity. What is still to
    /// [follow](crate::Tables::pending_propagation) is not wrong. Summaries and index lists are compared, too, and each
    /// blob that an entity holds must be in the store. Values are compared, and not names: a copy that was written before a
    /// property had its name, or its field the default that the copy lacks, says the same. A raw write of a row may break
    /// that, or a program that did not know an index.
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
    /// assert_eq!(staff.repair()?.run()?.mended, 2);
    /// assert!(staff.get(Employee::by_email("Sales", "cao@contoso.com"))?.is_some());
    /// assert!(staff.check()?.is_sound());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self) -> Result<CopyReport> {
        let (mut report, table) = (CopyReport::default(), self.dynamic().exec());
        let operation = telemetry::job(table, || "check".into());
        let _entered = operation.enter();
        let checked = self.go_over(&mut report).and_then(|()| self.check_shared_rows(&mut report));
        checked.inspect_err(|error| telemetry::job_failed(table, &operation, error.kind()))?;
        Ok(report)
    }

    /// Compares the summaries and the index lists that are ready, each in one snapshot.
    fn check_shared_rows(&self, report: &mut CopyReport) -> Result<()> {
        let table = self.dynamic();
        for number in 0..E::SCHEMA.indexes.len() {
            if let Some(mut rows) = shared_rows::of(of_struct::<E>(), number)
                && driver::index_mask(Together::alone(table), E::SCHEMA, false)?.is_ready(number)
            {
                rows.compare(table, &as_stored(table, E::SCHEMA)?, report)?;
            }
        }
        Ok(())
    }

    /// Goes over the tables once.
    fn go_over(&self, report: &mut CopyReport) -> Result<()> {
        open_outbox(self.dynamic(), E::SCHEMA)?;
        open_blobs(self.dynamic(), E::SCHEMA)?;
        for (number, there) in self.dynamic().family().iter().enumerate() {
            self.go_over_one(number, there, report)?;
        }
        Ok(())
    }

    /// Goes once over the table of this number.
    fn go_over_one(&self, number: usize, there: &DynamicTable, report: &mut CopyReport) -> Result<()> {
        let table = self.dynamic();
        // Writers keep the copies of rows that are added behind the end. Without jobs an executor knows no last row.
        let end = match there.exec().jobs() {
            Ok(jobs) => jobs.last_row().map_err(|e| e.attempted("check").table(there.name()))?,
            #[cfg(feature = "access")]
            Err(error) if error.kind() == crate::ErrorKind::NotPermitted => {
                return Err(error.attempted("check").table(there.name()));
            }
            Err(_) => None,
        };
        let (mut after, mut is_at_end) = (None, false);
        loop {
            let index_mask = driver::index_mask(Together::alone(table), E::SCHEMA, false)?;
            let snapshot = as_stored(table, E::SCHEMA)?;
            let found = RefCell::new((Wrong::default(), &mut *report, &mut is_at_end));
            let page = snapshot.page_by(there, Query::new().into(), ROWS, after.as_ref(), |_, view| {
                let (wrong, report, is_at_end) = &mut *found.borrow_mut();
                if let Some(end) = &end {
                    let (partition, row) = view.keys();
                    **is_at_end |= end.is_at_or_before(&partition, &row);
                }
                let kind = of_struct::<E>();
                let at = At { kind, table, there, number, snapshot: &snapshot, index_mask };
                at.verify_copies(view, report, wrong)
            })?;
            after = page.next;
            drop(found);
            if after.is_none() || is_at_end {
                return Ok(());
            }
        }
    }
}

/// Takes a snapshot in which every entity is of the version that is declared: another program may begin to convert them at any
/// time, and copies are then what its declaration says.
pub(super) fn as_stored(table: &DynamicTable, schema: &'static Schema) -> Result<Snapshot> {
    let snapshot = table.snapshot()?;
    snapshot.check_rows_as_stored(table, schema)?;
    Ok(snapshot)
}

/// Has snapshots see what is still to follow: they can look into what was opened before they were taken.
pub(super) fn open_outbox(table: &DynamicTable, schema: &Schema) -> Result<()> {
    if schema.has_eventual() || schema.holds_eventual() {
        table.exec().store().outbox()?.count()?;
    }
    Ok(())
}
