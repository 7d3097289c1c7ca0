//! A process under `strace`, which makes system calls fail or kills it in one.

use integration_tests::work;
use table_core::{DynamicEntity, DynamicTable, Query, Result, Store};

use crate::say;

fn batch(table: &DynamicTable, number: i64) -> Result<()> {
    let batch = (0..5).fold(table.batch("p"), |batch, row| {
        // Large enough for pages of its own, so that a commit takes several writes.
        let text = "x".repeat(if row == 4 { 9_000 } else { 100 });
        let row = DynamicEntity::new("p", format!("row {row}"));
        batch.put(row.with("Number", number).with("Text", text))
    });
    batch.commit().map(drop)
}

/// The number that all rows have.
fn number(table: &DynamicTable) -> Result<i64> {
    let rows = table.query(&Query::new().partition("p"))?.collect::<Result<Vec<_>>>()?;
    let number = |row: &DynamicEntity| row.get("Number").and_then(|number| number.as_i64()).unwrap();
    assert!(rows.len() == 5 && rows.iter().all(|row| number(row) == number(&rows[0])), "{rows:#?}");
    Ok(number(&rows[0]))
}

fn told<T: std::fmt::Display>(what: &str, result: Result<T>) {
    match result {
        Ok(value) => say(format!("{what} {value}")),
        Err(error) => say(format!("{what} {:?}", error.kind())),
    }
}

/// Makes a store with the rows of batch 0.
pub fn prepare(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    batch(&store.create_table("Fault").unwrap(), 0).unwrap();
    let others = store.create_table("Others").unwrap();
    for row in 0..50 {
        others
            .insert(&DynamicEntity::new("others", format!("row {row:03}")).with("Text", "x".repeat(300)))
            .unwrap();
    }
}

/// `batches STORE SNAPSHOTS`: commits batch 1, 2 and 3, with so many snapshots alive as there are reader slots, and
/// says what came of each; then of one operation of each kind; then the same of the store opened anew.
pub fn batches(arguments: &[&str]) {
    let [path, snapshots] = arguments else { panic!("arguments") };
    let snapshots: u32 = snapshots.parse().unwrap();
    let options = if snapshots == 0 { Store::options() } else { Store::options().max_readers(snapshots) };
    let store = options.open(path).unwrap();
    let table = store.dynamic_table("Fault").unwrap();
    let held: Vec<_> = (0..snapshots).map(|_| store.snapshot().unwrap()).collect();
    for number in 1..=3 {
        told("batch", batch(&table, number).map(|()| number));
    }
    drop(held);
    told("get", table.get("p", "row 0").map(|row| row.is_some()));
    told("query", number(&table));
    told("insert", table.insert(&DynamicEntity::new("q", "r")));
    told("create", store.create_table("New").map(|table| table.name().to_owned()));
    told("drop", store.drop_table("Others").map(|()| true));
    told("reclaim", store.reclaim());
    told("snapshot", store.snapshot().map(|_| true));
    told("tables", store.tables().map(|tables| tables.len()));
    told("stats", store.stats().map(|stats| stats.tables.len()));
    told("check", store.check().map(|report| report.problems.len()));
    told(
        "bulk",
        store.bulk([table.batch("b").insert(DynamicEntity::new("b", "r"))]).map(|report| report.committed),
    );
    drop((table, store));
    let store = Store::open(path).unwrap();
    let table = store.dynamic_table("Fault").unwrap();
    told("reopened", number(&table));
    told("problems", store.check().map(|report| report.problems.len()));
    told("batch", batch(&table, 4).map(|()| 4));
}

/// `steps STORE`: a batch, a table made, a table dropped and its space freed, each said before it begins.
pub fn steps(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let table = store.dynamic_table("Fault").unwrap();
    batch(&table, 1).unwrap();
    say("batch");
    store.create_table("New").unwrap();
    say("create");
    let mut writer = work::Writer::new(0, 1);
    for name in work::TABLES {
        store.create_table(name).unwrap();
    }
    for _ in 0..2 {
        let table = store.dynamic_table(work::TABLES[writer.table()]).unwrap();
        work::commit(&table, writer.partition(), &writer.batch()).unwrap();
        writer.advance();
    }
    say("work");
    store.drop_table("Others").unwrap();
    say("drop");
    store.reclaim().unwrap();
    say("reclaim");
}
