//! The program does the same on each store that is there.

use azure_example::{open, run};

fn check(store: &str) {
    let tables = open(store).unwrap();
    // Again is as once.
    for _ in 0..2 {
        let found = run(&tables).unwrap();
        let found: Vec<_> = found.iter().map(|one| (&*one.last_name, &*one.email, one.age)).collect();
        assert_eq!(found, [("Cao", "cao@contoso.com", 30), ("Jones", "j.jones@contoso.com", 31)]);
    }
}

#[test]
fn it_runs_on_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    check(directory.path().join("company.tables").to_str().unwrap());
}

/// `TABLE_AZURE_EMULATOR` has the connection string of an emulator that listens.
#[test]
fn it_runs_on_an_emulator() {
    if let Ok(connection) = std::env::var("TABLE_AZURE_EMULATOR") {
        check(&connection);
    }
}

#[test]
fn a_mistake_is_named() {
    let error = open("AccountName=contoso").unwrap_err();
    assert!(error.to_string().contains("`AccountKey`"), "{error}");
}
