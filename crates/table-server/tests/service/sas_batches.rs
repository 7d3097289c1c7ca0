//! Batches that reach for what is not theirs, or are none.

use table_core::Ticks;
use table_core::access::sas::{AccountKey, Sas};
use table_server::exchange::Peer;

use crate::client::{ACCOUNT, Answer, Client, KEY};

const INSERT: &str = "POST /acme/Company HTTP/1.1\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"new\"}";

fn client() -> Client {
    let client = Client::new();
    for name in ["Company", "Other"] {
        client.post("/acme/Tables", &format!("{{\"TableName\":\"{name}\"}}"));
    }
    client.post("/acme/Company", r#"{"PartitionKey":"p","RowKey":"old"}"#);
    client
}

/// Sends requests as one batch, with a token of the table `Company` that permits all but to delete.
fn batch(client: &Client, requests: &[String]) -> Answer {
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    let sas = Sas::table("Company").read().add().update().until(Ticks::MAX);
    let token = sas.sign(&key).unwrap().into_string();
    let parts: String = requests
        .iter()
        .map(|request| format!("--c\r\nContent-Type: application/http\r\nContent-ID: 7\r\n\r\n{request}\r\n"))
        .collect();
    let body = format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{parts}--c--\r\n--b--\r\n");
    let headers = [("content-type", "multipart/mixed; boundary=b")];
    client.with_token_from(Peer::LOCAL, "POST", "/acme/$batch", &token)(&headers, &body)
}

#[test]
fn a_part_that_is_not_permitted_or_not_sound_undoes_all() {
    let client = client();
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    let owner = key.sign("x");
    let other = r#"{"PartitionKey":"p","RowKey":"x"}"#;
    let deletes = "/acme/Company(PartitionKey='p',RowKey='old')";
    let nested = "multipart/mixed; boundary=d\r\n\r\n--d\r\n\r\n";
    for (bad, status) in [
        (format!("POST /acme/Other HTTP/1.1\r\n\r\n{other}"), 400),
        (format!("POST /elsewhere/Company HTTP/1.1\r\n\r\n{other}"), 400),
        (format!("POST http://elsewhere.table.local/Company HTTP/1.1\r\n\r\n{other}"), 400),
        ("POST /acme/Tables HTTP/1.1\r\n\r\n{\"TableName\":\"Made\"}".to_owned(), 400),
        ("POST /acme/$batch HTTP/1.1\r\n\r\n".to_owned(), 400),
        (format!("GET {deletes} HTTP/1.1\r\n\r\n"), 400),
        (format!("DELETE {deletes} HTTP/1.1\r\nIf-Match: *\r\n\r\n"), 403),
        (
            format!(
                "DELETE {deletes} HTTP/1.1\r\nIf-Match: *\r\nAuthorization: SharedKeyLite acme:{owner}\r\n\r\n"
            ),
            403,
        ),
        (format!("DELETE {deletes}?sp=raud&tn=Company&sig={owner} HTTP/1.1\r\nIf-Match: *\r\n\r\n"), 403),
        (format!("POST {deletes} HTTP/1.1\r\nX-HTTP-Method: DELETE\r\nIf-Match: *\r\n\r\n"), 403),
        (format!("Content-Type: {nested}{INSERT}\r\n--d--"), 400),
        (format!("POST /acme/Company HTTP/1.1\r\nContent-Length: 999\r\n\r\n{other}"), 400),
        (format!("POST /acme/Company HTTP/1.1\r\nContent-Length: x\r\n\r\n{other}"), 400),
        (format!("POST /acme/Company HTTP/1.1\r\n\r\n{}", other.replace("\"p\"", "\"q\"")), 400),
    ] {
        let answer = batch(&client, &[INSERT.to_owned(), bad.clone()]);
        let text = answer.text();
        assert_eq!((answer.status(), text.matches("HTTP/1.1 ").count()), (202, 1), "{bad} {text}");
        assert!(text.contains(&format!("HTTP/1.1 {status} ")), "{bad} {text}");
        let rows = client.get("/acme/Company()").json()["value"].as_array().unwrap().clone();
        assert!(rows.len() == 1 && rows[0]["RowKey"] == "old", "{bad} {rows:?}");
    }
}

#[test]
fn a_batch_has_a_hundred_operations_and_no_more() {
    let client = client();
    let inserts = |count: usize| -> Vec<String> {
        (0..count).map(|row| INSERT.replace("new", &row.to_string())).collect()
    };
    let refused = batch(&client, &inserts(101));
    assert!(refused.text().contains("HTTP/1.1 400") || refused.status() == 400, "{}", refused.text());
    assert_eq!(client.get("/acme/Company()").json()["value"].as_array().unwrap().len(), 1);
    let done = batch(&client, &inserts(100));
    assert_eq!(done.text().matches("HTTP/1.1 201").count(), 100, "{}", done.text());
}
