//! A backend with a fault fails the check of what it does wrong: each fault here is one of a wrapper of the map.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a check that fails panics")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table_conformance::MapStore;
use table_engine::__executor::{
    self as seam, Abilities, Backend, Batch, Committed, Condition, Expected, Group, HasVault, InPlace, Kept,
    LayoutTexts, Names, OneSnapshotForEachThread, PackedRow, PageRequest, Plan, RangeQuery, Read,
    ReadSnapshot, RecordOwner, Refused, RetryFairness, RowCursor, RowView, RowWrite, ScanRanges, SealedAt,
    ServiceRecords, TableExec, Take, VisitEach,
};
use table_engine::model::EntityKeys;
use table_engine::query::PageBudget;
use table_engine::schema::{IndexMask, Schema};
use table_engine::{Continuation, ErrorKind, Query, Result, ValueRef};

/// What a backend does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing.
    None,
    /// It writes whatever is there.
    DropsConditions,
    /// It does not look whether a range is what was read.
    DropsRanges,
    /// It leaves out the second half of a plan's rows.
    CommitsHalf,
    /// It has written the rows before the one that a plan is refused for.
    WritesBeforeRefusing,
    /// It gives rows a new time that are to keep theirs.
    GivesNewTimes,
    /// It adds nothing to rows that many entities add to.
    DropsAdditions,
    /// It gives the rows of a batch from the last to the first.
    TurnsBatches,
    /// It leaves out the last row of a batch.
    ForgetsLastRows,
    /// Its snapshots get rows as they are now.
    GetsNewerRows,
    /// It replaces service records whatever they are.
    DropsExpectations,
    /// It keeps the service records of all tables as the store's own.
    MixesOwners,
}

/// A map that has a fault.
struct Broken {
    map: Arc<dyn Backend>,
    fault: Fault,
    names: Names,
}

impl Broken {
    fn with(fault: Fault) -> Arc<dyn Backend> {
        Arc::new(Self { map: MapStore::new().backend(), fault, names: Names::default() })
    }

    fn table(self: &Arc<Self>, inner: Arc<dyn TableExec>) -> Arc<dyn TableExec> {
        Arc::new(Table { inner, store: self.clone() })
    }

    fn snapshot(
        self: &Arc<Self>,
        inner: Box<dyn OneSnapshotForEachThread>,
    ) -> Box<dyn OneSnapshotForEachThread> {
        Box::new(Snapshot { inner, kept: Kept::default(), store: self.clone() })
    }

    /// Returns a row in the form that it may be kept in.
    fn pack(&self, table: u32, view: &RowView<'_>) -> Result<PackedRow> {
        let entity = view.to_entity()?;
        let properties: Vec<(&str, ValueRef<'_>)> =
            entity.properties().map(|(name, value)| (name, value.as_value_ref())).collect();
        self.names.pack(table, entity.partition_key(), entity.row_key(), view.timestamp(), &properties)
    }

    /// Returns the plan that is carried out in the place of the one that is asked for.
    fn change<'p>(&self, plan: &Plan<'p>) -> Plan<'p> {
        let has = |fault| self.fault == fault;
        let row = |row: &RowWrite<'p>| match self.fault {
            Fault::DropsConditions => RowWrite { condition: Condition::Any, ..*row },
            _ => *row,
        };
        let group = |group: &Group<'p>| {
            let taken = if has(Fault::CommitsHalf) { group.rows.len().div_ceil(2) } else { group.rows.len() };
            Group {
                table: group.table,
                partition: group.partition,
                rows: group.rows[..taken].iter().map(row).collect(),
                additions: if has(Fault::DropsAdditions) { vec![] } else { group.additions.clone() },
                unchanged: if has(Fault::DropsRanges) { vec![] } else { group.unchanged.clone() },
                epochs: group.epochs.clone(),
            }
        };
        Plan {
            groups: plan.groups.iter().map(group).collect(),
            outbox_ops: plan.outbox_ops.clone(),
            as_of: plan.as_of,
            queue_ops: plan.queue_ops.clone(),
            keeps_times: plan.keeps_times && !has(Fault::GivesNewTimes),
            is_raw: plan.is_raw,
            is_wide: plan.is_wide,
        }
    }

    /// Returns whose service records are read in the place of those that are asked for.
    fn owner<'o>(&self, owner: RecordOwner<'o>) -> RecordOwner<'o> {
        if self.fault == Fault::MixesOwners { RecordOwner::Store } else { owner }
    }

    /// Carries out, of a plan that was refused, what stands before the row that it was refused for.
    fn write_before(&self, tables: &[&dyn TableExec], plan: &Plan<'_>, refused: &Refused) {
        let Some(end) = refused.row else { return };
        let mut groups = plan.groups.iter();
        let Some(group) = groups.nth(refused.group) else { return };
        let rows = group.rows[..end.min(group.rows.len())].to_vec();
        let groups =
            [Group { table: group.table, ..Group::new(group.partition, rows) }].into_iter().collect();
        let before = Plan { groups, is_raw: plan.is_raw, is_wide: plan.is_wide, ..Plan::default() };
        drop(self.map.commit(tables, &before, &SealedAt::NOTHING));
    }
}

/// Returns the map's table.
fn inner(table: &dyn TableExec) -> &dyn TableExec {
    let any: &dyn Any = table;
    any.downcast_ref::<Table>().map_or(table, |table| &*table.inner)
}

impl HasVault for Broken {}

impl Backend for Broken {
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        Ok(self.table(self.map.clone().create(table)?))
    }

    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        Ok(self.table(self.map.clone().open(table)?))
    }

    fn tables(&self) -> Result<Vec<String>> {
        self.map.tables()
    }

    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()> {
        self.map.clone().drop_tables(tables)
    }

    fn abilities(&self) -> Abilities {
        self.map.abilities()
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Committed, Refused> {
        let tables: Vec<_> = tables.iter().map(|table| inner(*table)).collect();
        let done = self.map.commit(&tables, &self.change(plan), sealed_at);
        if let (Err(refused), Fault::WritesBeforeRefusing) = (&done, self.fault) {
            self.write_before(&tables, plan, refused);
        }
        done
    }

    fn service_records(&self) -> Result<&dyn ServiceRecords> {
        Ok(self)
    }

    fn retry_fairness(&self) -> &RetryFairness {
        self.map.retry_fairness()
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(self.snapshot(self.map.clone().read_snapshot()?))
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn path(&self) -> &Path {
        self.map.path()
    }
}

impl ServiceRecords for Broken {
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        self.map.service_records()?.get(self.owner(owner), name)
    }

    fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let expected = if self.fault == Fault::DropsExpectations { Expected::Any } else { expected };
        self.map.service_records()?.replace(self.owner(owner), name, expected, value)
    }
}

struct Table {
    inner: Arc<dyn TableExec>,
    store: Arc<Broken>,
}

impl TableExec for Table {
    fn table_name(&self) -> &str {
        self.inner.table_name()
    }

    fn id(&self) -> u32 {
        self.inner.id()
    }

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        self.inner.get(keys, read)
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        self.inner.view(keys, take)
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        self.inner.declare(schema)
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        self.inner.index_mask(schema, writes)
    }

    fn store(&self) -> &dyn Backend {
        &*self.store
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(self.store.snapshot(self.inner.read_snapshot()?))
    }
}

/// A row with its stored key.
type KeyedRow = (Vec<u8>, PackedRow);

struct Snapshot {
    inner: Box<dyn OneSnapshotForEachThread>,
    kept: Kept,
    store: Arc<Broken>,
}

impl Snapshot {
    /// Returns every row of a table, by its stored key.
    fn rows(&self, table: &dyn TableExec) -> Result<Vec<KeyedRow>> {
        let mut views = self.inner.views(inner(table), ScanRanges::from(Query::new()))?;
        let mut rows = Vec::new();
        while let Some(view) = views.next()? {
            let (partition, row) = view.keys();
            rows.push((seam::stored_key(table.id(), &partition, &row), self.store.pack(table.id(), &view)?));
        }
        Ok(rows)
    }

    /// Begins a walk over the rows that a scan range asks for.
    fn begin(&self, rows: &[KeyedRow], asked: RangeQuery) -> Box<dyn RowCursor> {
        let lies_in = |key: &[u8]| asked.range().is_some_and(|(start, end)| start <= key && key < end);
        let wants = |row: &PackedRow| asked.wants(&row.view().unwrap()).unwrap();
        let found = rows.iter().filter(|(key, row)| lies_in(key) && wants(row));
        let mut rows: Vec<_> = found.map(|(_, row)| row.clone()).collect();
        if asked.is_reverse() {
            rows.reverse();
        }
        Box::new(Walk { asked, rows, at: 0, store: self.store.clone() })
    }
}

impl ReadSnapshot for Snapshot {
    fn has(&self, table: &dyn TableExec) -> bool {
        self.inner.has(inner(table))
    }

    fn state(&self) -> usize {
        self.inner.state()
    }

    fn age(&self) -> Duration {
        self.inner.age()
    }

    fn get<'s>(
        &'s self,
        table: &dyn TableExec,
        keys: EntityKeys<'_>,
        trusted: bool,
    ) -> Result<Option<RowView<'s>>> {
        if self.store.fault != Fault::GetsNewerRows {
            return self.inner.get(inner(table), keys, trusted);
        }
        let now = self.store.map.clone().read_snapshot()?;
        let Some(view) = now.get(inner(table), keys, trusted)? else { return Ok(None) };
        let full = || seam::error(ErrorKind::InvalidQuery, "the snapshot can keep no more rows");
        self.kept.keep(self.store.pack(table.id(), &view)?).ok_or_else(full)?.view().map(Some)
    }

    fn digest(&self, table: &dyn TableExec, partition: &str, prefix: &str) -> Result<u64> {
        self.inner.digest(inner(table), partition, prefix)
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        self.inner.layouts(inner(table))
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        let rows = self.rows(table)?;
        seam::cursors(scan_ranges, table.id(), &mut |asked| self.begin(&rows, asked))
    }

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        let rows = self.rows(table)?;
        seam::views(self, &self.kept, scan_ranges, table.id(), &mut |asked| self.begin(&rows, asked))
    }

    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        let rows = self.rows(table)?;
        let request = PageRequest { table: table.id(), store: 1, budget, after };
        seam::page(self, scan_ranges, request, &mut |asked| self.begin(&rows, asked), each)
    }
}

/// Rows that a batch has.
const BATCH: usize = 3;

/// A walk over the rows that are wanted, a batch at a time.
struct Walk {
    asked: RangeQuery,
    rows: Vec<PackedRow>,
    at: usize,
    store: Arc<Broken>,
}

impl RowCursor for Walk {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        batch.begin(0, 0);
        let end = self.rows.len().min(self.at + BATCH);
        let mut rows: Vec<_> = self.rows[self.at..end].iter().collect();
        match self.store.fault {
            Fault::TurnsBatches => rows.reverse(),
            Fault::ForgetsLastRows if rows.len() == BATCH => drop(rows.pop()),
            _ => {}
        }
        for row in rows {
            batch.put_packed(row);
        }
        self.at = end;
        if self.at == self.rows.len() {
            batch.end();
        }
        batch.read_by_names(&self.store.names, &self.asked);
        Ok(())
    }
}

mod without_a_fault {
    table_conformance::conformance!(super::Broken::with(super::Fault::None));
}

/// Makes sure that each of these checks fails on a backend with the fault.
fn check_caught(fault: Fault, checks: &[&str]) {
    for check in checks {
        let run = || table_conformance::check(check, &Broken::with(fault));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "`{check}` passes with {fault:?}");
    }
}

#[test]
fn a_dropped_condition_is_caught() {
    // That updates are lost shows as well, but only where threads happen to meet: it is no test of the check.
    check_caught(
        Fault::DropsConditions,
        &[
            "each_condition_holds_or_is_refused",
            "a_plan_happens_whole_or_not_at_all",
            "what_a_plan_demands_of_other_rows",
            "a_unique_key_is_of_one_entity",
        ],
    );
    check_caught(Fault::DropsRanges, &["what_a_plan_demands_of_other_rows"]);
}

#[test]
fn half_of_a_plan_is_caught() {
    check_caught(
        Fault::CommitsHalf,
        &["a_plan_happens_whole_or_not_at_all", "entities_and_their_copies_change_together"],
    );
    check_caught(
        Fault::WritesBeforeRefusing,
        &["a_plan_happens_whole_or_not_at_all", "a_load_fails_batch_by_batch"],
    );
}

#[test]
fn rows_out_of_their_order_are_caught() {
    check_caught(
        Fault::TurnsBatches,
        &["rows_come_in_the_order_of_their_keys", "random_queries_find_what_a_model_finds"],
    );
}

#[test]
fn rows_left_out_are_caught() {
    check_caught(
        Fault::ForgetsLastRows,
        &[
            "rows_come_in_the_order_of_their_keys",
            "random_queries_find_what_a_model_finds",
            "pages_join_to_the_whole",
        ],
    );
}

#[test]
fn a_row_newer_than_its_snapshot_is_caught() {
    check_caught(Fault::GetsNewerRows, &["a_snapshot_is_of_one_moment"]);
}

#[test]
fn a_new_time_is_caught() {
    check_caught(Fault::GivesNewTimes, &["rows_keep_their_times_where_the_plan_says_so"]);
}

#[test]
fn additions_left_out_are_caught() {
    check_caught(Fault::DropsAdditions, &["numbers_are_added_to"]);
}

#[test]
fn service_records_of_others_and_lost_ones_are_caught() {
    check_caught(Fault::DropsExpectations, &["a_service_record_is_replaced_by_what_it_was"]);
    check_caught(
        Fault::MixesOwners,
        &["a_service_record_is_what_was_last_put", "a_service_record_goes_with_its_table"],
    );
}
