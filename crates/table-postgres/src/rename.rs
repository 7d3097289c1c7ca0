//! Tables that get another name.

use std::collections::BTreeMap;

use table_engine::__executor::{self as executor, JobRecord};
use table_engine::executor::layouts;
use table_engine::model::names;
use table_engine::schema::Layout;
use table_engine::{ErrorKind, Result};

use crate::catalog::{Catalog, Found, column, rows_name, view_name};
use crate::connection::Call;
use crate::driver::DrivenConnection;
use crate::error::{damaged, missing, of_server};
use crate::jobs;
use crate::kinds;
use crate::param::{Param, Params};
use crate::periods;
use crate::store::{PostgresStore, plain};
use crate::table::TableEntry;
use crate::transaction::{LONGEST_DROP_WAIT, in_use};
use crate::views;

/// How many former names of a table are kept.
const FORMER_NAMES: usize = 8;

/// Gives a table another name, also in what is noted of kinds whose copies or entities lie there.
pub(crate) fn rename(store: &PostgresStore, table: &str, name: &str) -> Result<()> {
    names::check_table(name)?;
    let catalog = &store.catalog;
    let begin = format!("{}; SET LOCAL lock_timeout = '{LONGEST_DROP_WAIT}'", catalog.begin_change());
    let renamed = store.transaction(&begin, |connection| {
        let ask = |call: &Call| connection.wait(connection.query(call)).map_err(of_server);
        let found = Catalog::found(table, &ask(&catalog.find(table))?)?;
        match Catalog::found(name, &ask(&catalog.find(name))?) {
            Ok(other) if other.id != found.id => {
                let because = format!("there is a table `{}`; names differ in more than case", other.name);
                return Err(executor::error(ErrorKind::TableAlreadyExists, because).table(name));
            }
            Err(error) if !matches!(error.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed) => {
                return Err(error);
            }
            _ => {}
        }
        periods::check_plain(store, connection, name)?;
        let noted = kinds::found(&ask(&kinds::read(catalog, found.number()?))?)?;
        rename_in_layouts(store, connection, &found.name, name)?;
        rename_in_jobs(store, connection, &found.name, name)?;
        let renames = found.renames.saturating_add(1);
        let becomes = Found { id: found.id, name: name.to_owned(), renames };
        let run = |sql: &str| connection.wait(connection.execute(sql));
        run(&rename_rows(catalog, &found, &becomes)).map_err(|error| in_use(table, error))?;
        ask(&note_name(catalog, &becomes))?;
        if !found.name.eq_ignore_ascii_case(name) {
            ask(&note_former_name(catalog, &found))?;
        }
        // Those that a person sees of its kinds have the table's name in theirs.
        let (number, rows) = (becomes.number()?, catalog.rows(&becomes));
        let entry = TableEntry::new(number, becomes.name, rows, None);
        for (kind, layout) in noted.layouts.iter() {
            let former = views::name_of_kind(&found.name, kind);
            let mut views = former
                .map(|former| format!("DROP VIEW IF EXISTS {};", catalog.view(&former)))
                .unwrap_or_default();
            views += &views::of_kind(catalog, &entry, kind, layout).unwrap_or_default();
            connection.wait(connection.attempt(&views)).map_err(of_server)?;
        }
        Ok(Some(found))
    })?;
    store.forget(renamed.ok_or_else(missing)?.number()?);
    Ok(())
}

/// Returns the statements that give the server's table another name, and the view that a person looks at. Handles that
/// were opened before find nothing under the former name.
fn rename_rows(catalog: &Catalog, former: &Found, becomes: &Found) -> String {
    let rows = format!("ALTER TABLE {} RENAME TO {}", catalog.rows(former), rows_name(becomes));
    if former.name.eq_ignore_ascii_case(&becomes.name) {
        return rows;
    }
    format!("{rows}; ALTER VIEW {} RENAME TO {}", catalog.view(&former.name), view_name(&becomes.name))
}

/// Returns the statement that notes the name. No other table was called so before any more.
fn note_name(catalog: &Catalog, becomes: &Found) -> Call {
    let mut params = Params::default();
    let id = params.add(Param::Number(becomes.id.into()));
    let name = params.add(Param::Text(becomes.name.clone()));
    let lower = params.add(Param::Text(becomes.name.to_ascii_lowercase()));
    let sql = format!(
        "WITH s AS ({}), r AS (DELETE FROM {} WHERE lower_name = {lower})
         UPDATE {} SET name = {name}, lower_name = {lower}, renames = renames + 1
         WHERE id = {id}",
        catalog.raise_generation(),
        catalog.table("_renamed"),
        catalog.table("_tables"),
    );
    Call { sql, params }
}

/// Returns the statement that keeps the name that a table had, and forgets the earliest of many.
fn note_former_name(catalog: &Catalog, former: &Found) -> Call {
    let mut params = Params::default();
    let id = params.add(Param::Number(former.id.into()));
    let lower = params.add(Param::Text(former.name.to_ascii_lowercase()));
    let renamed = catalog.table("_renamed");
    let sql = format!(
        "WITH d AS (DELETE FROM {renamed} WHERE number IN (
            SELECT number FROM {renamed} WHERE id = {id} ORDER BY number DESC OFFSET {}))
         INSERT INTO {renamed} (lower_name, id) VALUES ({lower}, {id})",
        FORMER_NAMES - 1
    );
    Call { sql, params }
}

/// Puts the new name in the place of the former one in what is noted of the kinds of all tables.
fn rename_in_layouts(
    store: &PostgresStore,
    connection: &DrivenConnection,
    former: &str,
    name: &str,
) -> Result<()> {
    let catalog = &store.catalog;
    let ask = |call: &Call| connection.wait(connection.query(call)).map_err(of_server);
    let mut changed: BTreeMap<i32, (Found, Vec<Layout>)> = BTreeMap::new();
    for row in ask(&kinds::all(catalog))? {
        let Some(found) = Found::read(&row, 0)? else { continue };
        let (kind, layout): (&str, &str) = (column(&row, 3)?, column(&row, 4)?);
        let layout = layouts::read(layout, kind)?;
        let now = layout.with_table_renamed(former, name);
        if now != layout {
            changed.entry(found.id).or_insert_with(|| (found, Vec::new())).1.push(now);
        }
    }
    // In the order of their numbers, as others take these locks.
    for (found, layouts) in changed.into_values() {
        let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", catalog.rows(&found));
        let locked = connection.wait(connection.execute(&lock));
        locked.map_err(|error| in_use(&found.name, error))?;
        let id = found.number()?;
        let noted = kinds::found(&ask(&kinds::read(catalog, id))?)?;
        for layout in layouts {
            // Plans that were made by the former name are made again.
            let mut states = noted.states(&layout.kind);
            states.epoch += 1;
            ask(&kinds::put(catalog, id, &layout.kind, &layout.to_string(), &states))?;
        }
    }
    Ok(())
}

/// Puts the new name in the place of the former one in the records of jobs that go over several tables.
fn rename_in_jobs(
    store: &PostgresStore,
    connection: &DrivenConnection,
    former: &str,
    name: &str,
) -> Result<()> {
    let catalog = &store.catalog;
    let ask = |call: &Call| connection.wait(connection.query(call)).map_err(of_server);
    let sql = format!("SELECT DISTINCT table_id FROM {} ORDER BY 1", catalog.table("_jobs"));
    for row in ask(&plain(&sql))? {
        let table = u32::try_from(column::<i32>(&row, 0)?).map_err(|_| damaged("the number of a table"))?;
        for (job, record) in jobs::record::found(&ask(&jobs::record::all(catalog, table))?)? {
            // What other jobs are asked for names no table.
            if !["rebuild ", "drop ", "convert "].iter().any(|word| job.starts_with(word)) {
                continue;
            }
            let now = |table: &str| {
                if table.eq_ignore_ascii_case(former) { name.to_owned() } else { table.to_owned() }
            };
            let asked = record.tables().map(now).collect::<Vec<_>>().join("\n");
            if asked != record.asked {
                let record = JobRecord { asked, ..record };
                ask(&jobs::record::put(catalog, table, &job, Some(&record)))?;
            }
        }
    }
    Ok(())
}
