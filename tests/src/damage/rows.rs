//! Reading every row of a table in every way.

use std::collections::BTreeMap;

use table_core::store::RowView;
use table_core::{DynamicEntity, DynamicTable, Query, Result, Store};

use super::{Findings, below};
use crate::random::Random;

pub(super) fn compare_table(
    store: &Store,
    table: &DynamicTable,
    rows: &[DynamicEntity],
    random: &mut Random,
    findings: &mut Findings,
) {
    let all: Vec<&DynamicEntity> = rows.iter().collect();
    let mut partitions = BTreeMap::<&str, Vec<&DynamicEntity>>::new();
    for row in rows {
        partitions.entry(row.partition_key()).or_default().push(row);
    }
    compare_scan(store, table, Query::new(), &all, findings);
    for (key, rows) in &partitions {
        compare_scan(store, table, Query::new().partition(key), rows, findings);
        // A range within the partition.
        let (from, to) = (below(random, rows.len()), below(random, rows.len()));
        let range = &rows[from.min(to)..=from.max(to)];
        let query = Query::new().partition(key).rows(range[0].row_key()..=range[range.len() - 1].row_key());
        compare_scan(store, table, query, range, findings);
    }
    let keys: Vec<&str> = partitions.keys().copied().collect();
    let (from, to) = (below(random, keys.len()), below(random, keys.len()));
    let (from, to) = (keys[from.min(to)], keys[from.max(to)]);
    let range: Vec<_> =
        all.iter().copied().filter(|row| (from..=to).contains(&row.partition_key())).collect();
    compare_scan(store, table, Query::new().partitions(from..=to), &range, findings);
    let tens: Vec<_> =
        all.iter().copied().filter(|row| row.partition_key().starts_with("partition 0")).collect();
    compare_scan(store, table, Query::new().partition_prefix("partition 0"), &tens, findings);
    compare_pages(table, &all, findings);

    let snapshot = match store.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return findings.error(&error),
    };
    for row in rows {
        match snapshot.view(table, row.partition_key(), row.row_key()) {
            Ok(Some(view)) => compare_row(&view, row, findings),
            Ok(None) => {
                findings.missed += 1;
                findings.note(|| format!("no {} {} {}", table.name(), row.partition_key(), row.row_key()));
            }
            Err(error) => findings.error(&error),
        }
        // A row that never was.
        match snapshot.view(table, row.partition_key(), &format!("{}x", row.row_key())) {
            Ok(Some(view)) => {
                findings.wrong += 1;
                findings.note(|| format!("invented {view:?}"));
            }
            Ok(None) => {}
            Err(error) => findings.error(&error),
        }
    }
}

/// Compares a row that was found by its key.
fn compare_row(view: &RowView<'_>, row: &DynamicEntity, findings: &mut Findings) {
    match same(view, row) {
        Ok(true) => {}
        Ok(false) => {
            findings.wrong += 1;
            findings.note(|| format!("{view:?} in place of {row:?}"));
        }
        Err(error) => findings.error(&error),
    }
}

fn same(view: &RowView<'_>, row: &DynamicEntity) -> Result<bool> {
    if view.partition_key() != row.partition_key()
        || view.row_key() != row.row_key()
        || Some(view.etag()) != row.etag()
        || view.len() != row.properties().len()
    {
        return Ok(false);
    }
    for (property, (name, value)) in view.properties().zip(row.properties()) {
        let (found, read) = property?;
        if found != name || read != value.as_value_ref() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Scans both ways.
fn compare_scan(
    store: &Store,
    table: &DynamicTable,
    query: Query,
    expected: &[&DynamicEntity],
    findings: &mut Findings,
) {
    let snapshot = match store.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return findings.error(&error),
    };
    for reverse in [false, true] {
        let query = if reverse { query.clone().rev() } else { query.clone() };
        let views = match snapshot.views(table, &query) {
            Ok(views) => views,
            Err(error) => {
                findings.error(&error);
                continue;
            }
        };
        let mut expected: Box<dyn Iterator<Item = &&DynamicEntity>> =
            if reverse { Box::new(expected.iter().rev()) } else { Box::new(expected.iter()) };
        let (mut failed, mut passed) = (false, 0);
        for view in views {
            let view = match view {
                Ok(view) => view,
                Err(error) => {
                    findings.error(&error);
                    failed = true;
                    break;
                }
            };
            // A row that is passed over makes the scan short, unless an error follows; a row that should not be there
            // is wrong even then.
            let right = loop {
                match expected.next() {
                    None => break None,
                    Some(row)
                        if view.row_key() == row.row_key() && view.partition_key() == row.partition_key() =>
                    {
                        break Some(row);
                    }
                    Some(_) => passed += 1,
                }
            };
            match right {
                Some(row) => compare_row(&view, row, findings),
                None => {
                    findings.wrong += 1;
                    findings.note(|| format!("{view:?} in a scan"));
                    failed = true;
                    break;
                }
            }
        }
        let left = expected.count();
        if !failed && passed + left > 0 {
            findings.short += 1;
            findings.note(|| format!("{passed} rows passed over and {left} missing at the end of {query:?}"));
        }
    }
}

/// Reads page by page, as a service would.
fn compare_pages(table: &DynamicTable, expected: &[&DynamicEntity], findings: &mut Findings) {
    let (mut after, mut expected) = (None, expected.iter());
    loop {
        let page = match table.page(&Query::new(), 130, after.as_ref()) {
            Ok(page) => page,
            Err(error) => return findings.error(&error),
        };
        for entity in &page.entities {
            match expected.next() {
                Some(row) if entity == *row && entity.etag() == row.etag() => {}
                Some(row)
                    if entity.row_key() > row.row_key() || entity.partition_key() > row.partition_key() =>
                {
                    findings.short += 1;
                    findings.note(|| format!("a page has {entity:?} in place of {row:?}"));
                    return;
                }
                row => {
                    findings.wrong += 1;
                    findings.note(|| format!("a page has {entity:?} in place of {row:?}"));
                    return;
                }
            }
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let left = expected.count();
    if left > 0 {
        findings.short += 1;
        findings.note(|| format!("{left} rows missing at the end of the pages"));
    }
}
