//! References of rows to blobs: those that come with a plan's rows, and those that go with what the rows were before. Parts of the
//! plan's statement count them, so nothing is read for it.

use std::collections::BTreeMap;

use table_engine::__executor::{self as executor, BlobId, Refused};
use table_engine::contents::{LIST_TYPE, reference};
use table_engine::{ErrorKind, Result, ValueRef};
use tokio_postgres::Row;

use super::{BlobTables, ListText};
use crate::body::Body;
use crate::builder::Builder;
use crate::catalog::column;
use crate::clock::SERVER_NOW;
use crate::connection::Call;
use crate::demand::Demand;
use crate::op::{Becomes, Op};
use crate::param::{Param, Params};
use crate::work::{Work, WorkRow};

/// A reference that a property holds.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) property: String,
    pub(crate) id: BlobId,
    /// How long it says that the blob is.
    pub(crate) length: u64,
}

/// What a plan's rows do to references.
#[derive(Default)]
pub(crate) struct PlanReferences {
    /// The rows that are written or removed and may have been there: their tables' numbers and stored keys.
    touched: Columns,
    /// The rows that refer to blobs, as often as they do to another.
    come: Columns,
    blobs: Vec<Option<Vec<u8>>>,
    counts: Vec<i64>,
    /// The blobs among those that were there before, with how often rows refer to them now and how long these are.
    there: BTreeMap<BlobId, (i64, u64)>,
    /// The blobs that come with the rows.
    made: Vec<ListText>,
}

/// Keys of rows.
#[derive(Default)]
struct Columns {
    tables: Vec<i64>,
    partitions: Vec<String>,
    rows: Vec<String>,
}

impl Columns {
    fn push(&mut self, work: &Work, row: &WorkRow) {
        let Some(entry) = work.tables.get(row.table) else { return };
        self.tables.push(entry.id.into());
        self.partitions.push(row.partition.clone());
        self.rows.push(row.row.clone());
    }

    fn add_to(self, params: &mut Params) -> [String; 3] {
        [
            params.add(Param::Numbers(self.tables)),
            params.add(Param::Texts(self.partitions)),
            params.add(Param::Texts(self.rows)),
        ]
    }
}

impl PlanReferences {
    pub(crate) fn of(work: &Work, ops: &[Op]) -> Self {
        let mut found = Self::default();
        for op in ops {
            let Some(row) = work.rows.get(op.of) else { continue };
            let was_there = op.demand != Demand::Absent;
            match &op.becomes {
                Becomes::Gone if was_there => found.touched.push(work, row),
                Becomes::Kept | Becomes::Gone => {}
                Becomes::Written(body) => {
                    if was_there {
                        found.touched.push(work, row);
                    }
                    found.take(work, row, body);
                }
            }
        }
        found
    }

    fn take(&mut self, work: &Work, row: &WorkRow, body: &Body) {
        let made = body.list.as_ref();
        self.made.extend(made.cloned());
        let mut counts: BTreeMap<BlobId, i64> = BTreeMap::new();
        for reference in &body.references {
            *counts.entry(reference.id).or_default() += 1;
            if made.is_none_or(|made| made.id != reference.id) {
                let there = self.there.entry(reference.id).or_insert((0, reference.length));
                there.0 += 1;
            }
        }
        for (id, count) in counts {
            self.come.push(work, row);
            self.blobs.push(Some(id.0.to_vec()));
            self.counts.push(count);
        }
    }

    /// Adds the parts that count the references, and remove blobs with their last one.
    pub(crate) fn add_to(self, builder: &mut Builder, tables: &BlobTables) {
        let BlobTables { blobs, segments, references, .. } = tables;
        self.make(builder, tables);
        let Self { touched, come, blobs: of_rows, counts, there, .. } = self;
        let mut changes = Vec::new();
        if !touched.tables.is_empty() {
            let [table, partition, row] = touched.add_to(&mut builder.params);
            let gone = builder.part(&format!(
                "DELETE FROM {references} AS r USING unnest({table}, {partition}, {row}) AS n(a, b, c)
                 WHERE r.table_id = a AND r.pk = b AND r.rk = c RETURNING r.blob, r.count"
            ));
            changes.push(format!("SELECT blob, -count AS n, NULL::bigint AS length FROM {gone}"));
        }
        if !come.tables.is_empty() {
            let [table, partition, row] = come.add_to(&mut builder.params);
            let of_rows = builder.params.add(Param::MaybeBytes(of_rows));
            let counts = builder.params.add(Param::Numbers(counts));
            builder.part(&format!(
                "INSERT INTO {references} (table_id, pk, rk, blob, count)
                 SELECT a, b, c, d, e FROM unnest({table}, {partition}, {row}, {of_rows}, {counts}) AS n(a, b, c, d, e)"
            ));
        }
        if !there.is_empty() {
            let ids = there.keys().map(|id| Some(id.0.to_vec())).collect();
            let (counts, lengths) =
                there.values().map(|(count, length)| (*count, length.cast_signed())).unzip();
            let ids = builder.params.add(Param::MaybeBytes(ids));
            let counts = builder.params.add(Param::Numbers(counts));
            let lengths = builder.params.add(Param::Numbers(lengths));
            changes.push(format!("SELECT x, y, z FROM unnest({ids}, {counts}, {lengths}) AS n(x, y, z)"));
        }
        if changes.is_empty() {
            return;
        }
        let sums = builder.part(&format!(
            "SELECT blob, sum(n)::bigint AS n, max(length) AS length FROM ({}) AS u(blob, n, length)
             GROUP BY blob HAVING sum(n) <> 0 ORDER BY blob",
            changes.join(" UNION ALL ")
        ));
        let updated = builder.part(&format!(
            "UPDATE {blobs} AS b SET refs = b.refs + d.n, touched = CASE WHEN d.n > 0 THEN NULL ELSE b.touched END
             FROM {sums} AS d WHERE b.id = d.blob
                AND (d.n < 0 OR ((b.refs > 0 OR b.touched IS NOT NULL) AND b.length = d.length))
             RETURNING b.id, b.refs, d.n"
        ));
        builder.part(&format!(
            "DELETE FROM {segments} AS s USING {updated} AS g WHERE g.refs = 0 AND s.blob = g.id"
        ));
        if !there.is_empty() {
            builder.demands.push(format!(
                "(SELECT count(*) FROM {updated} WHERE n > 0) = (SELECT count(*) FROM {sums} WHERE n > 0)"
            ));
        }
    }

    /// Adds the parts that make the blobs of lists, each with the one row that refers to it.
    fn make(&self, builder: &mut Builder, tables: &BlobTables) {
        let BlobTables { blobs, segments, .. } = tables;
        if self.made.is_empty() {
            return;
        }
        let params = &mut builder.params;
        let ids = self.made.iter().map(|list| Some(list.id.0.to_vec())).collect();
        let lengths =
            self.made.iter().map(|list| i64::try_from(list.text.len()).unwrap_or(i64::MAX)).collect();
        let (ids, lengths) = (params.add(Param::MaybeBytes(ids)), params.add(Param::Numbers(lengths)));
        let content_type = params.add(LIST_TYPE.into());
        let (mut of, mut numbers, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        for list in &self.made {
            for (number, body) in (0..).zip(list.segments()) {
                of.push(Some(list.id.0.to_vec()));
                numbers.push(number);
                bodies.push(Some(body.to_vec()));
            }
        }
        let (of, numbers) = (params.add(Param::MaybeBytes(of)), params.add(Param::Numbers(numbers)));
        let bodies = params.add(Param::MaybeBytes(bodies));
        builder.part(&format!(
            "INSERT INTO {blobs} (id, length, refs, made, changed, content_type)
             SELECT i, l, 1, {SERVER_NOW}, {SERVER_NOW}, {content_type} FROM unnest({ids}, {lengths}) AS n(i, l)"
        ));
        builder.part(&format!(
            "INSERT INTO {segments} (blob, number, body)
             SELECT i, n, b FROM unnest({of}, {numbers}, {bodies}) AS s(i, n, b)"
        ));
    }
}

/// Returns the statement that looks for a blob which a plan's rows refer to and which is not there; `None` if they refer to none.
pub(crate) fn missing(work: &Work, tables: &BlobTables) -> Option<Call> {
    if work.references.is_empty() {
        return None;
    }
    let ids = work.references.iter().map(|(_, reference)| Some(reference.id.0.to_vec())).collect();
    let lengths = work.references.iter().map(|(_, reference)| reference.length.cast_signed()).collect();
    let mut params = Params::default();
    let (ids, lengths) = (params.add(Param::MaybeBytes(ids)), params.add(Param::Numbers(lengths)));
    let sql = format!(
        "SELECT n.at FROM unnest({ids}, {lengths}) WITH ORDINALITY AS n(id, length, at)
         WHERE NOT EXISTS (SELECT FROM {} AS b WHERE b.id = n.id AND b.length = n.length
            AND (b.refs > 0 OR b.touched IS NOT NULL)) ORDER BY n.at LIMIT 1",
        tables.blobs
    );
    Some(Call { sql, params })
}

/// Returns the refusal that the answer to that comes to, if a blob is not there.
pub(crate) fn refusal(work: &Work, answer: &[Row], identity: &[u8; 16]) -> Result<Option<Refused>> {
    let Some(row) = answer.first() else { return Ok(None) };
    let at = usize::try_from(column::<i64>(row, 0)?).unwrap_or_default();
    let found = work.references.get(at.saturating_sub(1));
    let Some((row, reference)) = found.and_then(|(of, reference)| Some((work.rows.get(*of)?, reference)))
    else {
        return Ok(None);
    };
    let property = reference.property.escape_debug();
    let because = if reference.id.is_made_in(identity) {
        format!(
            "no entity holds the blob of the property `{property}` any more, or it was uploaded more than an hour ago and none \
             has come to; upload it again"
        )
    } else {
        format!(
            "the blob of the property `{property}` is another store's, and this one does not have it; bring it with \
             `Store::import_blob`, and hold what that gives"
        )
    };
    Ok(Some(row.refused(executor::error(ErrorKind::BlobGone, because))))
}

/// Returns the references that these properties hold.
pub(crate) fn of_properties<'p>(properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>) -> Vec<Reference> {
    let mut found = Vec::new();
    for (name, value) in properties {
        if let ValueRef::Binary(bytes) = value {
            reference::each_in(bytes, |_, id, length| {
                found.push(Reference { property: name.to_owned(), id, length });
            });
        }
    }
    found
}
