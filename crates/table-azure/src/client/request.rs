//! Requests, before they are signed.

use std::borrow::Cow;
use std::time::Instant;

use bytes::Bytes;
use http::Method;
use table_wire::percent;

/// The type of entities and tables as JSON.
const JSON: &str = "application/json";

/// A request of one account's service.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) method: Method,
    /// What follows the account, with its escapes.
    pub(super) resource: String,
    /// The query, with its escapes.
    pub(super) query: String,
    pub(super) if_match: Option<String>,
    pub(super) content_type: Cow<'static, str>,
    pub(super) body: Bytes,
    /// Whether an answer from a copy of the account will do, which is behind by some time.
    pub(super) may_be_stale: bool,
    /// When it is sent no more, nor again; `None` if only the rule of retries says.
    pub(super) until: Option<Instant>,
}

impl Request {
    /// Makes a request of a resource, which is given with its escapes.
    #[must_use]
    pub fn new(method: Method, resource: impl Into<String>) -> Self {
        Self {
            method,
            resource: resource.into(),
            query: String::new(),
            if_match: None,
            content_type: JSON.into(),
            body: Bytes::new(),
            may_be_stale: false,
            until: None,
        }
    }

    /// Returns the request with another condition.
    #[must_use]
    pub fn if_match(self, tag: impl Into<String>) -> Self {
        Self { if_match: Some(tag.into()), ..self }
    }

    /// Returns the request with a body.
    #[must_use]
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Returns the request, for which an answer from a copy of the account will do or will not.
    #[must_use]
    pub fn may_be_stale(self, may_be_stale: bool) -> Self {
        Self { may_be_stale, ..self }
    }

    /// Returns the request, which is not sent after this time.
    #[must_use]
    pub fn until(self, until: Option<Instant>) -> Self {
        Self { until, ..self }
    }

    /// Returns the request with one more parameter in its query.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: &str) -> Self {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.push_str(name);
        self.query.push('=');
        percent::encode(value, &mut self.query);
        self
    }

    /// Returns whether it makes something that it has no need to be told back.
    pub(super) fn is_insert(&self) -> bool {
        self.method == Method::POST && !self.is_batch()
    }

    /// Returns whether it is of many operations, and so is its answer.
    pub(super) fn is_batch(&self) -> bool {
        self.resource == "$batch"
    }

    /// Returns whether it changes nothing.
    pub(super) fn is_read(&self) -> bool {
        self.method == Method::GET
    }
}

/// Returns the resource of an entity.
pub(super) fn entity(table: &str, partition: &str, row: &str) -> String {
    let mut resource = format!("{table}(PartitionKey='");
    percent::encode(&partition.replace('\'', "''"), &mut resource);
    resource.push_str("',RowKey='");
    percent::encode(&row.replace('\'', "''"), &mut resource);
    resource.push_str("')");
    resource
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_parameters_are_escaped() {
        assert_eq!(
            entity("Company", "a b'c", "%é,)"),
            "Company(PartitionKey='a%20b%27%27c',RowKey='%25%C3%A9%2C%29')"
        );
        let request =
            Request::new(Method::GET, "Tables").parameter("$filter", "a eq 'b'").parameter("$top", "1");
        assert_eq!(request.query, "$filter=a%20eq%20%27b%27&$top=1");
    }
}
