//! A storm of requests: sound ones of every operation, damaged, and signed as they are after that.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Uri};
use table_core::Ticks;
use table_core::access::sas::{AccountKey, AccountSas, Sas};
use table_server::exchange::{Operation, Peer, Request};

use crate::client::{ACCOUNT, Client, KEY};
use crate::signing::date;

/// After how many requests the store is a new one, so that it does not fill with what they have left.
const TURN: u64 = 20_000;

/// A request before it is signed.
#[derive(Clone, Debug)]
struct Draft {
    method: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
}

/// What became of the requests.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Requests that were sent.
    pub(crate) sent: u64,
    /// Drafts that are no request of HTTP at all, which a listener refuses.
    pub(crate) no_requests: u64,
    /// Requests whose sender was known, so that their operation was looked at.
    pub(crate) known: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) operations: BTreeMap<&'static str, u64>,
}

/// Sends this many requests. It panics where one is answered by a failure of the server.
pub(crate) fn storm(requests: u64, seed: u64) -> Counts {
    let mut random = Random(seed);
    let mut counts = Counts::default();
    let drafts = drafts();
    let tokens = tokens();
    let mut client = prepared();
    while counts.sent < requests {
        if counts.sent % TURN == TURN - 1 {
            client = prepared();
        }
        let mut draft = drafts[random.below(drafts.len())].clone();
        for _ in 0..[0, 1, 1, 2, 4][random.below(5)] {
            damage(&mut draft, &drafts, &mut random);
        }
        let token = random.one_in(8).then(|| &*tokens[random.below(tokens.len())]);
        let Some(request) = signed(&draft, token) else {
            counts.no_requests += 1;
            continue;
        };
        counts.sent += 1;
        let answer = client.ask(request);
        let status = answer.status();
        assert!(status < 500, "{status} {} to {}", answer.text(), shown(&draft));
        assert!((200..500).contains(&status), "{status} to {}", shown(&draft));
        *counts.statuses.entry(status).or_default() += 1;
        if let Some(Operation(name)) = answer.0.extensions().get::<Operation>() {
            counts.known += 1;
            *counts.operations.entry(name).or_default() += 1;
        }
    }
    counts
}

fn prepared() -> Client {
    let client = Client::new();
    for name in ["Company", "Other"] {
        assert_eq!(client.post("/acme/Tables", &format!("{{\"TableName\":\"{name}\"}}")).status(), 201);
    }
    for row in ["a", "b", "c"] {
        client.post("/acme/Company", &format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"A\":1}}"));
    }
    client
}

fn drafts() -> Vec<Draft> {
    const ROW: &str = "/acme/Company(PartitionKey='p',RowKey='a')";
    const TYPED: &str = r#"{"PartitionKey":"p","RowKey":"n","A":1,"B@odata.type":"Edm.Int64","B":"5","C@odata.type":"Edm.Guid","C":"c9da6455-213d-42c9-9a79-3e9149a57833","D@odata.type":"Edm.DateTime","D":"2026-11-28T03:20:00Z","E@odata.type":"Edm.Binary","E":"AAEC","F":1.5,"G":true,"H":"\u00e9"}"#;
    const ACL: &str = "<SignedIdentifiers><SignedIdentifier><Id>clerks</Id><AccessPolicy><Start>2026-01-01</Start><Expiry>2099-01-01T00:00:00Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    const PROPERTIES: &str = "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>true</Read><Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><Cors><CorsRule><AllowedOrigins>http://a</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>";
    const CHANGES: &str = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\nPOST http://127.0.0.1:10002/acme/Company HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: return-no-content\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"x\"}\r\n--c\r\nContent-Type: application/http\r\n\r\nMERGE http://127.0.0.1:10002/acme/Company(PartitionKey='p',RowKey='y') HTTP/1.1\r\nContent-Length: 7\r\n\r\n{\"A\":1}\r\n--c\r\n\r\nDELETE /acme/Company(PartitionKey='p',RowKey='a') HTTP/1.1\r\nIf-Match: *\r\n\r\n\r\n--c--\r\n--b--\r\n";
    const QUERY: &str = "--b\r\nContent-Type: application/http\r\n\r\nGET http://127.0.0.1:10002/acme/Company(PartitionKey='p',RowKey='b') HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n--b--\r\n";
    const SERVICE: &str = "restype=service&comp=properties";
    let sound = [
        ["GET", "/acme/Tables", "$top=5&$filter=TableName%20ge%20'C'", "", ""],
        ["GET", "/acme/Tables('Company')", "", "", ""],
        ["POST", "/acme/Tables", "", "prefer: return-content", r#"{"TableName":"Third"}"#],
        ["DELETE", "/acme/Tables('Third')", "", "", ""],
        ["POST", "/acme/Company", "", "prefer: return-no-content", TYPED],
        ["GET", ROW, "$select=A,B", "accept: application/json;odata=fullmetadata", ""],
        [
            "GET",
            "/acme/Company()",
            "$filter=A%20gt%201%20and%20not%20(PartitionKey%20eq%20'q'%20or%20C%20eq%20guid'c9da6455-213d-42c9-9a79-3e9149a57833')&$top=2&$select=A",
            "",
            "",
        ],
        [
            "GET",
            "/acme/Company()",
            "$filter=B%20lt%205L&NextPartitionKey=1&NextRowKey=0",
            "x-table-copies: hide",
            "",
        ],
        ["PUT", ROW, "", "", TYPED],
        ["PUT", ROW, "", "if-match: *", TYPED],
        ["MERGE", ROW, "", "", r#"{"A":2}"#],
        [
            "PATCH",
            ROW,
            "timeout=5",
            "if-match: W/\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\"",
            r#"{"A":2}"#,
        ],
        ["POST", ROW, "", "x-http-method: MERGE", r#"{"A":2}"#],
        ["DELETE", ROW, "", "if-match: *", ""],
        ["POST", "/acme/$batch", "", "content-type: multipart/mixed; boundary=b", CHANGES],
        ["POST", "/acme/$batch", "", "content-type: multipart/mixed; boundary=\"b\"", QUERY],
        ["GET", "/acme/Company", "comp=acl", "", ""],
        ["PUT", "/acme/Company", "comp=acl", "", ACL],
        ["GET", "/acme/", SERVICE, "", ""],
        ["PUT", "/acme/", SERVICE, "", PROPERTIES],
        ["GET", "/acme-secondary/", "restype=service&comp=stats", "", ""],
        ["GET", "/acme/$metadata", "", "accept: application/xml", ""],
        ["OPTIONS", "/acme/Company", "", "origin: http://a\naccess-control-request-method: GET", ""],
        ["GET", "/acme-secondary/Company()", "$top=1", "origin: http://a", ""],
    ];
    let of = |[method, path, query, headers, body]: [&str; 5]| Draft {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        headers: headers
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        body: body.into(),
    };
    sound.map(of).into()
}

fn tokens() -> Vec<String> {
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    let of_table = |sas: Sas| sas.until(Ticks::MAX).sign(&key).unwrap().into_string();
    let all = |sas: Sas| of_table(sas.read().add().update().delete());
    let account = AccountSas::new("rwdlacu").service().containers().objects().until(Ticks::MAX);
    vec![
        all(Sas::table("Company")),
        all(Sas::table("Company").from_row("p", "b").through_row("p", "b")),
        of_table(Sas::table("Company").read().partition("p")),
        Sas::table("Company").policy("clerks").sign(&key).unwrap().into_string(),
        account.sign(&key).unwrap().into_string(),
        AccountSas::new("r").objects().until(Ticks::MAX).sign(&key).unwrap().into_string(),
    ]
}

/// Damages a part of a request.
fn damage(draft: &mut Draft, others: &[Draft], random: &mut Random) {
    const METHODS: [&[u8]; 11] = [
        b"GET", b"POST", b"PUT", b"MERGE", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"CONNECT", b"TRACE",
        b"merge",
    ];
    const PATHS: [&[u8]; 16] = [
        b"%2F",
        b"%25",
        b"%ff",
        b"''",
        b"(PartitionKey='",
        b"',RowKey='",
        b"')",
        b"()",
        b"/acme",
        b"-secondary",
        b"$batch",
        b"Tables",
        b"/",
        b"%00",
        b"%C3%A9",
        b"Company",
    ];
    const QUERIES: [&[u8]; 18] = [
        b"&comp=acl",
        b"&comp=stats",
        b"&$top=0",
        b"&$top=1000",
        b"&$filter=",
        b"&$select=",
        b"&NextPartitionKey=",
        b"&NextTableName=",
        b"%20and%20",
        b"%20or%20",
        b"(",
        b")",
        b"not%20",
        b"%ff",
        b"+",
        b"&sig=x",
        b"&tn=Other",
        b"datetime'2026-01-01'",
    ];
    const HEADERS: [(&[u8], &[u8]); 10] = [
        (b"if-match", b"*"),
        (b"if-match", b"W/\"x\""),
        (b"x-http-method", b"DELETE"),
        (b"accept", b"text/csv"),
        (b"prefer", b"return-no-content"),
        (b"origin", b"http://a"),
        (b"host", b"acme.table.local"),
        (b"content-type", b"multipart/mixed; boundary=b"),
        (b"x-table-copies", b"hide"),
        (b"host", b"\xff"),
    ];
    const BODIES: [&[u8]; 20] = [
        b"{",
        b"}",
        b"\"",
        b",",
        b":",
        b"null",
        b"[]",
        b"1e999",
        b"@odata.type\":\"Edm.Int64\"",
        b"\\u0000",
        b"\\ud800",
        b"--c\r\n",
        b"--c--",
        b"--b--",
        b"\r\n\r\n",
        b"Content-Length: 9999999999999999999999\r\n",
        b"<Id/>",
        b"&#0;",
        b"<!DOCTYPE a>",
        b"\xff",
    ];
    let other = &others[random.below(others.len())];
    match random.below(12) {
        0 => draft.method = METHODS[random.below(METHODS.len())].to_vec(),
        1 | 2 => bytes(&mut draft.path, &other.path, &PATHS, random),
        3 | 4 => bytes(&mut draft.query, &other.query, &QUERIES, random),
        5 => {
            let (name, value) = HEADERS[random.below(HEADERS.len())];
            draft.headers.push((name.to_vec(), value.to_vec()));
        }
        6 => {
            let at = random.below(draft.headers.len());
            if let Some((_, value)) = draft.headers.get_mut(at) {
                bytes(value, b"*", &[b"\"", b";", b",", b"="], random);
            }
        }
        7 => draft.body.clone_from(&other.body),
        _ => bytes(&mut draft.body, &other.body, &BODIES, random),
    }
}

fn bytes(text: &mut Vec<u8>, other: &[u8], words: &[&[u8]], random: &mut Random) {
    let at = random.below(text.len());
    match random.below(8) {
        0 | 1 => {
            let word = words[random.below(words.len())];
            text.splice(at..at, word.iter().copied());
        }
        2 => {
            if let Some(byte) = text.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        3 => text.truncate(at),
        4 => {
            let end = at + random.below((text.len() - at).min(24));
            text.drain(at..end);
        }
        5 => {
            let piece = text[at..(at + 16).min(text.len())].to_vec();
            text.splice(at..at, piece);
        }
        6 => {
            let from = random.below(other.len());
            let piece = &other[from..(from + 24).min(other.len())];
            text.splice(at..at, piece.iter().copied());
        }
        _ => {
            // Much of one thing: deep nesting, long keys.
            let word = words[random.below(words.len())];
            let many = word.repeat(1 << random.below(10));
            text.splice(at..at, many);
        }
    }
}

/// Returns the request, signed by the account's key, or with a token; `None` if it is no request of HTTP.
fn signed(draft: &Draft, token: Option<&str>) -> Option<Request> {
    let mut address = draft.path.clone();
    if !draft.query.is_empty() || token.is_some() {
        address.push(b'?');
        address.extend_from_slice(&draft.query);
    }
    if let Some(token) = token {
        address.push(b'&');
        address.extend_from_slice(token.as_bytes());
    }
    let uri = Uri::try_from(address).ok()?;
    let mut request = http::Request::new(());
    *request.method_mut() = Method::from_bytes(&draft.method).ok()?;
    request.headers_mut().insert("host", HeaderValue::from_static("127.0.0.1:10002"));
    for (name, value) in &draft.headers {
        let (name, value) = (HeaderName::from_bytes(name).ok()?, HeaderValue::from_bytes(value).ok()?);
        request.headers_mut().insert(name, value);
    }
    if token.is_none() {
        let date = date();
        let comp = uri.query().unwrap_or("").split('&').find_map(|pair| pair.strip_prefix("comp="));
        let comp = comp.map(|comp| format!("?comp={comp}")).unwrap_or_default();
        let text = format!("{date}\n/{ACCOUNT}{}{comp}", uri.path());
        let signature = AccountKey::new(ACCOUNT, KEY).unwrap().sign(&text);
        let headers = request.headers_mut();
        headers.insert("x-ms-date", date.parse().unwrap());
        headers.insert("authorization", format!("SharedKeyLite {ACCOUNT}:{signature}").parse().unwrap());
    }
    *request.uri_mut() = uri;
    let (head, ()) = request.into_parts();
    Some(Request { head, body: Bytes::copy_from_slice(&draft.body), peer: Peer::LOCAL })
}

fn shown(draft: &Draft) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let headers: Vec<_> = draft.headers.iter().map(|(name, value)| [text(name), text(value)]).collect();
    format!(
        "{} {}?{} {headers:?} {}",
        text(&draft.method),
        text(&draft.path),
        text(&draft.query),
        text(&draft.body)
    )
}

/// Random numbers that a seed gives again.
struct Random(u64);

impl Random {
    /// Returns a number below a limit; 0 if there is none.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed >> 32).unwrap() % limit.max(1)
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}
