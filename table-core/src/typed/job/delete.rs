//! Deleting many entities.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::{Job, Made, Work};
use crate::error::{ErrorKind, Result};
use crate::executor::{JobRecord, Loader, StepSize};
use crate::handle::table::DynamicTable;
use crate::model::IfMatch;
use crate::query::Query;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::{Change, driver};
use crate::typed::entity::Entity;
use crate::typed::entity::path::Path;
use crate::typed::query::{OwnRows, PathQuery};
use crate::typed::read::key::{Key, Partition};
use crate::typed::read::reading::Entities;
use crate::typed::table::Table;

impl<E: Entity> Table<E> {
    /// A job that deletes every entity that the query finds, each with its copies.
    ///
    /// It does so in steps, and others read and write meanwhile: an entity that comes to be found while it runs goes too, and
    /// one that is found no more stays. A job that was broken off goes on when it is made again for the same query.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, age: i32 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.table::<Employee>()?;
    /// # staff.bulk_insert((0..100).map(|id| Employee { department: "Sales".into(), id, age: 20 + id as i32 }))?;
    /// let retired = staff.rows().department("Sales").filter(|e| e.age.ge(67)).entities();
    /// let done = staff.delete_where(retired)?.run()?;
    /// assert_eq!(done.changed, 53);
    /// assert_eq!(staff.rows().department("Sales").count()?, 47);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete_where<P: Path<Entity = E> + 'static>(
        &self,
        query: PathQuery<P, DynamicTable, Entities>,
    ) -> Result<Job<'static>> {
        let mut hash = DefaultHasher::new();
        format!("{:?}", query.explain()?).hash(&mut hash);
        let name = format!("delete {} {:016x}", E::SCHEMA.kind, hash.finish());
        let find = move |most: usize| {
            let mut page = query.page(most, None)?;
            // A page may have looked at so many rows, and found none of them.
            while let (true, Some(next)) = (page.entities.is_empty(), &page.next) {
                page = query.page(most, Some(next))?;
            }
            Ok(page.entities.iter().map(|entity| Key::of(&**entity)).collect())
        };
        self.deleting(name, Box::new(find))
    }

    /// A job that deletes every entity of a partition, each with its copies; see [`delete_where`](Self::delete_where).
    pub fn delete_partition(&self, partition: Partition<E>) -> Result<Job<'static>> {
        let partition = partition.into_key()?;
        let mut hash = DefaultHasher::new();
        partition.hash(&mut hash);
        let name = format!("delete-partition {} {:016x}", E::SCHEMA.kind, hash.finish());
        let kind = <OwnRows<E> as Path>::KEYS.kind();
        let (table, query) = (self.dynamic().clone(), Query::new().partition(partition).of_kind(kind));
        let find = move |most: usize| {
            let page = table.snapshot()?.page_by(&table, query.clone().into(), most, None, |_, view| {
                let (partition, row) = view.keys();
                Ok(Key::stored(&partition, &row))
            })?;
            Ok(page.entities)
        };
        self.deleting(name, Box::new(find))
    }

    fn deleting(&self, name: String, find: Find<E>) -> Result<Job<'static>> {
        let table = self.dynamic();
        let work = Delete { name, find };
        let begun = Job::new(table, vec![Box::new(work)]).begun();
        begun.map_err(|error| error.attempted("delete from").table(table.name()))
    }
}

/// The first of those that are to be deleted, at most so many.
type Find<E> = Box<dyn Fn(usize) -> Result<Vec<Key<E>>>>;

struct Delete<E: Entity> {
    name: String,
    find: Find<E>,
}

impl<E: Entity> Work for Delete<E> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        let jobs = table.exec().jobs()?;
        if jobs.job(&self.name)?.is_none() {
            jobs.keep(&self.name, Some(&JobRecord::new(jobs.row_count()?, String::new())))?;
        }
        Ok(true)
    }

    /// What was deleted is found no more, so each step begins with the first that is.
    fn step(
        &mut self,
        table: &DynamicTable,
        at: &JobRecord,
        size: StepSize,
        loader: &mut dyn Loader,
    ) -> Result<Made> {
        let most = usize::try_from(size.rows).unwrap_or(usize::MAX);
        let found = (self.find)(most)?;
        if found.is_empty() {
            return Ok(Made::Rows(None, None));
        }
        let mut changed = 0;
        for key in found {
            let mut attempt = EntityAttempt::new(key, Change::<E>::Delete(IfMatch::Any));
            match driver::loaded(table, &mut attempt, loader) {
                Ok(()) => changed += 1,
                // Somebody was quicker.
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {}
                Err(error) => return Err(error),
            }
        }
        let to = JobRecord { done: at.done + changed, changed: at.changed + changed, ..at.clone() };
        Ok(Made::Rows(Some(to), None))
    }
}
