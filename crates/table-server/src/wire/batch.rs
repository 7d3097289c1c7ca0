//! Batches: requests in a request, and the answers in an answer.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use table_wire::multipart::{self, Malformed, boundary_of, head, line, value_of};

use crate::exchange::Response;
use crate::fault::Fault;
use crate::wire::headers::tunnelled;

/// The most operations of a batch.
pub const OPERATIONS: usize = table_core::limits::BATCH_OPERATIONS;

/// An operation of a batch.
#[derive(Clone, Debug)]
pub struct Part<'r> {
    method: &'r str,
    /// The path with its query, with escapes.
    target: &'r str,
    host: Option<&'r str>,
    headers: Vec<(&'r str, &'r str)>,
    /// The body.
    pub body: &'r [u8],
}

impl<'r> Part<'r> {
    /// Returns the method, or the one that a header names in its place.
    #[must_use]
    pub fn method(&self) -> &'r str {
        tunnelled(self.method, self.header("x-http-method"))
    }

    /// Returns the path, with its escapes.
    #[must_use]
    pub fn path(&self) -> &'r str {
        self.target.split_once('?').map_or(self.target, |(path, _)| path)
    }

    /// Returns the query, with its escapes.
    #[must_use]
    pub fn query(&self) -> &'r str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// Returns the host that the operation is addressed to, if it says one.
    #[must_use]
    pub fn host(&self) -> Option<&'r str> {
        self.host.or_else(|| self.header("host"))
    }

    /// Returns the text of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'r str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

/// Reads the operations of a batch, from the type and the body of its request: those of one set of changes, or one query.
pub fn parts<'r>(content_type: &str, body: &'r [u8]) -> Result<Vec<Part<'r>>, Fault> {
    let boundary = boundary_of(content_type)
        .ok_or_else(|| Fault::invalid_input("A batch is of the type `multipart/mixed; boundary=..`."))?;
    let mut operations = Vec::new();
    let mut has_changes = false;
    for section in sections(body, boundary)? {
        let (headers, inner) = head(section)?;
        let media_type = value_of(&headers, "content-type").unwrap_or("");
        match boundary_of(media_type) {
            Some(_) if has_changes || !operations.is_empty() => {
                return Err(Fault::invalid_input("A batch holds one set of changes, or one query."));
            }
            Some(boundary) => {
                has_changes = true;
                for section in sections(inner, boundary)? {
                    if operations.len() == OPERATIONS {
                        return Err(at(too_many(), OPERATIONS));
                    }
                    let (_, inner) = head(section)?;
                    operations.push(operation(inner).map_err(|fault| at(fault, operations.len()))?);
                }
            }
            None if !operations.is_empty() => {
                return Err(Fault::invalid_input("A batch holds one set of changes, or one query."));
            }
            None => operations.push(operation(inner)?),
        }
    }
    if operations.is_empty() {
        return Err(Fault::invalid_input("The batch holds no operation."));
    }
    Ok(operations)
}

#[cold]
fn too_many() -> Fault {
    Fault::invalid_input("The batch request operation exceeds the maximum 100 changes per change set.")
}

fn at(fault: Fault, index: usize) -> Fault {
    Fault { index: Some(index), ..fault }
}

/// Returns what stands between the lines of a boundary.
fn sections<'r>(body: &'r [u8], boundary: &str) -> Result<Vec<&'r [u8]>, Fault> {
    Ok(multipart::sections(body, boundary, OPERATIONS + 1)?)
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::invalid_input(match malformed {
            Malformed::Unended => "The batch does not end with its boundary.",
            Malformed::TooManyParts => return at(too_many(), OPERATIONS),
            Malformed::Header => "A header in the batch can't be read.",
            Malformed::TooManyHeaders => "An operation of the batch has too many headers.",
        })
    }
}

/// Reads one request.
fn operation(bytes: &[u8]) -> Result<Part<'_>, Fault> {
    // Clients leave lines empty between the headers of the part and its request.
    let mut bytes = bytes;
    while let (b"", rest) = line(bytes) {
        if rest.is_empty() {
            break;
        }
        bytes = rest;
    }
    let (first, rest) = line(bytes);
    let bad_line =
        || Fault::invalid_input("An operation of the batch begins with its method, address and protocol.");
    let mut words = str::from_utf8(first).map_err(|_| bad_line())?.split_ascii_whitespace();
    let (Some(method), Some(url)) = (words.next(), words.next()) else { return Err(bad_line()) };
    if !words.next().is_some_and(|protocol| protocol.starts_with("HTTP/1")) || words.next().is_some() {
        return Err(bad_line());
    }
    let (headers, body) = head(rest)?;
    // What stands behind the length that is said is the end of the line before the boundary, and no part of the body.
    let body = match value_of(&headers, "content-length") {
        Some(text) => length_of(text).and_then(|length| body.get(..length)).ok_or_else(bad_length)?,
        None => body,
    };
    let (host, target) = match url.split_once("://") {
        Some((_, rest)) => match rest.find('/') {
            Some(slash) => {
                let (host, target) = rest.split_at(slash);
                (Some(host), target)
            }
            None => (Some(rest), "/"),
        },
        None => (None, url),
    };
    Ok(Part { method, target, host, headers, body })
}

/// Reads the length of a body, which is digits and no sign.
fn length_of(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cold]
fn bad_length() -> Fault {
    Fault::invalid_input(
        "The `Content-Length` of an operation of the batch is no number, or more than its body has.",
    )
}

/// Writes the answer to a batch.
#[derive(Debug)]
pub struct AnswerWriter {
    boundary: String,
    body: Vec<u8>,
}

impl AnswerWriter {
    /// Begins an answer. The id makes its boundaries differ from all that a body may hold.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let mut body = Vec::with_capacity(1024);
        for text in
            ["--batchresponse_", id, "\r\nContent-Type: multipart/mixed; boundary=changesetresponse_", id]
        {
            body.extend_from_slice(text.as_bytes());
        }
        body.extend_from_slice(b"\r\n\r\n");
        Self { boundary: id.to_owned(), body }
    }

    /// Adds the answer to one operation.
    pub fn add(&mut self, response: &Response) {
        let status = response.status();
        let mut add = |text: &[u8]| self.body.extend_from_slice(text);
        add(b"--changesetresponse_");
        add(self.boundary.as_bytes());
        add(b"\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ");
        add(status.as_str().as_bytes());
        add(b" ");
        add(status.canonical_reason().unwrap_or("Unknown").as_bytes());
        add(
            b"\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: 3.0;\r\n",
        );
        for (name, value) in response.headers() {
            add(as_written(name).as_bytes());
            add(b": ");
            add(value.as_bytes());
            add(b"\r\n");
        }
        add(b"\r\n");
        add(response.body());
        add(b"\r\n");
    }

    /// Ends the answer.
    #[must_use]
    pub fn finish(mut self) -> Response {
        for text in
            ["--changesetresponse_", &self.boundary, "--\r\n--batchresponse_", &self.boundary, "--\r\n"]
        {
            self.body.extend_from_slice(text.as_bytes());
        }
        let mut response = Response::new(Bytes::from(self.body));
        *response.status_mut() = StatusCode::ACCEPTED;
        let media_type = format!("multipart/mixed; boundary=batchresponse_{}", self.boundary);
        if let Ok(media_type) = HeaderValue::from_str(&media_type) {
            response.headers_mut().insert(header::CONTENT_TYPE, media_type);
        }
        response
    }
}

/// Returns the name of a header as clients look for it: they read the text of a part, with regard to case.
fn as_written(name: &HeaderName) -> &str {
    match name.as_str() {
        "etag" => "ETag",
        "location" => "Location",
        "content-type" => "Content-Type",
        "preference-applied" => "Preference-Applied",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "--batch_1\r\nContent-Type: multipart/mixed; boundary=\"changeset_2\"\r\n\r\n\
        --changeset_2\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\n\
        POST http://127.0.0.1:1/acme/Company HTTP/1.1\r\nAccept: a\r\nContent-Length: 2\r\n\r\n{}\r\n\
        --changeset_2\r\nContent-Type: application/http\r\n\r\n\r\n\
        POST /acme/Company(PartitionKey='a',RowKey='--changeset_2')?x=1 HTTP/1.1\r\nX-HTTP-Method: MERGE\r\nIf-Match: *\r\n\r\n\
        {\"A\":\"\r\n--x\"}\r\n--changeset_2--\r\n--batch_1--\r\n";

    #[test]
    fn changes_are_read_with_their_bodies() {
        let lf = TWO.replace("\r\n", "\n");
        for text in [TWO, &lf] {
            let read = parts("multipart/mixed; boundary=batch_1", text.as_bytes()).unwrap();
            let [first, second] = &read[..] else { panic!("{read:?}") };
            assert_eq!(
                (first.method(), first.path(), first.host()),
                ("POST", "/acme/Company", Some("127.0.0.1:1"))
            );
            assert_eq!(first.body, b"{}");
            assert_eq!((second.method(), second.query()), ("MERGE", "x=1"));
            assert_eq!(second.header("IF-MATCH"), Some("*"));
            assert_eq!(String::from_utf8_lossy(second.body).replace("\r\n", "\n"), "{\"A\":\"\n--x\"}");
        }
    }

    #[test]
    fn a_length_is_one_that_the_body_has() {
        for (length, expected) in [
            ("2", Ok("{}")),
            ("0", Ok("")),
            ("3", Err(400)),
            ("", Err(400)),
            ("+2", Err(400)),
            ("-1", Err(400)),
            ("2 2", Err(400)),
            ("99999999999999999999", Err(400)),
        ] {
            let text =
                format!("--b\r\n\r\nPOST /acme/T HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{{}}\r\n--b--");
            let read = parts("multipart/mixed; boundary=b", text.as_bytes());
            let body = read.map(|all| str::from_utf8(all[0].body).unwrap()).map_err(|fault| fault.status);
            assert_eq!(body, expected, "{length}");
        }
    }

    #[test]
    fn a_query_is_alone() {
        let query = "--b\r\nContent-Type: application/http\r\n\r\nGET /acme/C(PartitionKey='a',RowKey='b') HTTP/1.1\r\n\r\n\r\n";
        let one = format!("{query}--b--");
        let read = parts("multipart/mixed;boundary=b", one.as_bytes()).unwrap();
        assert_eq!((read.len(), read[0].method()), (1, "GET"));
        let two = parts("multipart/mixed;boundary=b", format!("{query}{query}--b--").as_bytes()).unwrap_err();
        assert_eq!(two.text, "A batch holds one set of changes, or one query.");
    }

    #[test]
    fn what_is_malformed_is_refused_in_words() {
        let of =
            |body: &str| parts("multipart/mixed; boundary=b", body.as_bytes()).unwrap_err().text.into_owned();
        assert_eq!(of(""), "The batch does not end with its boundary.");
        assert_eq!(of("--b--"), "The batch holds no operation.");
        assert_eq!(of("--b\r\nContent-Type: x\r\n\r\nGET /\r\n--b--"), of("--b\r\n\r\n\r\n--b--"));
        assert_eq!(of("--b\r\nno header\r\n\r\n--b--"), "A header in the batch can't be read.");
        for content_type in
            ["", "application/json", "multipart/mixed", "multipart/mixed; boundary=", "multipart/mixed; x=b"]
        {
            let fault = parts(content_type, b"--b--").unwrap_err();
            assert_eq!((fault.status, &*fault.code), (400, "InvalidInput"));
        }
        let many = "--c\r\n\r\nPOST / HTTP/1.1\r\n\r\n\r\n".repeat(OPERATIONS + 1);
        let many = format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{many}--c--\r\n--b--");
        assert!(of(&many).contains("maximum 100"));
    }
}
