//! The jobs of a store.

use crate::error::{Error, ErrorKind, Result};
use crate::handle::tables::Tables;
use crate::model::Ticks;

/// A job that was begun and has not ended; see [`Store::jobs`](crate::Tables::jobs).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobInfo {
    /// The table that it goes over.
    pub table: String,
    /// What it does: `rebuild employee by_email`.
    pub name: String,
    /// When it began.
    pub begun: Ticks,
    /// How many rows were looked at, in the part that it is in.
    pub done: u64,
    /// About how many there are.
    pub total: u64,
    /// How many rows or entities were changed.
    pub changed: u64,
    /// What is deleted, in words: a query, or a partition. Other jobs say by their name what they do.
    pub asked: String,
}

impl Tables {
    /// Returns the jobs that were begun and have not ended, of every table: those that are running, and those that were
    /// broken off. Each goes on where it is when it is asked for again: `rebuild employee by_email` by
    /// [`Table::rebuild`](crate::Table::rebuild).
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # mod before {
    /// #     use table_core::Entity;
    /// #     #[derive(Entity)]
    /// #     #[entity(table = "Company", kind = "employee")]
    /// #     #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #     pub struct Employee { pub department: String, pub id: u32, pub email: String }
    /// # }
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # store.table::<before::Employee>()?.bulk_insert((0..1_000).map(|id| before::Employee {
    /// #     department: "Sales".into(), id, email: format!("{id}@contoso.com"),
    /// # }))?.into_result()?;
    /// # let staff = store.table::<Employee>()?;
    /// let mut job = staff.rebuild()?;
    /// job.step()?;
    /// drop(job); // or the process is killed
    ///
    /// let [job] = &store.jobs()?[..] else { panic!() };
    /// assert_eq!((&*job.name, job.total), ("rebuild employee by_email", 1_000));
    /// staff.rebuild()?.run()?;
    /// assert!(store.jobs()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn jobs(&self) -> Result<Vec<JobInfo>> {
        let mut found = Vec::new();
        for name in self.tables()? {
            let list = || self.dynamic_table(&name)?.exec().jobs()?.begun();
            let begun = match list() {
                // It was dropped meanwhile.
                Err(error) if error.kind() == ErrorKind::TableNotFound => continue,
                begun => begun.map_err(|error| error.attempted("list the jobs of").table(&name))?,
            };
            found.extend(begun.into_iter().map(|(job, record)| JobInfo {
                table: name.clone(),
                begun: record.begun,
                done: record.done,
                total: record.total.max(record.done),
                changed: record.changed,
                asked: if is_deletion(&job) { record.asked } else { String::new() },
                name: job,
            }));
        }
        Ok(found)
    }

    /// Gives up a job as it is listed, whichever program began it. What it takes to go on with the job is not needed: its
    /// query may have asked for all that had expired by then, say, and can't be asked again. What it has done stays done.
    /// Nothing happens if it has ended meanwhile.
    ///
    /// Deletions, repairs and what seals anew can be given up so. Others change the states of a kind, which takes its
    /// declaration: `table.rebuild()?.cancel()` gives up an index that is being made, and those that are being dropped or
    /// converted go on to their end.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Sessions", kind = "session")]
    /// # #[key(partition = "{user}", row = "session_{id:06}")]
    /// # struct Session { user: String, id: u32, expires: i64 }
    /// # let store = Store::temporary()?;
    /// # let now = || 1_000_i64;
    /// let sessions = store.table::<Session>()?;
    /// # sessions.bulk_insert((0..1_200).map(|id| Session { user: "ann".into(), id, expires: 999 }))?.into_result()?;
    /// let expired = sessions.rows().across_partitions().filter(|s| s.expires.lt(now())).entities();
    /// sessions.delete_where(expired)?.step()?;
    /// // The process is killed. The next one asks for another query, which is another job.
    /// for job in store.jobs()?.iter().filter(|job| job.name.starts_with("delete session ")) {
    ///     println!("{} of {}: {}", job.changed, job.table, job.asked);
    ///     store.cancel_job(job)?;
    /// }
    /// let expired = sessions.rows().across_partitions().filter(|s| s.expires.lt(now() + 1)).entities();
    /// sessions.delete_where(expired)?.run()?;
    /// assert!(store.jobs()?.is_empty() && sessions.all().count()? == 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn cancel_job(&self, job: &JobInfo) -> Result<()> {
        let cancel = || {
            let table = self.dynamic_table(&job.table)?;
            let jobs = table.exec().jobs()?;
            // Another that was begun under this name is not the one that was listed.
            if jobs.job(&job.name)?.is_none_or(|found| found.begun != job.begun) {
                return Ok(());
            }
            if !is_given_up(&job.name) {
                return Err(Error::new(ErrorKind::Unsupported).because(format!(
                    "`{}` changes the states of a kind: `Job::cancel` of the job gives it up where that can be",
                    job.name.escape_debug()
                )));
            }
            jobs.keep(&job.name, None)
        };
        cancel().map_err(|error: Error| error.attempted("give up a job over").table(&job.table))
    }
}

/// The words with which jobs begin whose record is all that there is of them.
const ALONE: [&str; 4] = ["delete", "delete-partition", "repair", "re-encrypt"];

fn is_deletion(name: &str) -> bool {
    name.starts_with("delete ") || name.starts_with("delete-partition ")
}

fn is_given_up(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(word, _)| ALONE.contains(&word))
}
