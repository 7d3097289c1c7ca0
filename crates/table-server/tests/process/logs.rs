//! What the operator finds on the standard error.

use std::io::Read;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::client::{ACCOUNT, Answer, Client, KEY};
use crate::running::command;
use crate::signing::signed;

/// Fills the store of a server until it refuses an insert, and a batch. Returns the ids in their answers, and what was logged.
fn full(flags: &[&str]) -> ([String; 2], String) {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(directory.path());
    command.args(["--map-size=1MiB", "--durability=relaxed"]).args(flags).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let address = line.strip_prefix("listening at ").unwrap().split(';').next().unwrap().parse().unwrap();
    let mut client = Client::connect(address, KEY).unwrap();
    client.send("POST", "Tables", r#"{"TableName":"Load"}"#).unwrap();
    let text = "canary".repeat(4_000);
    let refused = (0..100).map(|row| {
        let body = format!(r#"{{"PartitionKey":"canary","RowKey":"canary{row}","Text":"{text}"}}"#);
        client.send("POST", "Load", &body).unwrap()
    });
    let refused = { refused }.find(|answer| answer.status != 204).unwrap();
    assert_eq!(refused.status, 500, "{}", refused.body);
    let entity = format!(r#"{{"PartitionKey":"canary","RowKey":"canary","Text":"{text}"}}"#);
    let part = format!("POST /{ACCOUNT}/Load HTTP/1.1\r\nprefer: return-no-content\r\n\r\n{entity}");
    let set = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n{part}\r\n--c--\r\n--b--"
    );
    let path = format!("/{ACCOUNT}/$batch");
    let (date, authorization) = signed(ACCOUNT, KEY, &path);
    let headers = format!(
        "x-ms-date: {date}\r\nauthorization: {authorization}\r\ncontent-type: multipart/mixed; boundary=b\r\n"
    );
    let batch = client.ask("POST", &path, &headers, &set).unwrap();
    assert!(batch.status == 202 && batch.body.contains("HTTP/1.1 500 "), "{}", batch.body);
    let id = |answer: &Answer| {
        answer.body.split("RequestId:").nth(1).unwrap().split("\\n").next().unwrap().to_owned()
    };
    let ids = [id(&refused), id(&batch)];
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    child.wait().unwrap();
    assert!(!log.contains("canary") && !log.contains("SharedKey"), "{log}");
    (ids, log)
}

#[test]
fn what_fails_within_the_server_is_logged_by_the_id_that_its_client_has() {
    let ([id, batch], log) = full(&[]);
    let of = |id: &str| log.lines().find(|line| line.contains(id)).unwrap().to_owned();
    let line = of(&batch);
    assert!(
        line.contains("EntityGroupTransaction") && line.contains("into table `Load`, operation 0"),
        "{line}"
    );
    let line = of(&id);
    for part in
        ["ERROR", "InsertEntity", "Load", "InternalError", "cannot insert into table `Load`", "map size"]
    {
        assert!(line.contains(part), "{part}\n{line}");
    }
}

#[test]
fn a_log_of_json_has_an_object_in_each_line_and_with_debug_each_request() {
    let ([id, _], log) = full(&["--log=debug", "--log-format=json"]);
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let failed = lines.iter().find(|line| line["request_id"] == *id).unwrap();
    assert_eq!((&failed["level"], &failed["target"]), (&"ERROR".into(), &"table_server::failed".into()));
    assert_eq!(
        (&failed["db.operation.name"], &failed["db.collection.name"]),
        (&"InsertEntity".into(), &"Load".into())
    );
    assert!(failed["detail"].as_str().unwrap().contains("map size"), "{failed}");
    assert!(failed["time"].as_str().unwrap().ends_with('Z'), "{failed}");
    assert_eq!(failed["spans"][0]["http.response.status_code"], 500);
    let created = lines
        .iter()
        .any(|line| line["message"] == "close" && line["spans"][0]["db.operation.name"] == "CreateTable");
    assert!(created, "{log}");
}

#[test]
fn of_the_level_error_what_fails_is_logged_and_a_level_that_is_none_is_refused() {
    let ([id, _], log) = full(&["--log=error"]);
    assert!(log.contains(&id), "{log}");
    let directory = tempfile::tempdir().unwrap();
    let output = command(directory.path()).args(["--log=all", "--log-format=xml"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("`--log` is `all`: it must be `error`, `warn`, `info` or `debug`"), "{text}");
    assert!(text.contains("`--log-format` is `xml`: it must be `lines` or `json`"), "{text}");
    assert!(!output.status.success());
}
