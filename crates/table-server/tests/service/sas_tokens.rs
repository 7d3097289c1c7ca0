//! Tokens: those that clients have made, their times, addresses and protocols, and policies.

use table_core::Store;
use table_core::Ticks;
use table_core::access::sas::{AccountKey, AccountSas, Sas};
use table_core::asynchronous::block_on;
use table_server::account::{Given, KeyKeeper};
use table_server::exchange::Peer;
use table_server::service::{Service, Settings};

use crate::client::{ACCOUNT, Client, KEY, KEY2};

/// The key that the documentation of the service's emulator gives, by which the libraries' tokens are signed.
const EMULATOR: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const VECTORS: &str = include_str!("../../../table-engine/src/access/sas/vectors.txt");
const REFUSED: (u16, &str) = (403, "AuthenticationFailed");
const MISMATCH: (u16, &str) = (403, "AuthorizationPermissionMismatch");

fn key() -> AccountKey {
    AccountKey::new(ACCOUNT, KEY).unwrap()
}

fn client() -> Client {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    for row in ["a", "b", "c", "d"] {
        client.post("/acme/Company", &format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}"));
    }
    client
}

fn time(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn set_policies(client: &Client, policies: &[(&str, &str)]) -> u16 {
    let of = |(id, inner): &(&str, &str)| {
        format!("<SignedIdentifier><Id>{id}</Id><AccessPolicy>{inner}</AccessPolicy></SignedIdentifier>")
    };
    let all: String = policies.iter().map(of).collect();
    let xml = format!("<SignedIdentifiers>{all}</SignedIdentifiers>");
    client.send("PUT", "/acme/Company?comp=acl", &[], &xml).status()
}

const READS: &str = "<Expiry>2099-01-01T00:00:00Z</Expiry><Permission>r</Permission>";

#[test]
fn tokens_of_libraries_are_taken_as_requests() {
    let store = Store::temporary().unwrap();
    let given = Given { key1: Some(EMULATOR.to_owned().into()), key2: None };
    let account = block_on(KeyKeeper::open(store.to_async(), "devstoreaccount1", given)).unwrap();
    let service = Service::new(store.to_async(), account.into(), Settings::default());
    let client = Client { service, store };
    client.store.create_table("MyTable").unwrap();
    let mut read = 0;
    for line in VECTORS.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let mut words = line.split(' ');
        let (name, token) = (words.next().unwrap(), words.next().unwrap());
        let ask = |token: &str| {
            // The keys of a token's range may be written as they are, which no request line is.
            let token: String = token
                .chars()
                .map(|letter| if letter == 'é' { "%C3%A9".to_owned() } else { letter.to_string() })
                .collect();
            client.with_token("GET", "/devstoreaccount1/MyTable()", &token, "").refusal().0
        };
        // There is no policy of that name.
        let expected = if token.contains("si=pol") { 403 } else { 200 };
        assert_eq!(ask(token), expected, "{name}");
        assert_eq!(ask(&token.replace("sp=r", "sp=ra").replace("si=pol", "si=pok")), 403, "{name}");
        read += 1;
    }
    assert_eq!(read, 11);
}

#[test]
fn times_are_strict_and_addresses_and_protocols_are_those_of_the_connection() {
    let client = client();
    let reads = || Sas::table("Company").read();
    let ask = |sas: Sas, peer: Peer| {
        let token = sas.sign(&key()).unwrap().into_string();
        let answer = client.with_token_from(peer, "GET", "/acme/Company()", &token)(&[], "");
        (answer.status(), answer.header("x-ms-error-code").to_owned())
    };
    let is = |found: (u16, String), expected: (u16, &str)| assert_eq!((found.0, &*found.1), expected);
    let later = time("2099-01-01T00:00:00Z");
    is(ask(reads().until(later), Peer::LOCAL), (200, ""));
    is(ask(reads().until(time("2020-01-01T00:00:00Z")), Peer::LOCAL), REFUSED);
    is(ask(reads().from(time("2098-01-01T00:00:00Z")).until(later), Peer::LOCAL), REFUSED);
    let of = |address: &str, is_secure| Peer { address: address.parse().unwrap(), is_secure };
    let ranged = || reads().until(later).addresses("10.0.0.5".parse().unwrap(), "10.0.0.9".parse().unwrap());
    for (address, expected) in [
        ("10.0.0.4", (403, "AuthorizationSourceIPMismatch")),
        ("10.0.0.5", (200, "")),
        ("::ffff:10.0.0.7", (200, "")),
        ("10.0.0.9", (200, "")),
        ("10.0.0.10", (403, "AuthorizationSourceIPMismatch")),
        ("::1", (403, "AuthorizationSourceIPMismatch")),
    ] {
        is(ask(ranged(), of(address, false)), expected);
    }
    is(ask(reads().until(later).https_only(), of("10.0.0.1", false)), (403, "AuthorizationProtocolMismatch"));
    is(ask(reads().until(later).https_only(), of("10.0.0.1", true)), (200, ""));
}

#[test]
fn both_keys_sign_and_no_other_key_or_account_does() {
    let client = client();
    for (account, key, expected) in [
        (ACCOUNT, KEY, (200, "")),
        (ACCOUNT, KEY2, (200, "")),
        (ACCOUNT, EMULATOR, REFUSED),
        ("other", KEY, REFUSED),
    ] {
        let key = AccountKey::new(account, key).unwrap();
        let token = Sas::table("Company").read().until(Ticks::MAX).sign(&key).unwrap().into_string();
        assert_eq!(client.with_token("GET", "/acme/Company()", &token, "").refusal(), expected, "{account}");
        let other = client.with_token("GET", "/other/Company()", &token, "");
        assert_eq!(other.refusal(), (400, "InvalidUri"));
    }
    let token = Sas::table("Company").read().until(Ticks::MAX).sign(&key()).unwrap().into_string();
    let of_host = |host: &str| {
        let address = format!("/Company()?{token}");
        let request = http::Request::builder().uri(address).header("host", host).body(()).unwrap();
        let (head, ()) = request.into_parts();
        client
            .ask(table_server::exchange::Request { head, body: bytes::Bytes::new(), peer: Peer::LOCAL })
            .status()
    };
    assert_eq!([of_host("acme.table.local"), of_host("other.table.local"), of_host("")], [200, 400, 400]);
}

#[test]
fn policies_revoke_rename_and_change_their_tokens_at_once() {
    let client = client();
    let token = Sas::table("Company").policy("clerks").sign(&key()).unwrap().into_string();
    let ask = || client.with_token("GET", "/acme/Company()", &token, "").status();
    assert_eq!(ask(), 403);
    assert_eq!(set_policies(&client, &[("clerks", READS)]), 204);
    assert_eq!(ask(), 200);
    assert_eq!(
        client.with_token("POST", "/acme/Company", &token, r#"{"PartitionKey":"p","RowKey":"x"}"#).refusal(),
        MISMATCH
    );
    assert_eq!(set_policies(&client, &[("others", READS)]), 204);
    assert_eq!(ask(), 403);
    assert_eq!(set_policies(&client, &[("others", READS), ("clerks", READS)]), 204);
    assert_eq!(ask(), 200);
    let passed = READS.replace("2099", "2020");
    assert_eq!(set_policies(&client, &[("clerks", &passed)]), 204);
    assert_eq!(ask(), 403);
    let early = format!("<Start>2098-01-01</Start>{READS}");
    assert_eq!(set_policies(&client, &[("clerks", &early)]), 204);
    assert_eq!(ask(), 403);
    // Without an end no token of a policy holds, and what both say none does either.
    assert_eq!(set_policies(&client, &[("clerks", "<Permission>r</Permission>")]), 204);
    assert_eq!(ask(), 403);
    assert_eq!(set_policies(&client, &[("clerks", READS)]), 204);
    for sas in [
        Sas::table("Company").policy("clerks").read(),
        Sas::table("Company").policy("clerks").until(Ticks::MAX),
    ] {
        let both = sas.sign(&key()).unwrap().into_string();
        assert_eq!(client.with_token("GET", "/acme/Company()", &both, "").refusal(), REFUSED);
    }
    // A name that could not be kept as it is, and might become that of another policy.
    assert_eq!(set_policies(&client, &[("cl\u{1e}erks", READS)]), 400);
    assert_eq!(set_policies(&client, &[("cl&#x1e;erks", READS)]), 400);
    let many = ["a", "b", "c", "d", "e", "f"].map(|id| (id, READS));
    assert_eq!((set_policies(&client, &many), set_policies(&client, &many[..5])), (400, 204));
    assert_eq!(ask(), 403);
}

#[test]
fn a_continuation_goes_on_with_another_token_and_shows_nothing_outside() {
    let client = client();
    let signed = |sas: Sas| sas.read().sign(&key()).unwrap().into_string();
    let whole = signed(Sas::table("Company").until(Ticks::MAX));
    let rows = |answer: &crate::client::Answer| {
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let all = answer.json()["value"].as_array().unwrap().clone();
        all.iter().map(|row| row["RowKey"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = client.with_token("GET", "/acme/Company()?$top=1", &whole, "");
    assert_eq!(rows(&first), ["a"]);
    let next = first.header("x-ms-continuation-nextpartitionkey");
    let path = format!("/acme/Company()?$top=9&NextPartitionKey={next}&NextRowKey=0");
    let renewed = signed(Sas::table("Company").until(time("2098-01-01")));
    assert_eq!(rows(&client.with_token("GET", &path, &renewed, "")), ["b", "c", "d"]);
    let narrow = signed(Sas::table("Company").from_row("p", "c").through_row("p", "c").until(Ticks::MAX));
    assert_eq!(rows(&client.with_token("GET", &path, &narrow, "")), ["c"]);
    let outside = signed(Sas::table("Company").partition("q").until(Ticks::MAX));
    assert!(rows(&client.with_token("GET", &path, &outside, "")).is_empty());
    let account = AccountSas::new("r").objects().until(Ticks::MAX).sign(&key()).unwrap().into_string();
    assert_eq!(rows(&client.with_token("GET", &path, &account, "")), ["b", "c", "d"]);
}
