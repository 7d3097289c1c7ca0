//! Answers, with the headers that every answer has.

use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::Response;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::StatusCode;
use maud::Markup;

/// The body of an answer: all at once, or as it comes.
pub(super) type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// No page loads anything from elsewhere, runs a script that stands in it, stands in a frame, or sends a form elsewhere.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/// What a request is answered.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    location: Option<String>,
    cookie: Option<String>,
}

impl Answer {
    fn new(status: StatusCode, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, body, location: None, cookie: None }
    }

    /// Returns a page, or a piece of one.
    pub(crate) fn page(page: Markup) -> Self {
        Self::new(StatusCode::OK, "text/html; charset=utf-8", page.into_string())
    }

    /// Returns a page that says what went wrong, with the status of an error.
    pub(crate) fn problem(status: u16, page: Markup) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, ..Self::page(page) }
    }

    /// Returns a file.
    pub(crate) fn file(content_type: &'static str, text: String) -> Self {
        Self::new(StatusCode::OK, content_type, text)
    }

    /// Returns a line of text.
    pub(crate) fn line(status: u16, text: &str) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(status, "text/plain; charset=utf-8", format!("{text}\n"))
    }

    /// Sends the browser to another page of the studio.
    pub(crate) fn see(path: String) -> Self {
        let mut answer = Self::new(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", String::new());
        answer.location = Some(path);
        answer
    }

    /// Returns the answer with a cookie.
    pub(super) fn with_cookie(self, cookie: String) -> Self {
        Self { cookie: Some(cookie), ..self }
    }

    /// Returns what is sent.
    pub(super) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Either::Left(Full::new(Bytes::from(self.body))));
        *response.status_mut() = self.status;
        secure(&mut response, self.content_type);
        let texts = [(LOCATION, self.location), (SET_COOKIE, self.cookie)];
        for (name, text) in texts {
            if let Some(value) = text.and_then(|text| HeaderValue::from_str(&text).ok()) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Returns an answer whose events come as they are sent.
pub(super) fn events(body: Channel<Bytes>) -> Response<Body> {
    let mut response = Response::new(Either::Right(body));
    secure(&mut response, "text/event-stream");
    response
}

fn secure(response: &mut Response<Body>, content_type: &'static str) {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // A form says where it comes from to this page alone.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}
