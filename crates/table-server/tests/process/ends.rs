//! How a server ends: by signals, and by none.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::load::{Load, check, create_table};
use crate::running::Running;

#[test]
fn a_drain_under_load_loses_nothing_that_was_acknowledged() {
    for signal in [Signal::TERM, Signal::INT] {
        let directory = tempfile::tempdir().unwrap();
        let mut server = Running::start(directory.path(), &[]);
        create_table(&server);
        let load = Load::start(server.address, "drained", 8);
        load.wait_for(100);
        server.signal(signal);
        let (status, text) = server.wait();
        assert!(status.success(), "{status} {text}");
        let acknowledged = load.end();
        // A drain answers all that it carries out.
        let rows: u64 = acknowledged.iter().map(|(_, rows)| rows).sum();
        assert_eq!(check(directory.path(), &acknowledged), rows);
    }
}

#[test]
fn the_second_signal_ends_what_the_first_waits_for() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Running::start(directory.path(), &["--body-time=20s"]);
    let mut slow = std::net::TcpStream::connect(server.address).unwrap();
    slow.write_all(b"POST /devstoreaccount1/Tables HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n")
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.signal(Signal::TERM);
    let began = Instant::now();
    while server.ask_admin("GET", "/readyz").status != 503 {
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    // It lives as long as it waits.
    assert_eq!(server.ask_admin("GET", "/healthz").status, 200);
    server.signal(Signal::TERM);
    let (status, text) = server.wait();
    assert_eq!(status.code(), Some(1));
    assert!(text.contains("ended before all was answered"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(!matches!(slow.read(&mut [0; 16]), Ok(1..)));
}

#[test]
fn a_kill_under_load_loses_nothing_that_was_acknowledged() {
    let kills = std::env::var("TABLE_SERVER_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for kill in 0..kills {
        let mut server = Running::start(directory.path(), &[]);
        if kill == 0 {
            create_table(&server);
        }
        let load = Load::start(server.address, &format!("kill{kill}"), 8);
        // At another moment each time.
        load.wait_for(20 + kill * 37 % 200);
        server.signal(Signal::KILL);
        server.wait();
        acknowledged.extend(load.end());
        check(directory.path(), &acknowledged);
    }
}
