//! Tables for each period: made with their first rows, listed, and dropped one after another.
//!
//! How far a template's tables are dropped is noted first, so that a table that is dropped stays so, whatever is written meanwhile.

use std::sync::Arc;

use table_engine::__executor::{Dropped, PeriodsSeen, TableExec};
use table_engine::schema::{Period, PeriodTables, Schema};
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result, Ticks, Value};

use super::planned::body;
use super::service::Service;
use super::table::TableEntry;
use super::{AzureStore, TAG, explain};
use crate::client::Operation;

/// The row of a template has this row key, and its stem in small letters as its partition key.
const ROW: &str = "periods";
/// The property with the time before which no period has a table, or gets one again.
const FLOOR: &str = "Floor";
/// The property with the number that stands for the length of a period.
const PERIOD: &str = "Period";
/// How often a note is tried while others note theirs.
const ATTEMPTS: u32 = 16;

/// What is noted of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Template {
    floor: Ticks,
    period: u8,
    etag: Option<ETag>,
}

impl Template {
    fn read(row: &DynamicEntity) -> Option<Self> {
        let floor = u64::try_from(row.get(FLOOR).and_then(Value::as_i64)?).ok()?;
        let period = u8::try_from(row.get(PERIOD).and_then(Value::as_i32)?).ok()?;
        Some(Self { floor: Ticks::new(floor)?, period, etag: row.etag() })
    }

    /// Refuses a period that was dropped.
    fn check(&self, start: Ticks) -> Result<()> {
        if start >= self.floor {
            return Ok(());
        }
        let because = format!(
            "the periods before {} were dropped, and no entity of that time is taken any more",
            self.floor
        );
        Err(Error::new(ErrorKind::PeriodDropped).because(because))
    }
}

impl Service {
    /// Returns what is noted of a template; `None` if it has no tables and never had any.
    async fn template(&self, tables: &'static PeriodTables) -> Result<Option<Template>> {
        let Some(row) = self.note_row(&tables.stem.to_ascii_lowercase(), ROW).await? else { return Ok(None) };
        let damaged = || {
            let because = format!("what is noted of the periods of `{}` is damaged", tables.source);
            Error::new(ErrorKind::Corrupt).because(because)
        };
        Template::read(&row).map(Some).ok_or_else(damaged)
    }

    /// Notes a template, in the place of what was noted; returns whether it was still that.
    async fn note_template(&self, tables: &'static PeriodTables, now: Template) -> Result<bool> {
        let stem = tables.stem.to_ascii_lowercase();
        let floor = i64::try_from(now.floor.get()).unwrap_or(i64::MAX);
        let row = DynamicEntity::new(&stem, ROW).with(FLOOR, floor).with(PERIOD, i32::from(now.period));
        let body = body(&row)?;
        let operation = match now.etag {
            Some(etag) => Operation::replace(ROW, Some(etag.to_string()), body),
            None => Operation::insert(ROW, body),
        };
        match self.execute_note(&stem, &[operation]).await? {
            None => Ok(true),
            Some(refusal) if matches!(refusal.status, 409 | 412) => Ok(false),
            Some(refusal) => Err(explain::refused(&refusal)),
        }
    }

    /// Returns what is noted of a template, with a floor of this time at the least; it is noted if it is not.
    async fn noted_template(&self, tables: &'static PeriodTables, floor: Ticks) -> Result<Template> {
        if !self.settings.has_layouts {
            let because =
                "how far periods are dropped is noted beside the layouts, which the store was opened without";
            return Err(Error::new(ErrorKind::Unsupported).because(because));
        }
        let period = tables.period.number();
        for _ in 0..ATTEMPTS {
            let noted = self.template(tables).await?;
            let found = match noted {
                Some(noted) if noted.period == period && noted.floor >= floor => return Ok(noted),
                Some(noted) if noted.period == period => Template { floor, ..noted },
                other => {
                    self.check_tables(tables, other).await?;
                    let floor = other.map_or(floor, |noted| noted.floor.max(floor));
                    Template { floor, period, etag: other.and_then(|noted| noted.etag) }
                }
            };
            if self.note_template(tables, found).await? {
                return Ok(found);
            }
        }
        Err(Error::new(ErrorKind::ConditionNotMet).because("others go on dropping periods"))
    }

    /// Refuses a template that is new where a table is in its way, and one whose periods were of another length as long as there
    /// are tables of those.
    async fn check_tables(&self, tables: &'static PeriodTables, noted: Option<Template>) -> Result<()> {
        let names = self.table_names().await?;
        let former =
            noted.and_then(|noted| Period::ALL.into_iter().find(|period| period.number() == noted.period));
        let (kind, found, what) = match former {
            None => {
                let found = names.iter().find(|name| tables.start_of(name).is_some());
                (
                    ErrorKind::TableAlreadyExists,
                    found,
                    "is none of its periods: drop it, or give the template another name",
                )
            }
            Some(period) => {
                let former = PeriodTables::new(tables.source, tables.stem, tables.field, period);
                let found = names.iter().find(|name| former.start_of(name).is_some());
                (
                    ErrorKind::LayoutChanged,
                    found,
                    "is of periods of another length: drop it, or declare the former template",
                )
            }
        };
        let Some(found) = found else { return Ok(()) };
        let because =
            format!("the table `{found}` has a name that begins as `{}` says, and {what}", tables.source);
        Err(Error::new(kind).because(because).table(found))
    }

    /// Returns the table of a period, made if there is none.
    async fn make_period(&self, tables: &'static PeriodTables, start: Ticks) -> Result<TableEntry> {
        let name = tables.name(start);
        self.noted_template(tables, Ticks::MIN).await?.check(start)?;
        let found = match self.find_table(&name).await {
            Err(error) if error.kind() == ErrorKind::TableNotFound => match self.make_table(&name).await {
                Err(error) if error.kind() == ErrorKind::TableAlreadyExists => self.find_table(&name).await,
                made => made,
            },
            found => found,
        }?;
        // Periods that were dropped since the look are not to have a table that was made in between.
        if let Err(dropped) = self.noted_template(tables, Ticks::MIN).await?.check(start) {
            self.drop_table(&found).await?;
            return Err(dropped);
        }
        Ok(found)
    }

    /// Returns when the periods begin that have tables, in their order, with those, and where the first begins that was not
    /// dropped.
    async fn periods(&self, tables: &'static PeriodTables) -> Result<(Ticks, Vec<(Ticks, TableEntry)>)> {
        let Some(noted) = self.template(tables).await? else { return Ok((Ticks::MIN, Vec::new())) };
        if noted.period != tables.period.number() {
            self.check_tables(tables, Some(noted)).await?;
        }
        let mut found = Vec::new();
        for name in self.table_names().await? {
            let Some(start) = tables.start_of(&name) else { continue };
            if start >= noted.floor {
                found.push((start, self.listed_table(&name).await?));
            }
        }
        found.sort_by_key(|(start, _)| *start);
        Ok((noted.floor, found))
    }
}

impl AzureStore {
    pub(super) fn make_period_of(
        self: &Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        let service = self.service.clone();
        let made = self.wait(async move { service.make_period(tables, start).await })?;
        let table = self.handle(self.entered(made));
        table.index_mask(schema, true)?;
        Ok(table)
    }

    /// Drops the tables of all periods before this one. A failure leaves some of them, which no query sees any more and the next
    /// call drops.
    pub(super) fn drop_periods_of(&self, tables: &'static PeriodTables, floor: Ticks) -> Result<Dropped> {
        let service = self.service.clone();
        let dropped = self.wait(async move {
            let floor = service.noted_template(tables, floor).await?.floor;
            let mut dropped = Vec::new();
            for name in service.table_names().await? {
                if tables.start_of(&name).is_some_and(|start| start < floor) {
                    let table = service.listed_table(&name).await?;
                    match service.drop_table(&table).await {
                        Err(error) if error.kind() == ErrorKind::TableNotFound => {}
                        done => done.map_err(|error| error.table(&name))?,
                    }
                    dropped.push(name);
                }
            }
            Ok((floor, dropped))
        });
        let (floor, dropped) = dropped?;
        for name in &dropped {
            if let Some(gone) = self.tables().remove(&name.to_ascii_lowercase()) {
                gone.drop_table();
            }
        }
        Ok(Dropped { tables: dropped.len(), floor })
    }

    pub(super) fn periods_of(self: &Arc<Self>, tables: &'static PeriodTables) -> Result<PeriodsSeen> {
        let service = self.service.clone();
        let (floor, found) = self.wait(async move { service.periods(tables).await })?;
        let entered = found.into_iter().map(|(start, entry)| (start, self.handle(self.entered(entry))));
        // The service has no number for the state of its tables: each list is another one.
        Ok(PeriodsSeen { generation: Ticks::now().get(), store: TAG, floor, tables: entered.collect() })
    }

    /// Returns the table of one period; else where the first begins that was not dropped.
    pub(super) fn period_of(
        self: &Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        let service = self.service.clone();
        let noted = self.wait(async move { service.template(tables).await })?;
        let Some(noted) = noted else { return Ok(Err(Ticks::MIN)) };
        if start < noted.floor || noted.period != tables.period.number() {
            return Ok(Err(noted.floor));
        }
        match self.find(&tables.name(start)) {
            Ok(entry) => Ok(Ok(self.handle(entry))),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(Err(noted.floor)),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_of_a_template_is_read() {
        let row = DynamicEntity::new("logins", ROW).with(FLOOR, 5_i64).with(PERIOD, 3);
        let noted = Template::read(&row).unwrap();
        assert_eq!((noted.floor.get(), noted.period), (5, 3));
        assert!(noted.check(noted.floor).is_ok());
        assert_eq!(noted.check(Ticks::MIN).unwrap_err().kind(), ErrorKind::PeriodDropped);
        for bad in [row.clone().with(FLOOR, -1_i64), row.with(PERIOD, 300), DynamicEntity::new("l", ROW)] {
            assert_eq!(Template::read(&bad), None);
        }
    }
}
