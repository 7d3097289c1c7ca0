//! Answers to requests that never reach the service, in the protocol's form.

use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::exchange::Response;
use crate::fault::Fault;
use crate::wire::error::{self, Form};

/// The header of a request's id.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");

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
    let text = "Server encountered an internal error. Please retry the request.";
    let detail = "the service panicked: what it said is on the standard error";
    Fault { detail: Some(detail.to_owned()), ..Fault::new(500, "InternalError", text) }
}

/// Returns the refusal of a connection beyond the limit.
pub(super) fn busy() -> Fault {
    Fault::new(
        503,
        "ServerBusy",
        "The server has as many connections as it may have. Please retry the request.",
    )
}

/// Returns the refusal of what is no request, by the status that it deserves.
pub(super) fn no_request(status: StatusCode) -> Fault {
    match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Fault::new(
            431,
            "OutOfRangeInput",
            "The request has more headers, or longer ones, than are permitted.",
        ),
        StatusCode::URI_TOO_LONG => {
            Fault::new(414, "OutOfRangeInput", "The request URI is longer than is permitted.")
        }
        _ => Fault::invalid_input("What was sent is not a request of HTTP/1.1."),
    }
}

/// Makes the answer of a refusal. The connection ends with it where the rest of the request has not been read.
pub(super) fn response(fault: &Fault, is_last: bool, request_id: &str) -> Response {
    let mut response = error::response(fault, Form::Json, request_id);
    if let Ok(id) = HeaderValue::from_str(request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if is_last {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Returns the bytes of an answer that is sent where no request has been read.
pub(super) fn unasked(fault: &Fault, request_id: &str) -> Vec<u8> {
    let response = response(fault, true, request_id);
    let (status, length) = (response.status(), response.body().len());
    let reason = status.canonical_reason().unwrap_or_default();
    let retry = if status == StatusCode::SERVICE_UNAVAILABLE { "retry-after: 1\r\n" } else { "" };
    let text = format!("HTTP/1.1 {} {reason}\r\n{retry}content-length: {length}\r\n", status.as_u16());
    let mut text = text.into_bytes();
    for (name, value) in response.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            text.extend_from_slice(part);
        }
    }
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice(response.body());
    text
}
