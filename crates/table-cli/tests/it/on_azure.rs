//! Data to and from servers of the Table service's protocol: this project's own, and the emulator that the variable
//! `TABLE_AZURE_EMULATOR` names.

use std::hash::BuildHasher;

use table_azure::{AzureOptions, AzureTables};
use table_core::crypt::KeyRing;
use table_core::{Entity, Store, Value};

use crate::run::tables;
use crate::store::{Random, company, rows};

/// An offer, whose salary is sealed.
#[derive(Entity)]
#[entity(table = "Offers", kind = "offer")]
#[key(partition = "{company}", row = "offer_{id:04}")]
struct Offer {
    company: String,
    id: u32,
    #[encrypt]
    salary: i64,
}

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
    assert!(
        ran.out.contains("\"kind\":\"table\",\"name\":\"Company\",\"read\":301,\"written\":301,"),
        "{}",
        ran.out
    );
    let ran = tables(&["diff", &from, &azure]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);
}

#[test]
fn what_the_service_has_no_place_for_is_left_out_by_name() {
    let own = crate::azure_server::Own::start();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, rejects) = (path("from.tables"), path("rejects"));
    company(from.as_ref(), 10);
    let store = Store::open(&from).unwrap();
    let hires = store.queue::<u32>("hires").unwrap();
    hires.send_all(&[1, 2, 3]).unwrap();
    store.container("photos").unwrap().put("mia.png", b"picture").unwrap();
    drop(hires);
    store.close().unwrap();
    let azure = format!("azure:{}", crate::azure_server::connection(own.address));
    let ran = tables(&["copy", "--write", &from, &azure, "--rejects", &rejects]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    for line in [
        "{\"kind\":\"table\",\"name\":\"Company\",\"read\":21,\"written\":21,",
        "{\"kind\":\"container\",\"name\":\"photos\",\"read\":1,\"written\":0,\"skipped\":0,\"copies\":0,\"rejected\":1,",
        "{\"kind\":\"queue\",\"name\":\"hires\",\"read\":3,\"written\":0,\"skipped\":0,\"copies\":0,\"rejected\":3,",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    let rejects = std::fs::read_to_string(&rejects).unwrap();
    assert!(rejects.contains("container `photos`: ") && rejects.contains("queue `hires`: "), "{rejects}");
}

#[test]
fn sealed_values_on_the_own_server_open_with_their_keys() {
    let own = crate::azure_server::Own::start();
    let connection = crate::azure_server::connection(own.address);
    let directory = tempfile::tempdir().unwrap();
    let ring = directory.path().join("company.keys");
    let keys = std::sync::Arc::new(KeyRing::create(&ring).unwrap());
    let account = AzureOptions::new().encryption(keys).connect(&connection).unwrap();
    let offers = account.table::<Offer>().unwrap();
    offers.insert(&Offer { company: "contoso".into(), id: 1, salary: 90_000 }).unwrap();
    let azure = format!("azure:{connection}");
    let query = ["query", "Offers", "--select", "Salary", "--store", &azure];
    let ran = tables(&query);
    assert!(!ran.out.contains("90000"), "{} {}", ran.out, ran.err);
    let ran = tables(&[&query[..], &["--keys", ring.to_str().unwrap()]].concat());
    assert!(ran.code == 0 && ran.out.contains("\"Salary\":90000"), "{} {}", ran.out, ran.err);
}

#[test]
fn the_emulator_gives_and_takes_data() {
    match std::env::var("TABLE_AZURE_EMULATOR") {
        Ok(connection) => there_and_back(&connection, false),
        Err(_) => println!("NOT RUN: `TABLE_AZURE_EMULATOR` names no emulator"),
    }
}
