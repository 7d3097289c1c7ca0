//! Jobs that an explorer has begun, of whatever kind.

use table_core::Error;
use table_core::typed::{CopyReport, Job, JobProgress};

/// A job that was begun.
#[derive(Debug)]
pub enum Begun {
    /// One that says how far it is, and nothing else.
    Job(Job<'static>),
    /// A repair of what is sound: it must find nothing.
    Repair(Job<'static, CopyReport>),
}

impl Begun {
    /// The job in smaller steps.
    pub fn steps_of(self, rows: u64) -> Self {
        match self {
            Self::Job(job) => Self::Job(job.steps_of(rows)),
            Self::Repair(job) => Self::Repair(job.steps_of(rows)),
        }
    }

    /// Does some of the work; whether there is more to do.
    pub fn step(&mut self) -> Result<bool, Error> {
        match self {
            Self::Job(job) => job.step(),
            Self::Repair(job) => {
                let more = job.step();
                let report = job.report();
                assert!(report.is_sound() && report.mended == 0, "{report}: {:?}", report.problems);
                more
            }
        }
    }

    /// How far it is.
    pub fn progress(&self) -> &JobProgress {
        match self {
            Self::Job(job) => job.progress(),
            Self::Repair(job) => job.progress(),
        }
    }

    /// Gives it up.
    pub fn cancel(self) -> Result<(), Error> {
        match self {
            Self::Job(job) => job.cancel(),
            Self::Repair(job) => job.cancel(),
        }
    }
}
