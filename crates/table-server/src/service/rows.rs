//! Entities that are read: one by its keys, and queries.

use http::StatusCode;
use table_core::introspect::KindInfo;
use table_core::odata::Writer;
use table_core::{Continuation, Error, ErrorKind, Filter, Query, Tables, prop};

use super::Service;
use super::answer::{self, CONTINUATION_PARTITION, CONTINUATION_ROW};
use super::call::Call;
use super::page::Page;
use crate::exchange::Response;
use crate::fault::Fault;

/// The header by which a client says that it wants no copies.
const COPIES: &str = "x-table-copies";
/// The most names of `$select`: of all properties that an entity can have, and of keys and time.
const SELECTED: usize = table_core::limits::PROPERTIES + 3;
/// What stands for the second half of a continuation: the first says all, and clients expect both.
const NO_ROW: &str = "0";

impl Service {
    /// Answers with the entity of these keys.
    pub(super) async fn get_entity(
        &self,
        call: &Call<'_>,
        table: &str,
        keys: [&str; 2],
    ) -> Result<Response, Fault> {
        let selected = selected(call)?;
        let read = self.on_table(call, table, |table| {
            let [partition_key, row_key] = keys.map(str::to_owned);
            let writer = writer(call, table.name(), selected.as_deref());
            async move {
                let found = table.read(move |table| {
                    let mut text = Vec::with_capacity(512);
                    let found = table.get_with(&partition_key, &row_key, |row| {
                        writer.entity(row, &mut text).map(|()| row.etag())
                    })?;
                    Ok(found.transpose()?.map(|etag| (text, etag)))
                });
                found.await
            }
        });
        let (text, etag) = read.await?.ok_or_else(|| Error::new(ErrorKind::EntityNotFound))?;
        let mut response = answer::json(StatusCode::OK, text, call.metadata);
        answer::add_etag(&mut response, etag);
        Ok(response)
    }

    /// Answers with a page of what a query finds.
    pub(super) async fn query_entities(&self, call: &Call<'_>, table: &str) -> Result<Response, Fault> {
        let selected = selected(call)?;
        let mut query = query_of(call, selected.as_deref())?;
        if call.request.header(COPIES).is_some_and(|text| text.trim().eq_ignore_ascii_case("hide")) {
            query = self.without_copies(query, table).await?;
        }
        let size = page_size(call)?;
        // Clients send it empty where there was none.
        let after = call.parameters.get("NextPartitionKey").filter(|text| !text.is_empty());
        let after = after.map(str::parse::<Continuation>).transpose()?;
        let read = self.on_table(call, table, |table| {
            let (query, after) = (query.clone(), after.clone());
            let writer = writer(call, table.name(), selected.as_deref());
            let page = Page { query, writer, size, time: self.settings.read_time };
            page.read(table, after)
        });
        let (text, next) = read.await?;
        let mut response = answer::json(StatusCode::OK, text, call.metadata);
        if let Some(next) = next.filter(|_| size > 0) {
            answer::add(&mut response, CONTINUATION_PARTITION, &next.to_string());
            answer::add(&mut response, CONTINUATION_ROW, NO_ROW);
        }
        Ok(response)
    }

    /// Leaves out what indexes of declared kinds have in the table: a client that knows nothing of them would take the copies
    /// for entities of their own.
    async fn without_copies(&self, query: Query, table: &str) -> Result<Query, Fault> {
        let kinds = self.tables.run(Tables::kinds).await?;
        let indexes = kinds.iter().flat_map(KindInfo::indexes);
        let copies = indexes.filter(|index| index.table.eq_ignore_ascii_case(table));
        // An entity without the property is none of these: a comparison with `ne` would leave it out.
        Ok(copies.fold(query, |query, index| query.filter(!prop("EntityType").eq(index.entity_type))))
    }
}

/// Returns what writes the entities of a table, as far as they were asked for.
fn writer(call: &Call<'_>, table: &str, selected: Option<&[&str]>) -> Writer {
    let writer = call.writer(table);
    match selected {
        Some(names) => writer.select(names.iter().copied()),
        None => writer,
    }
}

fn query_of(call: &Call<'_>, selected: Option<&[&str]>) -> Result<Query, Fault> {
    let mut query = Query::new();
    if let Some(filter) = call.parameters.get("$filter").filter(|text| !text.trim().is_empty()) {
        query = query.filter(Filter::parse(filter)?);
    }
    if let Some(names) = selected {
        query = query.select(names.iter().copied());
    }
    Ok(query)
}

/// Returns the names of `$select`; `None` if all properties are wanted. More than an entity can have are refused: each is
/// compared with all before it.
fn selected<'c>(call: &'c Call<'_>) -> Result<Option<Vec<&'c str>>, Fault> {
    let Some(text) = call.parameters.get("$select") else { return Ok(None) };
    let names: Vec<_> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > SELECTED {
        return Err(Fault::invalid_input(format!("`$select` names at most {SELECTED} properties.")));
    }
    Ok((!names.is_empty() && !names.contains(&"*")).then_some(names))
}

/// Returns how many entities or tables an answer may have: none, as the service takes it, if the sender says 0. Such an answer
/// tells of no more to come, or clients that follow would ask for ever.
pub(super) fn page_size(call: &Call<'_>) -> Result<usize, Fault> {
    let most = table_core::limits::PAGE_ENTITIES;
    let Some(text) = call.parameters.get("$top") else { return Ok(most) };
    match text.parse() {
        Ok(size) if size <= most => Ok(size),
        _ => Err(Fault::invalid_input(format!("`$top` is a number from 0 to {most}."))),
    }
}
