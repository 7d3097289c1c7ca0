//! Requests as clients have sent them, with the signatures that they have made.

use bytes::Bytes;
use table_core::Ticks;
use table_server::account::{AccountKeys, Given};
use table_server::auth::authorize;
use table_server::exchange::{Peer, Request};

use crate::client::{ACCOUNT, KEY, KEY2};

const RECORDED: &str = include_str!("recorded.tsv");

/// The requests, each as seven texts.
fn recorded() -> Vec<[&'static str; 7]> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap()).collect()
}

/// Returns whether a request was signed by one of these keys, at the time that it was sent.
fn is_signed([_, method, address, date, media_type, md5, authorization]: [&str; 7], keys: [&str; 2]) -> bool {
    let mut request = http::Request::builder().method(method).uri(address);
    let headers = [
        ("x-ms-date", date),
        ("content-type", media_type),
        ("content-md5", md5),
        ("authorization", authorization),
    ];
    for (name, value) in headers.into_iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(name, value);
    }
    let (head, ()) = request.body(()).unwrap().into_parts();
    let request = Request { head, body: Bytes::new(), peer: Peer::LOCAL };
    let [first, second] = keys.map(|key| Some(key.to_owned().into()));
    let account = AccountKeys::new(ACCOUNT, &Given { key1: first, key2: second }).unwrap();
    let now: Ticks = "2026-11-28T04:50:00Z".parse().unwrap();
    authorize(&request, &account, &|_, _| None, now).is_ok_and(|caller| caller.is_owner())
}

#[test]
fn what_clients_sign_is_taken_by_either_key() {
    for request in recorded() {
        assert!(is_signed(request, [KEY, KEY2]), "{request:?}");
        assert!(is_signed(request, [KEY2, KEY]), "{request:?}");
        let unknown = "bmVpdGhlciBvZiB0aGUgdHdvIGtleXMgdGhhdCB0aGUgYWNjb3VudCBoYXMsIGJ1dCBsb25n";
        assert!(!is_signed(request, [KEY2, unknown]), "{request:?}");
    }
    for (client, scheme) in [("python", "SharedKey "), ("javascript", "SharedKeyLite ")] {
        let of = recorded().into_iter().filter(|one| one[0] == client && one[6].starts_with(scheme));
        assert!(of.count() >= 20, "{client}");
    }
}

#[test]
fn what_was_changed_behind_the_signature_is_refused() {
    for request in recorded() {
        let with = |at: usize, text: &'static str| {
            let mut changed = request;
            changed[at] = text;
            is_signed(changed, [KEY, KEY2])
        };
        assert!(!with(2, "/acme/Company(PartitionKey='another',RowKey='one')"), "{request:?}");
        assert!(!with(2, "/acme/Another?comp=acl"), "{request:?}");
        assert!(!with(3, "Sat, 28 Nov 2026 04:49:59 GMT"), "{request:?}");
        // The full scheme signs these, too.
        let is_full = request[0] == "python";
        assert_eq!(with(1, "HEAD"), !is_full, "{request:?}");
        assert_eq!(with(4, "text/plain"), !is_full, "{request:?}");
        assert_eq!(with(5, "abc="), !is_full, "{request:?}");
    }
}
