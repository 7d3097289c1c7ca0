//! Messages: put, received, looked at, updated, deleted, cleared.

use std::time::Duration;

use crate::client::{Client, message};

const MESSAGES: &str = "/acme/hires/messages";

#[test]
fn a_message_is_received_once_until_it_shows_again() {
    let client = Client::with_queue();
    let put = client.send("POST", MESSAGES, &[], &message(" a <b> "));
    assert_eq!((put.status(), put.operation()), (201, "PutMessage"));
    assert!(put.all("DequeueCount").is_empty() && put.all("MessageText").is_empty(), "{}", put.text());
    let peeked = client.get("/acme/hires/messages?peekonly=true");
    assert_eq!((peeked.all("MessageText"), peeked.all("DequeueCount")), (vec![" a &lt;b&gt; "], vec!["0"]));
    assert!(peeked.all("PopReceipt").is_empty() && peeked.all("TimeNextVisible").is_empty());
    assert_eq!(peeked.all("MessageId"), put.all("MessageId"));

    let received = client.get("/acme/hires/messages?visibilitytimeout=1");
    assert_eq!(
        (received.all("MessageText"), received.all("DequeueCount")),
        (vec![" a &lt;b&gt; "], vec!["1"])
    );
    assert_eq!(received.all("InsertionTime"), put.all("InsertionTime"));
    assert_eq!(received.all("ExpirationTime"), put.all("ExpirationTime"));
    assert_ne!(received.all("PopReceipt"), put.all("PopReceipt"));
    for (query, operation) in
        [("", "GetMessages"), ("?peekonly=false", "GetMessages"), ("?peekonly=true", "PeekMessages")]
    {
        let none = client.get(&format!("{MESSAGES}{query}"));
        assert_eq!((none.operation(), none.all("MessageId").len()), (operation, 0), "{query}");
    }
    std::thread::sleep(Duration::from_millis(1_050));
    // Nobody else has it, so its receipt is good.
    let deleted = client.send("DELETE", &received.address(), &[], "");
    assert_eq!((deleted.status(), deleted.operation()), (204, "DeleteMessage"));
    assert_eq!(client.send("DELETE", &received.address(), &[], "").refusal(), (404, "MessageNotFound"));
}

#[test]
fn many_are_received_in_order_and_never_set_aside() {
    let client = Client::with_queue();
    for number in 0..40 {
        client.put(&number.to_string(), "");
    }
    let all = client.get("/acme/hires/messages?numofmessages=32");
    let numbers: Vec<_> = (0..32).map(|number| number.to_string()).collect();
    assert_eq!(all.all("MessageText"), numbers);
    assert_eq!(client.get("/acme/hires/messages?peekonly=true&numofmessages=32").all("MessageText").len(), 8);
    let cleared = client.send("DELETE", MESSAGES, &[], "");
    assert_eq!((cleared.status(), cleared.operation()), (204, "ClearMessages"));
    assert_eq!(client.get("/acme/hires?comp=metadata").header("x-ms-approximate-messages-count"), "0");
    client.put("again", "");
    for count in 1..10 {
        let received = client.get(MESSAGES);
        assert_eq!(received.all("DequeueCount"), [count.to_string()]);
        let shown = client.send("PUT", &format!("{}&visibilitytimeout=0", received.address()), &[], "");
        assert_eq!(shown.status(), 204);
    }
}

#[test]
fn an_update_gives_another_receipt() {
    let client = Client::with_queue();
    client.put("a", "");
    let first = client.get(MESSAGES);
    let update =
        |address: &str, body: &str| client.send("PUT", &format!("{address}&visibilitytimeout=60"), &[], body);
    let updated = update(&first.address(), &message("b"));
    assert_eq!((updated.status(), updated.operation()), (204, "UpdateMessage"));
    assert!(updated.header("x-ms-time-next-visible").ends_with(" GMT"));
    assert_eq!(update(&first.address(), "").refusal(), (400, "PopReceiptMismatch"));
    assert_eq!(client.send("DELETE", &first.address(), &[], "").refusal(), (400, "PopReceiptMismatch"));
    let id = first.all("MessageId")[0];
    let second = format!("/acme/hires/messages/{id}?popreceipt={}", updated.header("x-ms-popreceipt"));
    let shown = client.send("PUT", &format!("{second}&visibilitytimeout=0"), &[], "");
    assert_eq!(shown.status(), 204);
    let received = client.get(MESSAGES);
    assert_eq!((received.all("MessageText"), received.all("DequeueCount")), (vec!["b"], vec!["2"]));
    assert_eq!(received.all("MessageId"), [id]);
}

#[test]
fn the_sender_may_take_back_what_nobody_has_received() {
    let client = Client::with_queue();
    for query in ["", "?visibilitytimeout=60"] {
        let address = client.put("a", query);
        assert_eq!(client.send("DELETE", &address, &[], "").status(), 204);
    }
    let address = client.put("a", "");
    client.get(MESSAGES);
    assert_eq!(client.send("DELETE", &address, &[], "").refusal(), (400, "PopReceiptMismatch"));
}

#[test]
fn messages_have_their_time() {
    let client = Client::with_queue();
    let address = client.put("short", "?messagettl=1");
    let endless = client.send("POST", "/acme/hires/messages?messagettl=-1", &[], &message("endless"));
    assert_eq!(endless.all("ExpirationTime"), ["Fri, 31 Dec 9999 23:59:59 GMT"]);
    client.put("long", "?messagettl=1073741824");
    std::thread::sleep(Duration::from_millis(1_050));
    assert_eq!(client.send("DELETE", &address, &[], "").refusal(), (404, "MessageNotFound"));
    assert_eq!(client.get("/acme/hires/messages?numofmessages=3").all("MessageText"), ["endless", "long"]);
    // It was removed on the way.
    assert_eq!(client.get("/acme/hires?comp=metadata").header("x-ms-approximate-messages-count"), "2");
}

#[test]
fn the_secondary_only_looks() {
    let client = Client::with_queue();
    client.put("a", "");
    let peeked = client.get("/acme-secondary/hires/messages?peekonly=true");
    assert_eq!(peeked.all("MessageText"), ["a"]);
    let refused = client.get("/acme-secondary/hires/messages");
    assert_eq!(refused.refusal(), (403, "InsufficientAccountPermissions"));
    let refused = client.send("POST", "/acme-secondary/hires/messages", &[], &message("b"));
    assert_eq!(refused.refusal(), (403, "InsufficientAccountPermissions"));
}
