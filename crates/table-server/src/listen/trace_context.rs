//! The trace that a request is part of, as its caller says in the header `traceparent` (W3C Trace Context).

use http::HeaderMap;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The header.
const TRACEPARENT: &str = "traceparent";

/// Makes a span one of the caller's trace, if the request names a trace. Any caller may name one: spans go to the program's own
/// exporter alone.
pub(super) fn join(span: &Span, headers: &HeaderMap) {
    let text = headers.get(TRACEPARENT).and_then(|value| value.to_str().ok());
    if let Some(caller) = text.and_then(parse) {
        // Without a layer of OpenTelemetry there is no trace to join.
        drop(span.set_parent(Context::new().with_remote_span_context(caller)));
    }
}

/// Reads the header; `None` if it is not right, so that the span begins a trace of its own.
fn parse(text: &str) -> Option<SpanContext> {
    let mut parts = text.trim().split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, length| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_whole =
        is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2) && version != "ff";
    // Later versions may say more; this one does not.
    if !is_whole || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::default());
    context.is_valid().then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_read_as_the_standard_has_it_and_nothing_else_is() {
        const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
        let text = format!("00-{TRACE}-b7ad6b7169203331-01");
        let read = parse(&text).unwrap();
        assert_eq!(
            (read.trace_id().to_string(), read.span_id().to_string()),
            (TRACE.into(), "b7ad6b7169203331".into())
        );
        assert!(read.is_sampled() && read.is_remote());
        assert!(!parse(&text.replace("-01", "-00")).unwrap().is_sampled());
        assert!(parse(&format!("cc-{TRACE}-b7ad6b7169203331-01-more")).is_some());
        for wrong in [
            "",
            "00",
            "00-0-0-01",
            &text.replace('a', "A"),
            &format!("{text}-more"),
            &text.replace("00-", "ff-"),
            &text.replace(TRACE, &"0".repeat(32)),
            &text.replace("b7ad6b7169203331", &"0".repeat(16)),
            &text.replace("-01", "-x1"),
        ] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }
}
