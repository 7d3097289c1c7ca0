//! What becomes of a kind when its rows are converted from one version to another.

use table_engine::__executor::{Conversion, JobRecord};
use table_engine::executor::layouts::{pending, unknown_version};
use table_engine::schema::{self, IndexState, KindEvent, KindState, Layout, Schema};
use table_engine::{Error, ErrorKind, Result};

use super::super::kinds::Noted;
use super::super::masks::apart;
use super::super::service::Service;
use super::super::table::TableEntry;
use super::index::check_index;

/// What becomes of a kind, with nothing of the caller held.
pub(crate) struct OwnedConversion {
    schema: &'static Schema,
    event: KindEvent,
    epoch: u64,
    job: String,
    record: Option<JobRecord>,
}

impl OwnedConversion {
    pub(crate) fn of(conversion: &Conversion<'_>) -> Self {
        let Conversion { schema, event, epoch, job: (job, record) } = conversion;
        let (job, record) = ((*job).to_owned(), record.cloned());
        Self { schema, event: event.clone(), epoch: *epoch, job, record }
    }

    /// Refuses a conversion that no steps can carry out, each of which changes one partition.
    fn check(&self, noted: &Layout) -> Result<()> {
        let declared = Layout::of(self.schema);
        for index in noted.indexes().chain(declared.indexes()) {
            check_index(index, true)?;
        }
        if noted.keys_of(None)[0] != declared.keys_of(None)[0] {
            let because = format!(
                "entities of version {} of `{}` lie in other partitions than those of version {}, and the store changes one \
                 partition at a time: that takes the ability `groups`",
                noted.version(),
                self.schema.kind,
                self.schema.version
            );
            return Err(Error::new(ErrorKind::Unsupported).because(because));
        }
        match noted.indexes().find(|index| noted.meets(index, self.schema.place())) {
            None => Ok(()),
            Some(index) => {
                let because = format!(
                    "an entity of version {} of `{}` could have the key of a copy in the index `{}` of version {}, whose copies \
                     are there until all is converted: keep the row key of the entity apart from it",
                    self.schema.version,
                    self.schema.kind,
                    index.name,
                    noted.version()
                );
                Err(Error::new(ErrorKind::LayoutConflict).because(because))
            }
        }
    }
}

impl Service {
    /// Carries out what happens to a kind's versions; returns whether it did.
    pub(crate) async fn convert(&self, table: &TableEntry, conversion: OwnedConversion) -> Result<bool> {
        let OwnedConversion { schema, event, job, .. } = &conversion;
        let kind = schema.kind;
        let mut noted = self.settle(table).await?;
        let Some(layout) = noted.layout(kind)? else { return Ok(false) };
        let begins = matches!(event, KindEvent::Convert { .. });
        // The declaration that begins a conversion is of a later version than the one that is noted; from then on it is the one
        // that is noted.
        if noted.epoch(kind) != conversion.epoch || begins != (layout.version() < schema.version) {
            return Ok(false);
        }
        let mut record = noted.record(kind).cloned().unwrap_or_default();
        let becomes = if begins { Layout::of(schema) } else { layout.clone() };
        if !record.states.clone().transit_kind(&becomes, event.clone()) {
            return Ok(false);
        }
        if begins {
            conversion.check(&layout)?;
            apart(table, &noted, schema)?;
            let is_read = |name: &str| matches!(record.states.index(&layout, name), IndexState::Ready { .. });
            let read: Vec<_> = layout.indexes().map(|index| index.name.clone()).collect();
            let read: Vec<_> = read.into_iter().filter(|name| is_read(name)).collect();
            for index in &read {
                record.close(index);
            }
            if !read.is_empty() {
                let Some(settled) = self.move_on(table, &noted, kind, record.clone()).await? else {
                    return Ok(false);
                };
                noted = settled;
            }
            // Who goes by the version before writes rows of it.
            record.is_moving = true;
            record.opening.clear();
        }
        if !record.states.transit_kind(&becomes, event.clone()) {
            return Ok(false);
        }
        let mut jobs = self.put_job(table, job, conversion.record.as_ref()).await?;
        if begins {
            // The jobs that are begun are of the version before.
            for (known, _) in self.begun_jobs(table).await? {
                let of_index = ["rebuild", "drop"].map(|word| format!("{word} {kind} "));
                if of_index.iter().any(|of_index| known.starts_with(of_index)) {
                    jobs.extend(self.put_job(table, &known, None).await?);
                }
            }
        }
        let mut now = Noted::clone(&noted);
        now.set_layout(kind, becomes.to_string());
        now.set_record(kind, record);
        if !self.write_noted(table, now, jobs).await? {
            return Ok(false);
        }
        if begins {
            self.settle(table).await?;
        }
        Ok(true)
    }

    /// Takes out of a kind's layout what it says of copies and the declaration doesn't; returns how many lines went.
    pub(crate) async fn forget_copies(&self, table: &TableEntry, schema: &'static Schema) -> Result<u64> {
        let kind = schema.kind;
        let noted = self.settle(table).await?;
        let Some(layout) = noted.layout(kind)? else { return Ok(0) };
        let (version, mut record) = (layout.version(), noted.record(kind).cloned().unwrap_or_default());
        if version != schema.version || record.states.kind != KindState::Stable {
            return Err(if version <= schema.version {
                pending(schema, version, "written")
            } else {
                unknown_version(schema, version)
            });
        }
        let left = schema::without_copies(table.name(), &layout, schema);
        let gone = layout.len().saturating_sub(left.len());
        if gone == 0 {
            return Ok(0);
        }
        record.states.epoch += 1;
        let mut now = Noted::clone(&noted);
        now.set_layout(kind, left.to_string());
        now.set_record(kind, record);
        if self.write_noted(table, now, Vec::new()).await? {
            return Ok(u64::try_from(gone).unwrap_or(u64::MAX));
        }
        let because = "another program has noted something of the kind meanwhile; call it again";
        Err(Error::new(ErrorKind::ConditionNotMet).because(because))
    }
}
