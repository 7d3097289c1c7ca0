//! The names of operations, as counters and spans have them.

use super::call::Call;
use crate::exchange::Operation;
use crate::wire::address::Resource;

/// Returns the name that the documentation of the protocol has for what a request asks for.
pub(super) fn operation_of(call: &Call<'_>, resource: &Resource) -> Operation {
    let comp = call.parameters.get("comp");
    let is_upsert = call.request.header("if-match").is_none();
    Operation(match (resource, call.method, comp) {
        (Resource::Service, "GET", Some("properties")) => "GetTableServiceProperties",
        (Resource::Service, "PUT", Some("properties")) => "SetTableServiceProperties",
        (Resource::Service, "GET", Some("stats")) => "GetTableServiceStats",
        (Resource::Metadata, ..) => "GetMetadata",
        (Resource::Tables | Resource::Table(_), "GET", _) => "QueryTables",
        (Resource::Tables, "POST", _) => "CreateTable",
        (Resource::Table(_), "DELETE", _) => "DeleteTable",
        (Resource::Batch, ..) => "EntityGroupTransaction",
        (Resource::Rows(_), "GET", Some("acl")) => "GetTableAcl",
        (Resource::Rows(_), "PUT", Some("acl")) => "SetTableAcl",
        (Resource::Rows(_), "GET", _) => "QueryEntities",
        (Resource::Row { .. }, "GET", _) => "GetEntity",
        (Resource::Rows(_), "POST", _) => "InsertEntity",
        (Resource::Row { .. }, "PUT", _) if is_upsert => "InsertOrReplaceEntity",
        (Resource::Row { .. }, "PUT", _) => "UpdateEntity",
        (Resource::Row { .. }, "MERGE" | "PATCH", _) if is_upsert => "InsertOrMergeEntity",
        (Resource::Row { .. }, "MERGE" | "PATCH", _) => "MergeEntity",
        (Resource::Row { .. }, "DELETE", _) => "DeleteEntity",
        _ => "other",
    })
}
