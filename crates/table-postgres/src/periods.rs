//! The tables of kinds that have one for each period.
//!
//! A snapshot that was taken before periods were dropped has their tables still, so a table goes in two steps: it is taken off
//! the list, and nothing can be written to it any more; and when no snapshot that may know of it is left, it is dropped. Such a
//! snapshot holds the table `_periods` by the weakest lock there is, before it sees anything.

use std::sync::Arc;

use table_engine::__executor::{self as executor, Dropped, PeriodsSeen, TableExec};
use table_engine::executor::layouts;
use table_engine::schema::{IndexStates, Period, PeriodTables, Schema};
use table_engine::{ErrorKind, Result, Ticks};
use tokio_postgres::Row;

use crate::catalog::{Catalog, Found, column};
use crate::change::{Change, Trouble};
use crate::connection::Call;
use crate::driver::DrivenConnection;
use crate::error::{damaged, of_server};
use crate::jobs;
use crate::kinds;
use crate::param::{Param, Params};
use crate::snapshot::PostgresSnapshot;
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::transaction::BEGIN;
use crate::views;

/// A template whose tables the store has, or has had.
#[derive(Clone, Debug)]
struct Template {
    /// The start of its tables' names, as it was first declared.
    stem: String,
    period: Period,
    /// The time before which no period has a table, or gets one again.
    floor: Ticks,
}

/// What is noted of a template.
struct Noted {
    generation: u64,
    template: Option<Template>,
    /// The tables whose names begin as the template says.
    tables: Vec<Found>,
}

impl Template {
    /// Reads the record from three columns of an answer, of which this is the first; `None` if they are empty.
    fn read(row: &Row, at: usize) -> Result<Option<Self>> {
        let Some(stem) = column(row, at)? else { return Ok(None) };
        let (number, floor) = (column::<i32>(row, at + 1)?, column::<i64>(row, at + 2)?);
        let period = Period::ALL.into_iter().find(|period| i32::from(period.number()) == number);
        let floor = Ticks::new(floor.cast_unsigned());
        let (Some(period), Some(floor)) = (period, floor) else {
            return Err(damaged("the record of a table for each period"));
        };
        Ok(Some(Self { stem, period, floor }))
    }

    fn start_of(&self, name: &str) -> Option<Ticks> {
        self.period.start_of(&self.stem, name)
    }

    /// Returns the template as it was declared, but for the field.
    fn shown(&self) -> String {
        format!("{}{{{}}}", self.stem, self.period.pattern())
    }

    /// Refuses a period that was dropped.
    fn check(&self, start: Ticks, name: &str) -> Result<()> {
        if start >= self.floor {
            return Ok(());
        }
        let because = format!(
            "the periods before {} were dropped, and no entity of that time is taken any more",
            self.floor
        );
        Err(executor::error(ErrorKind::PeriodDropped, because).table(name))
    }
}

impl Noted {
    /// Reads what is noted. A store that has the template's tables with another period is refused.
    fn read(answer: &[Row], tables: &PeriodTables) -> Result<Self> {
        let first = answer.first().ok_or_else(|| damaged("the record of the store"))?;
        let generation = column::<i64>(first, 0)?.cast_unsigned();
        let template = Template::read(first, 1)?;
        let found = answer.iter().filter_map(|row| Found::read(row, 4).transpose());
        let noted = Self { generation, template, tables: found.collect::<Result<_>>()? };
        let Some(template) = noted.template.as_ref().filter(|noted| noted.period != tables.period) else {
            return Ok(noted);
        };
        let Some(there) = noted.tables.iter().find(|found| template.start_of(&found.name).is_some()) else {
            return Ok(noted);
        };
        let because = format!(
            "the store has tables of the template `{}`, `{}` among them, and the struct says `{}`: drop those tables, or \
             declare the former template",
            template.shown(),
            there.name,
            tables.source
        );
        Err(executor::error(ErrorKind::LayoutChanged, because).table(tables.source))
    }

    /// Returns the template, noted if it is new. No other table may have a name that fits it.
    fn begin(
        &self,
        catalog: &Catalog,
        connection: &DrivenConnection,
        tables: &PeriodTables,
    ) -> Result<Template> {
        let known = self.template.as_ref();
        if let Some(known) = known.filter(|known| known.period == tables.period) {
            return Ok(known.clone());
        }
        if let Some(other) = self.tables.iter().find(|found| tables.start_of(&found.name).is_some()) {
            let because = format!(
                "the table `{}` has a name that fits `{}`, and is none of its periods: give it another name by \
                 `Store::rename_table`",
                other.name, tables.source
            );
            return Err(executor::error(ErrorKind::TableAlreadyExists, because).table(&other.name));
        }
        let stem = known.map_or_else(|| tables.stem.to_owned(), |known| known.stem.clone());
        let floor = known.map_or(Ticks::MIN, |known| known.floor);
        let template = Template { stem, period: tables.period, floor };
        connection.wait(connection.query(&put(catalog, &template))).map_err(of_server)?;
        Ok(template)
    }

    fn of_period<'n>(&'n self, tables: &'n PeriodTables) -> impl Iterator<Item = (Ticks, &'n Found)> {
        // Without the record there is no table of the template, whatever other tables are called.
        let found = self.tables.iter().filter(|_| self.template.is_some());
        found.filter_map(|found| Some((tables.start_of(&found.name)?, found)))
    }
}

/// Returns the statement that notes a template, or how far its tables are dropped now.
fn put(catalog: &Catalog, template: &Template) -> Call {
    let mut params = Params::default();
    let lower = params.add(Param::Text(template.stem.to_ascii_lowercase()));
    let stem = params.add(Param::Text(template.stem.clone()));
    let period = params.add(Param::Number(template.period.number().into()));
    let floor = params.add(Param::Number(template.floor.get().cast_signed()));
    let sql = format!(
        "WITH s AS ({}) INSERT INTO {} VALUES ({lower}, {stem}, {period}, {floor})
         ON CONFLICT (lower_stem) DO UPDATE SET period = EXCLUDED.period, floor = EXCLUDED.floor",
        catalog.raise_generation(),
        catalog.table("_periods"),
    );
    Call { sql, params }
}

/// Returns the statement that reads the generation of the list of tables, the template, and the tables whose names begin as it
/// says; without those if the generation is this one.
fn all(catalog: &Catalog, tables: &PeriodTables, known: Option<u64>) -> Call {
    let mut params = Params::default();
    let stem = params.add(Param::Text(tables.stem.to_ascii_lowercase()));
    let known = params.add(Param::Number(known.map_or(-1, u64::cast_signed)));
    let sql = format!(
        "SELECT s.value::bigint, p.stem, p.period, p.floor, t.id, t.name, t.renames FROM {} AS s
         LEFT JOIN {} AS p ON p.lower_stem = {stem}
         LEFT JOIN {} AS t ON s.value::bigint <> {known} AND starts_with(t.lower_name, {stem})
         WHERE s.name = 'generation'",
        catalog.table("_store"),
        catalog.table("_periods"),
        catalog.table("_tables"),
    );
    Call { sql, params }
}

/// Returns the statement that reads the template, and the table of the period that begins then.
fn one(catalog: &Catalog, tables: &PeriodTables, start: Ticks) -> Call {
    let mut params = Params::default();
    let stem = params.add(Param::Text(tables.stem.to_ascii_lowercase()));
    let name = params.add(Param::Text(tables.name(start).to_ascii_lowercase()));
    let sql = format!(
        "SELECT p.stem, p.period, p.floor, t.id, t.name, t.renames FROM (SELECT 1) AS one
         LEFT JOIN {} AS p ON p.lower_stem = {stem} LEFT JOIN {} AS t ON t.lower_name = {name}",
        catalog.table("_periods"),
        catalog.table("_tables"),
    );
    Call { sql, params }
}

/// Refuses a name for a table by itself that fits a template.
pub(crate) fn check_plain(store: &PostgresStore, connection: &DrivenConnection, name: &str) -> Result<()> {
    let mut params = Params::default();
    let lower = params.add(Param::Text(name.to_ascii_lowercase()));
    let sql = format!(
        "SELECT stem, period, floor FROM {} WHERE starts_with({lower}, lower_stem)",
        store.catalog.table("_periods")
    );
    for row in connection.wait(connection.query(&Call { sql, params })).map_err(of_server)? {
        if let Some(template) = Template::read(&row, 0)?.filter(|noted| noted.start_of(name).is_some()) {
            let because = format!(
                "the name is that of a period of `{}`, whose tables are made by `Store::periods`",
                template.shown()
            );
            return Err(executor::error(ErrorKind::InvalidTableName, because).table(name));
        }
    }
    Ok(())
}

/// Returns the table of a period, and makes it if there is none, with what is declared of its kind. A period that was dropped
/// is not made again.
pub(crate) fn make(
    store: &Arc<PostgresStore>,
    tables: &'static PeriodTables,
    start: Ticks,
    schema: &'static Schema,
) -> Result<Arc<dyn TableExec>> {
    let catalog = &store.catalog;
    let name = tables.name(start);
    // Mostly the table is there.
    if let Some(row) = store.query(&one(catalog, tables, start))?.first()
        && let Some(template) = Template::read(row, 0)?.filter(|noted| noted.period == tables.period)
    {
        template.check(start, &name)?;
        if let Some(found) = Found::read(row, 3)? {
            return Ok(store.table(store.entry(&found)?));
        }
    }
    let entry = store.change_tables(|connection| {
        let answer = connection.wait(connection.query(&all(catalog, tables, None))).map_err(of_server)?;
        let noted = Noted::read(&answer, tables)?;
        if let Some(template) = &noted.template {
            template.check(start, &name)?;
        }
        noted.begin(catalog, connection, tables)?;
        if let Some((_, found)) = noted.of_period(tables).find(|(of, _)| *of == start) {
            return store.entry(found);
        }
        let entry = store.make_table(connection, &name)?;
        let layout = layouts::noted_with(&name, None, schema).to_string();
        let note = kinds::put(catalog, entry.id, schema.kind, &layout, &IndexStates::default());
        connection.wait(connection.query(&note)).map_err(of_server)?;
        if let Some(view) = views::of_kind(catalog, &entry, schema.kind, &layout) {
            connection.wait(connection.attempt(&view)).map_err(of_server)?;
        }
        Ok(entry)
    })?;
    Ok(store.table(entry))
}

/// Drops the tables of all periods before this one, and sees to it that none of them comes again.
pub(crate) fn drop_before(
    store: &Arc<PostgresStore>,
    tables: &'static PeriodTables,
    floor: Ticks,
) -> Result<Dropped> {
    let catalog = &store.catalog;
    let dropped = store.change_tables(|connection| {
        let ask = |call: &Call| connection.wait(connection.query(call)).map_err(of_server);
        let change = Change::new(store, connection);
        let noted = Noted::read(&ask(&all(catalog, tables, None))?, tables)?;
        let known = noted.begin(catalog, connection, tables)?;
        let floor = floor.max(known.floor);
        let mut former: Vec<_> =
            noted.of_period(tables).filter(|(start, _)| *start < floor).map(|(_, found)| found).collect();
        // In the order of their numbers, as others take these locks.
        former.sort_unstable_by_key(|found| found.id);
        let entries = former.into_iter().map(|found| store.entry(found)).collect::<Result<Vec<_>>>()?;
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
        for entry in &entries {
            let sql = stop_writers(catalog, entry);
            connection.wait(connection.execute(&sql)).map_err(of_server)?;
            let stays = |name: &str| names.iter().all(|gone| !gone.eq_ignore_ascii_case(name));
            jobs::table_is_dropped(&change, entry, &stays).map_err(Trouble::into_error)?;
            let sql = note_dropped(catalog, entry);
            connection.wait(connection.execute(&sql)).map_err(of_server)?;
        }
        if floor != known.floor {
            ask(&put(catalog, &Template { floor, ..known }))?;
        }
        Ok((entries, floor))
    });
    let (entries, floor) = dropped?;
    for entry in &entries {
        store.forget(entry.id);
    }
    sweep(store);
    Ok(Dropped { tables: entries.len(), floor })
}

/// Returns the statements that wait for those that write to a table, and refuse all that come after them.
fn stop_writers(catalog: &Catalog, entry: &TableEntry) -> String {
    format!(
        "LOCK TABLE {rows} IN SHARE ROW EXCLUSIVE MODE;
         CREATE TRIGGER dropped BEFORE INSERT OR UPDATE OR DELETE ON {rows} EXECUTE FUNCTION {}()",
        catalog.table("_refuse"),
        rows = entry.rows,
    )
}

/// Returns the statements that take a table off the list, and note that it is to be dropped.
fn note_dropped(catalog: &Catalog, entry: &TableEntry) -> String {
    let forget = catalog.forget_table(entry.id);
    // Its name is of numbers and the schema's, which is quoted.
    let rows = crate::catalog::literal(&entry.rows);
    format!("{forget} INSERT INTO {} (id, rows) VALUES ({}, {rows})", catalog.table("_dropped"), entry.id)
}

/// Drops the tables that no snapshot can know of any more. Where one can, or a reader is in the way, the next drop of periods
/// does it.
fn sweep(store: &PostgresStore) {
    let (dropped, periods) = (store.catalog.table("_dropped"), store.catalog.table("_periods"));
    let begin = format!(
        "{BEGIN}; SET LOCAL lock_timeout = '200ms'; LOCK TABLE {periods} IN ACCESS EXCLUSIVE MODE NOWAIT"
    );
    let swept = store.transaction(&begin, |connection| {
        let left = Call { sql: format!("SELECT rows FROM {dropped} ORDER BY id"), params: Params::default() };
        let mut statements = String::new();
        for row in connection.wait(connection.query(&left)).map_err(of_server)? {
            let rows: &str = column(&row, 0)?;
            statements += &format!("DROP TABLE IF EXISTS {rows} CASCADE;");
        }
        statements += &format!("DELETE FROM {dropped}");
        connection.wait(connection.execute(&statements)).map_err(of_server).map(Some)
    });
    // The tables are off the list, whatever becomes of them.
    drop(swept);
}

impl PostgresSnapshot {
    /// Returns the tables of a kind's periods as the snapshot sees them: those that are known, if nothing has changed since.
    pub(crate) fn tables_of(
        &self,
        tables: &'static PeriodTables,
        known: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        let store = self.store();
        let generation = known.map(|known| known.generation);
        let answer = self.query_of_list(all(&store.catalog, tables, generation))?;
        let noted = Noted::read(&answer, tables)?;
        if let Some(known) = known.filter(|known| known.generation == noted.generation) {
            return Ok(known.clone());
        }
        let mut seen = Vec::new();
        for (start, found) in noted.of_period(tables) {
            seen.push((start, store.table(store.entry(found)?)));
        }
        seen.sort_unstable_by_key(|(start, _)| *start);
        let floor = noted.template.as_ref().map_or(Ticks::MIN, |template| template.floor);
        let (generation, store) = (noted.generation, store.identity);
        Ok(Arc::new(PeriodsSeen { generation, store, floor, tables: seen }))
    }

    /// Returns the table of a period as the snapshot sees it; else the beginning of the first period that is not dropped.
    pub(crate) fn table_of(
        &self,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        let store = self.store();
        let answer = self.query_of_list(one(&store.catalog, tables, start))?;
        let row = answer.first().ok_or_else(|| damaged("the answer of the server"))?;
        let Some(template) = Template::read(row, 0)? else { return Ok(Err(Ticks::MIN)) };
        if template.period != tables.period {
            // Tables of the other period are refused.
            let seen = self.tables_of(tables, None)?;
            return Ok(seen.table(start).cloned().ok_or(seen.floor));
        }
        match Found::read(row, 3)? {
            Some(found) => Ok(Ok(store.table(store.entry(&found)?))),
            None => Ok(Err(template.floor)),
        }
    }
}
