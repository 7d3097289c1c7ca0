//! The records of queues and of blobs, which a store need not have.

use std::collections::BTreeMap;

use table_engine::contents::BlobId;
use table_engine::error::Result;

use super::{Check, MOST_PROBLEMS, Problem, corrupt};
use crate::jobs::missing_blobs::MissingBlobs;
use crate::{blobs, lmdb, queues};

impl Check<'_> {
    /// Looks at the queues.
    #[inline]
    pub(super) fn queues(&mut self, database: Result<Option<lmdb::Db>>) {
        let Some(Some(database)) = self.noted(database) else { return };
        let mut problems = Vec::new();
        let counted = queues::check::check(&self.inner.environment, self.txn, database, |queue, error| {
            if problems.len() < MOST_PROBLEMS {
                let queue = queue.map(|queue| format!("queue `{queue}`: ")).unwrap_or_default();
                problems.push(Problem { table: None, row: None, what: format!("{queue}{error}") });
            }
        });
        self.report.problems.extend(problems);
        let Some(counted) = self.noted(counted) else { return };
        (self.report.queues, self.report.messages) = (counted.queues, counted.messages);
        self.report.pending_propagation = counted.entries;
        for table in counted.tables {
            if !self.tables.contains_key(&table) && !self.tombstones.contains(&table) {
                let what =
                    format!("copies are to follow entities of table number {table}, which is no table's");
                self.problem(None, &corrupt(what));
            }
        }
    }

    /// Looks at the blobs.
    #[inline]
    pub(super) fn blobs(&mut self, database: Result<Option<lmdb::Db>>) {
        let Some(database) = self.noted(database) else { return };
        // Where no blob was for rows, none is there that they refer to, and none counts them.
        let all = std::mem::take(&mut self.references);
        let (of_rows, mut missing) =
            if self.refers { (all, BTreeMap::new()) } else { (BTreeMap::new(), all) };
        if let Some(database) = database {
            missing.extend(self.counted_blobs(database, &of_rows));
        }
        let blobs =
            MissingBlobs { dbs: self.dbs, txn: self.txn, store: self.inner.identity(), blobs: missing };
        let mut problems = Vec::new();
        let room = MOST_PROBLEMS.saturating_sub(self.report.problems.len());
        let table = |number| {
            let table = self.tables.get(&number)?;
            Some((table.name.as_deref()?, &*table.dict))
        };
        let told = blobs.report(table, |problem| {
            problems.push(problem);
            problems.len() < room
        });
        self.report.problems.extend(problems.into_iter().take(room));
        self.noted(told);
    }

    /// Looks at the records of blobs, and returns those that rows refer to and that are missing.
    #[inline]
    fn counted_blobs(
        &mut self,
        database: lmdb::Db,
        of_rows: &BTreeMap<BlobId, u32>,
    ) -> BTreeMap<BlobId, u32> {
        let mut problems = Vec::new();
        let counted = blobs::check::check(&self.inner.environment, self.txn, database, of_rows, |error| {
            if problems.len() < MOST_PROBLEMS {
                problems.push(Problem { table: None, row: None, what: error.to_string() });
            }
        });
        self.report.problems.extend(problems);
        let Some(counted) = self.noted(counted) else { return BTreeMap::new() };
        (self.report.containers, self.report.blobs) = (counted.containers, counted.blobs);
        counted.missing
    }
}
