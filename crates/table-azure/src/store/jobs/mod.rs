//! Jobs over a table: how far they are, and the rows that come next.
//!
//! A job's record is a row beside what is noted of its table. A step writes rows of many partitions, each in a request of its own,
//! and then the record: one that is broken off in between is made again, which changes nothing of what is done.

mod record;

use std::sync::Arc;

use table_engine::__executor::{
    self as seam, Backend, Conversion, EachRow, JobRecord, Jobs, Position, StepRequest, StepSize, TableExec,
    Transition,
};
use table_engine::schema::{self, IndexState, IndexStates, Layout, Schema};
use table_engine::{Error, ErrorKind, Result};

use self::record::{JobRow, key};
use super::explain;
use super::service::Service;
use super::snapshot::{AzureSnapshot, begin};
use super::table::{AzureTable, TableEntry};
use super::transitions::{OwnedConversion, OwnedTransition};
use crate::client::{Operation, PageRequest};

/// The rows that a step asks for first.
const STEP: usize = 1_000;
/// The most operations that one request has.
const TOGETHER: usize = 100;
/// How often the jobs of a table that is no more are looked for, while others remove them.
const ATTEMPTS: u32 = 16;

impl Service {
    /// Returns a job of a table, if it has begun and not ended.
    pub(super) async fn job(&self, table: &TableEntry, name: &str) -> Result<Option<JobRow>> {
        table.check_exists()?;
        let row = self.note_row(&table.name().to_ascii_lowercase(), &key(name)).await?;
        row.as_ref().map(|row| JobRow::read(row, Some(name))).transpose()
    }

    /// Returns the jobs of a table that were begun and have not ended.
    pub(super) async fn begun_jobs(&self, table: &TableEntry) -> Result<Vec<(String, JobRecord)>> {
        let found = self.job_rows(table.name(), Vec::new()).await?;
        found.iter().map(|row| JobRow::read(row, None).map(|job| (job.name, job.record))).collect()
    }

    /// Returns the rows of the jobs of a table of this name, with these properties.
    async fn job_rows(&self, name: &str, select: Vec<String>) -> Result<Vec<table_engine::DynamicEntity>> {
        let partition = name.to_ascii_lowercase();
        let filter = format!("PartitionKey eq '{partition}' and {}", record::RANGE);
        let (mut request, mut found) = (PageRequest { filter, select, ..PageRequest::default() }, Vec::new());
        loop {
            match self.client.page(&self.layouts_table(), &request).await.map_err(explain::unread) {
                // It is made with the first note.
                Err(error) if error.kind() == ErrorKind::TableNotFound => return Ok(found),
                page => {
                    let page = page?;
                    found.extend(page.entities);
                    request.after = page.next;
                }
            }
            if request.after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Forgets the jobs of a table of this name, which is no more: the next table of the name is not to go on with them.
    pub(super) async fn forget_jobs(&self, name: &str) -> Result<()> {
        let partition = name.to_ascii_lowercase();
        for _ in 0..ATTEMPTS {
            let select = vec!["PartitionKey".into(), "RowKey".into()];
            let rows = self.job_rows(name, select).await?;
            let gone: Vec<_> = rows.iter().map(|row| Operation::delete(row.row_key(), "*".into())).collect();
            let mut all_are_gone = true;
            for some in gone.chunks(TOGETHER) {
                // Where another process has removed one of them, none of these is removed.
                if let Some(refusal) = self.execute_note(&partition, some).await? {
                    if refusal.status != 404 {
                        return Err(explain::refused(&refusal));
                    }
                    all_are_gone = false;
                }
            }
            if all_are_gone {
                return Ok(());
            }
        }
        let because = "others go on removing jobs of a table of this name: try it again";
        Err(Error::new(ErrorKind::StoreBusy).because(because))
    }

    /// Returns the operations by which a job is noted or forgotten, whatever is noted of it.
    pub(super) async fn put_job(
        &self,
        table: &TableEntry,
        name: &str,
        record: Option<&JobRecord>,
    ) -> Result<Vec<Operation>> {
        let known = self.job(table, name).await?;
        let partition = table.name().to_ascii_lowercase();
        Ok(record::change(&partition, name, known.as_ref(), record)?.into_iter().collect())
    }

    /// Notes how far a job is, in the place of where it was. Returns whether it was still there.
    pub(super) async fn move_job(
        &self,
        table: &TableEntry,
        name: &str,
        from: &JobRecord,
        to: Option<&JobRecord>,
    ) -> Result<bool> {
        let Some(known) = self.job(table, name).await?.filter(|known| known.record == *from) else {
            return Ok(false);
        };
        let partition = table.name().to_ascii_lowercase();
        let Some(operation) = record::change(&partition, name, Some(&known), to)? else { return Ok(true) };
        if self.execute_note(&partition, &[operation]).await?.is_none() {
            return Ok(true);
        }
        // An answer may have been lost: it is noted, or another program was quicker.
        Ok(self.job(table, name).await?.map(|job| job.record).as_ref() == to)
    }

    /// Lends the keys of all rows of a table, a page after another.
    async fn each_key(&self, table: &TableEntry, see: &mut (dyn FnMut(Position) + Send)) -> Result<()> {
        let select = vec!["PartitionKey".into(), "RowKey".into(), super::marks::ROW.into()];
        let mut request = PageRequest { select, ..PageRequest::default() };
        loop {
            let page = self.page(table, &request).await?;
            for row in &page.entities {
                if super::marks::row_of(row).is_none() {
                    see(Position { partition: row.partition_key().into(), row: row.row_key().into() });
                }
            }
            request.after = page.next;
            if request.after.is_none() {
                return Ok(());
            }
        }
    }
}

impl AzureTable {
    /// Runs what is asked of the table while this thread waits.
    fn ask<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
        &self,
        ask: impl FnOnce(Arc<Service>, Arc<TableEntry>) -> F,
    ) -> Result<T> {
        self.store.wait(ask(self.store.service.clone(), self.entry.clone()))
    }
}

impl Jobs for AzureTable {
    fn job(&self, name: &str) -> Result<Option<JobRecord>> {
        let name = name.to_owned();
        let found = self.ask(|service, table| async move { service.job(&table, &name).await })?;
        Ok(found.map(|found| found.record))
    }

    fn begun(&self) -> Result<Vec<(String, JobRecord)>> {
        self.ask(|service, table| async move { service.begun_jobs(&table).await })
    }

    fn keep(&self, name: &str, job: Option<&JobRecord>) -> Result<()> {
        let (name, job) = (name.to_owned(), job.cloned());
        self.ask(|service, table| async move {
            let operations = service.put_job(&table, &name, job.as_ref()).await?;
            if operations.is_empty() {
                return Ok(());
            }
            match service.write_jobs(&table, &operations).await {
                // An answer may have been lost: then it is noted.
                Err(error) if error.kind() == ErrorKind::ConditionNotMet => {
                    let is_noted = service.job(&table, &name).await?.map(|found| found.record) == job;
                    if is_noted { Ok(()) } else { Err(error) }
                }
                written => written,
            }
        })
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        match self.store.clone().open(name) {
            Ok(table) => Ok(Some(table)),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the keys of all rows: the service tells no last one.
    fn last_row(&self) -> Result<Option<Position>> {
        self.ask(|service, table| async move {
            let mut last = None;
            service.each_key(&table, &mut |position| last = Some(position)).await?;
            Ok(last)
        })
    }

    /// Reads the keys of all rows: the service tells no number.
    fn row_count(&self) -> Result<u64> {
        self.ask(|service, table| async move {
            let mut count = 0;
            service.each_key(&table, &mut |_| count += 1).await?;
            Ok(count)
        })
    }

    fn byte_count(&self) -> Result<u64> {
        let (mut sum, mut after) = (0_u64, None);
        loop {
            let size = StepSize { rows: u64::from(u32::MAX) };
            let (last, _) = self.rows_after(after.as_ref(), size, &mut |view, _| {
                let bytes = view.stored_key_bytes().len() + view.row().bytes().len();
                sum += u64::try_from(bytes).unwrap_or(u64::MAX);
                Ok(true)
            })?;
            if last.is_none() {
                return Ok(sum);
            }
            after = last;
        }
    }

    fn version(&self, schema: &'static Schema) -> Result<(IndexStates, Option<u32>)> {
        let noted = self.noted_now()?;
        Ok((noted.states(schema.kind), noted.layout(schema.kind)?.map(|layout| layout.version())))
    }

    fn convert(&self, conversion: &Conversion<'_>) -> Result<bool> {
        let conversion = OwnedConversion::of(conversion);
        self.ask(|service, table| async move { service.convert(&table, conversion).await })
    }

    fn forget_copies(&self, schema: &'static Schema) -> Result<u64> {
        self.ask(|service, table| async move { service.forget_copies(&table, schema).await })
    }

    fn rows_after(
        &self,
        after: Option<&Position>,
        size: StepSize,
        each: EachRow<'_>,
    ) -> Result<(Option<Position>, u64)> {
        // A job that was broken off may not have waited for all processes to go by the states that it relies on.
        self.ask(|service, table| async move { service.settle(&table).await.map(drop) })?;
        let snapshot = AzureSnapshot::new(self.store.clone());
        let request = StepRequest { table: self.entry.id(), after, size };
        seam::rows_after(&snapshot, request, &mut begin(self, STEP), each)
    }

    fn index_states(&self, schema: &'static Schema, index: &str) -> Result<(IndexStates, IndexState, bool)> {
        let noted = self.noted_now()?;
        let states = noted.states(schema.kind);
        let Some(layout) = noted.layout(schema.kind)? else { return Ok((states, IndexState::Absent, false)) };
        let declared = Layout::of(schema);
        let both = layout.index(index).zip(declared.index(index));
        let is_same = layout.version() == schema.version
            && both.is_some_and(|(was, is)| schema::same_index(&layout, was, &declared, is));
        let state = states.index(&layout, index);
        Ok((states, state, is_same))
    }

    fn indexes(&self, schema: &'static Schema) -> Result<Vec<String>> {
        let layout = self.noted_now()?.layout(schema.kind)?;
        Ok(layout.iter().flat_map(Layout::indexes).map(|index| index.name.clone()).collect())
    }

    fn kind_of(&self, schema: &'static Schema, index: &str) -> Result<Option<String>> {
        let layout = self.noted_now()?.layout(schema.kind)?;
        Ok(layout.and_then(|layout| layout.index(index).map(|index| layout.index_kind(index))))
    }

    fn transit(&self, transition: &Transition<'_>) -> Result<Option<IndexState>> {
        let transition = OwnedTransition::of(transition);
        self.ask(|service, table| async move { service.transit(&table, transition).await })
    }
}
