//! What a change notes of the copies that are to follow it: the entry of its entity, and the entity's version, which outlives
//! it. Both are written with the entity, each under the version that it was read in.

use table_engine::__executor::{CopyKey, CopyPlace, Follow};
use table_engine::outbox::OutboxRecord;
use table_engine::row::key;
use table_engine::{DynamicEntity, Result, Ticks};

use super::super::commit::{Of, Step};
use super::super::marks;
use super::super::planned::{body, with_ring};
use super::super::rings::{self, Token};
use super::super::service::Service;
use super::super::table::TableEntry;
use super::entry;
use crate::client::Operation;

/// What a change notes of one of its entities.
pub(crate) struct Note {
    entry_key: String,
    version_key: String,
    kind: &'static str,
    before: Vec<CopyKey>,
    without: Vec<&'static str>,
}

/// What marks the rows of a change.
pub(crate) struct Marks<'m> {
    /// The place of the first of the notes' rows, behind all that the plan has.
    pub(crate) place: usize,
    /// The change's token, if its rows tell it.
    pub(crate) token: Option<&'m Token>,
}

impl Note {
    /// Makes what a plan asks to be noted. Copies whose keys are not valid are refused with the change of their entity.
    pub(crate) fn of(follow: &Follow) -> Result<Self> {
        for copy in &follow.wanted {
            let checked = key::check_partition(&copy.partition)
                .and_then(|()| key::check_printed_row(&copy.partition, &copy.row));
            checked.map_err(|error| error.table(&copy.table).partition(&copy.partition).row(&copy.row))?;
        }
        let named = |copy: &CopyPlace| CopyKey {
            index: copy.index.to_owned(),
            partition: copy.partition.clone(),
            row: copy.row.clone(),
        };
        Ok(Self {
            entry_key: entry::key(&follow.row)?,
            version_key: entry::version_key(&follow.row)?,
            kind: follow.kind,
            before: follow.before.iter().map(named).collect(),
            without: follow.without.clone(),
        })
    }

    /// Returns what writes the two rows, by what is there now.
    pub(crate) async fn steps(
        &self,
        service: &Service,
        table: &TableEntry,
        partition: &str,
        marks: Marks<'_>,
    ) -> Result<[Step; 2]> {
        let (old_entry, old_version) = futures_util::future::try_join(
            service.raw_row(table, partition, &self.entry_key),
            service.raw_row(table, partition, &self.version_key),
        )
        .await?;
        let last = [&old_entry, &old_version].into_iter().flatten();
        let last = last.filter_map(|row| marks::number(row, marks::VERSION)).max();
        let version = entry::next_version(last);
        let now = Ticks::now();
        let mut record = match &old_entry {
            Some(row) => entry::record(row)?,
            None => OutboxRecord::new(self.kind, now),
        };
        record.take(self.kind, &self.before, &self.without, now.max(record.latest));
        let noted = entry::row(partition, &self.entry_key, &record, version)?;
        let entry = Step {
            of: Of::Note,
            place: marks.place,
            key: self.entry_key.clone(),
            operation: write(old_entry.as_ref(), &self.entry_key, body(&noted)?),
            ring: None,
            before: None,
        };
        let noted = DynamicEntity::new(partition, &self.version_key)
            .with(marks::ROW, marks::ENTITY_VERSION)
            .with(marks::VERSION, version);
        let before = old_version.as_ref().and_then(rings::of).map(str::to_owned);
        // It tells the change also where the entity is deleted by it.
        let ring = marks.token.map(|token| token.ring(before.as_deref()));
        let version = Step {
            of: Of::Note,
            place: marks.place + 1,
            key: self.version_key.clone(),
            operation: write(
                old_version.as_ref(),
                &self.version_key,
                with_ring(body(&noted)?, ring.as_deref()),
            ),
            ring,
            before,
        };
        Ok([entry, version])
    }
}

/// Returns what writes a row in the place of the one that was read, or where none was.
pub(crate) fn write(old: Option<&DynamicEntity>, key: &str, body: Vec<u8>) -> Operation {
    match old.and_then(DynamicEntity::etag) {
        Some(etag) => Operation::replace(key, Some(etag.to_string()), body),
        None => Operation::insert(key, body),
    }
}
