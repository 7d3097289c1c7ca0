//! Blobs in a snapshot: a reader gets several segments with one answer, and keeps one at a time.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use table_engine::__executor::{BlobId, BlobInfo, BlobSnapshot, ContainerId};
use table_engine::contents::{BlobRecord, length_of, segments};
use table_engine::{Error, Result};
use tokio_postgres::Row;

use super::BlobTables;
use super::containers::{bytes_of, no_such_container, of_blob, of_number};
use crate::catalog::column;
use crate::clock::ticks;
use crate::connection::Call;
use crate::error::damaged;
use crate::param::{Param, Params};
use crate::snapshot::PostgresSnapshot;

/// Segments that are read ahead where they are read one after another.
const AHEAD: u32 = 16;

/// The columns of a blob.
const BLOB: &str = "b.id, b.length, b.made, b.changed, b.content_type, b.refs, b.touched";

/// Blobs in a snapshot.
pub(super) struct PostgresBlobs {
    snapshot: PostgresSnapshot,
    ahead: RefCell<Ahead>,
}

/// Segments that were read ahead.
#[derive(Default)]
struct Ahead {
    of: Option<BlobId>,
    next: u32,
    segments: BTreeMap<u32, Vec<u8>>,
}

impl PostgresBlobs {
    pub(super) fn new(snapshot: PostgresSnapshot) -> Self {
        Self { snapshot, ahead: RefCell::default() }
    }

    fn tables(&self) -> &BlobTables {
        &self.snapshot.store().blobs
    }

    /// Returns the answer to a statement, if the container is there; one round trip for both questions.
    fn in_container(&self, number: i64, call: Call) -> Result<Vec<Row>> {
        let sql = format!("SELECT 1 FROM {} WHERE id = $1 AND name IS NOT NULL", self.tables().containers);
        let mut answers = self.snapshot.query_all(vec![of_number(sql, number), call])?;
        let found = answers.pop().unwrap_or_default();
        if answers.pop().unwrap_or_default().is_empty() {
            return Err(no_such_container());
        }
        Ok(found)
    }
}

fn info(row: &Row, name: String, at: usize) -> Result<BlobInfo> {
    let id: Vec<u8> = column(row, at)?;
    let id = BlobId(id.try_into().map_err(|_| no_blob())?);
    let record = BlobRecord {
        length: column::<i64>(row, at + 1)?.cast_unsigned(),
        digest: 0,
        references: u32::try_from(column::<i64>(row, at + 5)?).unwrap_or(u32::MAX),
        made: ticks(column(row, at + 2)?),
        changed: ticks(column(row, at + 3)?),
        content_type: column::<String>(row, at + 4)?.into(),
    };
    Ok(BlobInfo::of(name, id, record))
}

#[cold]
fn no_blob() -> Error {
    damaged("the record of a blob")
}

impl BlobSnapshot for PostgresBlobs {
    fn find(&self, container: ContainerId, name: &str) -> Result<Option<BlobInfo>> {
        let number = self.snapshot.store().container_number(container)?;
        let BlobTables { names, blobs, .. } = self.tables();
        let sql = format!(
            "SELECT {BLOB} FROM {names} AS n JOIN {blobs} AS b ON b.id = n.blob WHERE n.container = $1 AND n.name = $2"
        );
        let mut call = of_number(sql, number);
        call.params.add(name.into());
        self.in_container(number, call)?.first().map(|row| info(row, name.to_owned(), 0)).transpose()
    }

    fn list(
        &self,
        container: ContainerId,
        prefix: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<(Vec<BlobInfo>, bool)> {
        let number = self.snapshot.store().container_number(container)?;
        let BlobTables { names, blobs, .. } = self.tables();
        let mut params = Params::default();
        params.add(Param::Number(number));
        let prefix_at = params.add(prefix.into());
        let mut condition =
            format!("n.container = $1 AND n.name >= {prefix_at} AND starts_with(n.name, {prefix_at})");
        if let Some(after) = after {
            condition += &format!(" AND n.name > {}", params.add(after.into()));
        }
        if let Some(end) = crate::keys::behind_prefix(prefix) {
            condition += &format!(" AND n.name < {}", params.add(Param::Text(end)));
        }
        let limit = params.add(Param::Number(i64::try_from(most).unwrap_or(i64::MAX - 1).saturating_add(1)));
        let sql = format!(
            "SELECT n.name, {BLOB} FROM {names} AS n JOIN {blobs} AS b ON b.id = n.blob
             WHERE {condition} ORDER BY n.container, n.name LIMIT {limit}"
        );
        let rows = self.in_container(number, Call { sql, params })?;
        let found = rows.iter().take(most).map(|row| info(row, column(row, 0)?, 1));
        Ok((found.collect::<Result<_>>()?, rows.len() <= most))
    }

    fn blob(&self, id: BlobId) -> Result<Option<BlobInfo>> {
        let sql = format!(
            "SELECT {BLOB} FROM {} AS b WHERE b.id = $1 AND (b.refs > 0 OR b.touched IS NOT NULL)",
            self.tables().blobs
        );
        self.snapshot.query(of_blob(sql, id))?.first().map(|row| info(row, String::new(), 0)).transpose()
    }

    fn segment(&self, id: BlobId, number: u32, _: bool) -> Result<Cow<'_, [u8]>> {
        let mut ahead = self.ahead.borrow_mut();
        if ahead.of != Some(id) {
            *ahead = Ahead { of: Some(id), ..Ahead::default() };
        }
        if let Some(segment) = ahead.segments.remove(&number) {
            ahead.next = number.saturating_add(1);
            return Ok(segment.into());
        }
        // Who reads on mostly reads all.
        let most = if number > 0 && number == ahead.next { AHEAD } else { 2 };
        ahead.segments.clear();
        for row in self.snapshot.query(segments_of(self.tables(), id, number, most))? {
            let at = u32::try_from(column::<i64>(&row, 0)?).map_err(|_| no_blob())?;
            ahead.segments.insert(at, column(&row, 1)?);
        }
        ahead.next = number.saturating_add(1);
        ahead.segments.remove(&number).map(Cow::Owned).ok_or_else(|| damaged("a segment of a blob"))
    }
}

/// Returns the statement that reads so many segments of a blob, from this one on.
fn segments_of(tables: &BlobTables, id: BlobId, first: u32, most: u32) -> Call {
    let mut params = Params::default();
    params.add(bytes_of(id));
    params.add(Param::Number(first.into()));
    params.add(Param::Number(i64::from(first) + i64::from(most)));
    let sql = format!(
        "SELECT number, body FROM {} WHERE blob = $1 AND number >= $2 AND number < $3 ORDER BY number",
        tables.segments
    );
    Call { sql, params }
}

/// Returns all bytes of a blob that is so long.
pub(crate) fn content(snapshot: &PostgresSnapshot, id: BlobId, length: usize) -> Result<Vec<u8>> {
    let most = u32::try_from(segments(length_of(length))).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(length);
    for row in snapshot.query(segments_of(&snapshot.store().blobs, id, 0, most))? {
        bytes.extend_from_slice(column(&row, 1)?);
    }
    if bytes.len() == length { Ok(bytes) } else { Err(damaged("the blob of a list's ids")) }
}

/// Returns whether there is a blob of this identity.
pub(crate) fn has_blob(snapshot: &PostgresSnapshot, id: BlobId) -> Result<bool> {
    let sql = format!(
        "SELECT 1 FROM {} AS b WHERE b.id = $1 AND (b.refs > 0 OR b.touched IS NOT NULL)",
        snapshot.store().blobs.blobs
    );
    Ok(!snapshot.query(of_blob(sql, id))?.is_empty())
}
