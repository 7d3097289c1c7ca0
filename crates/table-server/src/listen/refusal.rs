//! Answers to requests that never reach the service, in the protocol's form.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::exchange::Response;
use crate::fault::Fault;

const ERROR_CODE: HeaderName = HeaderName::from_static("x-ms-error-code");

/// Returns the refusal of a body with more bytes than this.
pub(super) fn too_large(limit: usize) -> Fault {
    let text = format!(
        "The request body is too large and exceeds the maximum permissible limit, which is {limit} bytes."
    );
    Fault::new(413, "RequestBodyTooLarge", text)
}

/// Returns the refusal of a body for which there is no room beside others.
pub(super) fn no_room() -> Fault {
    Fault::new(
        503,
        "ServerBusy",
        "The server has as many bytes of requests as it may have. Please retry the request.",
    )
}

/// Returns the refusal of a body that did not arrive in time.
pub(super) fn too_slow() -> Fault {
    Fault::new(408, "OperationTimedOut", "The request body did not arrive within the time permitted.")
}

/// Returns the refusal of a body that is cut off, or not framed as HTTP demands.
pub(super) fn broken() -> Fault {
    Fault::invalid_input("The request body is incomplete, or its transfer encoding is invalid.")
}

/// Returns the answer to a request that made the service panic.
pub(super) fn panicked() -> Fault {
    Fault::new(500, "InternalError", "Server encountered an internal error. Please retry the request.")
}

/// Returns the refusal of a connection beyond the limit.
pub(super) fn busy() -> Fault {
    Fault::new(
        503,
        "ServerBusy",
        "The server has as many connections as it may have. Please retry the request.",
    )
}

/// Makes the answer of a refusal. The connection ends with it where the rest of the request has not been read.
pub(crate) fn response(fault: &Fault, is_last: bool) -> Response {
    let mut response = Response::new(body(fault));
    *response.status_mut() = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(code) = HeaderValue::from_str(&fault.code) {
        headers.insert(ERROR_CODE, code);
    }
    if is_last {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Returns the bytes of an answer that is sent where no request has been read.
pub(super) fn unasked(fault: &Fault) -> Vec<u8> {
    let body = body(fault);
    let mut text = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\nx-ms-error-code: {}\r\nretry-after: 1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        fault.status,
        StatusCode::from_u16(fault.status).ok().and_then(|s| s.canonical_reason()).unwrap_or_default(),
        fault.code,
        body.len(),
    )
    .into_bytes();
    text.extend_from_slice(&body);
    text
}

/// Returns the protocol's text of a refusal. Neither the codes nor the sentences of this module hold what JSON escapes.
fn body(fault: &Fault) -> Bytes {
    let (code, text) = (&fault.code, &fault.text);
    format!(
        "{{\"odata.error\":{{\"code\":\"{code}\",\"message\":{{\"lang\":\"en-US\",\"value\":\"{text}\"}}}}}}"
    )
    .into()
}
