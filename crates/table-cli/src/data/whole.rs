//! The parts of a store into another one.

use table_core::{ErrorKind, Tables};

use super::containers::{self, Moving};
use super::copy::{Copied, Copying, Log, Origin, copy};
use super::copy_journal::{Noted, Part, Plan};
use super::load::Mode;
use super::notes::Notes;
use super::queues;
use super::read::Place;
use super::reject::Reject;
use crate::bar::Unit;
use crate::failure::Failure;

/// A store that is copied to another one.
pub(crate) struct Whole<'w> {
    pub(crate) from: &'w Tables,
    pub(crate) to: &'w Tables,
    pub(crate) copying: &'w Copying,
}

impl Whole<'_> {
    /// Copies a part, or what is left of it.
    pub(crate) fn part(&self, part: &Part, log: &mut Log) -> Result<Copied, Failure> {
        match part {
            Part::Table(table) => copy(&Origin::Table(self.from, table), self.to, table, self.copying, log),
            Part::Container(name) => self.container(part, name, log),
            Part::Queue(name) => self.queue(part, name, log),
        }
    }

    fn container(&self, part: &Part, name: &str, log: &mut Log) -> Result<Copied, Failure> {
        let Noted { mut progress, is_ended, .. } = log.journal.noted(part);
        let Copying { mode, verifies, .. } = *self.copying;
        if !is_ended {
            let Log { journal, rejects, bar } = &mut *log;
            bar.begin(format!("copy container {name}"), None, Unit::Blobs);
            journal.enter(part, Plan::default())?;
            let moving = Moving { from: self.from, to: self.to, name, mode, bar };
            containers::copy(&moving, journal, &mut progress, rejects)?;
            progress.reject_bytes = rejects.write(&[])?;
            journal.end(&progress)?;
        }
        let verifies = verifies && matches!(mode, Mode::Insert | Mode::Replace);
        let compared = match verifies.then(|| containers::compare(self.from, self.to, name)).transpose() {
            Err(Failure::Store(error)) if error.kind() == ErrorKind::Unsupported => None,
            compared => compared?,
        };
        Ok(Copied { counts: progress.counts, compared })
    }

    fn queue(&self, part: &Part, name: &str, log: &mut Log) -> Result<Copied, Failure> {
        let Noted { mut progress, is_ended, .. } = log.journal.noted(part);
        let Copying { mode, verifies, .. } = *self.copying;
        if is_ended {
            // One that was left alone is no copy.
            let verifies = verifies && progress.counts.skipped == 0;
            let compared = if verifies { queues::compare_named(self.from, self.to, name)? } else { None };
            return Ok(Copied { counts: progress.counts, compared });
        }
        let Log { journal, rejects, bar } = &mut *log;
        journal.enter(part, Plan::default())?;
        bar.begin(format!("copy queue {name}"), None, Unit::Messages);
        let is_begun = Place::default().is_before(progress.begun);
        let moving = queues::Moving { mode, is_begun, verifies, bar };
        let begin = |all: u64| journal.begin(Place { offset: 0, line: all.saturating_add(2) });
        let moved = queues::copy(self.from, self.to, name, moving, begin)?;
        progress.counts = moved.counts;
        let refused: Vec<_> = moved.refused.into_iter().map(Reject::part).collect();
        progress.reject_bytes = rejects.write(&refused)?;
        journal.end(&progress)?;
        Ok(Copied { counts: progress.counts, compared: moved.compared })
    }
}
