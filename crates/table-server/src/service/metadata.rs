//! The description of the data: what kinds of things there are, and their keys.

use http::StatusCode;

use super::Service;
use super::answer;
use super::call::Call;
use crate::exchange::Response;
use crate::fault::Fault;

/// What stands before the types.
const START: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\
    <edmx:Edmx Version=\"1.0\" xmlns:edmx=\"http://schemas.microsoft.com/ado/2007/06/edmx\">\
    <edmx:DataServices m:DataServiceVersion=\"3.0\" \
    xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\">";
/// The type of a table.
const TABLES: &str = "<EntityType Name=\"Tables\"><Key><PropertyRef Name=\"TableName\"/></Key>\
    <Property Name=\"TableName\" Type=\"Edm.String\" Nullable=\"false\"/></EntityType>";
/// What each entity has, of whatever table.
const KEYS: &str = "<Key><PropertyRef Name=\"PartitionKey\"/><PropertyRef Name=\"RowKey\"/></Key>\
    <Property Name=\"PartitionKey\" Type=\"Edm.String\" Nullable=\"false\"/>\
    <Property Name=\"RowKey\" Type=\"Edm.String\" Nullable=\"false\"/>\
    <Property Name=\"Timestamp\" Type=\"Edm.DateTime\" Nullable=\"false\"/>";

impl Service {
    /// Answers with the description of the first 1,000 tables, which say nothing of their entities but their keys.
    pub(super) async fn metadata(&self, call: &Call<'_>) -> Result<Response, Fault> {
        if call.method != "GET" {
            return Err(Fault::unsupported_verb());
        }
        call.need(&["l"], 'c')?;
        let most = table_core::limits::PAGE_ENTITIES;
        let tables = self.tables.run(move |tables| tables.tables_page(None, None, most)).await?.tables;
        let account = call.account;
        let mut text = format!(
            "{START}<Schema Namespace=\"{account}\" \
            xmlns=\"http://schemas.microsoft.com/ado/2009/11/edm\">{TABLES}"
        );
        for name in &tables {
            text.extend(["<EntityType Name=\"", name, "\" OpenType=\"true\">", KEYS, "</EntityType>"]);
        }
        text.push_str("<EntityContainer Name=\"TableService\" m:IsDefaultEntityContainer=\"true\">");
        for name in tables.iter().map(String::as_str).chain(["Tables"]) {
            text.extend(["<EntitySet Name=\"", name, "\" EntityType=\"", account, ".", name, "\"/>"]);
        }
        text.push_str("</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>");
        Ok(answer::xml(StatusCode::OK, text.into_bytes()))
    }
}
