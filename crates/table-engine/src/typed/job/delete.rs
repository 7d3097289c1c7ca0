//! Deleting many entities.

use std::collections::BTreeSet;

use crate::hash::xxh3_64;

use super::{Job, Step, StepOutcome, Work};
use crate::error::{ErrorKind, Result};
use crate::executor::{JobRecord, Position, ScanRanges, StepSize};
use crate::handle::table::DynamicTable;
use crate::model::IfMatch;
use crate::query::Query;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::{Change, Payload, plan_only};
use crate::typed::entity::Entity;
use crate::typed::entity::path::Path;
use crate::typed::query::{Chunk, OwnRows, PathQuery};
use crate::typed::read::key::{Key, Partition};
use crate::typed::read::reading::Entities;
use crate::typed::table::Table;

/// A query that gives entities, of whichever path it finds them by.
#[diagnostic::on_unimplemented(
    message = "`delete_where` takes a query of entities of `{E}`",
    label = "end the query with `.entities()`, behind its whole partition",
    note = "so it is said that the entities go, and not the copies by which they are found"
)]
pub trait QueryOfEntities<E> {
    /// The path by which it finds them.
    type Path: Path<Entity = E> + 'static;

    /// Returns the query itself.
    #[doc(hidden)]
    fn into_query(self) -> PathQuery<Self::Path, DynamicTable, Entities>;
}

#[diagnostic::do_not_recommend]
impl<P: Path + 'static> QueryOfEntities<P::Entity> for PathQuery<P, DynamicTable, Entities> {
    type Path = P;

    fn into_query(self) -> Self {
        self
    }
}

#[cfg(feature = "async")]
#[diagnostic::do_not_recommend]
impl<P: Path + 'static> QueryOfEntities<P::Entity>
    for PathQuery<P, crate::asynchronous::AsyncDynamicTable, Entities>
{
    type Path = P;

    fn into_query(self) -> PathQuery<P, DynamicTable, Entities> {
        let table = self.origin().blocking().clone();
        self.on(table)
    }
}

impl<E: Entity> Table<E> {
    /// Returns a job that deletes every entity that the query finds, each with its copies.
    ///
    /// It does so in steps, and others read and write meanwhile: an entity that comes to be found while it runs may go too,
    /// and one that is found no more stays. One that is moved behind what was gone over is found the next time: whatever it
    /// goes over is gone over again, until nothing is found there, and four times at most, each time up to where it ended
    /// when that time began. So the job ends beside writers that never stop, and what it leaves of what is to be found was
    /// written while it ran. Of a query that gives so many at the most, by [`top`](PathQuery::top), so many go, and it is
    /// gone over once.
    ///
    /// It takes a query of entities, so that it is said that the entities go, and not the copies by which they are found:
    /// end the query with [`entities()`](PathQuery::entities).
    ///
    /// A job that was broken off goes on when it is made again for the same query. One for all that has expired by now is
    /// another query at another time: keep the time for as long as the job takes, or give up what was begun for an earlier
    /// one, by [`Store::cancel_job`](crate::Tables::cancel_job).
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
    /// # staff.bulk_insert((0..100).map(|id| Employee { department: "Sales".into(), id, age: 20 + id as i32 }))?.into_result()?;
    /// let retired = staff.rows().department("Sales").filter(|e| e.age.ge(67)).entities();
    /// let done = staff.delete_where(retired)?.run()?;
    /// assert_eq!(done.changed, 53);
    /// assert_eq!(staff.rows().department("Sales").count()?, 47);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete_where(&self, query: impl QueryOfEntities<E>) -> Result<Job<'static>> {
        let query = query.into_query();
        let limit = query.clone().take_limit().map(|limit| u64::try_from(limit).unwrap_or(u64::MAX));
        let explain = query.explain()?;
        let (name, asked) = (of_kind::<E>("delete", &format!("{explain:?}")), explain.to_string());
        let last = query.clone();
        let find = move |after: Option<&Position>, size| {
            let Chunk { found, last, looked } = query.chunk(after, size)?;
            Ok(Chunk { found: found.iter().map(|entity| Key::of(&**entity)).collect(), last, looked })
        };
        let last = Box::new(move || last.last_row());
        self.deleting(Delete { name, asked, limit, find: Box::new(find), last })
    }

    /// Returns a job that deletes every entity of a partition, each with its copies; see [`delete_where`](Self::delete_where).
    pub fn delete_partition(&self, partition: Partition<E>) -> Result<Job<'static>> {
        let partition = partition.into_key()?;
        let name = of_kind::<E>("delete-partition", &partition);
        let asked = format!("partition `{}`", partition.escape_debug());
        let kind = <OwnRows<E> as Path>::KEYS.kind();
        let (table, query) = (self.dynamic().clone(), Query::new().partition(partition).of_kind(kind));
        let (of_last, range) = (table.clone(), ScanRanges::from(query.clone()));
        let find = move |after: Option<&Position>, size| {
            let (scan_ranges, mut found) = (ScanRanges::from(query.clone()), Vec::new());
            let (last, looked) =
                table.snapshot()?.chunk(&table, scan_ranges, after, size, &mut |_, view| {
                    let (partition, row) = view.keys();
                    found.push(Key::stored(&partition, &row));
                    Ok(())
                })?;
            Ok(Chunk { found, last, looked })
        };
        let last = Box::new(move || of_last.snapshot()?.last_row(&of_last, &range));
        self.deleting(Delete { name, asked, limit: None, find: Box::new(find), last })
    }

    /// Begins the job of a deletion.
    fn deleting(&self, work: Delete<E>) -> Result<Job<'static>> {
        let table = self.dynamic();
        Job::new(table, vec![Box::new(work)]).begun("delete from")
    }
}

/// Returns the name of a job that deletes what is described so.
fn of_kind<E: Entity>(what: &str, which: &str) -> String {
    format!("{what} {} {:016x}", E::SCHEMA.kind, xxh3_64(which.as_bytes()))
}

/// Finds what is to be deleted of the next rows behind a position.
type Find<E> = Box<dyn Fn(Option<&Position>, StepSize) -> Result<Chunk<Key<E>>> + Send>;
/// Finds the last row of what is gone over.
type Last = Box<dyn Fn() -> Result<Option<Position>> + Send>;

/// How often a deletion goes over everything at most.
const PASSES: u64 = 4;

/// Deletes entities. In its record the stamp says how many may still go, if there is a limit, and the count how often it has
/// gone over everything.
struct Delete<E: Entity> {
    name: String,
    /// What it deletes, in words.
    asked: String,
    /// The most entities that are to go.
    limit: Option<u64>,
    find: Find<E>,
    last: Last,
}

/// Nothing was found since the job went to the first row.
const FINDS_NONE: u8 = 0;
/// Something was: it goes there again.
const HAS_FOUND: u8 = 1;

impl<E: Entity> Work for Delete<E> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        let jobs = table.exec().jobs()?;
        if jobs.job(&self.name)?.is_none() {
            let begun = JobRecord::new(jobs.row_count()?, self.asked.clone());
            jobs.keep(&self.name, Some(&JobRecord { stamp: self.limit.unwrap_or(0), ..begun }))?;
        }
        Ok(true)
    }

    fn step(&mut self, table: &DynamicTable, step: Step<'_>) -> Result<StepOutcome> {
        let Step { at, size, loader } = step;
        let most = if self.limit.is_some() { at.stamp } else { u64::MAX };
        let passes = at.counts.first().copied().unwrap_or_default();
        if most == 0 || passes >= PASSES {
            return Ok(StepOutcome::Rows(None, None));
        }
        let size = StepSize { rows: size.rows.min(most) };
        let end = at.end.clone().map_or_else(&self.last, |end| Ok(Some(end)))?;
        let Chunk { found, last, looked } = (self.find)(at.position.as_ref(), size)?;
        let (mut changed, mut known) = (0, BTreeSet::new());
        for key in found {
            // An index may have several copies of one entity.
            let (partition, row) = key.as_strs()?;
            if !known.insert((partition.to_owned(), row.to_owned())) {
                continue;
            }
            let mut attempt = EntityAttempt::new(key, Change::Delete(IfMatch::Any), Payload::Nothing);
            match plan_only::loaded(table, &mut attempt, loader) {
                Ok(_) => changed += 1,
                // Another writer was quicker.
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {}
                Err(error) => return Err(error),
            }
        }
        let phase = if changed > 0 { HAS_FOUND } else { at.phase };
        let to = JobRecord {
            done: at.done + looked,
            changed: at.changed + changed,
            stamp: at.stamp.saturating_sub(changed),
            phase,
            position: last,
            end,
            ..at.clone()
        };
        if to.position.is_some() && !to.is_at_end() {
            return Ok(StepOutcome::Rows(Some(to), None));
        }
        let passes = to.counts.first().copied().unwrap_or_default() + 1;
        // The limit is for one time over it. In each case a record says what this step has deleted.
        let goes_again = JobRecord { done: 0, stamp: 0, counts: vec![passes], ..to.in_part(FINDS_NONE) };
        Ok(StepOutcome::Rows((phase == HAS_FOUND).then_some(goes_again), None))
    }
}
