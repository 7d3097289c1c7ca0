//! `tables serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use table_core::Store;

use crate::run::tables;

#[test]
fn a_store_is_named_by_the_flag_of_all_commands_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nothing.tables");
    let (path, there) = (path.to_str().unwrap(), directory.path().to_str().unwrap());
    let ran = tables(&["serve", "--store", path]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    let ran = tables(&["serve", "--store", there, "--directory", path]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--store"), "{}", ran.err);
    for more in [&["--store", "azure:UseDevelopmentStorage=true"][..], &["--store", there, "--keys", path]] {
        let arguments: Vec<_> = ["serve"].iter().chain(more).copied().collect();
        assert_eq!(tables(&arguments).code, 2, "{more:?}");
    }
    assert!(!std::fs::exists(path).unwrap());
}

#[test]
fn what_is_no_setting_of_the_server_is_refused_in_its_words() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().to_str().unwrap();
    let ran = tables(&["serve", "--store", store, "--address", "nowhere"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("`--address` is `nowhere`"), "{}", ran.err);
    let ran = tables(&["serve", "--store", store, "--key1", "c2VjcmV0"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(!ran.err.contains("c2VjcmV0"), "{}", ran.err);
}

#[test]
fn the_store_is_served() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    Store::open(&path).unwrap().create_table("Company").unwrap();
    // It is free now, and hardly taken by another in a moment.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    let serve = ["serve", "--admin-address", "none", "--address", &free.to_string(), "--store"];
    command.args(serve).arg(&path).arg("--write");
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();

    let answered = TcpStream::connect(free).and_then(|mut stream| {
        let head = "GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    });
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(line.contains(&free.to_string()), "{line}");
    // A request without a signature is refused.
    let answer = answered.unwrap();
    assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
    assert!(!answer.contains("Company"), "{answer}");
}

#[test]
fn clients_change_a_store_where_it_is_said_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    Store::open(&path).unwrap().create_table("Company").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.args(["serve", "--admin-address", "none", "--address", "127.0.0.1:0", "--store"]).arg(&path);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The first line of one that serves, or the end of one that does not.
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(process.kill());
    let code = process.wait().unwrap().code();
    assert_eq!((line.as_str(), code), ("", Some(2)));
}

#[test]
fn a_directory_that_is_no_store_is_not_made_one() {
    let directory = tempfile::tempdir().unwrap();
    let there = directory.path().to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.args([
        "serve",
        "--admin-address",
        "none",
        "--address",
        "127.0.0.1:0",
        "--write",
        "--store",
        there,
    ]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The first line of one that serves, or the end of one that does not.
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(process.kill());
    let code = process.wait().unwrap().code();
    assert_eq!((line.as_str(), code), ("", Some(3)));
    assert_eq!(std::fs::read_dir(there).unwrap().count(), 0);
}
