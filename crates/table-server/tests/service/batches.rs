//! Batches: together or not at all.

use crate::client::{Answer, Client};

/// Sends changes as one batch: of each the method, the address behind the account, and the body.
fn batch(client: &Client, operations: &[[&str; 3]]) -> Answer {
    let mut body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n".to_owned();
    for [method, path, content] in operations {
        body += "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n";
        body += &format!("{method} http://127.0.0.1:10002/acme/{path} HTTP/1.1\r\n");
        if *method == "DELETE" {
            body += "If-Match: *\r\n";
        }
        body += &format!("Content-Type: application/json\r\n\r\n{content}\r\n");
    }
    body += "--c--\r\n--b--\r\n";
    client.send("POST", "/acme/$batch", &[("content-type", "multipart/mixed; boundary=b")], &body)
}

/// Returns the statuses of an answer's parts.
fn statuses(answer: &Answer) -> Vec<&str> {
    let lines = answer.text().lines().filter_map(|line| line.strip_prefix("HTTP/1.1 "));
    lines.map(|line| line.split(' ').next().unwrap()).collect()
}

fn client() -> Client {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    client.post("/acme/Tables", r#"{"TableName":"Other"}"#);
    client.post("/acme/Company", r#"{"PartitionKey":"p","RowKey":"old"}"#);
    client
}

#[test]
fn changes_happen_together() {
    let client = client();
    let answer = batch(
        &client,
        &[
            ["POST", "Company", r#"{"PartitionKey":"p","RowKey":"new"}"#],
            ["MERGE", "Company(PartitionKey='p',RowKey='either')", r#"{"A":1}"#],
            ["DELETE", "Company(PartitionKey='p',RowKey='old')", ""],
        ],
    );
    assert_eq!(answer.status(), 202, "{}", answer.text());
    assert_eq!(statuses(&answer), ["201", "204", "204"]);
    assert_eq!(client.get("/acme/Company").json()["value"].as_array().unwrap().len(), 2);
}

#[test]
fn a_batch_goes_to_the_table_that_is_there_though_another_of_its_name_was_dropped_meanwhile() {
    let client = client();
    let put = ["PUT", "Company(PartitionKey='p',RowKey='r')", r#"{"A":1}"#];
    let added = ["POST", "Company", r#"{"PartitionKey":"p","RowKey":"new","A":2}"#];
    assert_eq!(statuses(&batch(&client, &[put])), ["204"]);
    // As another process would.
    client.store.drop_table("Company").unwrap();
    client.store.create_table("Company").unwrap();
    let answer = batch(&client, &[put, added]);
    assert_eq!(statuses(&answer), ["204", "201"], "{}", answer.text());
    assert!(answer.text().contains(r#""A":2"#), "{}", answer.text());
    assert_eq!(client.get("/acme/Company").json()["value"].as_array().unwrap().len(), 2);
    client.store.drop_table("Company").unwrap();
    assert_eq!(statuses(&batch(&client, &[put])), ["404"]);
}

#[test]
fn one_that_fails_undoes_all_and_is_named() {
    let client = client();
    let new = ["POST", "Company", r#"{"PartitionKey":"p","RowKey":"new"}"#];
    let cases: [([&str; 3], &str, &str); 7] = [
        (["POST", "Company", r#"{"PartitionKey":"p","RowKey":"old"}"#], "409", "EntityAlreadyExists"),
        (
            ["POST", "Company", r#"{"PartitionKey":"q","RowKey":"r"}"#],
            "400",
            "CommandsInBatchActOnDifferentPartitions",
        ),
        (["POST", "Company", r#"{"PartitionKey":"p","RowKey":"new"}"#], "400", "InvalidDuplicateRow"),
        (["POST", "Other", r#"{"PartitionKey":"p","RowKey":"x"}"#], "400", "InvalidInput"),
        (["DELETE", "Company(PartitionKey='p',RowKey='none')", ""], "404", "ResourceNotFound"),
        (["PUT", "Company(PartitionKey='p',RowKey='x')", "{"], "400", "InvalidInput"),
        (["GET", "Company(PartitionKey='p',RowKey='old')", ""], "400", "InvalidInput"),
    ];
    for (bad, status, code) in cases {
        let answer = batch(&client, &[new, bad]);
        assert_eq!((answer.status(), statuses(&answer)), (202, vec![status]), "{bad:?} {}", answer.text());
        assert!(answer.text().contains(&format!("\"code\":\"{code}\"")), "{bad:?} {}", answer.text());
        assert!(answer.text().contains("\"value\":\"1:"), "{bad:?} {}", answer.text());
        assert_eq!(client.get("/acme/Company").json()["value"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_query_may_be_a_batch() {
    let answer = batch(&client(), &[["GET", "Company(PartitionKey='p',RowKey='old')", ""]]);
    assert_eq!(statuses(&answer), ["200"], "{}", answer.text());
    assert!(answer.text().contains(r#""RowKey":"old""#));
}

#[test]
fn each_part_says_what_it_wants_of_its_answer() {
    let client = client();
    let typed = [("content-type", "multipart/mixed; boundary=b"), ("accept", "multipart/mixed")];
    let query = "--b\r\nContent-Type: application/http\r\n\r\n\
        GET /acme/Company(PartitionKey='p',RowKey='old')?$select=RowKey,None HTTP/1.1\r\n\
        Accept: application/json;odata=nometadata\r\n\r\n\r\n--b--";
    let answer = client.send("POST", "/acme/$batch", &typed, query);
    assert!(answer.text().contains("\r\n\r\n{\"RowKey\":\"old\",\"None\":null}\r\n"), "{}", answer.text());
    let insert = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n\
        POST /acme/Company HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n\
        {\"PartitionKey\":\"p\",\"RowKey\":\"new\"}\r\n--c--\r\n--b--";
    let answer = client.send("POST", "/acme/$batch", &typed, insert);
    assert_eq!(statuses(&answer), ["201"], "{}", answer.text());
    assert!(!answer.text().contains("odata.metadata"), "{}", answer.text());
}

#[test]
fn what_is_no_batch_is_refused() {
    let client = client();
    let typed = [("content-type", "multipart/mixed; boundary=b")];
    assert_eq!(client.send("POST", "/acme/$batch", &typed, "").refusal(), (400, "InvalidInput"));
    assert_eq!(client.post("/acme/$batch", "{}").refusal(), (400, "InvalidInput"));
    assert_eq!(
        client.send("POST", "/acme/Company/$batch", &typed, "").refusal(),
        (415, "MediaTypeNotSupported")
    );
}
