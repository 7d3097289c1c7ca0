//! Tables for each period: made, seen in a snapshot, and dropped together.

use std::sync::Arc;

use lmdb_verify::state_of_write;

use table_engine::error::Result;
use table_engine::executor::{Dropped, PeriodsSeen, TableExec};
use table_engine::model::Ticks;
use table_engine::schema::{PeriodTables, Schema};
use table_engine::sorting;

use crate::handle::lmdb_snapshot::LmdbSnapshot;
use crate::handle::shared::Shared;
use crate::jobs::{declare, elsewhere, reclaim};
use crate::lmdb::{Databases, WriteTxn};
use crate::records::catalog::{self, Entry};
use crate::records::meta::Meta;
use crate::records::periods::{self, PeriodsEntry};
use crate::state::catalog_lookup::Lookup;

impl Shared {
    /// Returns the table of a period, and makes it if there is none, in one transaction that also notes the kind's
    /// layout. A period that was dropped is not made again.
    pub(super) fn make_table_of(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        let mut made = None;
        self.writer.check_running()?;
        // Mostly the table is there, and a snapshot finds it without a turn in the writers' queue.
        {
            let txn = self.environment.read_txn()?;
            if let Ok(table) = self.table_in(&txn, tables, start)? {
                return Ok(table);
            }
        }
        let name = tables.name(start);
        let entry = self.transact(|txn, dbs, meta| {
            // Another thread or process may have made it since.
            if let Some(entry) = self.may_make(txn, dbs, meta, tables, start)? {
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

    /// Makes sure that a period's table may be made: the template is noted, the period was not dropped, and there is no such
    /// table. If there is one, it is returned.
    fn may_make(
        &self,
        txn: &mut WriteTxn<'_>,
        dbs: &Databases,
        meta: &mut Meta,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Option<Entry>> {
        let (name, state) = (tables.name(start), state_of_write(txn));
        if let Lookup::Found(noted) = self.lookup_periods(txn, state, tables)?
            && noted.period == tables.period
        {
            noted.check(start, &name)?;
            return Ok(match self.lookup_table(txn, state, &name)? {
                Lookup::Found(entry) => Some(entry),
                Lookup::Absent => None,
            });
        }
        // A template that is new, or has another period, asks for the names of all tables.
        let noted = periods::noted(catalog::all(dbs, txn, meta)?, tables)?;
        if let Some(template) = &noted.template {
            template.check(start, &name)?;
        }
        periods::begin(dbs, txn, meta, &noted, tables)?;
        // All tables were seen, so one that is not among them is not there.
        Ok(noted.entries.into_iter().find(|entry| entry.name.eq_ignore_ascii_case(&name)))
    }

    /// Returns the table of a period as a snapshot sees it; else the beginning of the first period that is not dropped.
    /// Looks at the records of the table and of the template, and at no others.
    fn table_in(
        self: &Arc<Self>,
        txn: &heed::RoTxn<'_>,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        let state = txn.id();
        match self.lookup_periods(txn, state, tables)? {
            Lookup::Absent => return Ok(Err(Ticks::MIN)),
            Lookup::Found(noted) if noted.period == tables.period => {
                return Ok(match self.lookup_table(txn, state, &tables.name(start))? {
                    Lookup::Found(entry) => Ok(self.table(&entry)),
                    Lookup::Absent => Err(noted.floor),
                });
            }
            Lookup::Found(_) => {}
        }
        let seen = self.tables_of(txn, &Meta::read(self.environment.dbs.main, txn)?, tables)?;
        Ok(seen.table(start).cloned().ok_or(seen.floor))
    }

    /// Drops the tables of all periods before this one, and sees to it that none of them comes again.
    pub(super) fn drop_tables_of(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        floor: Ticks,
    ) -> Result<Dropped> {
        let dropped = self.transact(|txn, dbs, meta| {
            let noted = periods::noted(catalog::all(dbs, txn, meta)?, tables)?;
            let known = periods::begin(dbs, txn, meta, &noted, tables)?;
            let floor = floor.max(known.floor);
            let is_before = |name: &str| tables.start_of(name).is_some_and(|start| start < floor);
            // The former digests are verified before new ones authenticate what was changed.
            self.verify_tables(txn, meta)?;
            let (mut dropped, mut authenticated) = (Vec::new(), None);
            for entry in noted.entries.iter().filter(|entry| is_before(&entry.name)) {
                elsewhere::table_is_dropped(dbs, txn, meta, entry, &|name| !is_before(name))?;
                let entry =
                    catalog::drop_table(dbs, txn, meta, &entry.name).map_err(|e| e.table(&entry.name))?;
                dropped.push(entry.id);
                authenticated = authenticated.or_else(|| Some(entry).filter(|entry| entry.digest.is_some()));
            }
            if let Some(gone) = authenticated {
                self.forget_authenticated(txn, meta, &gone)?;
            }
            if floor != known.floor {
                let now = PeriodsEntry { floor, ..known.clone() };
                periods::put(dbs, txn, meta, Some(&known), &now)?;
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

impl Shared {
    /// Returns the tables of a kind's periods as a snapshot sees them.
    fn tables_of(
        self: &Arc<Self>,
        txn: &heed::RoTxn<'_>,
        meta: &Meta,
        tables: &'static PeriodTables,
    ) -> Result<PeriodsSeen> {
        let noted = periods::noted(catalog::all(&self.environment.dbs, txn, meta)?, tables)?;
        let floor = noted.template.as_ref().map_or(Ticks::MIN, |template| template.floor);
        let mut seen = Vec::new();
        // Without the record there is no table of the template, whatever other tables are called.
        if noted.template.is_some() {
            let of_period = |entry: &Entry| Some((tables.start_of(&entry.name)?, self.table(entry)));
            seen.extend(noted.entries.iter().filter_map(of_period));
            sorting::sort_by_key(&mut seen, |(start, _)| *start);
        }
        Ok(PeriodsSeen { generation: meta.generation, store: meta.tag(), floor, tables: seen })
    }
}

impl LmdbSnapshot {
    /// Returns the tables of a kind's periods as the snapshot sees them: those that are known, if nothing has changed
    /// since.
    pub(crate) fn tables_of(
        &self,
        tables: &'static PeriodTables,
        known: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        let (shared, txn) = self.shared();
        let meta = Meta::read(shared.environment.dbs.main, txn)?;
        if let Some(known) = known.filter(|known| known.generation == meta.generation) {
            return Ok(known.clone());
        }
        shared.tables_of(txn, &meta, tables).map(Arc::new)
    }

    /// Returns the table of a period as the snapshot sees it; else the beginning of the first period that is not
    /// dropped.
    pub(crate) fn table_of(
        &self,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        let (shared, txn) = self.shared();
        shared.table_in(txn, tables, start)
    }
}
