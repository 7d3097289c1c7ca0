//! Answers of the service.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use table_engine::odata::{Member, Reader};
use table_engine::{ValueRef, limits};
use table_wire::multipart;

use super::failure::{Failure, Refusal};

/// An answer whose body has arrived.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    pub(super) headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// Returns the text of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns whether the request was carried out.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns what the service says in place of an answer.
    pub(super) fn refusal(&self) -> Refusal {
        let retry_after = self.header("retry-after").and_then(|text| text.trim().parse().ok());
        let mut refusal = refusal_of(self.status, &self.body);
        refusal.retry_after = retry_after.map(Duration::from_secs);
        if refusal.code.is_empty() {
            self.header("x-ms-error-code").unwrap_or_default().clone_into(&mut refusal.code);
        }
        refusal
    }
}

/// Returns what the service says in place of an answer, if that may be another a moment later. A batch whose answer is one of
/// success may have failed in an operation.
pub(super) fn passing(answer: &Answer, is_batch: bool) -> Option<Refusal> {
    let refusal = if !answer.is_success() {
        answer.refusal()
    } else if is_batch {
        // The sender of the batch reports an answer that can't be read.
        refused(&parts(answer, limits::BATCH_OPERATIONS).ok()?)?.1
    } else {
        return None;
    };
    Some(refusal).filter(|refusal| refusal.is_throttled() || refusal.is_failing())
}

/// Returns the place of the first of these answers that is a refusal, and the refusal.
pub(super) fn refused(parts: &[PartAnswer<'_>]) -> Option<(usize, Refusal)> {
    let (place, part) = parts.iter().enumerate().find(|(_, part)| !(200..300).contains(&part.status))?;
    Some((place, refusal_of(part.status, part.body)))
}

/// Returns what a body says in place of an answer.
pub(super) fn refusal_of(status: u16, body: &[u8]) -> Refusal {
    let (code, text) = error_of(body).unwrap_or_default();
    // The operation of a batch stands before its sentence; the request and its time behind.
    let line = text.lines().next().unwrap_or_default();
    let numbered = line.split_once(':').and_then(|(at, rest)| Some((at.parse().ok()?, rest)));
    let (index, text) = numbered.map_or((None, line), |(at, rest)| (Some(at), rest));
    Refusal { status, code, text: text.trim().chars().take(300).collect(), index, retry_after: None }
}

/// Reads the code and the sentence of `{"odata.error":{"code":..,"message":{"value":..}}}`.
///
/// The codec of entities has no objects within objects, so what stands between the braces is looked for: an error of the service
/// has no others.
fn error_of(body: &[u8]) -> Option<(String, String)> {
    let text = str::from_utf8(body).ok()?;
    let inner = text.split_once("\"odata.error\"")?.1;
    Some((member(inner, "code")?, member(inner, "value").unwrap_or_default()))
}

/// Returns the text that stands behind a name.
fn member(object: &str, name: &str) -> Option<String> {
    let value = object.split_once(&format!("\"{name}\""))?.1.trim_start().strip_prefix(':')?.trim_start();
    let end = end_of_string(value)?;
    let object = format!("{{\"Text\":{}}}", value.get(..end)?);
    let mut text = None;
    let read = Reader::new().visit(object.as_bytes(), |member| {
        if let Member::Property(_, ValueRef::String(found)) = member {
            text = Some(found.to_owned());
        }
        Ok(())
    });
    read.ok().and(text)
}

/// Returns where a text of JSON ends, which begins the text given.
fn end_of_string(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// An answer to one operation of a batch.
#[derive(Debug)]
pub(super) struct PartAnswer<'a> {
    pub(super) status: u16,
    pub(super) etag: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// Reads the answers to a batch's operations: one for each, or one of an operation that failed.
pub(super) fn parts(answer: &Answer, most: usize) -> Result<Vec<PartAnswer<'_>>, Failure> {
    let malformed = |why: &str| Failure::Malformed(format!("the answer to a batch: {why}"));
    let of_parts = |error: multipart::Malformed| malformed(&error.to_string());
    let boundary = answer.header("content-type").and_then(multipart::boundary_of);
    let boundary = boundary.ok_or_else(|| malformed("it is not of many parts"))?;
    let sections = multipart::sections(&answer.body, boundary, 2).map_err(of_parts)?;
    let set = sections.first().ok_or_else(|| malformed("it is empty"))?;
    let (headers, rest) = multipart::head(set).map_err(of_parts)?;
    let inner = multipart::value_of(&headers, "content-type").and_then(multipart::boundary_of);
    let sections = match inner {
        Some(boundary) => multipart::sections(rest, boundary, most).map_err(of_parts)?,
        // An answer of one operation may stand in the batch itself.
        None => vec![*set],
    };
    sections
        .into_iter()
        .map(|section| part(section).ok_or_else(|| malformed("a part is no answer")))
        .collect()
}

fn part(section: &[u8]) -> Option<PartAnswer<'_>> {
    let (_, mut rest) = multipart::head(section).ok()?;
    // An emulator writes lines between the part's headers and its answer.
    let status = loop {
        let (line, after) = multipart::line(rest);
        if after.is_empty() && line.is_empty() {
            return None;
        }
        rest = after;
        if let Some(status) = line.strip_prefix(b"HTTP/1.1 ") {
            break str::from_utf8(status.get(..3)?).ok()?.parse().ok()?;
        }
    };
    let (headers, body) = multipart::head(rest).ok()?;
    Some(PartAnswer { status, etag: multipart::value_of(&headers, "etag"), body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_in_the_services_words() {
        let body = br#"{"odata.error":{"code":"InvalidInput","message":{"lang":"en-US","value":"2:One \"input\" is bad.\nRequestId:x\nTime:y"}}}"#;
        let refusal = refusal_of(400, body);
        assert_eq!(
            (&*refusal.code, &*refusal.text, refusal.index),
            ("InvalidInput", "One \"input\" is bad.", Some(2))
        );
        let refusal = refusal_of(
            404,
            br#"{"odata.error":{"code":"ResourceNotFound","message":{"value":"None: of it"}}}"#,
        );
        assert_eq!((&*refusal.text, refusal.index), ("None: of it", None));
        for body in [
            &b""[..],
            b"<html>",
            b"{\"odata.error\":{\"code\":7}}",
            b"{\"odata.error\":{\"code\":\"",
            b"\xff",
        ] {
            assert_eq!(refusal_of(500, body).code, "");
        }
    }

    fn answer(body: &str) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "multipart/mixed; boundary=b".parse().unwrap());
        Answer { status: 202, headers, body: Bytes::from(body.to_owned()) }
    }

    #[test]
    fn parts_of_an_answer_are_read() {
        let one =
            "Content-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\nETag: W/\"x\"\r\n\r\n\r\n";
        // One emulator has a line too many.
        let odd = "Content-Type: application/http\r\n\r\nodd\r\nHTTP/1.1 409 Conflict\r\nA: b\r\n\r\n{}";
        let set = format!("--c\r\n{one}--c\r\n{odd}\r\n--c--");
        let body = format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{set}\r\n--b--");
        let whole = answer(&body);
        let read = parts(&whole, 2).unwrap();
        assert_eq!((read[0].status, read[0].etag), (204, Some("W/\"x\"")));
        assert_eq!((read[1].status, read[1].etag, read[1].body), (409, None, &b"{}"[..]));
        assert!(parts(&whole, 1).is_err());
        let bare = answer(&format!("--b\r\n{odd}\r\n--b--"));
        assert_eq!(parts(&bare, 5).unwrap().len(), 1);
        for body in ["", "--b--", "--b\r\nA: b\r\n\r\nHTTP/1.1 2\r\n--b--", "--b\r\n\r\n\r\n--b--"] {
            assert!(matches!(parts(&answer(body), 5), Err(Failure::Malformed(_))), "{body}");
        }
    }
}
