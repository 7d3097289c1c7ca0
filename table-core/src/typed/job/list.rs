//! The jobs of a store.

use crate::error::{ErrorKind, Result};
use crate::handle::store::Store;
use crate::model::Ticks;

/// A job that was begun and has not ended; see [`Store::jobs`].
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
}

impl Store {
    /// The jobs that were begun and have not ended, of every table: those that somebody is at, and those that were broken
    /// off. Each goes on where it is when it is asked for again: `rebuild employee by_email` by
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
    /// # }))?;
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
                name: job,
                begun: record.begun,
                done: record.done,
                total: record.total.max(record.done),
                changed: record.changed,
            }));
        }
        Ok(found)
    }
}
