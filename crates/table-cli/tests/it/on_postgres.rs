//! Data to and from PostgreSQL, on the server that the variable `TABLE_POSTGRES` names.

use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use table_core::Store;
use table_core::crypt::KeyRing;
use table_postgres::PostgresTables;

use crate::kinds::Contract;
use crate::run::tables;
use crate::store::{Random, rows};

#[test]
fn tables_are_copied_there_and_back() {
    let Some(Server { address: server, _alone }) = server() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let number = std::collections::hash_map::RandomState::new().hash_one(0) % 1_000_000;
    let (from, back, rejects) = (path("from.tables"), path("back.tables"), path("rejects"));
    let name = format!("Any{number}");
    let store = Store::open(&from).unwrap();
    let table = store.create_table(&name).unwrap();
    let mut random = Random(9);
    for row in 0..2_000 {
        table.insert(&random.entity(row)).unwrap();
    }
    drop(table);
    store.close().unwrap();

    let ran = tables(&["copy", "--write", &from, &server, "--table", &name, "--rejects", &rejects]);
    assert_eq!(
        ran.code,
        0,
        "{} {} {}",
        ran.out,
        ran.err,
        std::fs::read_to_string(&rejects).unwrap_or_default()
    );
    let ran = tables(&["copy", "--write", &server, &back, "--table", &name, "--rejects", &rejects]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(rows(from.as_ref(), &name), rows(back.as_ref(), &name));
    let ran = tables(&["diff", &from, &server, "--table", &name]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);
    PostgresTables::connect(&server).unwrap().drop_table(&name).unwrap();
}

/// The server, which one test has at a time: its store is one, and some tests list all that is in it.
pub(crate) struct Server {
    pub(crate) address: String,
    _alone: MutexGuard<'static, ()>,
}

/// Waits for the server; `None` if there is none.
pub(crate) fn server() -> Option<Server> {
    static ALONE: Mutex<()> = Mutex::new(());
    let Ok(address) = std::env::var("TABLE_POSTGRES") else {
        println!("NOT RUN: `TABLE_POSTGRES` names no server");
        return None;
    };
    Some(Server { address, _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner) })
}

#[test]
fn containers_and_queues_go_there_and_come_back() {
    let Some(Server { address: server, _alone }) = server() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let number = std::collections::hash_map::RandomState::new().hash_one(0) % 1_000_000;
    let (from, back, rejects) = (path("from.tables"), path("back.tables"), path("rejects"));
    let (queue, container) = (format!("hires-{number}"), format!("photos-{number}"));
    let store = Store::open(&from).unwrap();
    let hires = store.queue::<u32>(&queue).unwrap();
    hires.send_all(&[1, 2, 3]).unwrap();
    hires.receive(Duration::from_secs(60)).unwrap().unwrap().fail("later", Duration::from_secs(600)).unwrap();
    let photos = store.container(&container).unwrap();
    photos.put_as("large.png", "image/png", &vec![9; 300_000]).unwrap();
    photos.put_as("small.png", "image/png", b"small").unwrap();
    drop((hires, photos));
    store.close().unwrap();
    let named = ["--queue", &*queue, "--container", &*container, "--rejects", &*rejects];
    let ran = tables(&[&["copy", "--write", &*from, &*server][..], &named].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(
        ran.out.contains("\"read\":3,\"written\":3,") && ran.out.contains("\"read\":2,\"written\":2,"),
        "{}",
        ran.out
    );
    assert!(!ran.err.contains("sent anew"), "{}", ran.err);
    let there = PostgresTables::connect(&server).unwrap();
    let stats = there.find_queue::<u32>(&queue).unwrap().unwrap().stats().unwrap();
    assert_eq!((stats.ready, stats.hidden, stats.is_paused), (2, 1, false));

    let ran = tables(&[&["copy", "--write", &*server, &*back][..], &named].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(
        ran.out.contains("\"read\":3,\"written\":3,") && ran.out.contains("\"read\":2,\"written\":2,"),
        "{}",
        ran.out
    );
    let store = Store::open(&back).unwrap();
    assert_eq!(store.container(&container).unwrap().get("large.png").unwrap().unwrap(), vec![9; 300_000]);
    let mut failed = Vec::new();
    let hires = store.queue::<u32>(&queue).unwrap();
    hires
        .stored(|message| {
            failed.push((message.text.to_string(), message.count, message.error.map(String::from)));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    failed.sort();
    let never = |text: &str| (text.to_owned(), 0, None);
    assert_eq!(failed, [("1".to_owned(), 1, Some("later".to_owned())), never("2"), never("3")]);
    there.drop_queue(&queue).unwrap();
    there.drop_container(&container).unwrap();
}

#[test]
fn sealed_values_open_with_their_keys() {
    let Some(Server { address: server, _alone }) = server() else { return };
    // The store goes on with the ring that it was first opened with, in each run on one server.
    let ring = Path::new(env!("CARGO_TARGET_TMPDIR")).join("postgres.keys");
    let keys = if ring.exists() { KeyRing::open(&ring) } else { KeyRing::create(&ring) };
    let there = PostgresTables::options().encryption(Arc::new(keys.unwrap())).connect(&server).unwrap();
    let contracts = there.table::<Contract>().unwrap();
    let (company, title, number) = ("contoso".into(), "engineer".into(), "078-05-1120".into());
    contracts.insert(&Contract { company, id: 1, title, salary: 90_000, number }).unwrap();
    let query = ["query", "Payroll", "--select", "Salary", "--store", &server];
    let ran = tables(&query);
    assert!(!ran.out.contains("90000"), "{} {}", ran.out, ran.err);
    let ran = tables(&[&query[..], &["--keys", ring.to_str().unwrap()]].concat());
    assert!(ran.code == 0 && ran.out.contains("\"Salary\":90000"), "{} {}", ran.out, ran.err);
    there.drop_table("Payroll").unwrap();
}

/// A database without a store, as one is whose name is mistaken.
#[test]
fn no_store_is_made_where_one_is_looked_at() {
    let Some(Server { address: server, _alone }) = server() else { return };
    let name = format!("empty_{}", std::process::id());
    let ask = |sql: &str| {
        let done = Command::new("psql").args(["-qAt", &server, "-c", sql]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    ask(&format!("CREATE DATABASE {name}"));
    let (host, _) = server.rsplit_once('/').unwrap();
    let empty = format!("{host}/{name}");
    let ran = [tables(&["schema", "--store", &empty]), tables(&["schema", "--write", "--store", &empty])];
    let schemas = Command::new("psql").args(["-qAt", &empty, "-c", "\\dn tables"]).output().unwrap();
    ask(&format!("DROP DATABASE {name}"));
    for ran in ran {
        assert_eq!((ran.code, &*ran.out), (3, ""), "{}", ran.err);
        assert!(ran.err.contains("there is no store in the schema `tables`"), "{}", ran.err);
    }
    assert!(schemas.stdout.is_empty(), "{}", String::from_utf8_lossy(&schemas.stdout));
}
