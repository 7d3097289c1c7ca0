//! The names of operations, as counters and spans have them.

use super::address::Resource;
use super::call::Call;
use crate::exchange::Operation;

/// Returns the name that the documentation of the protocol has for what a request asks for.
pub(super) fn operation_of(call: &Call<'_>, resource: &Resource) -> Operation {
    let comp = call.parameters.get("comp");
    let peeks = call.get("peekonly") == Some("true");
    Operation(match (resource, call.method, comp) {
        (Resource::Service, "GET", Some("list")) => "ListQueues",
        (Resource::Service, "GET", Some("properties")) => "GetQueueServiceProperties",
        (Resource::Service, "PUT", Some("properties")) => "SetQueueServiceProperties",
        (Resource::Service, "GET", Some("stats")) => "GetQueueServiceStats",
        (Resource::Queue(_), "GET", Some("metadata")) => "GetQueueMetadata",
        (Resource::Queue(_), "PUT", Some("metadata")) => "SetQueueMetadata",
        (Resource::Queue(_), "GET", Some("acl")) => "GetQueueAcl",
        (Resource::Queue(_), "PUT", Some("acl")) => "SetQueueAcl",
        (Resource::Queue(_), "PUT", None) => "CreateQueue",
        (Resource::Queue(_), "DELETE", None) => "DeleteQueue",
        (Resource::Messages(_), "POST", None) => "PutMessage",
        (Resource::Messages(_), "GET", None) if peeks => "PeekMessages",
        (Resource::Messages(_), "GET", None) => "GetMessages",
        (Resource::Messages(_), "DELETE", None) => "ClearMessages",
        (Resource::Message(..), "PUT", None) => "UpdateMessage",
        (Resource::Message(..), "DELETE", None) => "DeleteMessage",
        _ => "other",
    })
}
