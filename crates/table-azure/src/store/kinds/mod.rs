//! What is noted of the kinds of entities in a table: their layouts, and the states of their indexes.
//!
//! A process goes by what it has read for the time of a lease, and then reads it again. So a change of states is known to every
//! process only a while after it was noted, and two neighbouring states may be gone by at one time. Those that must not meet have
//! another between them, and the change is [waited for](super::transitions) before what relies on it begins.

mod text;

use std::time::{Duration, Instant};

use table_engine::__executor::LayoutTexts;
use table_engine::Result;
use table_engine::executor::layouts;
use table_engine::row::key::NUMBERS;
use table_engine::schema::{IndexState, IndexStates, Layout};
use table_engine::{DynamicEntity, ETag, Value};

use self::text::{read, write};

/// The property with the table's name as it was created.
const NAME: &str = "Name";
/// The property with the number that the table has as long as it is there.
const ID: &str = "Id";
/// The property with the milliseconds for which a process goes by what it has read.
const LEASE: &str = "LeaseMs";
/// For how long a table is known of which nothing is noted.
const UNNOTED: Duration = Duration::from_secs(5);

/// The states of a kind, and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KindRecord {
    pub(super) states: IndexStates,
    /// The indexes whose rows writers remove already, and put none yet. By their states their earlier rows are being removed.
    pub(super) opening: Vec<String>,
    /// Whether some process may still go by the states before these.
    pub(super) is_moving: bool,
}

impl KindRecord {
    /// Returns the states as readers and writers go by them: an index that opens is kept by its writers, and no reader uses it.
    pub(super) fn shown(&self) -> IndexStates {
        let mut states = self.states.clone();
        for (name, state) in &mut states.indexes {
            if self.opening.contains(name) {
                *state = IndexState::Backfill;
            }
        }
        states
    }

    /// Puts an index into a state in which writers keep it as before and no reader uses it, in a new epoch.
    pub(super) fn close(&mut self, index: &str) {
        self.states.indexes.retain(|(known, _)| known != index);
        self.states.indexes.push((index.to_owned(), IndexState::Backfill));
        self.states.epoch += 1;
        self.is_moving = true;
    }
}

/// What is noted of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    /// Of each kind the layout.
    pub(super) texts: LayoutTexts,
    /// What is noted of those kinds whose indexes have states, or had some.
    records: Vec<(String, KindRecord)>,
    pub(super) name: Option<String>,
    pub(super) id: Option<u32>,
    pub(super) etag: Option<ETag>,
    /// For how long it is gone by.
    lease: Option<Duration>,
}

impl Noted {
    /// Makes the note of a table that has no kinds yet.
    pub(super) fn of_new(lease: Duration) -> Self {
        Self { lease: Some(lease), ..Self::default() }
    }

    /// Reads the row of a table.
    pub(super) fn read(row: &DynamicEntity) -> Result<Self> {
        let find = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| row.get(name).and_then(Value::as_i64);
        let id = number(ID).and_then(|id| u32::try_from(id).ok()).filter(|id| *id < NUMBERS);
        let lease = number(LEASE).and_then(|lease| u64::try_from(lease).ok()).map(Duration::from_millis);
        let mut noted = Self { name: find(NAME), id, etag: row.etag(), lease, ..Self::default() };
        for at in 0.. {
            let (Some(kind), Some(layout)) = (find(&numbered("Kind", at)), find(&numbered("Layout", at)))
            else {
                break;
            };
            if let Some(states) = find(&numbered("States", at)) {
                noted.records.push((kind.clone(), read(&states)?));
            }
            noted.texts.push((kind, layout));
        }
        Ok(noted)
    }

    /// Returns the row of a table.
    pub(super) fn row(&self, partition: &str, row: &str) -> DynamicEntity {
        let mut row = DynamicEntity::new(partition, row);
        if let Some(name) = &self.name {
            row.set(NAME, &**name);
        }
        if let Some(id) = self.id {
            row.set(ID, i64::from(id));
        }
        if let Some(lease) = self.lease {
            row.set(LEASE, i64::try_from(lease.as_millis()).unwrap_or(i64::MAX));
        }
        for (at, (kind, layout)) in self.texts.iter().enumerate() {
            row.set(&numbered("Kind", at), &**kind);
            row.set(&numbered("Layout", at), &**layout);
            if let Some(record) = self.record(kind) {
                row.set(&numbered("States", at), write(record));
            }
        }
        row
    }

    /// Returns for how long it is gone by.
    pub(super) fn lease(&self) -> Duration {
        self.lease.unwrap_or_else(|| if self.etag.is_some() { super::service::LEASE } else { UNNOTED })
    }

    /// Says for how long it is gone by, if nothing is noted yet.
    pub(super) fn set_first_lease(&mut self, lease: Duration) {
        if self.etag.is_none() {
            self.lease = Some(lease);
        }
    }

    /// Returns the layout of a kind, if one is noted.
    pub(super) fn layout(&self, kind: &str) -> Result<Option<Layout>> {
        let noted = self.texts.iter().find(|(known, _)| known == kind);
        noted.map(|(kind, layout)| layouts::read(layout, kind)).transpose()
    }

    /// Returns what is noted of a kind's states, if anything is.
    pub(super) fn record(&self, kind: &str) -> Option<&KindRecord> {
        self.records.iter().find(|(known, _)| known == kind).map(|(_, record)| record)
    }

    /// Returns the states of a kind as they are.
    pub(super) fn states(&self, kind: &str) -> IndexStates {
        self.record(kind).map(|record| record.states.clone()).unwrap_or_default()
    }

    /// Returns the states of a kind as readers and writers go by them.
    pub(super) fn shown(&self, kind: &str) -> IndexStates {
        self.record(kind).map(KindRecord::shown).unwrap_or_default()
    }

    /// Returns the epoch of a kind.
    pub(super) fn epoch(&self, kind: &str) -> u64 {
        self.record(kind).map_or(0, |record| record.states.epoch)
    }

    /// Notes the layout of a kind.
    pub(super) fn set_layout(&mut self, kind: &str, layout: String) {
        match self.texts.iter_mut().find(|(known, _)| known == kind) {
            Some((_, noted)) => *noted = layout,
            None => self.texts.push((kind.to_owned(), layout)),
        }
    }

    /// Notes the states of a kind.
    pub(super) fn set_record(&mut self, kind: &str, record: KindRecord) {
        match self.records.iter_mut().find(|(known, _)| known == kind) {
            Some((_, noted)) => *noted = record,
            None => self.records.push((kind.to_owned(), record)),
        }
    }

    /// Returns whether some process may still go by earlier states of a kind.
    pub(super) fn is_moving(&self) -> bool {
        self.records.iter().any(|(_, record)| record.is_moving)
    }

    /// Says that every process goes by the states of these kinds, as far as they are in the epochs that `waited` has.
    pub(super) fn settle(&mut self, waited: &Self) {
        for (kind, record) in &mut self.records {
            if record.states.epoch == waited.epoch(kind) {
                record.is_moving = false;
            }
        }
    }
}

/// What was read of a table, and until when it is gone by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    read: Instant,
    until: Instant,
}

impl Lease {
    /// Begins when the note was asked for, not when the answer came.
    pub(super) fn of(noted: &Noted, asked: Instant) -> Self {
        Self { read: asked, until: asked + noted.lease() }
    }

    /// Returns when it ends.
    pub(super) fn until(self) -> Instant {
        self.until
    }

    /// Returns whether it has not ended.
    pub(super) fn holds(self) -> bool {
        Instant::now() < self.until
    }

    /// Returns whether the note was read no longer ago than this.
    pub(super) fn is_younger(self, age: Duration) -> bool {
        self.read.elapsed() < age
    }
}

fn numbered(name: &str, at: usize) -> String {
    format!("{name}{at:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_is_written() {
        let row = DynamicEntity::new("company", "layouts")
            .with(NAME, "Company")
            .with(ID, 1_000_000_000_i64)
            .with("Kind000", "employee")
            .with("Layout000", "one")
            .with("Kind001", "lacks its layout");
        let mut noted = Noted::read(&row).unwrap();
        assert_eq!(noted.texts, [("employee".to_owned(), "one".to_owned())]);
        assert_eq!((noted.name.as_deref(), noted.id), (Some("Company"), Some(1_000_000_000)));
        for id in [-1, 1 << 30] {
            assert_eq!(Noted::read(&DynamicEntity::new("a", "layouts").with(ID, id)).unwrap().id, None);
        }
        let mut record = KindRecord::default();
        record.close("by_name");
        noted.set_layout("badge", "two".into());
        noted.set_record("badge", record.clone());
        noted.lease = Some(Duration::from_millis(1_500));
        let again = Noted::read(&noted.row("company", "layouts")).unwrap();
        assert_eq!((&again.texts, again.lease()), (&noted.texts, Duration::from_millis(1_500)));
        assert_eq!((again.record("badge"), again.record("employee")), (Some(&record), None));
        assert_eq!((again.epoch("badge"), again.is_moving()), (1, true));
        let damaged = noted.row("company", "layouts").with("States001", "epoch x");
        assert!(Noted::read(&damaged).is_err());
    }

    #[test]
    fn what_was_waited_for_is_settled_unless_it_has_changed_meanwhile() {
        let mut waited = Noted::default();
        let mut record = KindRecord::default();
        record.close("by_name");
        waited.set_record("employee", record.clone());
        let mut now = waited.clone();
        now.settle(&waited);
        assert!(!now.is_moving());
        record.close("by_age");
        now.set_record("employee", record);
        now.settle(&waited);
        assert!(now.is_moving());
    }

    #[test]
    fn an_index_that_opens_is_kept_and_not_read() {
        let mut record = KindRecord::default();
        record.states.indexes.push(("by_name".into(), IndexState::Purge));
        assert_eq!(record.shown(), record.states);
        record.opening.push("by_name".into());
        assert_eq!(record.shown().indexes, [("by_name".to_owned(), IndexState::Backfill)]);
    }
}
