//! Plans carried out: groups of several tables and partitions, and conditions on rows that are not written.

mod groups;
#[cfg(feature = "blob")]
mod lists;
#[cfg(feature = "tracing")]
mod slow;
mod submitted;
mod unchanged;

use std::sync::Arc;

use table_engine::DynamicTable;
use table_engine::error::Error;
use table_engine::model::{DynamicEntity, ETag, ValueRef};
use table_engine::plan::{Act, Condition, Content, Group, Plan, Range, Refused, RowWrite, Version};
use table_engine::row::encode::Given;
use table_engine::row::key;
use table_engine::row::version::version_of;
use table_engine::telemetry::Stamp;

use super::encoded::EncodedPlan;
use super::group::Members;
use super::prepare;
use super::range::{self, Ground};
use crate::Store;
use crate::handle::lmdb_table::LmdbTable;
use crate::records::catalog::TableState;
use crate::tests_scratch::in_memory;

/// What rows hold that are written here.
const TEXT: &[Given<'static>] = &[("Text", ValueRef::String("written"))];

fn row(key: &str, condition: Condition, act: Act<()>) -> RowWrite<'_> {
    let act = match act {
        Act::Keep => Act::Keep,
        Act::Put(()) => Act::Put(Content::Properties(TEXT)),
        Act::Merge(()) => Act::Merge(Content::Properties(TEXT)),
        Act::Remove => Act::Remove,
    };
    RowWrite { key, condition, act, kind: None, of: 0 }
}

fn insert(key: &str) -> RowWrite<'_> {
    row(key, Condition::Absent, Act::Put(()))
}

fn expect(key: &str, version: Version) -> RowWrite<'_> {
    row(key, Condition::Is(version), Act::Keep)
}

fn group<'p>(table: usize, partition: &'p str, rows: Vec<RowWrite<'p>>) -> Group<'p> {
    Group { table, ..Group::new(partition, rows) }
}

/// The table as LMDB's.
fn lmdb(table: &DynamicTable) -> &LmdbTable {
    LmdbTable::of(table.exec()).unwrap()
}

fn prepared(groups: Vec<Group<'_>>, tables: &[&DynamicTable]) -> Result<Box<EncodedPlan>, Refused> {
    let states: Vec<&Arc<TableState>> = tables.iter().map(|table| lmdb(table).state()).collect();
    prepare::plan(Box::default(), &Plan { groups: groups.into_iter().collect(), ..Plan::default() }, &states)
}

fn members(plans: impl IntoIterator<Item = Box<EncodedPlan>>) -> Members {
    let mut members = Members::default();
    plans.into_iter().for_each(|plan| members.push(plan, Stamp::NONE));
    members
}

fn carry_out(groups: Vec<Group<'_>>, tables: &[&DynamicTable]) -> Result<ETag, Refused> {
    let inner = lmdb(tables[0]).inner();
    inner.writer.commit(inner, prepared(groups, tables)?).map(ETag::from_timestamp)
}

fn entity(partition: &str, row: &str) -> DynamicEntity {
    DynamicEntity::new(partition, row).with("Text", "as it was")
}

fn version(table: &DynamicTable, partition: &str, row: &str) -> Version {
    table.get_in_state(partition, row, |view, state| Ok(version_of(view, state))).unwrap().unwrap()
}

/// Returns the version as a reader gives it that has not verified the row, so that the write must look at it again.
fn unproved(version: Version) -> Version {
    let [checksum, length, _] = version.proof;
    Version { proof: [checksum, length, 0], ..version }
}

fn digest(table: &DynamicTable, partition: &str, prefix: &str) -> Result<u64, Error> {
    let environment = &lmdb(table).inner().environment;
    let txn = environment.read_txn()?;
    let mut stored = Vec::new();
    key::encode(lmdb(table).state().id, partition, prefix, &mut stored);
    range::digest(
        &Ground { environment, state: txn.id(), has_written: false, changed_little: true },
        &txn,
        &stored,
    )
}

fn unchanged<'p>(table: &DynamicTable, partition: &str, prefix: &'p str) -> Range<'p> {
    Range { prefix, digest: digest(table, partition, prefix).unwrap() }
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    (dir, store)
}

/// Every row of the store, by table, partition and row, after its pages were found right.
fn rows(store: &Store) -> Vec<String> {
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let mut rows = Vec::new();
    for name in store.tables().unwrap() {
        let table = store.dynamic_table(&name).unwrap();
        for entity in table.query(&table_engine::Query::new()).unwrap() {
            let entity = entity.unwrap();
            rows.push(format!("{name} {} {}", entity.partition_key(), entity.row_key()));
        }
    }
    rows
}
