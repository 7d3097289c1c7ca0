//! Tables for each period: made, seen in a snapshot, and dropped together.

use std::sync::Arc;

use crate::error::Result;
use crate::executor::{Dropped, PeriodsSeen, TableExec};
use crate::model::Ticks;
use crate::schema::{PeriodTables, Schema};
use crate::store::handle::moment::LmdbMoment;
use crate::store::handle::shared::Shared;
use crate::store::jobs::{declare, elsewhere, reclaim};
use crate::store::records::catalog;
use crate::store::records::meta::Meta;
use crate::store::records::periods::{self, PeriodsEntry};

impl Shared {
    /// The table of a period, made if there is none, in one transaction with what is noted of the kind. A period that was
    /// dropped is not made again.
    pub(super) fn make_table_of(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        let (name, mut made) = (tables.name(start), None);
        if let Some(entry) = self.has_table_of(tables, &name)? {
            return Ok(self.table(&entry));
        }
        let entry = self.transact(|txn, dbs, meta| {
            let (entries, noted) = periods::noted(catalog::all(dbs, txn, meta)?, tables)?;
            if let Some(noted) = &noted {
                noted.check(start, &name)?;
            }
            periods::begin(dbs, txn, meta, (&entries, noted.as_ref()), tables)?;
            // Somebody else may have been quicker. All tables were seen, so one that is not among them is not there.
            if let Some(entry) = entries.into_iter().find(|entry| entry.name.eq_ignore_ascii_case(&name)) {
                return Ok(entry);
            }
            let entry = catalog::add(dbs, txn, meta, &name)?;
            made = Some(entry.id);
            declare::note_first(dbs, txn, meta, &self.state(&entry), schema)?;
            Ok(catalog::find(dbs, txn, meta, &name)?.unwrap_or(entry))
        });
        if let (Err(_), Some(made)) = (&entry, made) {
            self.forget(made);
        }
        Ok(self.table(&entry?))
    }

    /// The table of a period, if it is there and nothing has to be written. It looks at its own record and the template's
    /// alone; that a table is not there is found out by who is about to make it.
    fn has_table_of(&self, tables: &'static PeriodTables, name: &str) -> Result<Option<catalog::Entry>> {
        self.writer.check_running()?;
        let (txn, dbs) = (self.environment.read_txn()?, &self.environment.dbs);
        if !periods::is_noted(dbs, &txn, tables)? {
            return Ok(None);
        }
        catalog::seen(dbs, &txn, name)
    }

    /// Drops the tables of all periods before this one, and sees to it that none of them comes again.
    pub(super) fn drop_tables_of(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        floor: Ticks,
    ) -> Result<Dropped> {
        let dropped = self.transact(|txn, dbs, meta| {
            let (entries, noted) = periods::noted(catalog::all(dbs, txn, meta)?, tables)?;
            let known = periods::begin(dbs, txn, meta, (&entries, noted.as_ref()), tables)?;
            let floor = floor.max(known.floor);
            let is_before = |name: &str| tables.start_of(name).is_some_and(|start| start < floor);
            // What is vouched for anew was vouched for before.
            self.verify_tables(txn, meta)?;
            let (mut dropped, mut vouched) = (Vec::new(), None);
            for entry in entries.iter().filter(|entry| is_before(&entry.name)) {
                elsewhere::table_is_dropped(dbs, txn, meta, entry, &|name| !is_before(name))?;
                let entry = catalog::bury(dbs, txn, meta, &entry.name).map_err(|e| e.table(&entry.name))?;
                dropped.push(entry.id);
                vouched = vouched.or_else(|| Some(entry).filter(|entry| entry.digest.is_some()));
            }
            if let Some(gone) = vouched {
                self.forget_vouched(txn, meta, &gone)?;
            }
            if floor != known.floor {
                periods::put(dbs, txn, meta, (Some(&known), &PeriodsEntry { floor, ..known.clone() }))?;
            }
            Ok((dropped, floor))
        });
        let (dropped, floor) = dropped?;
        for table in &dropped {
            self.forget(*table);
        }
        if !dropped.is_empty() {
            reclaim::start(&self);
        }
        Ok(Dropped { tables: dropped.len(), floor })
    }
}

impl LmdbMoment {
    /// The tables of a kind's periods as they are at this moment; those that are known, if nothing has changed since.
    pub(in crate::store) fn tables_of(
        &self,
        tables: &'static PeriodTables,
        known: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        let (shared, txn) = self.shared();
        let dbs = &shared.environment.dbs;
        let meta = Meta::read(dbs.main, txn)?;
        if let Some(known) = known.filter(|known| known.generation == meta.generation) {
            return Ok(known.clone());
        }
        let (entries, noted) = periods::noted(catalog::all(dbs, txn, &meta)?, tables)?;
        let floor = noted.as_ref().map_or(Ticks::MIN, |noted| noted.floor);
        let mut seen = Vec::new();
        // Without the record there is no table of the template, whatever other tables are called.
        if noted.is_some() {
            let of_period =
                |entry: &catalog::Entry| Some((tables.start_of(&entry.name)?, shared.table(entry)));
            seen.extend(entries.iter().filter_map(of_period));
            seen.sort_by_key(|(start, _)| *start);
        }
        Ok(Arc::new(PeriodsSeen { generation: meta.generation, store: meta.tag(), floor, tables: seen }))
    }
}
