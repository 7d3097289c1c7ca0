//! Entities: written one by one, read, queried.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use table_core::{Batch, DynamicEntity};
use table_server::service::Settings;

use crate::client::{Client, signed_request};

/// Reads all pages of a query, and returns how many entities each has.
fn pages(client: &Client, query: &str) -> Vec<usize> {
    let (mut sizes, mut next) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{query}{next}"));
        assert_eq!(page.status(), 200, "{}", page.text());
        sizes.push(page.json()["value"].as_array().unwrap().len());
        match page.header("x-ms-continuation-nextpartitionkey") {
            "" => return sizes,
            token => next = format!("?NextPartitionKey={token}&NextRowKey=0"),
        }
    }
}

#[test]
fn an_entity_is_inserted_read_changed_and_deleted() {
    let client = Client::new();
    assert_eq!(client.post("/acme/Tables", r#"{"TableName":"Company"}"#).status(), 201);
    let inserted = client.post(
        "/acme/Company",
        r#"{"PartitionKey":"Sales","RowKey":"empid_1","Age":34,"Salary@odata.type":"Edm.Int64","Salary":"52000"}"#,
    );
    assert_eq!(inserted.status(), 201, "{}", inserted.text());
    assert_eq!(
        inserted.header("location"),
        "http://127.0.0.1:10002/acme/Company(PartitionKey='Sales',RowKey='empid_1')"
    );
    let entity = inserted.json();
    assert_eq!((&entity["Age"], &entity["Salary"]), (&34.into(), &"52000".into()));
    assert_eq!(entity["odata.etag"], inserted.header("etag"));
    assert_eq!(entity["odata.metadata"], "http://127.0.0.1:10002/acme/$metadata#Company/@Element");

    let path = "/acme/Company(PartitionKey='Sales',RowKey='empid_1')";
    let read = client.get(path);
    assert_eq!((read.status(), read.json()), (200, entity));

    let etag = read.header("etag").to_owned();
    let merged = client.send("MERGE", path, &[("if-match", &etag)], r#"{"Age":35}"#);
    assert_eq!((merged.status(), merged.text()), (204, ""));
    let again = client.send("MERGE", path, &[("if-match", &etag)], r#"{"Age":36}"#);
    assert_eq!(again.refusal(), (412, "UpdateConditionNotSatisfied"));
    assert_eq!(client.get(path).json()["Age"], 35);

    assert_eq!(client.send("PUT", path, &[], r#"{"Name":"Jun"}"#).status(), 204);
    assert_eq!(client.get(path).json()["Age"], serde_json::Value::Null);
    assert_eq!(client.send("DELETE", path, &[], "").refusal(), (400, "MissingRequiredHeader"));
    assert_eq!(client.send("DELETE", path, &[("if-match", "*")], "").status(), 204);
    assert_eq!(client.get(path).refusal(), (404, "ResourceNotFound"));
    assert_eq!(client.get("/acme/Nothing()").refusal(), (404, "TableNotFound"));
}

#[test]
fn a_query_comes_in_pages() {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    for id in 0..5 {
        let body = format!(r#"{{"PartitionKey":"Sales","RowKey":"{id}","Age":{}}}"#, 30 + id);
        assert_eq!(client.post("/acme/Company", &body).status(), 201);
    }
    let query = "/acme/Company()?$filter=Age%20gt%2030&$select=RowKey,Age,None&$top=3";
    let page = client.get(query);
    let rows = page.json()["value"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 3, "{}", page.text());
    assert_eq!((&rows[0]["RowKey"], &rows[0]["None"]), (&"1".into(), &serde_json::Value::Null));
    assert_eq!(rows[0].get("PartitionKey"), None);
    let (partition, row) =
        (page.header("x-ms-continuation-nextpartitionkey"), page.header("x-ms-continuation-nextrowkey"));
    assert!(!partition.is_empty() && !row.is_empty());
    let rest = client.get(&format!("{query}&NextPartitionKey={partition}&NextRowKey={row}"));
    assert_eq!(rest.json()["value"].as_array().unwrap().len(), 1);
    assert_eq!(rest.header("x-ms-continuation-nextpartitionkey"), "");
    let none = client.get("/acme/Company()?$top=0");
    assert_eq!((none.status(), none.header("x-ms-continuation-nextpartitionkey")), (200, ""));
    assert_eq!(none.json()["value"], serde_json::json!([]));
    assert_eq!(client.get("/acme/Nobody()?$top=0").refusal(), (404, "TableNotFound"));
    let wrong = client.get("/acme/Company()?$top=0&$filter=Age%20of%2030");
    assert_eq!(wrong.refusal(), (400, "InvalidInput"));
    for top in ["1001", "-1", "x", ""] {
        assert_eq!(client.get(&format!("/acme/Company()?$top={top}")).refusal(), (400, "InvalidInput"));
    }
    assert_eq!(client.get("/acme/Company()?$filter=Age%20gt").status(), 400);
    assert_eq!(client.get("/acme/Company()?NextPartitionKey=x&NextRowKey=y").status(), 400);
}

#[test]
fn a_page_ends_early_where_it_is_large_or_slow_and_goes_on() {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    // Entities of some 900 KB each: the fifth fills a page.
    let text = "x".repeat(30_000);
    let texts: Vec<_> = (0..15).map(|number| format!(r#""Text{number}":"{text}""#)).collect();
    for id in 0..12 {
        let body = format!(r#"{{"PartitionKey":"p","RowKey":"{id:02}",{}}}"#, texts.join(","));
        let inserted = client.send("POST", "/acme/Company", &[("prefer", "return-no-content")], &body);
        assert_eq!(inserted.status(), 204, "{}", inserted.text());
    }
    let sizes = pages(&client, "/acme/Company()");
    assert!(sizes.len() > 1 && sizes.iter().sum::<usize>() == 12, "{sizes:?}");

    let mut settings = Settings::default();
    settings.read_time = Duration::ZERO;
    let client = Client::of_settings(settings);
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    for id in 0..3 {
        client.post("/acme/Company", &format!(r#"{{"PartitionKey":"p","RowKey":"{id}"}}"#));
    }
    let sizes = pages(&client, "/acme/Company()");
    assert!(sizes.len() >= 3 && sizes.iter().sum::<usize>() == 3, "{sizes:?}");
}

#[test]
fn a_query_that_reads_many_rows_leaves_its_thread_to_others_and_finds_the_same() {
    const ROWS: i32 = 5_000;
    let client = Client::new();
    let table = client.store.create_table("Company").unwrap();
    for hundred in 0..ROWS / 100 {
        let rows = (hundred * 100..).take(100);
        let entities = rows.map(|row| DynamicEntity::new("p", format!("{row:04}")).with("Number", row));
        entities.fold(table.batch("p"), Batch::insert).commit().unwrap();
    }
    let is_at_once = |query: &str| {
        let call = client.service.call(signed_request("GET", &format!("/acme/Company()?{query}"), &[], ""));
        pin!(call).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    };
    // The first request opens the table, on a thread of its own.
    client.get("/acme/Company()?$top=1");
    for query in ["$filter=PartitionKey%20eq%20'p'%20and%20RowKey%20eq%20'4999'", "$top=1000"] {
        assert!(is_at_once(query), "{query}");
    }
    // The other thread may be done before it is asked.
    let long = format!("$filter={}", vec!["Number%20eq%20-1"; 300].join("%20or%20"));
    assert!((0..20).any(|_| !is_at_once(&long)));

    let found = |query: &str| -> Vec<i64> {
        let page = client.get(&format!("/acme/Company()?{query}"));
        assert_eq!((page.status(), page.header("x-ms-continuation-nextpartitionkey")), (200, ""));
        page.json()["value"].as_array().unwrap().iter().map(|row| row["Number"].as_i64().unwrap()).collect()
    };
    for numbers in [&[][..], &[7], &[4_999], &[3, 1_999, 2_047, 2_048, 2_049, 4_000]] {
        let terms: Vec<_> = numbers.iter().chain(&[-1]).map(|one| format!("Number%20eq%20{one}")).collect();
        assert_eq!(found(&format!("$filter={}", terms.join("%20or%20"))), numbers);
    }
    // A full page is followed by one that goes on behind it.
    let query = "$filter=Number%20ge%201500";
    let first = client.get(&format!("/acme/Company()?{query}"));
    assert_eq!(first.json()["value"].as_array().unwrap().len(), 1_000);
    let next = first.header("x-ms-continuation-nextpartitionkey");
    let second = client.get(&format!("/acme/Company()?{query}&NextPartitionKey={next}&NextRowKey=0"));
    assert_eq!(second.json()["value"][0]["Number"], 2_500);
}
