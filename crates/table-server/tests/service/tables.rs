//! Tables: made, listed, dropped.

use crate::client::Client;

#[test]
fn tables_are_made_listed_in_pages_and_dropped() {
    let client = Client::new();
    let made = client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    assert_eq!((made.status(), made.header("preference-applied")), (201, ""));
    assert_eq!(
        made.text(),
        r#"{"odata.metadata":"http://127.0.0.1:10002/acme/$metadata#Tables/@Element","TableName":"Company"}"#
    );
    let quiet =
        client.send("POST", "/acme/Tables", &[("prefer", "return-no-content")], r#"{"TableName":"Archive"}"#);
    assert_eq!(
        (quiet.status(), quiet.header("preference-applied"), quiet.text()),
        (204, "return-no-content", "")
    );
    client.post("/acme/Tables", r#"{"TableName":"Logins"}"#);

    let bare = [("accept", "application/json;odata=nometadata")];
    let all = client.send("GET", "/acme/Tables", &bare, "");
    assert_eq!(
        all.text(),
        r#"{"value":[{"TableName":"Archive"},{"TableName":"Company"},{"TableName":"Logins"}]}"#
    );
    let none = client.get("/acme/Tables?$top=0");
    assert_eq!((none.status(), none.header("x-ms-continuation-nexttablename")), (200, ""));
    assert_eq!(none.json()["value"], serde_json::json!([]));
    let some = client.get("/acme/Tables?$top=2");
    assert_eq!(
        (some.json()["value"].as_array().unwrap().len(), some.header("x-ms-continuation-nexttablename")),
        (2, "Company")
    );
    let rest = client.send("GET", "/acme/Tables?$top=2&NextTableName=Company", &bare, "");
    assert_eq!(rest.text(), r#"{"value":[{"TableName":"Logins"}]}"#);
    let named = client.send(
        "GET",
        "/acme/Tables?$filter=TableName%20ge%20'B'%20and%20TableName%20lt%20'D'",
        &bare,
        "",
    );
    assert_eq!(named.text(), r#"{"value":[{"TableName":"Company"}]}"#);

    assert_eq!(
        client.post("/acme/Tables", r#"{"TableName":"company"}"#).refusal(),
        (409, "TableAlreadyExists")
    );
    assert_eq!(
        client.post("/acme/Tables", r#"{"TableName":"a-b-c"}"#).refusal(),
        (400, "InvalidResourceName")
    );
    assert_eq!(client.post("/acme/Tables", r#"{"Name":"x"}"#).status(), 400);
    assert_eq!(client.send("DELETE", "/acme/Tables('Company')", &[], "").status(), 204);
    assert_eq!(
        client.send("DELETE", "/acme/Tables('Company')", &[], "").refusal(),
        (404, "ResourceNotFound")
    );
    assert_eq!(client.send("PUT", "/acme/Tables", &[], "").refusal(), (405, "UnsupportedHttpVerb"));
}

#[test]
fn a_table_that_is_made_anew_by_others_is_found_behind_its_kept_handle() {
    let client = Client::new();
    let body = r#"{"PartitionKey":"p","RowKey":"r"}"#;
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    assert_eq!(client.post("/acme/Company", body).status(), 201);
    client.store.drop_table("Company").unwrap();
    assert_eq!(client.get("/acme/Company()").refusal(), (404, "TableNotFound"));
    client.store.create_table("Company").unwrap();
    assert_eq!(client.post("/acme/Company", body).status(), 201);
}
