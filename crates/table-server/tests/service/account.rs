//! What belongs to the service and to tables beside their entities.

use crate::client::Client;

const PROPERTIES: &str = "/acme/?restype=service&comp=properties";
const CORS: &str = "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>https://a.example</AllowedOrigins>\
    <AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>etag</ExposedHeaders>\
    <MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>";

#[test]
fn properties_are_kept_and_what_a_change_leaves_out_stays() {
    let client = Client::new();
    let defaults = client.get(PROPERTIES);
    assert_eq!((defaults.status(), defaults.header("content-type")), (200, "application/xml"));
    assert_eq!(client.send("PUT", PROPERTIES, &[], CORS).status(), 202);
    let hours = "<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>true</Enabled>\
        <IncludeAPIs>false</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy>\
        </HourMetrics></StorageServiceProperties>";
    assert_eq!(client.send("PUT", PROPERTIES, &[], hours).status(), 202);
    let text = client.get(PROPERTIES).text().to_owned();
    assert!(text.contains("https://a.example") && text.contains("<Days>7</Days>"), "{text}");
    let refused = client.send("PUT", PROPERTIES, &[], &hours.replace(">7<", ">366<"));
    assert_eq!(refused.status(), 400);
    assert!(refused.text().starts_with("<?xml"), "{}", refused.text());
    assert_eq!(client.get(PROPERTIES).text(), text);
}

#[test]
fn pages_of_origins_that_a_rule_names_may_ask_and_are_shown_the_answer() {
    let client = Client::new();
    let wish = [("origin", "https://a.example"), ("access-control-request-method", "PUT")];
    assert_eq!(client.send_as_it_is("OPTIONS", "/acme/Company", &wish, "").status(), 403);
    client.send("PUT", PROPERTIES, &[], CORS);
    let allowed = client.send_as_it_is("OPTIONS", "/acme/Company", &wish, "");
    assert_eq!(allowed.status(), 200);
    assert_eq!(allowed.header("access-control-allow-origin"), "https://a.example");
    assert_eq!(allowed.header("access-control-max-age"), "60");
    let other = [("origin", "https://b.example"), ("access-control-request-method", "PUT")];
    assert_eq!(client.send_as_it_is("OPTIONS", "/acme/Company", &other, "").status(), 403);

    let shown = client.send("GET", "/acme/Tables", &[("origin", "https://a.example")], "");
    assert_eq!(shown.header("access-control-expose-headers"), "etag");
    let hidden = client.send("GET", "/acme/Tables", &[("origin", "https://b.example")], "");
    assert_eq!((hidden.status(), hidden.header("access-control-allow-origin")), (200, ""));
}

#[test]
fn statistics_and_the_description_of_the_data_are_told() {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    for account in ["acme", "acme-secondary"] {
        let path = format!("/{account}/?restype=service&comp=stats");
        let stats = client.get(&path);
        assert!(stats.text().contains("<Status>live</Status>"), "{}", stats.text());
    }
    let metadata = client.get("/acme/$metadata");
    assert!(
        metadata.text().contains("<EntityType Name=\"Company\" OpenType=\"true\">"),
        "{}",
        metadata.text()
    );
    assert_eq!(client.send("POST", "/acme/$metadata", &[], "").refusal(), (405, "UnsupportedHttpVerb"));
}

#[test]
fn the_secondary_address_only_reads() {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    assert_eq!(client.get("/acme-secondary/Company()").status(), 200);
    let written = client.post("/acme-secondary/Company", r#"{"PartitionKey":"p","RowKey":"r"}"#);
    assert_eq!(written.refusal(), (403, "InsufficientAccountPermissions"));
    assert_eq!(client.get("/acme/Company()").json()["value"].as_array().unwrap().len(), 0);
}
