//! Answers: statuses, headers and bodies.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use table_core::ETag;
use table_core::odata::Metadata;

use crate::exchange::{Request, Response};

/// The header of where a query goes on.
pub(super) const CONTINUATION_PARTITION: HeaderName =
    HeaderName::from_static("x-ms-continuation-nextpartitionkey");
/// The other half of it.
pub(super) const CONTINUATION_ROW: HeaderName = HeaderName::from_static("x-ms-continuation-nextrowkey");
/// The header of where a list of tables goes on.
pub(super) const CONTINUATION_TABLE: HeaderName = HeaderName::from_static("x-ms-continuation-nexttablename");
/// The header that says what was made of a preference.
pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Makes an answer without a body.
pub(crate) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// Makes an answer of JSON.
pub(super) fn json(status: StatusCode, text: Vec<u8>, metadata: Metadata) -> Response {
    with_body(status, text, json_type(metadata))
}

/// Makes an answer of XML.
pub(crate) fn xml(status: StatusCode, text: Vec<u8>) -> Response {
    with_body(status, text, "application/xml")
}

/// Makes an answer of a type.
pub(crate) fn with_body(status: StatusCode, body: Vec<u8>, media_type: &'static str) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Returns the type of a text of entities, as the service has it.
pub(super) const fn json_type(metadata: Metadata) -> &'static str {
    match metadata {
        Metadata::None => "application/json;odata=nometadata;streaming=true;charset=utf-8",
        Metadata::Minimal => "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
        Metadata::Full => "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
    }
}

/// Adds a header. A text that is none of a header's is left out: nothing that an answer needs holds such.
pub(crate) fn add(response: &mut Response, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}

/// Adds the version of an entity.
pub(super) fn add_etag(response: &mut Response, etag: ETag) {
    add(response, header::ETAG, etag.encode(&mut [0; ETag::TEXT_BYTES]));
}

/// Adds what every answer has.
pub(crate) fn add_common(response: &mut Response, request: &Request, id: &str) {
    add(response, HeaderName::from_static("x-ms-request-id"), id);
    // Any version is taken: what the protocol says of tables has not changed since the first of these.
    let version = request.header("x-ms-version").unwrap_or("2019-02-02");
    add(response, HeaderName::from_static("x-ms-version"), version);
    if let Some(id) = request.header("x-ms-client-request-id") {
        add(response, HeaderName::from_static("x-ms-client-request-id"), id);
    }
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}
