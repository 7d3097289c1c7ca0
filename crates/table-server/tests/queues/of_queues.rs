//! Queues as a whole: made, listed, dropped, with metadata, policies and properties.

use crate::client::Client;

#[test]
fn a_queue_is_made_once_and_dropped() {
    let client = Client::new();
    let made = |own: &[(&str, &str)]| client.send("PUT", "/acme/hires", own, "");
    assert_eq!(made(&[("x-ms-meta-of", "Sales")]).status(), 201);
    assert_eq!(made(&[("x-ms-meta-of", "Sales")]).status(), 204, "it is there as it is to be");
    assert_eq!(made(&[]).refusal(), (409, "QueueAlreadyExists"));
    assert_eq!(made(&[("x-ms-meta-of", "Law")]).refusal(), (409, "QueueAlreadyExists"));
    let dropped = client.send("DELETE", "/acme/hires", &[], "");
    assert_eq!((dropped.status(), dropped.operation()), (204, "DeleteQueue"));
    assert_eq!(client.send("DELETE", "/acme/hires", &[], "").refusal(), (404, "QueueNotFound"));
    // Nothing of it is left to the next of its name.
    assert_eq!(made(&[]).status(), 201);
    assert_eq!(client.get("/acme/hires?comp=metadata").header("x-ms-meta-of"), "");
    for name in ["Hires", "hi--res", "-hires", "hi_res"] {
        let refused = client.send("PUT", &format!("/acme/{name}"), &[], "");
        assert_eq!(refused.refusal(), (400, "InvalidResourceName"), "{name}");
    }
}

#[test]
fn metadata_is_told_with_the_count_of_messages() {
    let client = Client::with_queue();
    let of = || client.get("/acme/hires?comp=metadata");
    assert_eq!((of().status(), of().header("x-ms-approximate-messages-count")), (200, "0"));
    client.put("a", "");
    client.put("b", "?visibilitytimeout=60");
    let set = client.send("PUT", "/acme/hires?comp=metadata", &[("x-ms-meta-of", "Sales")], "");
    assert_eq!((set.status(), set.operation()), (204, "SetQueueMetadata"));
    assert_eq!((of().header("x-ms-meta-of"), of().header("x-ms-approximate-messages-count")), ("Sales", "2"));
    assert_eq!(client.send("HEAD", "/acme/hires?comp=metadata", &[], "").header("x-ms-meta-of"), "Sales");
    assert_eq!(client.send("PUT", "/acme/hires?comp=metadata", &[], "").status(), 204);
    assert_eq!(of().header("x-ms-meta-of"), "");
    let bad = client.send("PUT", "/acme/hires?comp=metadata", &[("x-ms-meta-a-b", "1")], "");
    assert_eq!(bad.refusal(), (400, "InvalidMetadata"));
    assert_eq!(client.get("/acme/other?comp=metadata").refusal(), (404, "QueueNotFound"));
    assert_eq!(client.send("PUT", "/acme/other?comp=metadata", &[], "").refusal(), (404, "QueueNotFound"));
}

#[test]
fn queues_are_listed_by_pages() {
    let client = Client::new();
    for name in ["moves", "hires-b", "hires-a", "hires-c"] {
        assert_eq!(client.send("PUT", &format!("/acme/{name}"), &[("x-ms-meta-n", name)], "").status(), 201);
    }
    let list = |query: &str| client.get(&format!("/acme/?comp=list{query}"));
    let all = list("");
    assert_eq!(all.all("Name"), ["hires-a", "hires-b", "hires-c", "moves"]);
    assert_eq!((all.all("NextMarker"), all.all("Metadata").len()), (vec![""], 0));
    assert!(all.text().contains("<EnumerationResults ServiceEndpoint=\"http://127.0.0.1:10001/acme/\">"));
    let first = list("&prefix=hires&maxresults=2&include=metadata");
    assert_eq!((first.all("Name"), first.all("n")), (vec!["hires-a", "hires-b"], vec!["hires-a", "hires-b"]));
    let [marker] = first.all("NextMarker")[..] else { panic!("{}", first.text()) };
    client.send("DELETE", "/acme/hires-c", &[], "");
    let second = list(&format!("&prefix=hires&marker={marker}"));
    assert_eq!(second.all("Name"), Vec::<&str>::new(), "it was dropped meanwhile");
    assert_eq!(list(&format!("&marker={marker}")).all("Name"), ["moves"]);
    assert_eq!(list("&maxresults=0").refusal(), (400, "OutOfRangeQueryParameterValue"));
    assert_eq!(list("&maxresults=x").refusal(), (400, "InvalidQueryParameterValue"));
    assert_eq!(list("&include=all").refusal(), (400, "InvalidQueryParameterValue"));
}

#[test]
fn properties_are_those_of_queues_alone() {
    let client = Client::new();
    let path = "/acme/?restype=service&comp=properties";
    let body = "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read>\
                <Write>false</Write></Logging></StorageServiceProperties>";
    assert_eq!(client.send("PUT", path, &[], body).status(), 202);
    assert!(client.get(path).text().contains("<Delete>true</Delete>"));
    assert_eq!(client.send("PUT", path, &[], "<Other/>").refusal(), (400, "InvalidXmlDocument"));
    let stats = client.get("/acme-secondary/?restype=service&comp=stats");
    assert!(stats.text().contains("<Status>live</Status>"), "{}", stats.text());
    assert_eq!(client.get("/acme/?comp=other").refusal(), (400, "InvalidUri"));
}

#[test]
fn policies_are_kept_and_bounded() {
    let client = Client::with_queue();
    let path = "/acme/hires?comp=acl";
    assert!(client.get(path).text().ends_with("<SignedIdentifiers></SignedIdentifiers>"));
    let policy = |letters: &str| {
        format!(
            "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Permission>{letters}</Permission></AccessPolicy>\
             </SignedIdentifier></SignedIdentifiers>"
        )
    };
    assert_eq!(client.send("PUT", path, &[], &policy("rap")).status(), 204);
    assert_eq!(client.get(path).all("Permission"), ["rap"]);
    assert_eq!(client.send("PUT", path, &[], &policy("raud")).refusal(), (400, "InvalidXmlNodeValue"));
    assert_eq!(
        client.send("PUT", "/acme/other?comp=acl", &[], &policy("r")).refusal(),
        (404, "QueueNotFound")
    );
    assert_eq!(client.send("PUT", path, &[], "").status(), 204);
    assert_eq!(client.get(path).all("Permission"), Vec::<&str>::new());
}
