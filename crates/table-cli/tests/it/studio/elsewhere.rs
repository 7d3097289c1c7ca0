//! The studio over stores that are no directories, and over one that is damaged.

use std::fs;
use std::path::Path;

use table_core::{DynamicEntity, Store};

use super::browser::Studio;
#[cfg(any(feature = "azure", feature = "postgres"))]
use crate::run::tables;
use crate::sample::company;

/// Every page that a store of any kind has.
const PAGES: [&str; 8] =
    ["/", "/t/Company", "/t/Company/design", "/queues", "/jobs", "/outbox", "/statistics", "/check"];

/// Copies the tables of the sample to a store, and looks at its pages.
#[cfg(any(feature = "azure", feature = "postgres"))]
fn look_at(store: &str, secret: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, rejects) = (path("from.tables"), path("rejects"));
    company(from.as_ref(), 20);
    let copied = ["Company", "Notes"];
    for table in copied {
        let ran = tables(&[
            "copy",
            "--write",
            &from,
            store,
            "--table",
            table,
            "--mode",
            "replace",
            "--rejects",
            &rejects,
        ]);
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    }
    let studio = Studio::start(Path::new(store), &[]);
    for page in PAGES {
        let answer = studio.get(page);
        assert_eq!(answer.status, 200, "{page}: {}", answer.body);
        assert!(!answer.body.contains(secret), "{page} tells a secret");
    }
    let home = studio.get("/").body;
    assert!(home.contains(">Company<") && home.contains(">Notes<"), "{home}");
    let page = studio.get("/t/Company?filter=Age%20ge%2035").body;
    assert!(page.contains("Sales") && page.contains("data-row"), "{page}");
    let page = studio.get("/t/Company/explain?filter=PartitionKey%20eq%20'Sales'").body;
    assert!(page.contains("Sales"), "{page}");
    let row = studio.get("/t/Company/row?p=Sales&r=empid_000003").body;
    assert!(row.contains("3@contoso.com"), "{row}");
    // What the store can't do is said, and no button asks for it.
    let check = studio.get("/check").body;
    assert!(
        check.contains("Only a store in a directory can be checked.") && !check.contains("<button"),
        "{check}"
    );
    for table in copied {
        let ran = tables(&["drop", table, "--write", "--store", store]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

#[cfg(feature = "azure")]
#[test]
fn a_store_on_the_own_server_is_shown() {
    let own = crate::azure_server::Own::start();
    let connection = crate::azure_server::connection(own.address);
    let key = connection.split("AccountKey=").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    look_at(&format!("azure:{connection}"), key);
}

#[cfg(feature = "postgres")]
#[test]
fn a_store_on_postgresql_is_shown() {
    let Some(server) = crate::on_postgres::server() else { return };
    look_at(&server.address, &server.address);
}

/// Makes a store whose table of notes has so many rows, and damages those of these numbers.
fn damaged(path: &Path, many: usize, broken: &[usize]) {
    company(path, 3);
    let store = Store::open(path).unwrap();
    let notes = store.create_table("Texts").unwrap();
    for number in 0..many {
        let text = format!("what number {number:04} says");
        notes.insert(&DynamicEntity::new("p", format!("{number:04}")).with("Text", text)).unwrap();
    }
    drop(notes);
    store.close().unwrap();
    let file = path.join("data.mdb");
    let mut bytes = fs::read(&file).unwrap();
    for number in broken {
        let text = format!("what number {number:04} says");
        let at: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
        assert!(!at.is_empty());
        for at in at {
            bytes[at] ^= 0x20;
        }
    }
    fs::write(file, bytes).unwrap();
}

#[test]
fn of_a_damaged_table_both_ends_are_shown_with_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged.tables");
    damaged(&path, 120, &[3, 4, 77]);
    let studio = Studio::start(&path, &[]);
    let answer = studio.get("/t/Texts");
    assert_eq!(answer.status, 200, "{}", answer.body);
    // Those before the first one, and those behind the last one.
    for (row, is_shown) in [("0002", true), ("0003", false), ("0077", false), ("0100", true), ("0119", true)]
    {
        assert_eq!(answer.body.contains(&format!("what number {row} says")), is_shown, "{row}");
    }
    assert!(
        answer.body.contains("row `0003`") && answer.body.contains("checksum does not fit"),
        "{}",
        answer.body
    );
    assert!(answer.body.contains("were read from the end of the table"), "{}", answer.body);
    let answer = studio.get("/t/Texts/row?p=p&r=0003");
    assert!(answer.body.contains("checksum does not fit"), "{}", answer.body);
    assert_eq!(studio.get("/t/Texts/row?p=p&r=0005").status, 200);
    for page in PAGES {
        assert_eq!(studio.get(page).status, 200, "{page}");
    }
    let found = studio.post("/check", "/check", "");
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(found.body.contains("It is damaged.") && found.body.contains("0077"), "{}", found.body);
}
