//! Errors as responses.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use table_core::{Error, ErrorKind};

/// A status, and what the client is told.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
    continuation: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), continuation: None }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "ResourceNotFound", "there is no such employee")
    }

    /// Returns what stands in the body.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(continuation) = &self.continuation {
            error["continuation"] = continuation.as_str().into();
        }
        json!({ "error": error })
    }
}

/// The store's errors have the service's codes and statuses. Their own text names keys and files, which are the program's
/// affair: clients get sentences that say nothing of what is stored.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = match error.kind() {
            ErrorKind::UniqueConflict => "another employee has the e-mail address",
            ErrorKind::SnapshotExpired => "read too slowly: go on by pages after the continuation",
            _ => error.service_text(),
        };
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() && error.kind() != ErrorKind::SnapshotExpired {
            eprintln!("{error}");
        }
        let continuation = error.continuation().map(ToString::to_string);
        Self { continuation, ..Self::new(status, error.code(), message) }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.to_json())).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// What a request has, or a [`Failure`] that says what is wrong with it.
pub(crate) struct Given<X>(pub(crate) X);

impl<S: Sync, X: FromRequestParts<S, Rejection: Into<Failure>>> FromRequestParts<S> for Given<X> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        X::from_request_parts(parts, state).await.map(Self).map_err(Into::into)
    }
}

impl<S: Sync, X: FromRequest<S, Rejection: Into<Failure>>> FromRequest<S> for Given<X> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        X::from_request(request, state).await.map(Self).map_err(Into::into)
    }
}

macro_rules! rejections {
    ($($rejection:ident)+) => { $(
        impl From<$rejection> for Failure {
            fn from(rejection: $rejection) -> Self {
                let status = rejection.status();
                let code = match status {
                    StatusCode::PAYLOAD_TOO_LARGE => "RequestBodyTooLarge",
                    StatusCode::UNSUPPORTED_MEDIA_TYPE => "UnsupportedMediaType",
                    _ => "InvalidInput",
                };
                Self::new(status, code, rejection.body_text())
            }
        }
    )+ };
}

rejections!(JsonRejection PathRejection QueryRejection);
