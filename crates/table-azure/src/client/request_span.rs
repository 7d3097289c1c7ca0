//! A span of the crate `tracing` for each request that is sent, in the trace of what the caller does.
//!
//! It names the host, and neither the path nor the query: keys and signatures stand there.

use http::HeaderMap;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::answer::Answer;
use super::connection::Endpoint;
use super::failure::Failure;
use super::request::Request;

/// The span of a request that is sent once.
pub(super) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins the span of a request to an endpoint, which was sent so many times before.
    pub(super) fn new(endpoint: &Endpoint, request: &Request, sent_before: u32) -> Self {
        let span = tracing::debug_span!(
            target: "table_azure::request",
            "request",
            "otel.kind" = "client",
            "http.request.method" = request.method.as_str(),
            "server.address" = endpoint.host(),
            "http.request.resend_count" = Empty,
            "http.response.status_code" = Empty,
            "error.type" = Empty,
        );
        if sent_before > 0 {
            span.record("http.request.resend_count", sent_before);
        }
        Self(span)
    }

    /// Runs a future within the span.
    pub(super) fn around<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future.instrument(self.0.clone())
    }

    /// Names the span in the header `traceparent` (W3C Trace Context), so that the service's own spans can join its trace.
    /// Without a layer of OpenTelemetry there is no trace to name.
    #[cfg(feature = "opentelemetry")]
    pub(super) fn name_in(&self, headers: &mut HeaderMap) {
        use opentelemetry::trace::TraceContextExt;
        use tracing_opentelemetry::OpenTelemetrySpanExt;

        let context = self.0.context();
        let span = context.span().span_context().clone();
        if !span.is_valid() {
            return;
        }
        let flags = span.trace_flags().to_u8();
        let text = format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id());
        if let Ok(value) = http::HeaderValue::try_from(text) {
            headers.insert("traceparent", value);
        }
    }

    /// Names nothing: the span is part of no trace that the service could join.
    #[cfg(not(feature = "opentelemetry"))]
    #[allow(clippy::unused_self, reason = "with the feature `opentelemetry` it names itself")]
    pub(super) fn name_in(&self, _: &mut HeaderMap) {}

    /// Notes what has come of the request.
    pub(super) fn answered(&self, answer: &Result<Answer, Failure>) {
        let failed = |kind| {
            self.0.record("error.type", kind);
        };
        match answer {
            Ok(answer) => {
                self.0.record("http.response.status_code", answer.status);
                if !answer.is_success() && !self.0.is_disabled() {
                    self.0.record("error.type", &*answer.refusal().code);
                }
            }
            Err(Failure::Unreachable(_)) => failed("unreachable"),
            Err(Failure::NoAnswer(_)) => failed("no_answer"),
            Err(Failure::Credential(_)) => failed("credential"),
            Err(_) => failed("other"),
        }
    }
}
