//! Data to and from PostgreSQL, on the server that the variable `TABLE_POSTGRES` names.

use std::hash::BuildHasher;

use table_core::Store;
use table_postgres::PostgresTables;

use crate::run::tables;
use crate::store::{Random, rows};

#[test]
fn tables_are_copied_there_and_back() {
    let Ok(server) = std::env::var("TABLE_POSTGRES") else {
        println!("NOT RUN: `TABLE_POSTGRES` names no server");
        return;
    };
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
