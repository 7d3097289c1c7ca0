//! Loads: many entities that are copied into their tables together, each of which is added whole or refused by itself.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails panics")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use support::proxy::{Cut, Proxy};
use support::{options, schema, server, server_at, server_port, tables};
use table_core::{DynamicEntity, Entity, ErrorKind, Query, Table, Value};
use table_postgres::PostgresTables;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, table = "Emails", partition = "all", row = "email_{email}", unique, atomic)]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    weight: f64,
    photo: Vec<u8>,
}

fn employee(id: u32) -> Employee {
    Employee {
        department: format!("dept_{}", id % 7),
        id,
        // A text that the server can't hold as it is, and one that it orders otherwise.
        name: if id % 50 == 3 { format!("nul\0{id}") } else { format!("\u{ffee}Hall{}", id % 9) },
        email: format!("{id}@contoso.com"),
        weight: if id % 50 == 7 { f64::NEG_INFINITY } else { f64::from(id) / 3.0 },
        photo: vec![0xff; usize::try_from(id % 5).unwrap()],
    }
}

fn named(id: u32) -> Employee {
    Employee { name: format!("Hall{}", id % 9), ..employee(id) }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key(format!("dept_{}", id % 7), id)
}

/// Makes sure that these are there with all their copies, and no others.
#[track_caller]
fn assert_loaded(staff: &Table<Employee>, ids: &[u32]) {
    let mut found: Vec<u32> = staff.all().into_iter().map(|one| one.unwrap().id).collect();
    found.sort_unstable();
    assert_eq!(found, ids);
    let report = staff.check().unwrap();
    assert!(report.is_sound(), "{report}: {:?}", report.problems);
    assert_eq!(staff.by_email().count().unwrap(), u64::try_from(ids.len()).unwrap());
}

#[test]
fn a_load_adds_each_entity_with_its_copies() {
    let tables = tables();
    let staff = tables.table::<Employee>().unwrap();
    // More than are taken in at once.
    let loaded = staff.bulk_insert((0..5_000).map(named)).unwrap().into_result().unwrap();
    assert_eq!(loaded, 5_000);
    assert_loaded(&staff, &(0..5_000).collect::<Vec<_>>());
    for id in [0, 7, 4_095, 4_096, 4_999] {
        assert_eq!(*staff.get(key(id)).unwrap().unwrap(), named(id));
        let found = staff.get(Employee::by_email(format!("{id}@contoso.com"))).unwrap().unwrap();
        assert_eq!(*found, named(id));
    }
    // They are changed and removed as any others are.
    staff.update(key(17), |one| one.email = "new@contoso.com".into()).unwrap();
    staff.delete(key(18)).unwrap();
    assert_eq!(staff.by_email().count().unwrap(), 4_999);
    assert!(staff.check().unwrap().is_sound());
}

#[test]
fn what_a_load_cannot_add_is_refused_by_itself() {
    let tables = tables();
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&named(40)).unwrap();
    staff.insert(&Employee { email: "50@contoso.com".into(), ..named(9_000) }).unwrap();
    let mut load: Vec<_> = (0..3_000).map(named).collect();
    // Twice in the load: the second is refused. A key that none can have is no matter to the others.
    load.push(named(60));
    load.push(Employee { id: 9_001, email: "61@contoso.com".into(), ..named(9_001) });
    load.push(Employee { name: "a/b".into(), ..named(9_002) });
    load.push(named(9_003));
    let before = staff.get(key(40)).unwrap().unwrap();
    let report = staff.bulk_insert(&load).unwrap();
    let refused: Vec<_> =
        report.failures.iter().map(|failure| (failure.index, failure.error.kind())).collect();
    assert_eq!(
        refused,
        [
            (40, ErrorKind::EntityAlreadyExists),
            (50, ErrorKind::UniqueConflict),
            (3_000, ErrorKind::EntityAlreadyExists),
            (3_001, ErrorKind::UniqueConflict),
            (3_002, ErrorKind::InvalidKey),
        ]
    );
    assert_eq!(report.committed, 2_999);
    let error = &report.failures[1].error;
    assert_eq!(error.table_name(), Some("Emails"), "{error}");
    assert!(error.to_string().contains("by_email"), "{error}");
    let error = &report.failures[0].error;
    assert_eq!((error.table_name(), error.row_key()), (Some("Company"), Some("empid_000040")), "{error}");
    let mut there: Vec<_> = (0..3_000).filter(|id| *id != 50).collect();
    there.extend([9_000, 9_003]);
    assert_loaded(&staff, &there);
    let after = staff.get(key(40)).unwrap().unwrap();
    assert_eq!(table_core::Stored::etag(&before), table_core::Stored::etag(&after));

    // All of them are there: nothing is written.
    let report = staff.bulk_insert((0..3_000).filter(|id| *id != 50).map(named)).unwrap();
    assert_eq!((report.committed, report.failures.len()), (0, 2_999));
    assert!(report.failures.iter().all(|failure| failure.error.kind() == ErrorKind::EntityAlreadyExists));
    assert_loaded(&staff, &there);
}

#[test]
fn values_that_the_server_cannot_hold_as_they_are_come_back() {
    let tables = tables();
    let rows = tables.create_table("Rows").unwrap();
    let row = |id: u32| {
        let one = employee(id);
        DynamicEntity::new(format!("part_{}", id % 3), format!("\u{e000}{id:06}\u{1f600}"))
            .with("Name", &*one.name)
            .with("Weight", if id % 50 == 9 { f64::NAN } else { one.weight })
            .with("Photo", one.photo)
            .with("Zero", -0.0)
            .with("Large", i64::MIN + i64::from(id))
    };
    let batches = (0..2_000).map(|id| rows.batch(format!("part_{}", id % 3)).insert(row(id)));
    assert_eq!(tables.bulk(batches).unwrap().into_result().unwrap(), 2_000);
    for id in [0, 3, 7, 9, 1_999] {
        let wanted = row(id);
        let found = rows.get(wanted.partition_key(), wanted.row_key()).unwrap().unwrap();
        for (name, value) in wanted.properties() {
            match (value, found.get(name)) {
                (Value::Double(value), Some(Value::Double(found))) if value.is_nan() => {
                    assert!(found.is_nan());
                }
                (value, found) => assert_eq!(found, Some(value), "{name}"),
            }
        }
    }
    assert_eq!(rows.query(&Query::new()).unwrap().count(), 2_000);
    // A text as long as a row lets it be, and a row that is longer.
    let long = |id: u32| row(id).with("Text", "é".repeat(16_000));
    let batches = (3_000..3_700).map(|id| rows.batch(format!("part_{}", id % 3)).insert(long(id)));
    assert_eq!(tables.bulk(batches).unwrap().into_result().unwrap(), 700);
    assert_eq!(rows.query(&Query::new()).unwrap().count(), 2_700);
}

#[test]
fn rows_of_a_struct_are_not_loaded_by_their_properties() {
    let tables = tables();
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&named(1)).unwrap();
    let company = staff.dynamic();
    let batches = (0..1_000).map(|id| {
        let row = DynamicEntity::new("other", format!("{id:06}"));
        let row = if id == 500 { row.with("EntityType", "employee") } else { row };
        company.batch("other").insert(row)
    });
    let report = tables.bulk(batches).unwrap();
    assert_eq!((report.committed, report.failures.len()), (999, 1));
    assert_eq!((report.failures[0].index, report.failures[0].error.kind()), (500, ErrorKind::SchemaMismatch));
    assert_eq!(company.query(&Query::new().partition("other")).unwrap().count(), 999);
}

/// An index is made and removed while others load: each entity has the copies that it is to have then.
#[test]
fn loads_go_on_while_an_index_comes_and_goes() {
    let schema = schema();
    let open = || PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let (ours, theirs) = (open(), open());
    let staff = ours.table::<Employee>().unwrap();
    staff.bulk_insert((0..600).map(named)).unwrap().into_result().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let staff = theirs.table::<Employee>().unwrap();
            for load in 1..16 {
                staff.bulk_insert((load * 600..(load + 1) * 600).map(named)).unwrap().into_result().unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            staff.drop_index("by_name").unwrap().run().unwrap();
            staff.rebuild().unwrap().run().unwrap();
        }
    });
    let loaded = 16 * 600;
    assert_loaded(&staff, &(0..loaded).collect::<Vec<_>>());
    assert_eq!(staff.by_name().across_partitions().count().unwrap(), u64::from(loaded));
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Plain", kind = "note")]
#[key(partition = "all", row = "{id:06}")]
struct Note {
    id: u32,
    text: String,
}

#[test]
fn a_load_bears_cuts_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let tables = options().connect(&server_at(proxy.port)).unwrap();
    let notes = tables.table::<Note>().unwrap();
    let load = |run: u32| {
        let all = (0..600).map(|id| Note { id: run * 1_000 + id, text: format!("note {id}") });
        let report = notes.bulk_insert(all).unwrap();
        assert_eq!((report.committed, report.failures.len()), (600, 0), "{:?}", report.failures.first());
    };
    load(0);
    proxy.stop();
    let mut runs = 0;
    for cut in [Cut::Before, Cut::Behind] {
        for message in 0..60 {
            proxy.cut_at(message, cut);
            runs += 1;
            load(runs);
            if proxy.stop() == 0 {
                break;
            }
        }
    }
    println!("{runs} cuts");
    assert!(runs > 8, "{runs}");
    let mut found: Vec<u32> = notes.all().into_iter().map(|note| note.unwrap().id).collect();
    found.sort_unstable();
    let wanted: Vec<u32> = (0..=runs).flat_map(|run| (0..600).map(move |id| run * 1_000 + id)).collect();
    assert!(found == wanted, "{} of {}", found.len(), wanted.len());
}
