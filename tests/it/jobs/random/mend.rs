//! Copies that raw writes have damaged, and repairs of them that are killed, and taken up by others, while entities change.

use integration_tests::releases::{first, second, third};
use table_core::{DynamicEntity, IfMatch, Query};

use super::World;

impl World {
    /// Damages some copies, where every index is ready, and has them mended.
    pub(super) fn mend(&mut self) {
        let (mut release, store) = (self.release(), self.store.clone());
        let mut job = None;
        // Of three programs few can write at a time.
        for _ in 0..3 {
            release = (release + 1) % 3;
            let is_sound =
                with_release!(release, store, |table, _of| table.check()).is_ok_and(|it| it.is_sound());
            if !is_sound || !store.jobs().unwrap().is_empty() {
                continue;
            }
            match with_release!(release, store, |table, _of| table.repair()) {
                Ok(begun) => job = Some(begun),
                Err(error) => self.note("mended", &Err(error)),
            }
            if job.is_some() {
                break;
            }
        }
        let Some(job) = job else { return };
        let raw = store.dynamic_table("Company").unwrap().raw();
        let rows = raw.query(&Query::new()).unwrap().map(Result::unwrap);
        let mut copies: Vec<_> = rows.filter(|row| !row.row_key().starts_with("empid_")).collect();
        let damages = copies.len().min(1 + self.random.below(8) as usize);
        for _ in 0..damages {
            let copy = copies.swap_remove(self.random.below(copies.len() as u64) as usize);
            let (partition, row) = (copy.partition_key(), copy.row_key());
            if self.random.below(2) == 0 {
                raw.delete(partition, row).unwrap();
            } else {
                let more = DynamicEntity::new(partition, row).with("More", "too much");
                raw.merge(&more, IfMatch::Any).map(drop).unwrap();
            }
        }
        let (mut job, mut writes) = (job.steps_of(self.random.below(super::SIZES)), 0);
        while job.step().unwrap() {
            match self.random.below(4) {
                // It is killed, and another goes on.
                0 => {
                    let next = with_release!(release, store, |table, _of| table.repair()).unwrap();
                    job = next.steps_of(self.random.below(super::SIZES));
                }
                1 => {
                    let (at, age) = (self.any(), 20 + self.random.below(20) as u8);
                    let changed = with_release!(release, store, |table, of| {
                        table.update(of::Employee::key(&*at.0, at.1), |e| e.age = age).map(drop)
                    });
                    self.judge("age", &at, "", &changed);
                    if changed.is_ok() {
                        self.staff.get_mut(&at).unwrap().1 = age;
                        writes += 1;
                    }
                }
                _ => {}
            }
        }
        let report = job.report();
        let most = damages as u64;
        assert!(report.wrong() <= most && report.mended <= most, "{damages}: {report}");
        // Of one entity several copies may be wrong, which are mended together.
        assert!(
            writes > 0 || report.wrong() == most && (report.mended > 0 || most == 0),
            "{damages}: {report}"
        );
        let left = with_release!(release, store, |table, _of| table.check()).unwrap();
        assert!(left.is_sound(), "{left}: {:?}", left.problems);
        assert!(store.jobs().unwrap().is_empty());
        if damages > 0 {
            self.note(if writes > 0 { "mended meanwhile" } else { "mended" }, &Ok(()));
        }
    }
}
