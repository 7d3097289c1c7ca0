//! Removing an index that structs declare no more.

use super::{Job, Step, StepOutcome, Work, purge};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, Transition};
use crate::handle::table::DynamicTable;
use crate::plan::Epoch;
use crate::schema::{IndexEvent, IndexState, Schema};
use crate::typed::entity::Entity;
use crate::typed::table::Table;

impl<E: Entity> Table<E> {
    /// Returns a job that removes an index, its copies first: one that the struct does not declare any more, and which keeps
    /// the program from writing until then. From its beginning on no program keeps or reads the index.
    ///
    /// An index that is still declared can be dropped too; [`rebuild`](Self::rebuild) makes it again.
    pub fn drop_index(&self, name: &str) -> Result<Job<'static>> {
        let table = self.dynamic();
        super::check_converted(table, E::SCHEMA)?;
        let work = DropIndex { schema: E::SCHEMA, index: name.to_owned() };
        Job::new(table, vec![Box::new(work)]).begun("drop an index of")
    }
}

struct DropIndex {
    schema: &'static Schema,
    index: String,
}

impl DropIndex {
    /// Returns the error of a name that no index of the kind has in the store.
    #[inline]
    #[cold]
    fn no_index(&self, known: &[String]) -> Error {
        let (kind, index) = (self.schema.kind, self.index.escape_debug());
        let is_declared = self.schema.indexes.iter().any(|declared| declared.name == self.index);
        let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let because = match (is_declared, known.as_str()) {
            (true, _) => format!(
                "the index `{index}` of `{kind}` is declared, and was not made yet: there is nothing to drop"
            ),
            (false, "") => format!("`{kind}` has no index `{index}`: it has none in the store"),
            (false, known) => format!("`{kind}` has no index `{index}`: in the store it has {known}"),
        };
        Error::new(ErrorKind::EntityNotFound).because(because)
    }
}

impl Work for DropIndex {
    fn name(&self) -> String {
        format!("drop {} {}", self.schema.kind, self.index)
    }

    #[inline]
    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        let jobs = table.exec().jobs()?;
        let (schema, index, name) = (self.schema, &*self.index, self.name());
        loop {
            let (index_states, state, _) = jobs.index_states(schema, index)?;
            let record = match state {
                IndexState::Absent => return Err(self.no_index(&jobs.indexes(schema)?)),
                IndexState::Dropping if jobs.job(&name)?.is_some() => return Ok(true),
                _ => JobRecord::new(jobs.row_count()?, String::new()),
            };
            let (event, epoch, job) = (IndexEvent::Drop, index_states.epoch, (&*name, Some(&record)));
            if jobs.transit(&Transition { schema, index, event, epoch, job })?.is_some() {
                return Ok(true);
            }
        }
    }

    fn cancel(&mut self, _table: &DynamicTable) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported).because(format!(
            "copies of the index `{}` are gone; bring the job to its end, or make the index again by `Table::rebuild`",
            self.index.escape_debug()
        )))
    }

    #[inline]
    fn reach(&self, table: &DynamicTable, at: &JobRecord) -> Result<DynamicTable> {
        purge::reach(table, at)
    }

    #[inline]
    fn step(&mut self, table: &DynamicTable, mut step: Step<'_>) -> Result<StepOutcome> {
        let (schema, index, jobs) = (self.schema, &*self.index, table.exec().jobs()?);
        let (index_states, state, _) = jobs.index_states(schema, index)?;
        if state != IndexState::Dropping {
            // It is being made again, or is gone.
            return Ok(StepOutcome::Rows(None, None));
        }
        let epoch = Epoch { kind: schema.kind, number: index_states.epoch };
        // The index may be declared nowhere any more but in the layout.
        let kind = jobs.kind_of(schema, index)?;
        let kind = kind.unwrap_or_else(|| format!("{}.{index}", schema.entity_type));
        if let Some(made) = purge::step(table, schema, &kind, epoch, &mut step)? {
            return Ok(made);
        }
        let (event, epoch, name) = (IndexEvent::Dropped, epoch.number, self.name());
        if super::is_still_at(table, &name, step.at)? {
            jobs.transit(&Transition { schema, index, event, epoch, job: (&name, None) })?;
        }
        Ok(StepOutcome::Moved)
    }
}
