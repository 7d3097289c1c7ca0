//! Requests as clients sign them, and requests that must be refused.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use table_core::access::sas::{AccountKey, AccountSas, Sas};
use zeroize::Zeroizing;

use super::*;
use crate::account::Given;
use crate::exchange::Peer;

const NAME: &str = "devstoreaccount1";
/// The key that the documentation of the service's emulator gives.
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const OTHER_KEY: &str = "YW5vdGhlciBrZXkgb2YgdGhlIGFjY291bnQsIGFzIGxvbmcgYXMgdGhleSBhcmU=";
const DATE: &str = "Sat, 28 Nov 2026 03:20:09 GMT";

fn account() -> AccountKeys {
    of_keys(OTHER_KEY, KEY)
}

fn of_keys(key1: &str, key2: &str) -> AccountKeys {
    let [key1, key2] = [key1, key2].map(|key| Some(Zeroizing::new(key.to_owned())));
    AccountKeys::new(NAME, &Given { key1, key2 }).unwrap()
}

fn key() -> AccountKey {
    AccountKey::new(NAME, KEY).unwrap()
}

fn now() -> Ticks {
    "2026-11-28T03:20:09Z".parse().unwrap()
}

fn later(seconds: u64) -> Ticks {
    now().checked_add(Duration::from_secs(seconds)).unwrap()
}

fn request(method: &str, address: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = http::Request::builder().method(method).uri(address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (head, ()) = request.body(()).unwrap().into_parts();
    Request { head, body: Bytes::new(), peer: Peer::LOCAL }
}

fn no_policy(_: &str, _: &str) -> Option<Policy> {
    None
}

fn asked(request: &Request) -> Result<Caller, Fault> {
    authorize(request, &account(), &no_policy, now())
}

fn with_token(token: &str) -> Request {
    request("GET", &format!("/devstoreaccount1/MyTable()?$top=5&{token}"), &[])
}

fn signed(scheme: &str, text: &str) -> String {
    format!("{scheme} {NAME}:{}", key().sign(text))
}

#[test]
fn texts_that_are_signed_are_those_of_the_clients() {
    let read = |is_lite, address: &str, headers: &[(&str, &str)]| {
        shared_key::to_sign(&request("POST", address, headers), NAME, DATE, is_lite).unwrap()
    };
    let headers = [("content-type", "application/json"), ("x-ms-date", DATE), ("accept", "x")];
    assert_eq!(
        read(false, "/devstoreaccount1/Tables", &headers),
        format!("POST\n\napplication/json\n{DATE}\n/devstoreaccount1/devstoreaccount1/Tables")
    );
    assert_eq!(
        read(false, "/devstoreaccount1/Tables", &[("content-md5", "abc=")]),
        format!("POST\nabc=\n\n{DATE}\n/devstoreaccount1/devstoreaccount1/Tables")
    );
    // The path is signed with its escapes, and of the query only which component it names.
    assert_eq!(
        read(
            true,
            "/devstoreaccount1/T(PartitionKey='a%2Fb%27%27',RowKey='%C3%A9')?$select=comp&timeout=1",
            &headers
        ),
        format!("{DATE}\n/devstoreaccount1/devstoreaccount1/T(PartitionKey='a%2Fb%27%27',RowKey='%C3%A9')")
    );
    assert_eq!(
        read(true, "/devstoreaccount1/T?timeout=1&comp=a%63l", &headers),
        format!("{DATE}\n/devstoreaccount1/devstoreaccount1/T?comp=acl")
    );
    assert_eq!(
        read(true, "/devstoreaccount1-secondary/?restype=service&comp=stats", &headers),
        format!("{DATE}\n/devstoreaccount1/devstoreaccount1-secondary/?comp=stats")
    );
    // Where the host names the account, the path does not.
    assert_eq!(
        read(true, "http://devstoreaccount1.localhost:1/Tables", &headers),
        format!("{DATE}\n/devstoreaccount1/Tables")
    );
    assert_eq!(read(true, "/?comp", &headers), format!("{DATE}\n/devstoreaccount1/?comp="));
    assert!(shared_key::to_sign(&request("GET", "/?comp=%ff", &[]), NAME, DATE, true).is_none());
}

#[test]
fn both_schemes_are_taken_by_either_key() {
    let resource = "/devstoreaccount1/devstoreaccount1/Tables";
    let full = signed("SharedKey", &format!("GET\n\n\n{DATE}\n{resource}"));
    let lite = signed("SharedKeyLite", &format!("{DATE}\n{resource}"));
    let account = account();
    for authorization in [full, lite] {
        for date in ["x-ms-date", "date"] {
            let request = request(
                "GET",
                "/devstoreaccount1/Tables",
                &[(date, DATE), ("authorization", &authorization)],
            );
            let caller = authorize(&request, &account, &no_policy, now()).unwrap();
            assert!(caller.is_owner() && caller.access().is_none() && caller.permits_of_account("cwd", 'c'));
            assert!(policy_of(&request, &account).is_none());
        }
    }
    // The date of one's own counts before the other, which is not signed then.
    let lite = signed("SharedKeyLite", &format!("{DATE}\n{resource}"));
    let headers = [("date", "Sat, 28 Nov 2026 09:00:00 GMT"), ("x-ms-date", DATE), ("authorization", &*lite)];
    assert!(asked(&request("GET", "/devstoreaccount1/Tables", &headers)).is_ok());
    // A key that was exchanged opens nothing any more, and the new one does.
    let is_taken = |account: &AccountKeys| {
        authorize(&request("GET", "/devstoreaccount1/Tables", &headers), account, &no_policy, now()).is_ok()
    };
    assert!(is_taken(&account) && is_taken(&of_keys(KEY, OTHER_KEY)));
    assert!(!is_taken(&of_keys(
        "YW5kIGEgdGhpcmQgb25lIHRoYXQgd2FzIG5ldmVyIGEga2V5IG9mIGl0Li4uLi4uLg==",
        OTHER_KEY
    )));
}

#[test]
fn a_request_of_another_time_is_refused() {
    let address = "/devstoreaccount1/Tables";
    let lite = signed("SharedKeyLite", &format!("{DATE}\n/devstoreaccount1{address}"));
    let request = request("GET", address, &[("x-ms-date", DATE), ("authorization", &lite)]);
    let at = |time| authorize(&request, &account(), &no_policy, time).is_ok();
    let minutes = |minutes: i64| {
        let ticks = i64::try_from(now().get()).unwrap() + minutes * 600_000_000;
        Ticks::new(u64::try_from(ticks).unwrap()).unwrap()
    };
    assert_eq!([-16, -15, 0, 15, 16].map(|shift| at(minutes(shift))), [false, true, true, true, false]);
    assert!(!at(later(15 * 60 + 1)) && !at(Ticks::MIN) && !at(Ticks::MAX));
}

#[test]
fn what_is_not_signed_as_it_is_sent_is_refused_without_a_reason() {
    let address = "/devstoreaccount1/Tables";
    let text = format!("GET\n\n\n{DATE}\n/devstoreaccount1{address}");
    let good = signed("SharedKey", &text);
    let signature = key().sign(&text);
    let dated = ("x-ms-date", DATE);
    let refused = |method: &str, address: &str, headers: &[(&str, &str)]| {
        assert_eq!(
            asked(&request(method, address, headers)).unwrap_err(),
            Fault::not_authenticated(),
            "{headers:?}"
        );
    };
    assert!(asked(&request("GET", address, &[dated, ("authorization", &good)])).is_ok());
    refused("GET", address, &[]);
    refused("GET", address, &[dated]);
    refused("GET", address, &[("authorization", &good)]);
    refused("POST", address, &[dated, ("authorization", &good)]);
    refused("GET", "/devstoreaccount1/Table%73", &[dated, ("authorization", &good)]);
    refused("GET", "/devstoreaccount1/Tables?comp=acl", &[dated, ("authorization", &good)]);
    refused("GET", address, &[dated, ("content-type", "a/b"), ("authorization", &good)]);
    refused("GET", address, &[("x-ms-date", "Sat, 28 Nov 2026 03:20:10 GMT"), ("authorization", &good)]);
    refused("GET", address, &[("x-ms-date", "2026-11-28T03:20:09Z"), ("authorization", &good)]);
    for authorization in [
        "",
        "SharedKey",
        "SharedKey devstoreaccount1",
        "SharedKey devstoreaccount1:",
        &format!("SharedKey other:{signature}"),
        &format!("SharedKey DevStoreAccount1:{signature}"),
        &format!("sharedkey devstoreaccount1:{signature}"),
        &format!("SharedKeyLite devstoreaccount1:{signature}"),
        &format!("Bearer devstoreaccount1:{signature}"),
        &format!("SharedKey devstoreaccount1:{}", signature.trim_end_matches('=')),
        &format!("SharedKey devstoreaccount1:{signature} "),
        &format!("SharedKey devstoreaccount1:{signature}\u{e9}"),
    ] {
        refused("GET", address, &[dated, ("authorization", authorization)]);
    }
    // A header that is wrong is not made good by a token.
    let token = Sas::table("MyTable").read().until(Ticks::MAX).sign(&key()).unwrap();
    let address = format!("/devstoreaccount1/MyTable?{}", token.as_str());
    assert!(asked(&request("GET", &address, &[])).is_ok());
    refused("GET", &address, &[dated, ("authorization", "SharedKey devstoreaccount1:AAAA")]);
}

#[test]
fn tokens_of_tables_permit_what_they_say_and_nothing_of_the_account() {
    let token = Sas::table("MyTable").read().partition("a").until(later(1)).sign(&key()).unwrap();
    let caller = asked(&with_token(token.as_str())).unwrap();
    assert!(matches!(caller, Caller::Table(_)) && !caller.is_owner());
    assert_eq!(
        caller.access().unwrap().to_string(),
        "read in table `MyTable`, partition `a`, until 2026-11-28T03:20:10Z"
    );
    for (letters, resource) in [("r", 's'), ("l", 'c'), ("c", 'c'), ("d", 'c'), ("r", 'o'), ("", 'c')] {
        assert!(!caller.permits_of_account(letters, resource), "{letters} {resource}");
    }
}

#[test]
fn tokens_of_accounts_permit_by_letter_and_type() {
    let token = AccountSas::new("rwl").service().containers().until(later(1)).sign(&key()).unwrap();
    let caller = asked(&with_token(token.as_str())).unwrap();
    assert!(matches!(caller, Caller::Account(_)));
    assert!(caller.permits_of_account("l", 'c') && caller.permits_of_account("rw", 's'));
    assert!(!caller.permits_of_account("c", 'c') && !caller.permits_of_account("rd", 'c'));
    assert!(!caller.permits_of_account("r", 'o'));
    // No letter of entities is there, as the token is not for objects.
    assert!(caller.access().unwrap().to_string().starts_with("nothing in all tables"));
}

#[test]
fn times_are_compared_as_they_are() {
    let token = Sas::table("MyTable").read().from(now()).until(later(10)).sign(&key()).unwrap();
    let request = with_token(token.as_str());
    let at = |time| authorize(&request, &account(), &no_policy, time).is_ok();
    let before = Ticks::new(now().get() - 1).unwrap();
    assert_eq!([before, now(), later(9), later(10)].map(at), [false, true, true, false]);
}

#[test]
fn addresses_and_protocols_are_those_of_the_connection() {
    let token = Sas::table("MyTable").read().until(later(10));
    let from = |token: &str, address: &str, is_secure: bool| {
        let mut request = with_token(token);
        request.peer = Peer { address: address.parse().unwrap(), is_secure };
        // What a client says of itself is not looked at.
        request.head.headers.insert("x-forwarded-for", "127.0.0.5".parse().unwrap());
        request.head.headers.insert("x-forwarded-proto", "https".parse().unwrap());
        asked(&request).is_ok()
    };
    let ends: [IpAddr; 2] = ["127.0.0.1", "127.0.0.9"].map(|address| address.parse().unwrap());
    let ranged = token.clone().addresses(ends[0], ends[1]).sign(&key()).unwrap();
    let [inside, outside] =
        [["127.0.0.1", "127.0.0.9", "::ffff:127.0.0.4"], ["127.0.0.10", "::1", "::ffff:127.0.0.10"]];
    assert!(inside.iter().all(|address| from(ranged.as_str(), address, false)));
    assert!(outside.iter().all(|address| !from(ranged.as_str(), address, true)));
    let encrypted = token.https_only().sign(&key()).unwrap();
    assert!(from(encrypted.as_str(), "::1", true) && !from(encrypted.as_str(), "::1", false));
}

#[test]
fn a_policy_says_what_its_tokens_leave_to_it_and_revokes_them() {
    let token = Sas::table("MyTable").policy("pol").sign(&key()).unwrap();
    let request = with_token(token.as_str());
    let name = PolicyName { table: "MyTable".to_owned(), id: "pol".to_owned() };
    assert_eq!(policy_of(&request, &account()), Some(name));
    let by = |policy: Option<Policy>| {
        authorize(
            &request,
            &account(),
            &|table, id| {
                assert_eq!((table, id), ("MyTable", "pol"));
                policy.clone()
            },
            now(),
        )
    };
    let access = by(Some(Policy::new().add().until(later(1)))).unwrap().access().unwrap().to_string();
    assert_eq!(access, "add in table `MyTable`, until 2026-11-28T03:20:10Z");
    assert!(by(Some(Policy::new().add().until(now()))).is_err());
    assert!(by(Some(Policy::new().add())).is_err());
    assert_eq!(by(None).unwrap_err(), Fault::not_authenticated());
    // Without a right signature no policy is looked up.
    let forged = with_token(&token.as_str().replace("sig=", "sig=A"));
    assert_eq!(policy_of(&forged, &account()), None);
    assert_eq!(policy_of(&with_token(&token.as_str().replace("pol", "pod")), &account()), None);
    assert_eq!(policy_of(&with_token("tn=MyTable"), &account()), None);
}

#[test]
fn tokens_that_say_more_than_was_signed_are_refused() {
    let token = Sas::table("MyTable").read().partition("a").until(later(10)).sign(&key()).unwrap();
    let token = token.as_str();
    assert!(asked(&with_token(token)).is_ok());
    for changed in [
        token.replace("sp=r", "sp=raud"),
        token.replace("epk=a", "epk=b"),
        token.replace("&spk=a&epk=a", ""),
        token.replace("tn=MyTable", "tn=Other"),
        token.replace("2026", "2027"),
        format!("{token}&sp=raud"),
        format!("{token}&%73p=raud"),
        format!("{token}&si=pol"),
        format!("{token}&srt=sco"),
        token.replace("sig=", "signature="),
        String::new(),
    ] {
        assert_eq!(asked(&with_token(&changed)).unwrap_err(), Fault::not_authenticated(), "{changed}");
    }
}

#[test]
fn nothing_secret_is_shown() {
    let token = Sas::table("MyTable").read().until(later(10)).sign(&key()).unwrap();
    let caller = asked(&with_token(token.as_str())).unwrap();
    let fault = asked(&with_token(&token.as_str().replace("sp=r", "sp=d"))).unwrap_err();
    let shown = format!("{caller:?} {fault:?} {:?}", account());
    let signature = token.as_str().rsplit_once("sig=").unwrap().1;
    assert!(!shown.contains(signature.get(..8).unwrap()) && !shown.contains("Eby8vdM02"), "{shown}");
    assert!(!shown.contains(OTHER_KEY), "{shown}");
}

proptest! {
    #[test]
    fn no_header_and_no_query_opens_without_a_key(
        scheme in "SharedKey|SharedKeyLite|[ -~]{0,12}",
        rest in "(devstoreaccount1)?:?[A-Za-z0-9+/]{0,43}=?|[ -~]{0,60}",
        query in "(sp|sv|se|st|sig|tn|si|ss|srt|spr|sip|spk|comp)=[a-z0-9%:.-]{0,12}(&(sp|sv|se|sig|tn)=[a-z0-9%-]{0,12}){0,6}",
    ) {
        let authorization = format!("{scheme} {rest}");
        let address = format!("/devstoreaccount1/MyTable?{query}");
        prop_assert!(asked(&request("GET", &address, &[("x-ms-date", DATE), ("authorization", &authorization)])).is_err());
        prop_assert!(asked(&request("GET", &address, &[])).is_err());
    }
}
