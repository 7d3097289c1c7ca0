//! Who may do what: keys, tokens of accounts and of queues, policies.

use std::time::Duration;

use bytes::Bytes;
use table_core::Ticks;
use table_core::access::sas::{AccountSas, QueueSas};
use table_server::exchange::{Peer, Request};

use crate::client::{Answer, Client, key, message};

fn later() -> Ticks {
    Ticks::now().checked_add(Duration::from_secs(60)).unwrap()
}

/// Sends a request with a token in its query.
fn with_token(client: &Client, method: &str, path: &str, token: &str) -> Answer {
    let mark = if path.contains('?') { '&' } else { '?' };
    let body =
        if method == "POST" || path.contains("visibilitytimeout=9") { message("b") } else { String::new() };
    client.send_as_it_is(method, &format!("{path}{mark}{token}"), &[], &body)
}

/// The operations, each with the letters of an account's token that permit it, their type, and the letter of a queue's token.
const OPERATIONS: [(&str, &str, &str, char, &str); 14] = [
    ("GET", "/acme/?comp=list", "l", 's', ""),
    ("GET", "/acme/?restype=service&comp=properties", "r", 's', ""),
    ("GET", "/acme-secondary/?restype=service&comp=stats", "r", 's', ""),
    ("PUT", "/acme/moves", "cw", 'c', ""),
    ("DELETE", "/acme/moves", "d", 'c', ""),
    ("GET", "/acme/hires?comp=metadata", "r", 'c', "r"),
    ("PUT", "/acme/hires?comp=metadata", "w", 'c', ""),
    ("GET", "/acme/hires?comp=acl", "", 'c', ""),
    ("POST", "/acme/hires/messages", "a", 'o', "a"),
    ("GET", "/acme/hires/messages?peekonly=true", "r", 'o', "r"),
    ("GET", "/acme/hires/messages", "p", 'o', "p"),
    ("PUT", "/acme/hires/messages/1?popreceipt=1&visibilitytimeout=9", "u", 'o', "u"),
    ("DELETE", "/acme/hires/messages/1?popreceipt=1", "p", 'o', "p"),
    ("DELETE", "/acme/hires/messages", "d", 'o', ""),
];

#[test]
fn tokens_permit_by_letter_and_type() {
    let client = Client::with_queue();
    for (method, path, letters, of, letter) in OPERATIONS {
        for given in "rwdlacup".chars() {
            for kind in ['s', 'c', 'o'] {
                let token = AccountSas::new(&given.to_string()).with_queues().until(later());
                let token = match kind {
                    's' => token.service(),
                    'c' => token.containers(),
                    _ => token.objects(),
                };
                let answer = with_token(&client, method, path, token.sign(&key()).unwrap().as_str());
                let may = kind == of && letters.contains(given);
                assert_eq!(answer.status() != 403, may, "{method} {path} by {given} for {kind}: {answer:?}");
                let code = answer.header("x-ms-error-code");
                assert!(
                    may || code == "AuthorizationPermissionMismatch"
                        || code == "AuthorizationResourceTypeMismatch"
                );
            }
        }
        for given in "raup".chars() {
            let token = QueueSas::new("hires").permissions(&given.to_string()).until(later());
            let answer = with_token(&client, method, path, token.sign(&key()).unwrap().as_str());
            let may = letter.contains(given);
            assert_eq!(answer.status() != 403, may, "{method} {path} by {given}: {answer:?}");
        }
    }
}

#[test]
fn a_token_of_a_queue_opens_no_other_queue() {
    let client = Client::with_queue();
    client.send("PUT", "/acme/moves", &[], "");
    let token = QueueSas::new("hires").permissions("raup").until(later()).sign(&key()).unwrap();
    let of = |queue: &str, token: &str| {
        with_token(&client, "GET", &format!("/acme/{queue}/messages"), token).refusal().1.to_owned()
    };
    assert_eq!(of("hires", token.as_str()), "");
    assert_eq!(of("moves", token.as_str()), "AuthenticationFailed");
    assert_eq!(of("none", token.as_str()), "AuthenticationFailed");
    assert_eq!(of("hires", &token.as_str().replace("sp=raup", "sp=ra")), "AuthenticationFailed");
    let over =
        QueueSas::new("hires").permissions("p").until("2020-01-01".parse().unwrap()).sign(&key()).unwrap();
    assert_eq!(of("hires", over.as_str()), "AuthenticationFailed");
    let early = QueueSas::new("hires").permissions("p").from(later()).until(Ticks::MAX).sign(&key()).unwrap();
    assert_eq!(of("hires", early.as_str()), "AuthenticationFailed");
    let encrypted = QueueSas::new("hires").permissions("p").until(later()).https_only().sign(&key()).unwrap();
    assert_eq!(of("hires", encrypted.as_str()), "AuthorizationProtocolMismatch");
    let elsewhere = "10.0.0.1".parse().unwrap();
    let ranged = QueueSas::new("hires").permissions("p").until(later()).addresses(elsewhere, elsewhere);
    assert_eq!(of("hires", ranged.sign(&key()).unwrap().as_str()), "AuthorizationSourceIPMismatch");
    let tables = AccountSas::new("p").objects().until(later()).sign(&key()).unwrap();
    assert_eq!(of("hires", tables.as_str()), "AuthenticationFailed");
}

#[test]
fn a_policy_says_what_its_tokens_leave_to_it_and_revokes_them() {
    let client = Client::with_queue();
    let token = QueueSas::new("hires").policy("clerks").sign(&key()).unwrap();
    let of = |method: &str| with_token(&client, method, "/acme/hires/messages", token.as_str()).status();
    assert_eq!((of("POST"), of("GET")), (403, 403));
    let policy = |letters: &str, until: Ticks| {
        let body = format!(
            "<SignedIdentifiers><SignedIdentifier><Id>clerks</Id><AccessPolicy><Expiry>{until}</Expiry>\
             <Permission>{letters}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
        );
        assert_eq!(client.send("PUT", "/acme/hires?comp=acl", &[], &body).status(), 204);
    };
    policy("a", later());
    assert_eq!((of("POST"), of("GET")), (201, 403));
    policy("p", later());
    assert_eq!((of("POST"), of("GET")), (403, 200));
    policy("p", Ticks::now());
    assert_eq!((of("POST"), of("GET")), (403, 403));
}

#[test]
fn shared_keys_sign_what_queues_sign() {
    let client = Client::with_queue();
    // By the full scheme, as it stands in the documentation: the length, no date but the service's own header, each parameter.
    let sent = |length: &str, query: &str| {
        let date = crate::signing::date();
        let body = message("a");
        let text = format!(
            "POST\n\n\n{length}\n\napplication/xml\n\n\n\n\n\n\nx-ms-client-request-id:1\nx-ms-date:{date}\n\
             x-ms-version:2021-02-12\n/acme/acme/hires/messages\nmessagettl:60\nvisibilitytimeout:1"
        );
        let authorization = format!("SharedKey acme:{}", key().sign(&text));
        let headers = [
            ("x-ms-version", "2021-02-12"),
            ("x-ms-date", &*date),
            ("x-ms-client-request-id", "1"),
            ("content-type", "application/xml"),
            ("content-length", &*body.len().to_string()),
            ("authorization", &*authorization),
        ];
        client.send_as_it_is("POST", &format!("/acme/hires/messages?{query}"), &headers, &body).status()
    };
    let length = message("a").len().to_string();
    assert_eq!(sent(&length, "visibilitytimeout=1&messagettl=60"), 201);
    assert_eq!(sent(&length, "MessageTtl=60&visibilitytimeout=%31"), 201);
    assert_eq!(sent(&length, "MessageTtl=60&messagettl=60&visibilitytimeout=1"), 400);
    assert_eq!(sent(&length, "visibilitytimeout=2&messagettl=60"), 403);
    assert_eq!(sent(&length, "visibilitytimeout=1"), 403);
    assert_eq!(sent("", "visibilitytimeout=1&messagettl=60"), 403);
    // An empty header of the service's own says no time, so the other one is signed: what is not signed could be sent again at
    // any time.
    let date = crate::signing::date();
    let at = |signed: &str| {
        let text = format!("GET\n\n\n{signed}\nx-ms-date:\n/acme/acme/hires/messages");
        let authorization = format!("SharedKeyLite acme:{}", key().sign(&text));
        let headers = [("x-ms-date", ""), ("date", &*date), ("authorization", &*authorization)];
        client.send_as_it_is("GET", "/acme/hires/messages", &headers, "").status()
    };
    assert_eq!((at(""), at(&date)), (403, 200));
    // What tables sign opens no queue.
    let (date, authorization) = crate::signing::signed("acme", crate::client::KEY, "/acme/hires/messages");
    let headers = [("x-ms-date", &*date), ("authorization", &*authorization)];
    assert_eq!(client.send_as_it_is("GET", "/acme/hires/messages", &headers, "").status(), 403);
    assert_eq!(client.send_as_it_is("GET", "/acme/hires/messages", &[], "").status(), 403);
}

#[test]
fn a_host_names_the_account_too() {
    let client = Client::with_queue();
    let token = AccountSas::new("l").with_queues().service().until(later()).sign(&key()).unwrap();
    let uri = format!("/?comp=list&{}", token.as_str());
    let request = http::Request::builder().uri(uri).header("host", "acme.queue.localhost:10001");
    let (head, ()) = request.body(()).unwrap().into_parts();
    let listed = client.ask(Request { head, body: Bytes::new(), peer: Peer::LOCAL });
    assert_eq!(listed.all("Name"), ["hires"]);
    assert!(listed.text().contains("ServiceEndpoint=\"http://acme.queue.localhost:10001/\""));
}
