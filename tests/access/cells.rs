//! A cell of the matrix for each method that reads or writes.

use std::ops::ControlFlow;
use std::sync::mpsc;

use table_core::crypt::KeyScope;
use table_core::queue::StoredMessage;
use table_core::store::Row;
use table_core::{Batch, DynamicEntity, DynamicTable, IfMatch, Query, Result, Table, Ticks, prop};

use crate::world::{
    Board, Call, Company, Employee, FREE, MINUTE, Office, Payroll, Tenant, employee, note, row_key,
};

/// What is expected of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It finds an entity inside, and none outside.
    Read,
    /// It writes an entity inside, and is refused outside.
    Write,
    /// It is of a queue or a container, which is named or not.
    Named,
    /// No access permits it.
    Never,
}

/// A call, the letters of the permissions that it takes, and what is expected of it.
pub(crate) struct Cell {
    /// The methods that it tests.
    pub(crate) names: &'static [&'static str],
    pub(crate) needs: &'static str,
    pub(crate) kind: Kind,
    /// Whether the entity must not be there before.
    pub(crate) is_new: bool,
    /// Returns whether it has found or written something.
    pub(crate) run: fn(&Call<'_>) -> Result<bool>,
}

const fn cell(
    kind: Kind,
    needs: &'static str,
    names: &'static [&'static str],
    run: fn(&Call<'_>) -> Result<bool>,
) -> Cell {
    Cell { names, needs, kind, is_new: false, run }
}

const fn adds(
    needs: &'static str,
    names: &'static [&'static str],
    run: fn(&Call<'_>) -> Result<bool>,
) -> Cell {
    Cell { is_new: true, ..cell(Kind::Write, needs, names, run) }
}

fn notes(call: &Call<'_>) -> Result<DynamicTable> {
    call.tables.dynamic_table("Notes")
}

fn staff(call: &Call<'_>) -> Result<Table<Employee>> {
    call.tables.table::<Employee>()
}

fn key(call: &Call<'_>) -> table_core::Key<Employee> {
    Employee::key(call.department, call.id)
}

fn this(call: &Call<'_>) -> DynamicEntity {
    note(call.department, call.id).with("More", 1)
}

fn changed(call: &Call<'_>) -> Employee {
    Employee { salary: 2_000, ..employee(call.department, call.id) }
}

fn point(call: &Call<'_>) -> Query {
    Query::new().partition(call.department).row(call.row())
}

/// Returns whether a query of everything finds the entity.
fn finds(call: &Call<'_>, rows: impl IntoIterator<Item = Result<DynamicEntity>>) -> Result<bool> {
    let mut is_found = false;
    for entity in rows {
        let entity = entity?;
        is_found |= entity.partition_key() == call.department && entity.row_key() == call.row();
    }
    Ok(is_found)
}

/// Returns whether a row that is lent is the entity.
fn is_asked(call: &Call<'_>, row: &Row<'_>) -> bool {
    row.partition_key() == call.department && row.row_key() == call.row()
}

/// Submits a batch, and waits for its answer.
fn submitted(batch: &Batch) -> Result<bool> {
    let (done, answer) = mpsc::channel();
    batch.submit(move |committed| done.send(committed).unwrap_or_default())?;
    answer.recv().expect("it is called").map(self::done)
}

fn some<T>(found: Option<T>) -> bool {
    found.is_some()
}

fn done<T>(_: T) -> bool {
    true
}

use Kind::{Named, Never, Read, Write};

/// Reads and writes of entities of any shape.
pub(crate) const DYNAMIC: &[Cell] = &[
    cell(Read, "r", &["DynamicTable::get"], |c| notes(c)?.get(c.department, &c.row()).map(some)),
    cell(Read, "r", &["DynamicTable::get_in_state"], |c| {
        notes(c)?.get_in_state(c.department, &c.row(), |_, _| Ok(())).map(some)
    }),
    cell(Read, "r", &["DynamicTable::get_with"], |c| {
        Ok(notes(c)?.get_with(c.department, &c.row(), |row| row.row_key() == c.row())? == Some(true))
    }),
    cell(Read, "r", &["DynamicTable::query_with"], |c| {
        let mut is_found = false;
        notes(c)?.query_with(&Query::new(), |row| is_found |= is_asked(c, row))?;
        Ok(is_found)
    }),
    cell(Read, "r", &["DynamicTable::page_with"], |c| {
        let mut is_found = false;
        notes(c)?.page_with(&Query::new(), 100, None, |row| is_found |= is_asked(c, row))?;
        Ok(is_found)
    }),
    cell(Read, "r", &["DynamicTable::query"], |c| finds(c, notes(c)?.query(&Query::new())?)),
    cell(Read, "r", &["DynamicTable::query"], |c| {
        finds(c, notes(c)?.query(&Query::new().rev().filter(prop("Text").eq("a")))?)
    }),
    cell(Read, "r", &["DynamicTable::query"], |c| Ok(notes(c)?.query(&point(c))?.count() == 1)),
    cell(Read, "r", &["DynamicTable::page"], |c| {
        Ok(!notes(c)?.page(&point(c), 10, None)?.entities.is_empty())
    }),
    cell(Read, "r", &["DynamicTable::page"], |c| {
        let (table, query, mut after, mut is_found) = (notes(c)?, Query::new(), None, false);
        loop {
            let page = table.page(&query, 1, after.as_ref())?;
            is_found |= finds(c, page.entities.into_iter().map(Ok))?;
            after = page.next;
            if after.is_none() {
                return Ok(is_found);
            }
        }
    }),
    cell(Read, "r", &["Tables::snapshot", "Snapshot::get"], |c| {
        c.tables.snapshot()?.get(&notes(c)?, c.department, &c.row()).map(some)
    }),
    cell(Read, "r", &["Snapshot::get_with"], |c| {
        let snapshot = c.tables.snapshot()?;
        Ok(snapshot.get_with(&notes(c)?, c.department, &c.row(), |row| is_asked(c, row))? == Some(true))
    }),
    cell(Read, "r", &["Snapshot::query_with"], |c| {
        let mut is_found = false;
        c.tables.snapshot()?.query_with(&notes(c)?, &Query::new(), |row| is_found |= is_asked(c, row))?;
        Ok(is_found)
    }),
    cell(Read, "r", &["Snapshot::page_with"], |c| {
        let (snapshot, mut is_found) = (c.tables.snapshot()?, false);
        snapshot.page_with(&notes(c)?, &Query::new(), 100, None, |row| is_found |= is_asked(c, row))?;
        Ok(is_found)
    }),
    cell(Read, "r", &["Snapshot::view"], |c| {
        Ok(c.tables.snapshot()?.view(&notes(c)?, c.department, &c.row())?.is_some())
    }),
    cell(Read, "r", &["Snapshot::query"], |c| {
        finds(c, c.tables.snapshot()?.query(&notes(c)?, &Query::new())?)
    }),
    cell(Read, "r", &["Snapshot::views"], |c| {
        Ok(c.tables.snapshot()?.views(&notes(c)?, &point(c))?.next().transpose()?.is_some())
    }),
    cell(Read, "r", &["Snapshot::page"], |c| {
        finds(
            c,
            c.tables.snapshot()?.page(&notes(c)?, &Query::new(), 100, None)?.entities.into_iter().map(Ok),
        )
    }),
    adds("a", &["DynamicTable::insert"], |c| notes(c)?.insert(&this(c)).map(done)),
    cell(Write, "u", &["DynamicTable::replace"], |c| notes(c)?.replace(&this(c), IfMatch::Any).map(done)),
    cell(Write, "u", &["DynamicTable::merge"], |c| notes(c)?.merge(&this(c), IfMatch::Any).map(done)),
    cell(Write, "au", &["DynamicTable::put"], |c| notes(c)?.put(&this(c)).map(done)),
    adds("au", &["DynamicTable::put"], |c| notes(c)?.put(&this(c)).map(done)),
    cell(Write, "au", &["DynamicTable::insert_or_merge"], |c| notes(c)?.insert_or_merge(&this(c)).map(done)),
    cell(Write, "d", &["DynamicTable::delete"], |c| notes(c)?.delete(c.department, &c.row()).map(done)),
    cell(Write, "d", &["DynamicTable::delete_if"], |c| {
        notes(c)?.delete_if(c.department, &c.row(), IfMatch::Any).map(done)
    }),
    cell(Never, "", &["DynamicTable::raw"], |c| notes(c)?.raw().put(&this(c)).map(done)),
    adds("a", &["DynamicTable::batch", "Batch::insert", "Batch::commit"], |c| {
        notes(c)?.batch(c.department).insert(this(c)).commit().map(done)
    }),
    adds("a", &["Batch::submit"], |c| submitted(&notes(c)?.batch(c.department).insert(this(c)))),
    cell(Write, "d", &["Batch::submit"], |c| submitted(&notes(c)?.batch(c.department).delete(c.row()))),
    adds("a", &["StoreTransaction::insert_row"], |c| {
        c.tables.transaction().insert_row(&notes(c)?, &this(c)).commit().map(done)
    }),
    cell(Write, "au", &["StoreTransaction::put_row"], |c| {
        c.tables.transaction().put_row(&notes(c)?, &this(c)).commit().map(done)
    }),
    adds("au", &["StoreTransaction::put_row"], |c| {
        c.tables.transaction().put_row(&notes(c)?, &this(c)).commit().map(done)
    }),
    cell(Write, "u", &["StoreTransaction::replace_row"], |c| {
        c.tables.transaction().replace_row(&notes(c)?, &this(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "u", &["StoreTransaction::merge_row"], |c| {
        c.tables.transaction().merge_row(&notes(c)?, &this(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "au", &["StoreTransaction::insert_or_merge_row"], |c| {
        c.tables.transaction().insert_or_merge_row(&notes(c)?, &this(c)).commit().map(done)
    }),
    cell(Write, "d", &["StoreTransaction::delete_row"], |c| {
        c.tables.transaction().delete_row(&notes(c)?, c.department, &c.row()).commit().map(done)
    }),
    cell(Write, "d", &["StoreTransaction::delete_row_if"], |c| {
        c.tables
            .transaction()
            .delete_row_if(&notes(c)?, c.department, &c.row(), IfMatch::Any)
            .commit()
            .map(done)
    }),
    cell(Write, "u", &["Batch::replace"], |c| {
        notes(c)?.batch(c.department).replace(this(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "u", &["Batch::merge"], |c| {
        notes(c)?.batch(c.department).merge(this(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "au", &["Batch::put"], |c| notes(c)?.batch(c.department).put(this(c)).commit().map(done)),
    cell(Write, "au", &["Batch::insert_or_merge"], |c| {
        notes(c)?.batch(c.department).insert_or_merge(this(c)).commit().map(done)
    }),
    cell(Write, "d", &["Batch::delete"], |c| {
        notes(c)?.batch(c.department).delete(c.row()).commit().map(done)
    }),
    cell(Write, "d", &["Batch::delete_if"], |c| {
        notes(c)?.batch(c.department).delete_if(c.row(), IfMatch::Any).commit().map(done)
    }),
    adds("a", &["Tables::bulk"], |c| {
        let batch = notes(c)?.batch(c.department).insert(this(c));
        c.tables.bulk([batch])?.into_result().map(done)
    }),
    cell(Read, "r", &["EncryptingTable::get", "DynamicTable::encrypting"], |c| {
        notes(c)?.encrypting(|_, _, name| name == "More").get(c.department, &c.row()).map(some)
    }),
    cell(Read, "r", &["EncryptingTable::query"], |c| {
        finds(c, notes(c)?.encrypting(|_, _, name| name == "More").query(&Query::new())?)
    }),
    cell(Read, "r", &["EncryptingTable::page"], |c| {
        let page = notes(c)?.encrypting(|_, _, name| name == "More").page(&point(c), 10, None)?;
        finds(c, page.entities.into_iter().map(Ok))
    }),
    adds("a", &["EncryptingTable::insert", "EncryptingTable::scoped"], |c| {
        let sealed = notes(c)?.encrypting(|_, _, name| name == "More").scoped(KeyScope::Table);
        sealed.insert(&this(c)).map(done)
    }),
    cell(Write, "u", &["EncryptingTable::replace"], |c| {
        notes(c)?.encrypting(|_, _, name| name == "More").replace(&this(c), IfMatch::Any).map(done)
    }),
    cell(Write, "au", &["EncryptingTable::put"], |c| {
        notes(c)?.encrypting(|_, _, name| name == "More").put(&this(c)).map(done)
    }),
    // What a merge seals depends on what is stored, so that is read.
    cell(Write, "rau", &["EncryptingTable::insert_or_merge"], |c| {
        notes(c)?.encrypting(|_, _, name| name == "More").insert_or_merge(&this(c)).map(done)
    }),
    adds("a", &["EncryptingTable::batch"], |c| {
        let sealed = notes(c)?.encrypting(|_, _, name| name == "More");
        sealed.batch(c.department).insert(this(c)).commit().map(done)
    }),
    cell(Write, "ru", &["EncryptingTable::merge"], |c| {
        notes(c)?.encrypting(|_, _, name| name == "More").merge(&this(c), IfMatch::Any).map(done)
    }),
    cell(Write, "d", &["EncryptingTable::delete"], |c| {
        notes(c)?.encrypting(|_, _, _| true).delete(c.department, &c.row()).map(done)
    }),
    cell(Write, "d", &["EncryptingTable::delete_if"], |c| {
        notes(c)?.encrypting(|_, _, _| true).delete_if(c.department, &c.row(), IfMatch::Any).map(done)
    }),
];

fn finds_one(
    call: &Call<'_>,
    rows: impl IntoIterator<Item = Result<table_core::Stored<Employee>>>,
) -> Result<bool> {
    let mut is_found = false;
    for entity in rows {
        let entity = entity?;
        is_found |= entity.department == call.department && entity.id == call.id;
    }
    Ok(is_found)
}

/// Reads and writes of entities of one type.
pub(crate) const TYPED: &[Cell] = &[
    cell(Read, "r", &["Tables::table", "Table::get"], |c| staff(c)?.get(key(c)).map(some)),
    cell(Read, "r", &["Table::exists"], |c| staff(c)?.exists(key(c))),
    cell(Read, "r", &["Table::get_many"], |c| {
        Ok(staff(c)?.get_many([key(c)])?.into_iter().flatten().count() == 1)
    }),
    cell(Read, "r", &["Table::get_as"], |c| staff(c)?.get_as::<Tenant>(key(c)).map(some)),
    cell(Read, "r", &["Table::view"], |c| staff(c)?.view(key(c), |seen| seen.salary()).map(some)),
    cell(Read, "r", &["Table::all", "PathQuery::rev"], |c| finds_one(c, staff(c)?.all().rev())),
    cell(Read, "r", &["PathQuery::count"], |c| {
        Ok(staff(c)?.rows().department(c.department).id(c.id..=c.id).count()? == 1)
    }),
    cell(Read, "r", &["PathQuery::first", "PathQuery::top", "PathQuery::limit"], |c| {
        Ok(staff(c)?.rows().department(c.department).id(c.id..=c.id).limit(1).first()?.is_some())
    }),
    cell(Read, "r", &["PathQuery::exists"], |c| {
        staff(c)?.rows().department(c.department).id(c.id..=c.id).exists()
    }),
    cell(Read, "r", &["PathQuery::page"], |c| {
        let page = staff(c)?.all().page(100, None)?;
        finds_one(c, page.entities.into_iter().map(Ok))
    }),
    cell(Read, "r", &["PathQuery::filter"], |c| finds_one(c, staff(c)?.all().filter(|e| e.city.eq("Oslo")))),
    cell(Read, "r", &["PathQuery::select"], |c| {
        let rows = staff(c)?.rows().department(c.department).id(c.id..=c.id);
        Ok(rows.select::<Tenant>().count()? == 1)
    }),
    cell(Read, "r", &["PathQuery::views", "Table::at", "TableAt::all"], |c| {
        let (snapshot, staff) = (c.tables.snapshot()?, staff(c)?);
        let mut is_found = false;
        for seen in staff.at(&snapshot).rows().department(c.department).views() {
            is_found |= seen?.id()? == c.id;
        }
        Ok(is_found)
    }),
    cell(Read, "r", &["TableAt::get"], |c| staff(c)?.at(&c.tables.snapshot()?).get(key(c)).map(some)),
    cell(Read, "r", &["TableAt::get_many"], |c| {
        Ok(staff(c)?.at(&c.tables.snapshot()?).get_many([key(c)])?.into_iter().flatten().count() == 1)
    }),
    cell(Read, "r", &["TableAt::get_as"], |c| {
        staff(c)?.at(&c.tables.snapshot()?).get_as::<Tenant>(key(c)).map(some)
    }),
    cell(Read, "r", &["TableAt::view"], |c| Ok(staff(c)?.at(&c.tables.snapshot()?).view(key(c))?.is_some())),
    cell(Read, "r", &["Tables::set", "SetTable::get"], |c| c.tables.set::<Company>()?.get(key(c)).map(some)),
    cell(Read, "r", &["SetTable::across_partitions"], |c| {
        let mut is_found = false;
        for one in c.tables.set::<Company>()?.across_partitions() {
            let one = one?;
            if let Company::Employee(found) = &*one {
                is_found |= found.department == c.department && found.id == c.id;
            }
        }
        Ok(is_found)
    }),
    adds("a", &["Table::insert"], |c| staff(c)?.insert(&changed(c)).map(done)),
    adds("au", &["Table::put"], |c| staff(c)?.put(&changed(c)).map(done)),
    cell(Write, "au", &["Table::put"], |c| staff(c)?.put(&changed(c)).map(done)),
    cell(Write, "u", &["Table::replace"], |c| staff(c)?.replace(&changed(c), IfMatch::Any).map(done)),
    cell(Write, "ru", &["Table::merge"], |c| {
        staff(c)?.merge(key(c), Employee::patch().salary(3_000), IfMatch::Any).map(done)
    }),
    cell(Write, "ru", &["Table::update"], |c| staff(c)?.update(key(c), |e| e.salary += 1).map(done)),
    cell(Write, "ru", &["Table::try_update"], |c| {
        staff(c)?
            .try_update::<table_core::Error>(key(c), |e| {
                e.salary += 1;
                Ok(())
            })
            .map(done)
    }),
    adds("ra", &["Table::get_or_insert"], |c| staff(c)?.get_or_insert(&changed(c)).map(done)),
    cell(Write, "raud", &["Table::move_to"], |c| staff(c)?.move_to(key(c), |e| e.id = FREE).map(done)),
    cell(Write, "d", &["Table::delete"], |c| staff(c)?.delete(key(c)).map(done)),
    cell(Write, "d", &["Table::delete_if"], |c| staff(c)?.delete_if(key(c), IfMatch::Any).map(done)),
    adds("a", &["Table::bulk_insert"], |c| staff(c)?.bulk_insert([changed(c)])?.into_result().map(done)),
    adds("a", &["Table::egt", "Egt::insert"], |c| {
        staff(c)?.egt(Employee::partition(c.department)).insert(&changed(c)).commit().map(done)
    }),
    cell(Write, "au", &["Egt::put"], |c| {
        staff(c)?.egt(Employee::partition(c.department)).put(&changed(c)).commit().map(done)
    }),
    cell(Write, "u", &["Egt::replace"], |c| {
        staff(c)?.egt(Employee::partition(c.department)).replace(&changed(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "ru", &["Egt::merge"], |c| {
        let egt = staff(c)?.egt(Employee::partition(c.department));
        egt.merge(key(c), Employee::patch().salary(3_000), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "ru", &["Egt::update"], |c| {
        staff(c)?.egt(Employee::partition(c.department)).update(key(c), |e| e.salary += 1).commit().map(done)
    }),
    cell(Write, "raud", &["Egt::move_to"], |c| {
        staff(c)?.egt(Employee::partition(c.department)).move_to(key(c), |e| e.id = FREE).commit().map(done)
    }),
    cell(Write, "d", &["Tables::egt", "Egt::delete"], |c| {
        c.tables.egt::<Company>(Employee::partition(c.department)).delete(key(c)).commit().map(done)
    }),
    cell(Write, "d", &["SetTable::egt", "Egt::delete_if"], |c| {
        let set = c.tables.set::<Company>()?;
        set.egt(Employee::partition(c.department)).delete_if(key(c), IfMatch::Any).commit().map(done)
    }),
    adds("a", &["Tables::transaction", "StoreTransaction::insert"], |c| {
        c.tables.transaction().insert(&changed(c)).commit().map(done)
    }),
    cell(Write, "au", &["StoreTransaction::put"], |c| {
        c.tables.transaction().put(&changed(c)).commit().map(done)
    }),
    cell(Write, "u", &["StoreTransaction::replace"], |c| {
        c.tables.transaction().replace(&changed(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "ru", &["StoreTransaction::merge"], |c| {
        let patch = Employee::patch().salary(3_000);
        c.tables.transaction().merge(key(c), patch, IfMatch::Any).commit().map(done)
    }),
    cell(Write, "ru", &["StoreTransaction::update"], |c| {
        c.tables.transaction().update(key(c), |e| e.salary += 1).commit().map(done)
    }),
    cell(Write, "raud", &["StoreTransaction::move_to"], |c| {
        c.tables.transaction().move_to(key(c), |e| e.id = FREE).commit().map(done)
    }),
    cell(Write, "d", &["StoreTransaction::delete"], |c| {
        c.tables.transaction().delete(key(c)).commit().map(done)
    }),
    cell(Write, "d", &["StoreTransaction::delete_if"], |c| {
        c.tables.transaction().delete_if(key(c), IfMatch::Any).commit().map(done)
    }),
    cell(Write, "ru", &["SetTable::merge_any"], |c| {
        let patch = DynamicEntity::new(c.department, row_key(c.id))
            .with("EntityType", "employee")
            .with("Salary", 7_i64);
        c.tables.set::<Company>()?.merge_any(&patch, IfMatch::Any).map(done)
    }),
    cell(Write, "rd", &["SetTable::delete_any", "SetTable::delete_any_if"], |c| {
        c.tables.set::<Company>()?.delete_any(c.department, &c.row()).map(done)
    }),
    cell(Never, "", &["Table::check"], |c| staff(c)?.check().map(done)),
    cell(Never, "", &["Table::repair"], |c| staff(c)?.repair()?.run().map(done)),
    cell(Never, "", &["Table::rebuild"], |c| staff(c)?.rebuild()?.run().map(done)),
    cell(Never, "", &["Table::note_kind"], |c| staff(c)?.note_kind().map(done)),
    cell(Never, "", &["Table::drop_index"], |c| staff(c)?.drop_index("by_city")?.run().map(done)),
    cell(Never, "", &["Table::forget_copies"], |c| staff(c)?.forget_copies().map(done)),
    cell(Never, "", &["Table::delete_where"], |c| {
        staff(c)?.delete_where(staff(c)?.all().entities())?.run().map(done)
    }),
    cell(Never, "", &["Table::delete_partition"], |c| {
        staff(c)?.delete_partition(Employee::partition("Sales"))?.run().map(done)
    }),
    cell(Never, "", &["StoreTransaction::explain"], |c| {
        c.tables.transaction().update(key(c), |_| ()).explain().map(done)
    }),
    cell(Never, "", &["Tables::create_table"], |c| c.tables.create_table("Notes2").map(done)),
    cell(Never, "", &["Tables::create_table_if_missing"], |c| {
        c.tables.create_table_if_missing("Other").map(done)
    }),
    cell(Never, "", &["Tables::dynamic_table"], |c| c.tables.dynamic_table("Other").map(done)),
    cell(Never, "", &["Tables::dynamic_table"], |c| c.tables.dynamic_table("Missing").map(done)),
    cell(Never, "", &["Tables::drop_table"], |c| c.tables.drop_table("Notes").map(done)),
    cell(Never, "", &["Tables::drop_tables"], |c| c.tables.drop_tables(&["Notes"]).map(done)),
    cell(Never, "", &["Tables::rename_table"], |c| c.tables.rename_table("Notes", "Other2").map(done)),
    cell(Never, "", &["Tables::jobs"], |c| c.tables.jobs().map(done)),
    cell(Never, "", &["Tables::propagate"], |c| c.tables.propagate().map(done)),
    cell(Never, "", &["Tables::pending_propagation"], |c| c.tables.pending_propagation().map(done)),
    cell(Never, "", &["Tables::retry_failed"], |c| c.tables.retry_failed().map(done)),
    cell(Never, "", &["Tables::table"], |c| c.tables.table::<Board>().map(done)),
];

/// Derived rows, which are outside the rows of the access though their entities are inside.
pub(crate) const DERIVED: &[Cell] = &[
    cell(Read, "r", &["Table::get"], |c| {
        staff(c)?.get(Employee::by_email(c.department, &employee(c.department, c.id).email)).map(some)
    }),
    cell(Read, "r", &["PathQuery::entities"], |c| {
        let found = staff(c)?.by_email().department(c.department).entities();
        finds_one(c, found)
    }),
    cell(Read, "r", &["Table::get"], |c| {
        staff(c)?.get(Employee::by_city("Oslo", c.department, c.id)).map(some)
    }),
    cell(Read, "r", &["Table::get"], |c| {
        staff(c)?.get(Employee::by_badge(employee(c.department, c.id).badge)).map(some)
    }),
    cell(Read, "r", &["Table::list"], |c| {
        Ok(!staff(c)?.list(Employee::by_city_here(c.department, "Oslo"))?.is_empty())
    }),
    cell(Read, "r", &["TableAt::list"], |c| {
        Ok(!staff(c)?
            .at(&c.tables.snapshot()?)
            .list(Employee::by_city_here(c.department, "Oslo"))?
            .is_empty())
    }),
    cell(Read, "r", &["Table::get"], |c| {
        c.tables.table::<Payroll>()?.get(Payroll::key(c.department)).map(some)
    }),
    cell(Read, "r", &["DynamicTable::query"], |c| {
        let rows = c.tables.dynamic_table("Company")?.query(&Query::new().partition(c.department))?;
        let mut is_derived = false;
        for row in rows {
            is_derived |= !row?.row_key().starts_with("empid_");
        }
        Ok(is_derived)
    }),
];

/// Queues and blobs, which are named or not.
pub(crate) const NAMED: &[Cell] = &[
    cell(Named, "a", &["Tables::queue", "Queue::send"], |c| {
        c.tables.queue::<String>(c.queue())?.send(&"a".to_owned()).map(done)
    }),
    cell(Named, "a", &["Queue::send_after"], |c| {
        c.tables.queue::<String>(c.queue())?.send_after(&"a".to_owned(), MINUTE).map(done)
    }),
    cell(Named, "a", &["Queue::send_unique"], |c| {
        c.tables.queue::<String>(c.queue())?.send_unique("k", &"a".to_owned()).map(done)
    }),
    cell(Named, "a", &["Queue::send_all"], |c| {
        c.tables.queue::<String>(c.queue())?.send_all(&["a".to_owned()]).map(done)
    }),
    cell(Named, "a", &["Queue::restore"], |c| {
        let message = StoredMessage {
            id: 1,
            text: "\"copied\"".into(),
            sent: Ticks::now(),
            expires: None,
            hidden_until: None,
            count: 1,
            error: None,
            unique: None,
        };
        Ok(c.tables.queue::<String>(c.queue())?.restore(&[message])? == 1)
    }),
    cell(Named, "a", &["Queue::message"], |c| {
        c.tables.queue::<String>(c.queue())?.message(&"a".to_owned()).send().map(done)
    }),
    cell(Named, "a", &["Tables::find_queue", "Queue::into_text"], |c| {
        let queue = c.tables.find_queue::<String>(c.queue())?.unwrap().into_text();
        queue.send(&"a".to_owned()).map(done)
    }),
    cell(Never, "", &["Tables::create_queue"], |c| c.tables.create_queue::<String>(c.queue()).map(done)),
    cell(Named, "rd", &["Queue::delete_by"], |c| {
        let queue = c.tables.queue::<String>(c.queue())?;
        let received = queue.receive(MINUTE)?.unwrap();
        queue.delete_by(&received.pop_receipt()).map(done)
    }),
    cell(Named, "rd", &["Queue::release_by"], |c| {
        let queue = c.tables.queue::<String>(c.queue())?;
        let received = queue.receive(MINUTE)?.unwrap();
        queue.release_by(&received.pop_receipt(), MINUTE).map(done)
    }),
    cell(Named, "rud", &["Queue::update_by"], |c| {
        let queue = c.tables.queue::<String>(c.queue())?;
        let received = queue.receive(MINUTE)?.unwrap();
        queue.update_by(&received.pop_receipt(), None, MINUTE).map(done)
    }),
    cell(Named, "rd", &["Queue::receive"], |c| {
        c.tables.queue::<String>(c.queue())?.receive(MINUTE).map(some)
    }),
    cell(Named, "rd", &["Queue::receive_many"], |c| {
        Ok(!c.tables.queue::<String>(c.queue())?.receive_many(2, MINUTE)?.is_empty())
    }),
    cell(Named, "rd", &["Queue::wait"], |c| {
        c.tables.queue::<String>(c.queue())?.wait(MINUTE, MINUTE).map(some)
    }),
    cell(Named, "rd", &["Queue::wait_for"], |c| {
        Ok(!c.tables.queue::<String>(c.queue())?.wait_for(2, MINUTE, MINUTE)?.is_empty())
    }),
    cell(Named, "rd", &["Queue::delete_all"], |c| {
        let queue = c.tables.queue::<String>(c.queue())?;
        let received = queue.receive_many(2, MINUTE)?;
        Ok(queue.delete_all(&received)? == 1)
    }),
    cell(Named, "r", &["Queue::peek"], |c| Ok(!c.tables.queue::<String>(c.queue())?.peek(1)?.is_empty())),
    cell(Named, "r", &["Queue::stored"], |c| {
        let mut count = 0;
        c.tables.queue::<String>(c.queue())?.stored(|_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count > 0)
    }),
    cell(Named, "r", &["Queue::stats"], |c| c.tables.queue::<String>(c.queue())?.stats().map(done)),
    cell(Never, "", &["Queue::pause"], |c| c.tables.queue::<String>(c.queue())?.pause().map(done)),
    cell(Never, "", &["Queue::resume"], |c| c.tables.queue::<String>(c.queue())?.resume().map(done)),
    cell(Never, "", &["Queue::clear"], |c| c.tables.queue::<String>(c.queue())?.clear().map(done)),
    cell(Never, "", &["Tables::drop_queue"], |c| c.tables.drop_queue(c.queue()).map(done)),
    cell(Named, "a", &["Egt::send"], |c| {
        let queue = c.tables.queue::<String>(c.queue())?;
        c.tables.transaction().send(&queue, &"a".to_owned()).commit().map(done)
    }),
    cell(Named, "au", &["Tables::container", "Container::put"], |c| {
        c.tables.container(c.container())?.put("report", b"b").map(done)
    }),
    cell(Named, "au", &["Container::put_as"], |c| {
        c.tables.container(c.container())?.put_as("report", "text/plain", b"b").map(done)
    }),
    cell(Named, "a", &["Container::put_new"], |c| {
        c.tables.container(c.container())?.put_new("new", "text/plain", b"b").map(done)
    }),
    cell(Named, "au", &["Container::append"], |c| {
        c.tables.container(c.container())?.append("report", b"b").map(done)
    }),
    cell(Named, "au", &["Container::upload"], |c| {
        c.tables.container(c.container())?.upload("report", "text/plain", &b"b"[..]).map(done)
    }),
    cell(Named, "d", &["Container::delete"], |c| c.tables.container(c.container())?.delete("report")),
    cell(Named, "r", &["Container::find"], |c| c.tables.container(c.container())?.find("report").map(some)),
    cell(Named, "r", &["Container::get"], |c| c.tables.container(c.container())?.get("report").map(some)),
    cell(Named, "r", &["Container::open"], |c| c.tables.container(c.container())?.open("report").map(done)),
    cell(Named, "r", &["Container::list_after"], |c| {
        Ok(c.tables.container(c.container())?.list_after("", "a")?.next().transpose()?.is_some())
    }),
    cell(Named, "r", &["Container::list"], |c| {
        Ok(c.tables.container(c.container())?.list("")?.next().transpose()?.is_some())
    }),
    cell(Never, "", &["Tables::drop_container"], |c| c.tables.drop_container(c.container()).map(done)),
    cell(Never, "", &["Tables::upload"], |c| c.tables.upload("text/plain", &b"b"[..]).map(done)),
];

/// An office refers to an employee: it takes the right to write it, and an employee inside.
pub(crate) fn office(call: &Call<'_>) -> Office {
    Office { house: "Sales".into(), room: 1, department: call.department.into(), id: call.id, tenant: None }
}
