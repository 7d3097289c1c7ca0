//! Answers to requests that never reach the service, in the protocol's form.

use http::{HeaderValue, header};

use crate::exchange::Response;
use crate::fault::Fault;
use crate::wire::error::{self, Form};

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
    let mut response = error::response(fault, Form::Json, None);
    if is_last {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Returns the bytes of an answer that is sent where no request has been read.
pub(super) fn unasked(fault: &Fault) -> Vec<u8> {
    let response = response(fault, true);
    let reason = response.status().canonical_reason().unwrap_or_default();
    let mut text = format!(
        "HTTP/1.1 {} {reason}\r\nretry-after: 1\r\ncontent-length: {}\r\n",
        response.status().as_u16(),
        response.body().len()
    )
    .into_bytes();
    for (name, value) in response.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            text.extend_from_slice(part);
        }
    }
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice(response.body());
    text
}
