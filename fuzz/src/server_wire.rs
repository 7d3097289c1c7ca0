//! What a client sends to the server: addresses, queries, batches, XML and signatures. The first byte says which it is.

use bytes::Bytes;
use table_core::access::sas::{AccountKey, AccountSas, Sas};
use table_core::{Ticks, access};
use table_server::account::{AccountKeys, Given};
use table_server::auth::{Caller, authorize, policy_of};
use table_server::exchange::{Peer, Request};
use table_server::fault::Fault;
use table_server::wire::address::{Address, Resource, address_of_entity};
use table_server::wire::properties::ServiceProperties;
use table_server::wire::{acl, batch, cors, headers, parameters::Parameters};

use crate::random::Random;

const NAME: &str = "acme";
const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";
const BATCH_TYPE: &str = "multipart/mixed; boundary=b";

pub(crate) const WORDS: &[&[u8]] = &[
    b"%2F",
    b"%25",
    b"%ff",
    b"''",
    b"(PartitionKey='",
    b"',RowKey='",
    b"')",
    b"/acme",
    b"-secondary",
    b"$batch",
    b"&sig=",
    b"&sp=raud",
    b"&tn=",
    b"&si=",
    b"&%73p=r",
    b"+",
    b"\r\n",
    b"\n\n",
    b"--b",
    b"--b--",
    b"--c\r\n",
    b"Content-Type: multipart/mixed; boundary=c",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: 1",
    b" HTTP/1.1\r\n",
    b"<a>",
    b"</a>",
    b"&lt;",
    b"&#x26;",
    b"&#0;",
    b"<![CDATA[",
    b"]]>",
    b"<!DOCTYPE a>",
    b"<AccessPolicy>",
    b"<Id/>",
    b"<Days>0</Days>",
    b"<CorsRule>",
    b"SharedKey acme:",
    b"SharedKeyLite acme:",
    b"\xf0\x9f\x98\x80",
];

/// Texts of each kind, as clients send them.
pub(crate) fn corpus(random: &mut Random) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = [
        "a/acme/Company(PartitionKey='it''s%2F%C3%A9',RowKey='(a,b=c)')",
        "a/acme-secondary/Tables('Company')",
        "a/acme/Company()",
        "q$filter=A%20eq%20'x%2By'&$top=5&NextPartitionKey=a+b",
        "b--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nPOST http://h/acme/T HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}\r\n--c\r\n\r\nPUT /acme/T(PartitionKey='a',RowKey='b')?x=1 HTTP/1.1\nIf-Match: *\n\n{\"A\":1}\n--c--\r\n--b--\r\n",
        "b--b\nContent-Type: application/http\n\nGET /acme/T(PartitionKey='a',RowKey='b') HTTP/1.1\n\n\n--b--",
        "x<SignedIdentifiers><SignedIdentifier><Id>a&lt;</Id><AccessPolicy><Start>2026-11-27</Start><Expiry>2026-11-28T03:20:00Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>",
        "p<StorageServiceProperties><Logging><Read>true</Read><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><HourMetrics><Enabled>true</Enabled></HourMetrics><Cors><CorsRule><AllowedOrigins>http://a,*</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>",
        "h*\napplication/json;odata=fullmetadata",
        "hW/\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\"\n*/*",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    let Ok(key) = AccountKey::new(NAME, KEY) else { return texts };
    let lite = key.sign(&format!("{DATE}\n/acme/acme/T"));
    texts.push(format!("kSharedKeyLite acme:{lite}").into_bytes());
    for _ in 0..8 {
        let until = Ticks::MAX;
        let table = Sas::table("T").read().partition(&random.next().to_string()).until(until).sign(&key);
        let account = AccountSas::new("rl").service().objects().until(until).sign(&key);
        texts.extend(
            [table, account].into_iter().flatten().map(|token| format!("t{}", token.as_str()).into_bytes()),
        );
    }
    texts
}

const DATE: &str = "Sat, 28 Nov 2026 03:20:09 GMT";

/// Whether what the first byte says was read of the rest.
pub(crate) fn judge(input: &[u8]) -> bool {
    let Some((kind, rest)) = input.split_first() else { return false };
    let text = String::from_utf8_lossy(rest);
    let read = match kind {
        b'a' => address(&text),
        b'q' => Parameters::parse(&text).map(|_| ()),
        b'b' => operations(rest),
        b'x' => acl::read(rest).map(|policies| {
            assert!(policies.len() <= acl::MOST, "a table has too many policies");
            assert_eq!(acl::read(&acl::to_xml(&policies)), Ok(policies), "policies are read as others");
        }),
        b'p' => ServiceProperties::default().updated(rest).map(|read| {
            let again = ServiceProperties::default().updated(&read.to_xml());
            drop(cors::headers(&read.cors, &request("/acme/T", &[("origin", "http://a")])));
            assert_eq!(again, Ok(read), "properties are read as others");
        }),
        b'h' => {
            let (condition, accept) = text.split_once('\n').unwrap_or((&text, ""));
            headers::if_match(Some(condition)).and_then(|_| headers::metadata(Some(accept), None)).map(|_| ())
        }
        b'k' | b't' => sender(*kind, &text),
        _ => return false,
    };
    if let Err(fault) = &read {
        assert!(
            (400..500).contains(&fault.status) && !fault.text.is_empty(),
            "a refusal without a reason: {fault:?}"
        );
    }
    read.is_ok()
}

/// An entity's address is read again as the one that it is of.
fn address(text: &str) -> Result<(), Fault> {
    let read = Address::parse(text, None, NAME)?;
    if let Resource::Row { table, partition_key, row_key } = &read.resource
        && table.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        let again = address_of_entity("/acme", table, [partition_key, row_key]);
        let again = Address::parse(&again, None, NAME).map(|address| address.resource);
        assert_eq!(again.as_ref(), Ok(&read.resource), "an entity's address is that of another");
    }
    Ok(())
}

fn operations(body: &[u8]) -> Result<(), Fault> {
    let parts = batch::parts(BATCH_TYPE, body)?;
    assert!((1..=100).contains(&parts.len()), "a batch of {} operations", parts.len());
    for part in &parts {
        assert!(!part.method().is_empty() && part.body.len() < body.len(), "an operation of no request");
        drop(Parameters::parse(part.query()).map(|_| Address::parse(part.path(), part.host(), NAME)));
        let _ = part.header("if-match");
    }
    Ok(())
}

fn request(address: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = http::Request::new(());
    if let Ok(address) = address.parse() {
        *request.uri_mut() = address;
    }
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (name.parse::<http::HeaderName>(), value.parse::<http::HeaderValue>())
        {
            request.headers_mut().insert(name, value);
        }
    }
    Request { head: request.into_parts().0, body: Bytes::new(), peer: Peer::LOCAL }
}

/// A header makes an owner, and a token never does.
fn sender(kind: u8, text: &str) -> Result<(), Fault> {
    let given = Given { key1: Some(KEY.to_owned().into()), key2: None };
    let (Ok(account), Ok(now)) = (AccountKeys::new(NAME, &given), "2026-11-28T03:20:09Z".parse()) else {
        return Ok(());
    };
    let request = if kind == b'k' {
        request("/acme/T", &[("x-ms-date", DATE), ("authorization", text)])
    } else {
        request(&format!("/acme/T?{text}"), &[])
    };
    let policy = access::sas::Policy::new().read().until(Ticks::MAX);
    let caller = authorize(&request, &account, &|_, _| Some(policy.clone()), now)?;
    assert_eq!(kind == b'k', caller.is_owner(), "a token makes an owner");
    assert_eq!(caller.access().is_none(), caller.is_owner(), "a token permits everything");
    assert!(
        policy_of(&request, &account).is_none() || matches!(caller, Caller::Table(_)),
        "a policy of no table"
    );
    Ok(())
}
