//! What becomes of an index.

use table_engine::__executor::{JobRecord, Transition};
use table_engine::executor::layouts::{compare, unclear, unknown_version};
use table_engine::schema::{IndexEvent, IndexState, Layout, LayoutIndex, Schema};
use table_engine::{Error, ErrorKind, Result};

use super::super::kinds::{KindRecord, Noted};
use super::super::masks::apart;
use super::super::service::Service;
use super::super::table::TableEntry;

/// What becomes of an index, with nothing of the caller held.
pub(crate) struct OwnedTransition {
    schema: &'static Schema,
    index: String,
    event: IndexEvent,
    epoch: u64,
    job: String,
    record: Option<JobRecord>,
}

impl OwnedTransition {
    pub(crate) fn of(transition: &Transition<'_>) -> Self {
        let Transition { schema, index, event, epoch, job: (job, record) } = transition;
        Self {
            schema,
            index: (*index).to_owned(),
            event: event.clone(),
            epoch: *epoch,
            job: (*job).to_owned(),
            record: record.cloned(),
        }
    }

    /// Refuses an index whose rows no step of a job can make: the service changes one partition at a time.
    fn check(&self, noted: &Layout) -> Result<()> {
        let declared = Layout::of(self.schema);
        let of_declared = declared.index(&self.index).filter(|_| self.event == IndexEvent::Rebuild);
        for index in noted.index(&self.index).into_iter().chain(of_declared) {
            check_index(index, self.event == IndexEvent::Rebuild)?;
        }
        Ok(())
    }

    /// Returns the record of the kind after the event; `None` if it can't happen.
    pub(super) fn after(&self, mut record: KindRecord, layout: &Layout) -> Option<KindRecord> {
        let now = record.states.index(layout, &self.index);
        let moves = match self.event {
            // Who still keeps it would put rows where they are removed.
            IndexEvent::Rebuild | IndexEvent::Drop => now.is_kept(),
            // Who does not put rows yet would leave entities without theirs.
            IndexEvent::Purged => true,
            _ => false,
        };
        record.states.transit(&self.index, &now, self.event.clone()).then_some(())?;
        record.opening.retain(|opening| *opening != self.index);
        record.is_moving |= moves;
        Some(record)
    }
}

/// Refuses an index whose rows no step of a job can make, or remove.
pub(super) fn check_index(index: &LayoutIndex, makes: bool) -> Result<()> {
    let because = if index.is_elsewhere() {
        "in other partitions than their entities', which the store can't change together with them: that takes the ability \
         `groups`"
    } else if index.is_shared() && makes {
        "what many entities come to, which the store can't count at one moment: that takes the ability `snapshot`"
    } else {
        return Ok(());
    };
    let because = format!("the rows of the index `{}` are {because}", index.name);
    Err(Error::new(ErrorKind::Unsupported).because(because))
}

impl Service {
    /// Carries out what happens to an index; `None` if the kind is in another epoch by now, or it can't happen.
    pub(crate) async fn transit(
        &self,
        table: &TableEntry,
        transition: OwnedTransition,
    ) -> Result<Option<IndexState>> {
        let OwnedTransition { schema, index, event, job, .. } = &transition;
        let kind = schema.kind;
        let mut noted = self.settle(table).await?;
        if noted.epoch(kind) != transition.epoch {
            return Ok(None);
        }
        let Some(layout) = noted.layout(kind)? else { return Ok(None) };
        if layout.version() != schema.version {
            return Err(unknown_version(schema, layout.version()));
        }
        let begins = matches!(event, IndexEvent::Rebuild | IndexEvent::Drop);
        if begins {
            transition.check(&layout)?;
        }
        if *event == IndexEvent::Rebuild {
            if let Ok(found) = compare(table.name(), Some(&layout), schema) {
                unclear(&found, schema)?;
            }
            apart(table, &noted, schema)?;
        }
        let mut record = noted.record(kind).cloned().unwrap_or_default();
        // Nothing is written for what can't happen.
        if transition.after(record.clone(), &layout).is_none() {
            return Ok(None);
        }
        let now = record.states.index(&layout, index);
        let is_read = begins && matches!(now, IndexState::Ready { .. });
        let opens = *event == IndexEvent::Purged && !record.opening.contains(index);
        if is_read || opens {
            if is_read {
                record.close(index);
            } else {
                record.opening.push(index.clone());
                record.states.epoch += 1;
                record.is_moving = true;
            }
            let Some(settled) = self.move_on(table, &noted, kind, record.clone()).await? else {
                return Ok(None);
            };
            (noted, record) = (settled, KindRecord { is_moving: false, ..record });
        }
        let Some(record) = transition.after(record, &layout) else { return Ok(None) };
        let mut becomes = Noted::clone(&noted);
        let changed = match event {
            IndexEvent::Rebuild => Some(layout.with_index(schema, index)),
            IndexEvent::Dropped => Some(layout.without_index(index)),
            _ => None,
        };
        if let Some(changed) = changed.filter(|changed| *changed != layout) {
            becomes.set_layout(kind, changed.to_string());
        }
        let mut jobs = self.put_job(table, job, transition.record.as_ref()).await?;
        if begins {
            // A job that makes an index anew ends the one that removes it, and the other way round.
            for other in ["rebuild", "drop"].map(|word| format!("{word} {kind} {index}")) {
                if other != *job {
                    jobs.extend(self.put_job(table, &other, None).await?);
                }
            }
        }
        let (moves, states) = (record.is_moving, record.states.clone());
        becomes.set_record(kind, record);
        if !self.write_noted(table, becomes, jobs).await? {
            return Ok(None);
        }
        if moves {
            self.settle(table).await?;
        }
        let state = states.indexes.into_iter().find(|(known, _)| known == index);
        Ok(Some(state.map_or(IndexState::Absent, |(_, state)| state)))
    }
}
