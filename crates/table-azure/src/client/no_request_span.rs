//! Nothing in place of spans, without the feature `tracing`.

use http::HeaderMap;

use super::answer::Answer;
use super::connection::Endpoint;
use super::failure::Failure;
use super::request::Request;

/// The span of a request, which is none.
pub(super) struct RequestSpan;

impl RequestSpan {
    pub(super) fn new(_: &Endpoint, _: &Request, _: u32) -> Self {
        Self
    }

    pub(super) fn around<F: Future>(&self, future: F) -> F {
        future
    }

    pub(super) fn name_in(&self, _: &mut HeaderMap) {}

    pub(super) fn answered(&self, _: &Result<Answer, Failure>) {}
}
