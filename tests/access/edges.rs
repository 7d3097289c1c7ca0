//! What no cell of the matrix can say: times, references, moves, rows that are hidden, errors, pages and handles that are
//! restricted further.

use table_core::__executor::RecordOwner;
use table_core::access::Access;
use table_core::asynchronous::block_on;
use table_core::{DynamicEntity, Error, ErrorKind, IfMatch, Query, Result, Ticks};

use crate::cells::office;
use crate::world::{
    Board, Call, Employee, Office, Payroll, Place, World, access, employee, note, permitting, row_key,
};

type Edge = fn(&World) -> Result<(), String>;

/// Every edge by its name. What is wrong is told, so that the matrix can ask whether it fails without a check.
pub(crate) const ALL: &[(&str, Edge)] = &[
    ("times", times),
    ("sources", sources),
    ("moves", moves),
    ("hidden", hidden),
    ("errors", errors),
    ("shared", shared),
    ("pages", pages),
    ("further", further),
    ("together", together),
    ("made", made),
    ("service", service),
];

fn kind<T>(done: Result<T>) -> Option<ErrorKind> {
    done.err().map(|error| error.kind())
}

/// Says what differs, if it does.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, expected {expected:?}")) }
}

fn text(error: Error) -> String {
    error.to_string()
}

/// No access lets a handle see what the server keeps, whatever it permits.
fn service(world: &World) -> Result<(), String> {
    for access in [access("raud"), access("r"), Access::to_all_tables().everything()] {
        let tables = world.store.restricted(&access);
        let refused = tables.service_records().map(drop).map_err(|error| error.to_string());
        let refused = refused.err().unwrap_or_default();
        same("says so", refused.contains("no access permits to see the service records"), true)?;
        same("kind", kind(tables.service_records()), Some(ErrorKind::NotPermitted))?;
        same(
            "awaited",
            kind(block_on(tables.to_async().service_records().get(RecordOwner::Store, "keys"))),
            Some(ErrorKind::NotPermitted),
        )?;
    }
    Ok(())
}

fn times(world: &World) -> Result<(), String> {
    let now = Ticks::now();
    let second = std::time::Duration::from_secs(1);
    let (past, future) = (now.checked_sub(second).unwrap(), now.checked_add(60 * second).unwrap());
    for (is_on, access) in [
        (true, access("raud").from(past).until(future)),
        (false, access("raud").until(past)),
        (false, access("raud").from(future)),
    ] {
        let tables = world.store.restricted(&access);
        let expected = (!is_on).then_some(ErrorKind::NotPermitted);
        same("open", kind(tables.dynamic_table("Notes")), expected)?;
        same("list", kind(tables.tables()), expected)?;
        same("snapshot", kind(tables.snapshot()), expected)?;
    }
    // An access that ends while handles are held.
    let until = Ticks::now().checked_add(second).unwrap();
    let tables = world.store.restricted(&access("raud").until(until));
    let (notes, staff) =
        (tables.dynamic_table("Notes").map_err(text)?, tables.table::<Employee>().map_err(text)?);
    let mut rows = notes.query(&Query::new()).map_err(text)?;
    let snapshot = tables.snapshot().map_err(text)?;
    let gone = Some(ErrorKind::NotPermitted);
    let closure = staff.update(Employee::key("Sales", 4), |employee| {
        employee.salary += 1;
        while Ticks::now() < until {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    });
    same("a change under way", kind(closure), gone)?;
    same("rows", rows.find_map(kind), gone)?;
    same("get", kind(notes.get("Sales", &row_key(4))), gone)?;
    same("snapshot", kind(snapshot.get(&notes, "Sales", &row_key(4))), gone)?;
    same("insert", kind(notes.put(&note("Sales", 4))), gone)?;
    same("typed", kind(staff.delete(Employee::key("Sales", 4))), gone)
}

fn sources(world: &World) -> Result<(), String> {
    let offices = world.store.table::<Office>().map_err(text)?;
    let of = |place: Place| {
        let (department, id) = place.key();
        office(&Call { tables: &world.store, department, id, is_inside: true })
    };
    let tables = world.store.restricted(&Access::to_table("Company").everything().partition("Sales"));
    let restricted = tables.table::<Office>().map_err(text)?;
    let outside = restricted.insert(&of(Place::Elsewhere));
    let is_written = offices.get(Office::key("Sales", 1)).map_err(text)?.is_some();
    let _ = offices.delete(Office::key("Sales", 1));
    same("a source outside", (kind(outside), is_written), (Some(ErrorKind::OutsideRange), false))?;
    restricted.insert(&of(Place::Inside)).map_err(text)?;
    let office = restricted.get(Office::key("Sales", 1)).map_err(text)?;
    same(
        "a source inside",
        office.and_then(|office| office.tenant.clone().map(|tenant| tenant.email)),
        Some("4@contoso.com".into()),
    )?;
    let moved = restricted.update(Office::key("Sales", 1), |office| office.department = "Legal".into());
    same("another source", kind(moved), Some(ErrorKind::OutsideRange))?;
    // What follows from a change is written by the right to change the source.
    let staff = world.store.restricted(&access("ru")).table::<Employee>().map_err(text)?;
    staff
        .update(Employee::key("Sales", 4), |employee| employee.email = "new@contoso.com".into())
        .map_err(text)?;
    let office = offices.get(Office::key("Sales", 1)).map_err(text)?;
    same(
        "a dependent outside",
        office.and_then(|office| office.tenant.clone().map(|tenant| tenant.email)),
        Some("new@contoso.com".into()),
    )?;
    offices.delete(Office::key("Sales", 1)).map_err(text)?;
    world.reset(None);
    Ok(())
}

fn moves(world: &World) -> Result<(), String> {
    let staff = world.store.restricted(&access("raud")).table::<Employee>().map_err(text)?;
    let moved = staff.move_to(Employee::key("Sales", 4), |employee| employee.id = 9);
    let is_there = world
        .store
        .table::<Employee>()
        .and_then(|staff| staff.get(Employee::key("Sales", 4)))
        .map_err(text)?;
    world.reset(None);
    same("a move outside", (kind(moved), is_there.is_some()), (Some(ErrorKind::OutsideRange), true))
}

fn hidden(world: &World) -> Result<(), String> {
    // From a city to a department, with another department before it.
    let access = Access::to_tables(["Company", "Cities"])
        .everything()
        .from_partition("Oslo")
        .through_partition("Sales");
    let cities = world.store.restricted(&access).dynamic_table("Cities").map_err(text)?;
    let row = |department: &str| format!("{department}_000004");
    let is_found = |department: &str| cities.get("Oslo", &row(department)).map(|found| found.is_some());
    same("a copy of an entity inside", is_found("Sales").map_err(text)?, true)?;
    same("a copy of an entity outside", is_found("Legal").map_err(text)?, false)?;
    let keys = |found: Vec<DynamicEntity>| -> Vec<String> {
        found.iter().map(|row| row.row_key().to_owned()).collect()
    };
    let all: Result<Vec<_>> = cities.query(&Query::new()).and_then(Iterator::collect);
    let ours: Vec<_> = [1, 2, 4, 6, 7].map(|id| format!("Sales_{id:06}")).into();
    same("rows", keys(all.map_err(text)?), ours.clone())?;
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let page = cities.page(&Query::new(), 2, after.as_ref()).map_err(text)?;
        same("a full page", page.entities.len() == 2 || page.next.is_none(), true)?;
        paged.extend(keys(page.entities));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    same("pages", paged, ours)?;
    let snapshot = cities.page(&Query::new().top(3), 1_000, None).map_err(text)?;
    same("a limit", snapshot.entities.len(), 3)?;
    // To write it, it is as if there were none, but that its key is taken.
    let entity = |department: &str| DynamicEntity::new("Oslo", row(department));
    same("a missing row", kind(cities.delete("Oslo", "missing")), Some(ErrorKind::EntityNotFound))?;
    let missing = cities.delete("Oslo", "missing").unwrap_err().to_string();
    let deleted = cities.delete("Oslo", &row("Legal"));
    same(
        "the same words",
        deleted.map_err(|error| error.to_string().replace(&row("Legal"), "missing")),
        Err(missing),
    )?;
    same("merge", kind(cities.merge(&entity("Legal"), IfMatch::Any)), Some(ErrorKind::EntityNotFound))?;
    same("insert", kind(cities.insert(&entity("Legal"))), Some(ErrorKind::EntityAlreadyExists))?;
    same("put", kind(cities.put(&entity("Legal"))), Some(ErrorKind::EntityAlreadyExists))?;
    let batch = cities.batch("Oslo").insert(DynamicEntity::new("Oslo", "new")).delete(row("Legal")).commit();
    let batch = batch.map_err(|error| (error.kind(), error.index())).err();
    same("batch", batch, Some((ErrorKind::EntityNotFound, Some(1))))?;
    same("a row that is shown", kind(cities.delete("Oslo", &row("Sales"))), Some(ErrorKind::DeclaredKind))
}

/// Of several changes that are made together, each is permitted, or none is made.
fn together(world: &World) -> Result<(), String> {
    let before = world.dump();
    let tables = world.store.restricted(&access("raud"));
    let (notes, staff) =
        (tables.dynamic_table("Notes").map_err(text)?, tables.table::<Employee>().map_err(text)?);
    let refused = [
        notes.batch("Sales").insert(note("Sales", 5)).delete(row_key(7)).commit(),
        staff
            .egt(Employee::partition("Sales"))
            .insert(&employee("Sales", 5))
            .delete(Employee::key("Sales", 7))
            .commit(),
        tables.transaction().insert(&employee("Sales", 5)).delete(Employee::key("Legal", 4)).commit(),
        tables.transaction().insert(&employee("Sales", 5)).insert(&employee("Legal", 5)).commit(),
    ];
    for refused in refused {
        let found = refused.err().map(|error| (error.kind(), error.index()));
        same("one outside", found, Some((ErrorKind::OutsideRange, Some(1))))?;
    }
    let adds = world.store.restricted(&access("a"));
    let refused = adds.transaction().insert(&employee("Sales", 5)).delete(Employee::key("Sales", 4)).commit();
    let found = refused.err().map(|error| (error.kind(), error.index()));
    same("one that is not permitted", found, Some((ErrorKind::NotPermitted, Some(1))))?;
    let secret = world.store.queue::<String>("secret").map_err(text)?;
    let sent = tables.transaction().insert(&employee("Sales", 5)).send(&secret, &"a".to_owned()).commit();
    same("a message to another queue", kind(sent), Some(ErrorKind::NotPermitted))?;
    same("nothing is written", world.dump() == before, true)
}

/// To open a queue or a container that is missing would make it.
fn made(world: &World) -> Result<(), String> {
    let access = permitting(Access::to_table("Notes").all_queues().all_containers(), "raud");
    let tables = world.store.restricted(&access);
    same("a queue", kind(tables.queue::<String>("unmade")), Some(ErrorKind::NotPermitted))?;
    same("a container", kind(tables.container("unmade")), Some(ErrorKind::NotPermitted))?;
    let made = |names: Vec<String>| names.iter().any(|name| name == "unmade");
    same("queues", made(world.store.queues().map_err(text)?), false)?;
    same("containers", made(world.store.containers().map_err(text)?), false)?;
    same("one that is there", kind(tables.queue::<String>("jobs")), None)?;
    same("another", kind(tables.container("reports")), None)
}

fn errors(world: &World) -> Result<(), String> {
    // A summary that is outside and full.
    let cities = world.store.dynamic_table("Cities").map_err(text)?;
    let full = DynamicEntity::new("Oslo", "board").with("Employees", i64::MAX);
    let before = cities.get("Oslo", "board").map_err(text)?.unwrap();
    cities.raw().merge(&full, IfMatch::Any).map_err(text)?;
    let staff = world.store.restricted(&access("raud")).table::<Employee>().map_err(text)?;
    let refused = [
        staff.insert(&employee("Sales", 5)).unwrap_err(),
        staff.bulk_insert([employee("Sales", 5)]).and_then(|report| report.into_result()).unwrap_err(),
    ];
    cities.raw().put(&before).map_err(text)?;
    for error in refused {
        same("the kind", error.kind(), ErrorKind::ValueOutOfRange)?;
        let told = format!("{error} {error:?}");
        same(
            "what is told",
            ["board", "Board", "Oslo", "Employees"].iter().find(|word| told.contains(**word)),
            None,
        )?;
    }
    // That a key is taken is told, and not by whom.
    let taken = Employee { badge: 104, ..employee("Sales", 5) };
    let error = staff.insert(&taken).unwrap_err();
    same("a unique key", error.kind(), ErrorKind::UniqueConflict)?;
    same("by whom", error.to_string().contains("Legal"), false)
}

fn shared(world: &World) -> Result<(), String> {
    let tables = world.store.restricted(&Access::to_table("Company").read().partition("Sales"));
    let (staff, pay) = (tables.table::<Employee>().map_err(text)?, tables.table::<Payroll>().map_err(text)?);
    let payroll =
        |department| pay.get(Payroll::key(department)).map(|found| found.map(|found| found.employees));
    same("a summary inside", payroll("Sales").map_err(text)?, Some(5))?;
    same("a summary outside", payroll("Legal").map_err(text)?, None)?;
    let list = |department| staff.list(Employee::by_city_here(department, "Oslo")).map(|list| list.len());
    same("a list inside", list("Sales").map_err(text)?, 5)?;
    same("a list outside", list("Legal").map_err(text)?, 0)?;
    let by_email = |department: &str, email| {
        staff.get(Employee::by_email(department, email)).map(|found| found.is_some())
    };
    same("a copy inside", by_email("Sales", "4@contoso.com").map_err(text)?, true)?;
    same("a copy outside", by_email("Legal", "104@contoso.com").map_err(text)?, false)?;
    // Half of those whom it counts.
    let half = Access::to_table("Company").read().from_row("Sales", &row_key(4)).through_partition("Sales");
    let half = world.store.restricted(&half).table::<Payroll>().map_err(text)?;
    same("half of a summary", half.get(Payroll::key("Sales")).map_err(text)?.is_none(), true)?;
    // Departments of all tables, and no more.
    let all = world.store.restricted(&Access::to_tables(["Company", "Cities"]).read());
    let board = all.table::<Board>().and_then(|board| board.get(Board::key("Oslo"))).map_err(text)?;
    same("a summary of everything", board.map(|board| board.employees), Some(6))?;
    let cities = Access::to_tables(["Company", "Cities"]).read().from_partition("M");
    let cities = world.store.restricted(&cities).table::<Board>().map_err(text)?;
    same("a summary of more", cities.get(Board::key("Oslo")).map_err(text)?.is_none(), true)
}

fn pages(world: &World) -> Result<(), String> {
    let at = |until: &str| access("r").until(until.parse().unwrap());
    let notes = |access: &Access| world.store.restricted(access).dynamic_table("Notes").map_err(text);
    let query = Query::new();
    let first = notes(&at("2098-01-01"))?.page(&query, 1, None).map_err(text)?;
    let next = first.next.ok_or("no second page")?;
    let second = notes(&at("2099-01-01"))?.page(&query, 1, Some(&next)).map_err(text)?;
    same("a renewed access", second.entities[0].row_key().to_owned(), row_key(4))?;
    // The store's own handle goes on with what is behind it, and another access with what that shows.
    let rest = world
        .store
        .dynamic_table("Notes")
        .and_then(|notes| notes.page(&query, 10, Some(&next)))
        .map_err(text)?;
    same("no access", rest.entities.len(), 3)?;
    let narrower =
        notes(&access("r").through_row("Sales", &row_key(3)))?.page(&query, 10, Some(&next)).map_err(text)?;
    same("another access", narrower.entities.len(), 0)
}

fn further(world: &World) -> Result<(), String> {
    let tables = world.store.restricted(&access("rau"));
    let narrower = tables.restricted(&Access::to_all_tables().read().delete().from_row("Sales", &row_key(4)));
    let notes = narrower.dynamic_table("Notes").map_err(text)?;
    same("rows", notes.query(&Query::new()).map_err(text)?.count(), 2)?;
    same("delete", kind(notes.delete("Sales", &row_key(4))), Some(ErrorKind::NotPermitted))?;
    same("add", kind(notes.insert(&note("Sales", 5))), Some(ErrorKind::NotPermitted))?;
    same("tables", narrower.tables().map_err(text)?, vec!["Company".to_owned(), "Notes".to_owned()])?;
    same("a page of tables", narrower.tables_page(None, None, 10).map_err(text)?.tables.len(), 2)?;
    let kinds = narrower.kinds().map_err(text)?;
    same("tables of kinds", kinds.iter().all(|kind| ["Company", "Notes"].contains(&kind.table())), true)?;
    same("metrics", kind(narrower.metrics()), Some(ErrorKind::Unsupported))?;
    same("the path", narrower.path() == std::path::Path::new(""), true)?;
    // A handle of the store itself does not mix with it.
    let own = world.store.dynamic_table("Notes").map_err(text)?;
    let snapshot = narrower.snapshot().map_err(text)?;
    same("a foreign table", kind(snapshot.get(&own, "Sales", &row_key(4))), Some(ErrorKind::InvalidQuery))?;
    let snapshot = world.store.snapshot().map_err(text)?;
    same(
        "a foreign snapshot",
        kind(snapshot.get(&notes, "Sales", &row_key(1))),
        Some(ErrorKind::InvalidQuery),
    )?;
    let foreign = own.batch("Sales").insert(note("Sales", 30));
    let report = narrower.bulk([foreign]).map_err(text)?;
    same(
        "a foreign batch",
        report.failures.first().map(|failure| failure.error.kind()),
        Some(ErrorKind::TableNotFound),
    )
}
