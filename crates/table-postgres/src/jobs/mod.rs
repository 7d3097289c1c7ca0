//! Jobs over a table: where they are, the rows that come next, and what becomes of indexes and versions.

mod convert;
mod dropped;
mod elsewhere;
mod forget;
pub(crate) mod record;
mod transit;

use std::cell::RefCell;
use std::sync::Arc;

use table_engine::__executor::{
    self as executor, Backend, Conversion, EachRow, JobRecord, Jobs, Position, StepRequest, StepSize,
    TableExec, Transition,
};
use table_engine::schema::{self, IndexState, IndexStates, Layout, Schema};
use table_engine::{ErrorKind, Result};
use tokio_postgres::Row;

pub(crate) use self::dropped::{sources_of_copies, table_is_dropped};
pub(crate) use self::elsewhere::{Inherited, find};
use crate::catalog::column;
use crate::connection::Call;
use crate::error::{damaged, missing};
use crate::keys::unescape;
use crate::snapshot::{self, PostgresSnapshot};
use crate::store::plain;
use crate::table::PostgresTable;

impl PostgresTable {
    /// Returns the answer to a statement about the table.
    fn ask(&self, call: &Call) -> Result<Vec<Row>> {
        self.store.query(call).map_err(|error| self.store.say_new_name(&self.entry, error))
    }

    /// Returns a number that a statement gives.
    fn ask_number(&self, sql: &str) -> Result<u64> {
        let answer = self.ask(&plain(sql))?;
        let row = answer.first().ok_or_else(|| damaged("the answer of the server"))?;
        column::<i64>(row, 0).map(i64::cast_unsigned)
    }

    /// Refuses a table that was dropped, or has another name.
    fn check_exists(&self) -> Result<()> {
        let sql = format!("SELECT FROM {} LIMIT 0", self.entry.rows);
        self.ask(&plain(&sql)).map(drop)
    }
}

impl Jobs for PostgresTable {
    fn job(&self, name: &str) -> Result<Option<JobRecord>> {
        let answer = self.ask(&record::one(&self.store.catalog, self.entry.id, name, false))?;
        if answer.is_empty() {
            self.check_exists()?;
        }
        Ok(record::found(&answer)?.pop().map(|(_, job)| job))
    }

    fn begun(&self) -> Result<Vec<(String, JobRecord)>> {
        record::found(&self.ask(&record::all(&self.store.catalog, self.entry.id))?)
    }

    fn keep(&self, name: &str, job: Option<&JobRecord>) -> Result<()> {
        let (catalog, id) = (&self.store.catalog, self.entry.id);
        self.store
            .change(|change| {
                let named = change.ask(&catalog.name_of(id))?;
                let is_there = named.first().map(|row| column::<&str>(row, 0)).transpose()?;
                if is_there != Some(&*self.entry.name) {
                    return Err(missing().into());
                }
                change.ask(&record::put(catalog, id, name, job)).map(Some)
            })
            .map(drop)
            .map_err(|error| self.store.say_new_name(&self.entry, error))
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        match self.store.clone().open(name) {
            Ok(table) => Ok(Some(table)),
            Err(error) if matches!(error.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn last_row(&self) -> Result<Option<Position>> {
        let sql = format!("SELECT pk, rk FROM {} ORDER BY pk DESC, rk DESC LIMIT 1", self.entry.rows);
        let answer = self.ask(&plain(&sql))?;
        let Some(row) = answer.first() else { return Ok(None) };
        let [partition, row] = [0, 1].map(|at| column::<&str>(row, at));
        Ok(Some(Position { partition: unescape(partition?).into_owned(), row: unescape(row?).into_owned() }))
    }

    fn row_count(&self) -> Result<u64> {
        self.ask_number(&format!("SELECT count(*) FROM {}", self.entry.rows))
    }

    fn byte_count(&self) -> Result<u64> {
        self.ask_number(&format!(
            "SELECT coalesce(sum(octet_length(pk) + octet_length(rk) + pg_column_size(body)), 0)::bigint FROM {}",
            self.entry.rows
        ))
    }

    fn version(&self, schema: &'static Schema) -> Result<(IndexStates, Option<u32>)> {
        let kinds = self.read_kinds()?;
        Ok((kinds.states(schema.kind), kinds.layout(schema.kind)?.map(|noted| noted.version())))
    }

    fn convert(&self, conversion: &Conversion<'_>) -> Result<bool> {
        convert::convert(self, conversion)
    }

    fn forget_copies(&self, schema: &'static Schema) -> Result<u64> {
        forget::copies(self, schema)
    }

    fn rows_after(
        &self,
        after: Option<&Position>,
        size: StepSize,
        each: EachRow<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let (snapshot, first) = (PostgresSnapshot::of_first_read(self.store.clone())?, RefCell::default());
        let request = StepRequest { table: self.entry.id, after, size };
        let rows = executor::rows_after(&snapshot, request, &mut snapshot::begin(self, &first), each);
        rows.map_err(|error| self.store.say_new_name(&self.entry, error))
    }

    fn index_states(&self, schema: &'static Schema, index: &str) -> Result<(IndexStates, IndexState, bool)> {
        let kinds = self.read_kinds()?;
        let (noted, states) = self.living(&kinds, schema, |call| self.ask(&call))?;
        let Some(noted) = noted else { return Ok((states, IndexState::Absent, false)) };
        let declared = Layout::of(schema);
        let both = noted.index(index).zip(declared.index(index));
        let is_same = noted.version() == schema.version
            && both.is_some_and(|(was, is)| schema::same_index(&noted, was, &declared, is));
        let state = states.index(&noted, index);
        Ok((states, state, is_same))
    }

    fn indexes(&self, schema: &'static Schema) -> Result<Vec<String>> {
        let noted = self.read_kinds()?.layout(schema.kind)?;
        Ok(noted.iter().flat_map(Layout::indexes).map(|index| index.name.clone()).collect())
    }

    fn kind_of(&self, schema: &'static Schema, index: &str) -> Result<Option<String>> {
        let noted = self.read_kinds()?.layout(schema.kind)?;
        Ok(noted.and_then(|noted| noted.index(index).map(|index| noted.index_kind(index))))
    }

    fn transit(&self, transition: &Transition<'_>) -> Result<Option<IndexState>> {
        transit::transit(self, transition)
    }
}
