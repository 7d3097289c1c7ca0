//! Data to and from servers of the Table service's protocol: this project's own, and the emulator that the variable
//! `TABLE_AZURE_EMULATOR` names.

use std::hash::BuildHasher;

use table_azure::AzureTables;
use table_core::{Store, Value};

use crate::run::tables;
use crate::store::{Random, company, rows};

/// Copies tables to the account of a connection string and back, and compares; `is_own` says that it gives all values back.
fn there_and_back(connection: &str, is_own: bool) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let number = std::collections::hash_map::RandomState::new().hash_one(0) % 1_000_000;
    let (from, back, rejects) = (path("from.tables"), path("back.tables"), path("rejects"));
    let store = Store::open(&from).unwrap();
    let name = format!("Any{number}");
    let table = store.create_table(&name).unwrap();
    let mut random = Random(5);
    for row in 0..600 {
        let mut entity = random.entity(row);
        let odd: Vec<_> = entity
            .properties()
            .filter(|(_, value)| !is_own && matches!(value, Value::Double(_)))
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in odd {
            entity.remove(&name);
        }
        table.insert(&entity).unwrap();
    }
    drop(table);
    store.close().unwrap();

    let azure = format!("azure:{connection}");
    let ran = tables(&["copy", "--write", &from, &azure, "--table", &name, "--rejects", &rejects]);
    assert_eq!(
        ran.code,
        0,
        "{} {} {}",
        ran.out,
        ran.err,
        std::fs::read_to_string(&rejects).unwrap_or_default()
    );
    assert!(ran.out.contains("\"written\":600,") && ran.out.contains("\"differences\":0,"), "{}", ran.out);
    let ran = tables(&["copy", "--write", &azure, &back, "--table", &name, "--rejects", &rejects]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let (wanted, found) = (rows(from.as_ref(), &name), rows(back.as_ref(), &name));
    assert_eq!(wanted.len(), found.len());
    for (wanted, found) in wanted.iter().zip(&found) {
        assert_eq!(wanted, found);
    }
    let ran = tables(&["diff", &back, &azure, "--table", &name]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);

    // Files go straight there, and come from there; what is there already is skipped.
    let file = path("file.csv");
    let ran = tables(&["export", &name, "--store", &azure, "--as", "azure-csv", "-o", &file]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = tables(&["import", "--write", "--store", &azure, &name, &file, "--mode", "skip"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"written\":0,\"skipped\":600,"), "{}", ran.out);
    let ran = tables(&["import", "--write", "--store", &azure, &format!("{name}b"), &file]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let account = AzureTables::connect(connection).unwrap();
    for name in [&name, &format!("{name}b")] {
        account.drop_table(name).unwrap();
    }
}

#[test]
fn the_own_server_gives_and_takes_data() {
    let own = crate::azure_server::Own::start();
    there_and_back(&crate::azure_server::connection(own.address), true);
}

#[test]
fn a_whole_store_goes_to_the_own_server() {
    let own = crate::azure_server::Own::start();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, rejects) = (path("from.tables"), path("rejects"));
    company(from.as_ref(), 150);
    let azure = format!("azure:{}", crate::azure_server::connection(own.address));
    let ran = tables(&["copy", "--write", &from, &azure, "--rejects", &rejects]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"table\":\"Company\",\"read\":301,\"written\":301,"), "{}", ran.out);
    let ran = tables(&["diff", &from, &azure]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);
}

#[test]
fn the_emulator_gives_and_takes_data() {
    match std::env::var("TABLE_AZURE_EMULATOR") {
        Ok(connection) => there_and_back(&connection, false),
        Err(_) => println!("NOT RUN: `TABLE_AZURE_EMULATOR` names no emulator"),
    }
}
