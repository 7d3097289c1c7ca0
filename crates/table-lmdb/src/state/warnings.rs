//! Warnings of how an opened store uses its file: the map is nearly full, or an old snapshot keeps space
//! from being used again.
//!
//! A thread that has led a commit looks, once in a while, when it has given the lead away: a subscriber may write.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use table_engine::telemetry::Telemetry;

use super::StoreState;
use super::space::OldestSnapshot;

/// How often the list of free pages is read for it at most, and how old a snapshot is that is reported.
const EVERY: Duration = Duration::from_secs(60);

/// A store that uses so many hundredths of its map is reported to be nearly full.
const NEARLY: u64 = 90;

/// When this process has looked last, and what it saw.
#[derive(Debug)]
pub(crate) struct Warnings {
    begun: Instant,
    /// The seconds after `begun` at which it looks again.
    next: AtomicU64,
    /// The hundredths of the map that the file must reach for it to look earlier.
    reached: AtomicU64,
    /// The transaction that the oldest snapshot saw.
    oldest: AtomicU64,
}

impl Default for Warnings {
    fn default() -> Self {
        let (next, oldest) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Self { begun: Instant::now(), next, reached: AtomicU64::new(NEARLY), oldest }
    }
}

impl Warnings {
    /// Returns whether the caller is to look: when it is time, and at each hundredth that the file takes near the map's end.
    fn is_due(&self, hundredths: u64) -> bool {
        let now = self.begun.elapsed().as_secs();
        let next = self.next.load(Ordering::Relaxed);
        let has_grown = hundredths >= self.reached.load(Ordering::Relaxed);
        if now < next && !has_grown {
            return false;
        }
        self.reached.store(hundredths.saturating_add(1).max(NEARLY), Ordering::Relaxed);
        // One thread looks.
        let after = now.saturating_add(EVERY.as_secs());
        self.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns whether a snapshot has lived for so long. Of another process's its age is not known: it is old if it was the
    /// oldest at the last look, too.
    fn is_old(&self, snapshot: &OldestSnapshot, old: Duration) -> bool {
        let seen = self.oldest.swap(snapshot.transaction, Ordering::Relaxed);
        snapshot.age.map_or(seen == snapshot.transaction, |age| age >= old)
    }
}

impl StoreState {
    /// Warns of the map and of an old snapshot, if a subscriber takes warnings and it is time.
    #[inline]
    pub(crate) fn warn_of_space(&self) {
        if Telemetry::is_enabled() {
            self.look_at_space(EVERY);
        }
    }

    #[inline(never)]
    pub(crate) fn look_at_space(&self, old: Duration) {
        let env = &self.environment.env;
        let info = env.info();
        let map_size = count(info.map_size);
        let hundredth = (map_size / 100).max(1);
        let page_size = u64::from(env.unnamed_database_stat().page_size);
        let file = count(info.last_page_number).saturating_add(1).saturating_mul(page_size);
        if !self.warnings.is_due(file / hundredth) {
            return;
        }
        // What can't be read is an error of those who need it.
        let Ok((usage, oldest)) = self.usage() else { return };
        let space = usage.space;
        // What is free is used before the file grows.
        let used = space.live.saturating_add(space.held_back);
        if used / hundredth >= NEARLY {
            self.telemetry.events().map_nearly_full(used, map_size);
        }
        let Some(oldest) = oldest else { return };
        if self.warnings.is_old(&oldest, old) && space.held_back > 0 {
            self.telemetry.events().snapshot_old(oldest.process, oldest.age, space.held_back);
        }
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use table_engine::model::DynamicEntity;

    use super::*;
    use crate::Store;
    use crate::tests_listener::Listener;

    #[test]
    fn a_snapshot_that_holds_space_back_is_reported_once_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store")).unwrap();
        let company = store.create_table("Company").unwrap();
        let listener = Listener::default();
        let look = |old| {
            store.shared().warnings.next.store(0, Ordering::Relaxed);
            listener.hear(|| store.shared().look_at_space(old));
            listener.take("snapshot_old")
        };
        let snapshot = store.snapshot().unwrap();
        for round in 0..10 {
            company.put(&DynamicEntity::new("p", "r").with("Round", round)).unwrap();
        }
        assert!(look(Duration::from_secs(3_600)).is_empty());
        let told = look(Duration::ZERO);
        let process = format!("process={} age_seconds=0 held_back_bytes=", std::process::id());
        assert!(told.len() == 1 && told[0].contains(&process), "{told:?}");
        // There is no look before it is time again.
        listener.hear(|| store.shared().look_at_space(Duration::ZERO));
        assert!(listener.take("snapshot_old").is_empty());
        drop(snapshot);
        assert!(look(Duration::ZERO).is_empty());
    }

    #[test]
    fn a_snapshot_whose_age_is_not_known_is_old_at_the_second_look() {
        let warnings = Warnings::default();
        let of = |transaction| OldestSnapshot { process: 7, age: None, transaction };
        let seen = [of(3), of(3), of(4), of(4)].map(|snapshot| warnings.is_old(&snapshot, EVERY));
        assert_eq!(seen, [false, true, false, true]);
    }

    #[test]
    fn it_is_time_once_a_minute_and_near_the_maps_end_at_each_hundredth() {
        let warnings = Warnings::default();
        let due = [10, 10, 89, 90, 90, 91, 95, 95, 94].map(|hundredths| warnings.is_due(hundredths));
        assert_eq!(due, [true, false, false, true, false, true, true, false, false]);
    }
}
