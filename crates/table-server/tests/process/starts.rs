//! How a server starts, and what it tells its operator.

use crate::load::{Load, create_table};
use crate::running::{Running, command};

#[test]
fn a_server_says_where_it_is_and_how_to_connect_and_that_it_is_ready() {
    let directory = tempfile::tempdir().unwrap();
    let server = Running::start(directory.path(), &[]);
    let key = table_server::config::WELL_KNOWN_KEY;
    let endpoint = format!("AccountKey={key};TableEndpoint=http://{}/devstoreaccount1;\n", server.address);
    assert!(server.connection_string.ends_with(&endpoint), "{}", server.connection_string);
    for (path, text) in [("/healthz", "alive\n"), ("/readyz", "ready\n")] {
        let answer = server.ask_admin("GET", path);
        assert_eq!((answer.status, answer.body.as_str()), (200, text));
    }
    assert_eq!(server.ask_admin("GET", "/keys/1").status, 405);
    assert_eq!(server.ask_admin("POST", "/keys/3").status, 404);
    assert_eq!(server.ask_admin("DELETE", "/metrics").status, 405);
}

#[test]
fn counters_are_right_while_a_load_runs_and_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Running::start(directory.path(), &["--durability=relaxed"]);
    create_table(&server);
    let line =
        r#"table_server_requests_total{db_operation_name="InsertEntity",http_response_status_code="204"} "#;
    let counted = || -> u64 {
        let text = server.ask_admin("GET", "/metrics").body;
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
        text.lines().find_map(|found| found.strip_prefix(line)).map_or(0, |count| count.parse().unwrap())
    };
    assert_eq!(counted(), 0);
    let load = Load::start(server.address, "counted", 4);
    let mut before = 0;
    for step in 1..=20 {
        load.wait_for(step * 20);
        let now = counted();
        assert!(now >= before && now >= step * 20, "{now} after {before}");
        before = now;
    }
    let text = server.ask_admin("GET", "/metrics").body;
    assert!(
        text.contains("table_server_connections 4\n") && text.contains("table_server_panics_total 0\n"),
        "{text}"
    );
    server.signal(rustix::process::Signal::TERM);
    server.wait();
    let acknowledged: u64 = load.end().iter().map(|(_, rows)| rows).sum();
    assert!(acknowledged >= before);
}

#[test]
fn all_that_is_wrong_with_the_settings_is_told_at_once_and_nothing_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let flags = ["--durability=maybe", "--idle-time=soon", "--key1=c2VjcmV0"];
    let output = command(&store).args(flags).env("TABLE_SERVER_RAW", "perhaps").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    for part in [
        "`--durability` is `maybe`",
        "`--idle-time` is `soon`",
        "`TABLE_SERVER_RAW` is `perhaps`",
        "`--key1` is refused",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("c2VjcmV0") && output.stdout.is_empty(), "{text}");
    assert!(!store.exists());
}

#[test]
fn the_well_known_key_is_refused_where_others_can_reach_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_table-server"));
    command.env_clear().arg("--directory").arg(directory.path());
    command.args(["--address=0.0.0.0:0", "--admin-address=none", "--allow-plain-http"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("well-known") && text.contains("--allow-well-known-key"), "{text}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_table-server"));
    command.env_clear().arg("--directory").arg(directory.path()).arg("--admin-address=none");
    let output = command.arg(format!("--address={address}")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("cannot listen at `{address}`")), "{text}");
}
