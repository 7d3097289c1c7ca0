//! The program does the same on each store that is there.

use azure_example::store::Place;
use azure_example::{Became, PROGRAMS, open, run, run_at};

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

/// The example programs that take an ability which an account has not, with what its refusal names.
const REFUSED: [(&str, &str); 13] = [
    ("client_side_join", "`snapshot`"),
    ("copies_elsewhere", "`groups`"),
    ("denormalized", "`range`"),
    ("encrypted_properties", "no keys"),
    ("heterogeneous", "`snapshot`"),
    ("index_list", "`groups`"),
    ("large_entity", "blobs"),
    ("logs", "blobs"),
    ("paging_and_projection", "`snapshot`"),
    ("references", "`snapshot`"),
    ("series", "`snapshot`"),
    ("store_transaction", "`groups`"),
    ("summary", "`groups`"),
];

/// Runs every example program, and compares which are refused.
fn check_programs(place: &Place, refused: &[(&str, &str)]) {
    for (name, program) in PROGRAMS {
        println!("{name}");
        let became = run_at(place, *program).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ability = refused.iter().find(|(other, _)| other == name).map(|(_, ability)| *ability);
        match (became, ability) {
            (Became::Refused(why), Some(ability)) => assert!(why.contains(ability), "{name}: {why}"),
            (Became::Done, None) => {}
            (Became::Alone, _) => assert!(program.is_none()),
            (became, _) => panic!("{name}: {became:?}"),
        }
    }
}

#[test]
fn every_example_runs_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    check_programs(&Place::parse(directory.path().to_str().unwrap()), &[]);
}

/// `TABLE_AZURE_EMULATOR` has the connection string of an emulator that listens.
#[test]
fn every_example_runs_on_an_emulator_or_names_what_it_takes() {
    if let Ok(connection) = std::env::var("TABLE_AZURE_EMULATOR") {
        check_programs(&Place::parse(&connection), &REFUSED);
    }
}

/// `TABLE_POSTGRES` has the address of a server.
#[cfg(feature = "postgres")]
#[test]
fn every_example_runs_on_postgres() {
    if let Ok(address) = std::env::var("TABLE_POSTGRES") {
        check_programs(&Place::parse(&address), &[]);
    }
}
