//! Blobs that nothing leads to any more, and containers that were dropped.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use table_engine::Result;
use table_engine::contents::UPLOAD_STANDS;

use super::BlobTables;
use super::containers::of_number;
use crate::catalog::column;
use crate::clock::SERVER_NOW;
use crate::connection::Call;
use crate::param::Params;
use crate::store::PostgresStore;

/// Names of a dropped container that go in one transaction.
const NAMES_AT_ONCE: usize = 1_000;

/// Blobs that go in one transaction.
const BLOBS_AT_ONCE: usize = 16;

/// How often a process that uses blobs looks for such.
pub(crate) const SWEPT_EVERY: Duration = Duration::from_secs(60);

impl PostgresStore {
    /// Removes blobs that nothing leads to, if this process has not for so long.
    pub(crate) fn sweep_blobs(&self, every: Duration) {
        {
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            if swept.is_some_and(|at| at.elapsed() < every) {
                return;
            }
            *swept = Some(Instant::now());
        }
        // Nothing depends on it: what stays is removed another time.
        drop(unused(self));
    }
}

/// Removes the containers that this process or another has dropped, and then blobs that nothing leads to.
pub(super) fn dropped(store: &PostgresStore) -> Result<()> {
    let BlobTables { containers, names, blobs, .. } = &store.blobs;
    let left = Call {
        sql: format!("SELECT id::bigint FROM {containers} WHERE name IS NULL ORDER BY id"),
        params: Params::default(),
    };
    for row in store.query(&left)? {
        let container: i64 = column(&row, 0)?;
        let step = format!(
            "WITH gone AS (DELETE FROM {names} WHERE (container, name) IN (
                SELECT container, name FROM {names} WHERE container = $1 LIMIT {NAMES_AT_ONCE}) RETURNING blob)
             UPDATE {blobs} AS b SET refs = refs - n
             FROM (SELECT blob, count(*) AS n FROM gone GROUP BY blob) AS g WHERE b.id = g.blob RETURNING 1"
        );
        while !store.query(&of_number(step.clone(), container))?.is_empty() {}
        // Where another process removes some of the names at this time, it goes on with the others.
        let end = format!(
            "DELETE FROM {containers} WHERE id = $1 AND NOT EXISTS (SELECT FROM {names} WHERE container = $1)"
        );
        store.query(&of_number(end, container))?;
    }
    unused(store)
}

/// Removes blobs that nothing leads to, and uploads that stand still.
fn unused(store: &PostgresStore) -> Result<()> {
    let BlobTables { blobs, segments, .. } = &store.blobs;
    let stands = UPLOAD_STANDS.as_secs() * 10_000_000;
    let sql = format!(
        "WITH b AS (SELECT id FROM {blobs} WHERE refs = 0
            AND (touched IS NULL OR abs(touched - ({SERVER_NOW})) >= {stands}) LIMIT {BLOBS_AT_ONCE} FOR UPDATE SKIP LOCKED),
         s AS (DELETE FROM {segments} AS s USING b WHERE s.blob = b.id)
         DELETE FROM {blobs} AS d USING b WHERE d.id = b.id RETURNING 1"
    );
    while store.query(&Call { sql: sql.clone(), params: Params::default() })?.len() == BLOBS_AT_ONCE {}
    Ok(())
}
