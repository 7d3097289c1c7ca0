//! Requests that are too much, or none of the protocol.

use crate::client::{Client, message};

#[test]
fn numbers_out_of_range_are_refused_and_nothing_happens() {
    let client = Client::with_queue();
    let address = client.put("a", "");
    let out = (400, "OutOfRangeQueryParameterValue");
    let no = (400, "InvalidQueryParameterValue");
    for (query, refusal) in [
        ("numofmessages=0", out),
        ("numofmessages=33", out),
        ("numofmessages=x", no),
        ("numofmessages=99999999999999999999", no),
        ("visibilitytimeout=0", out),
        ("visibilitytimeout=604801", out),
        ("visibilitytimeout=-1", out),
        ("peekonly=maybe", no),
        ("comp=other", no),
    ] {
        assert_eq!(client.get(&format!("/acme/hires/messages?{query}")).refusal(), refusal, "{query}");
    }
    for (query, refusal) in [
        ("messagettl=0", no),
        ("messagettl=-2", out),
        ("messagettl=1.5", no),
        ("visibilitytimeout=604801", out),
        ("visibilitytimeout=60&messagettl=60", no),
    ] {
        let refused = client.send("POST", &format!("/acme/hires/messages?{query}"), &[], &message("b"));
        assert_eq!(refused.refusal(), refusal, "{query}");
    }
    let id = address.split(['/', '?']).nth(4).unwrap();
    let missing = (400, "MissingRequiredQueryParameter");
    for (method, path, refusal) in [
        ("PUT", address.clone(), missing),
        ("PUT", format!("/acme/hires/messages/{id}?visibilitytimeout=1"), missing),
        ("DELETE", format!("/acme/hires/messages/{id}"), missing),
        ("PUT", format!("{address}&visibilitytimeout=604801"), out),
        ("DELETE", format!("/acme/hires/messages/{id}?popreceipt=none"), (400, "PopReceiptMismatch")),
        ("DELETE", address.replace(id, "no-id"), (404, "MessageNotFound")),
        ("DELETE", address.replace(id, "00000000-0000-0000-0000-000000000001"), (400, "PopReceiptMismatch")),
        ("DELETE", address.replace("/hires/", "/other/"), (404, "QueueNotFound")),
    ] {
        assert_eq!(client.send(method, &path, &[], "").refusal(), refusal, "{method} {path}");
    }
    assert_eq!(client.get("/acme/hires/messages?peekonly=true&numofmessages=32").all("MessageText"), ["a"]);
}

#[test]
fn bodies_that_are_no_message_or_too_large_are_refused() {
    let client = Client::with_queue();
    let put = |body: &str| client.send("POST", "/acme/hires/messages", &[], body);
    for body in
        ["", "a", "<QueueMessage/>", "<Other/>", "<QueueMessage><MessageText>", "<!DOCTYPE a><QueueMessage/>"]
    {
        assert_eq!(put(body).refusal(), (400, "InvalidXmlDocument"), "{body}");
    }
    assert_eq!(put(&message(&"x".repeat(64 << 10))).status(), 201);
    assert_eq!(put(&message(&"<".repeat(64 << 10))).status(), 201, "escapes do not count");
    let refused = put(&message(&"x".repeat((64 << 10) + 1)));
    assert_eq!(refused.refusal(), (413, "RequestBodyTooLarge"));
    assert_eq!(refused.all("Code"), ["RequestBodyTooLarge"]);
    assert_eq!(refused.header("content-type"), "application/xml");
    assert_eq!(put(&message("")).status(), 201, "a message may be empty");
}

#[test]
fn what_is_no_resource_or_no_method_of_it_is_refused() {
    let client = Client::with_queue();
    for (method, path, refusal) in [
        ("GET", "/acme/hires", (405, "UnsupportedHttpVerb")),
        ("POST", "/acme/hires", (405, "UnsupportedHttpVerb")),
        ("PUT", "/acme/hires/messages", (405, "UnsupportedHttpVerb")),
        ("HEAD", "/acme/hires/messages", (405, "UnsupportedHttpVerb")),
        ("GET", "/acme/hires/messages/1", (405, "UnsupportedHttpVerb")),
        ("GET", "/acme/hires/other", (400, "InvalidUri")),
        ("GET", "/other/hires/messages", (400, "InvalidUri")),
        ("GET", "/acme/hires/messages?numofmessages=1&numofmessages=2", (400, "InvalidQueryParameterValue")),
        ("GET", "/acme/hires/messages?a=%ff", (400, "InvalidUri")),
        ("GET", "/acme/other/messages", (404, "QueueNotFound")),
        ("POST", "/acme/other/messages", (400, "InvalidXmlDocument")),
        ("DELETE", "/acme/other/messages", (404, "QueueNotFound")),
    ] {
        assert_eq!(client.send(method, path, &[], "").refusal(), refusal, "{method} {path}");
    }
    assert_eq!(client.store.queues().unwrap(), ["hires"], "to ask for a queue makes none");
}

#[test]
fn a_store_has_so_many_queues() {
    let client = Client::new();
    let made = |number: usize| client.send("PUT", &format!("/acme/queue-{number}"), &[], "");
    for number in 0..1_000 {
        assert_eq!(made(number).status(), 201);
    }
    let refused = made(1_000);
    assert_eq!(refused.refusal(), (409, "OperationNotAllowed"));
    assert!(refused.text().contains("1000 queues"), "{}", refused.text());
}

#[test]
fn pages_of_other_origins_are_answered_by_the_rules() {
    let client = Client::with_queue();
    let asks = [("origin", "http://a"), ("access-control-request-method", "GET")];
    let refused = client.send_as_it_is("OPTIONS", "/acme/hires/messages", &asks, "");
    assert_eq!(refused.refusal(), (403, "CorsPreflightFailure"));
    let rules = "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://a</AllowedOrigins><AllowedMethods>GET\
                 </AllowedMethods><AllowedHeaders>*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders>\
                 <MaxAgeInSeconds>9</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>";
    client.send("PUT", "/acme/?restype=service&comp=properties", &[], rules);
    let allowed = client.send_as_it_is("OPTIONS", "/acme/hires/messages", &asks, "");
    assert_eq!((allowed.status(), allowed.header("access-control-allow-origin")), (200, "http://a"));
}
