//! Tables that are listed, made and dropped.

use http::{StatusCode, header};
use table_core::odata::{Member, Metadata, Reader};
use table_core::{Error, ErrorKind, Filter};

use super::Service;
use super::answer::{self, CONTINUATION_TABLE, PREFERENCE_APPLIED};
use super::call::Call;
use super::rows::page_size;
use crate::exchange::Response;
use crate::fault::Fault;
use crate::wire::headers::Prefer;

impl Service {
    /// Answers a request for all tables, or to make one.
    pub(super) async fn tables(&self, call: &Call<'_>) -> Result<Response, Fault> {
        match call.method {
            "GET" => {
                call.need(&["l"], 'c')?;
                self.list_tables(call).await
            }
            "POST" => {
                call.need(&["c", "w"], 'c')?;
                self.create_table(call).await
            }
            _ => Err(Fault::unsupported_verb()),
        }
    }

    /// Answers a request for one table, or to drop it.
    pub(super) async fn one_table(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        match call.method {
            "GET" => {
                call.need(&["l"], 'c')?;
                let table = self.opened.get(&self.tables, name).await?;
                let mut text = Vec::new();
                call.table(table.name(), true, &mut text);
                Ok(answer::json(StatusCode::OK, text, call.metadata))
            }
            "DELETE" => {
                call.need(&["d"], 'c')?;
                self.tables.drop_table(name).await?;
                self.opened.forget(name);
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            _ => Err(Fault::unsupported_verb()),
        }
    }

    async fn list_tables(&self, call: &Call<'_>) -> Result<Response, Fault> {
        let filter = call.parameters.get("$filter").filter(|text| !text.trim().is_empty());
        let filter = filter.map(Filter::parse).transpose()?;
        let after = call.parameters.get("NextTableName").filter(|name| !name.is_empty()).map(str::to_owned);
        let size = page_size(call)?;
        let page =
            self.tables.run(move |tables| tables.tables_page(filter.as_ref(), after.as_deref(), size.max(1)));
        let page = page.await?;
        let mut text = b"{".to_vec();
        if call.metadata != Metadata::None {
            text.extend_from_slice(
                format!("\"odata.metadata\":\"{}/$metadata#Tables\",", call.root).as_bytes(),
            );
        }
        text.extend_from_slice(b"\"value\":[");
        for (number, name) in page.tables.iter().take(size).enumerate() {
            if number > 0 {
                text.push(b',');
            }
            call.table(name, false, &mut text);
        }
        text.extend_from_slice(b"]}");
        let mut response = answer::json(StatusCode::OK, text, call.metadata);
        if let Some(next) = page.next.filter(|_| size > 0) {
            answer::add(&mut response, CONTINUATION_TABLE, &next);
        }
        Ok(response)
    }

    async fn create_table(&self, call: &Call<'_>) -> Result<Response, Fault> {
        let name = table_name(&call.request.body)?;
        let table = self.tables.create_table(&name).await?;
        let prefer = Prefer::read(call.request.header("prefer"));
        let mut response = if prefer == Prefer::NoContent {
            answer::empty(StatusCode::NO_CONTENT)
        } else {
            let mut text = Vec::new();
            call.table(table.name(), true, &mut text);
            answer::json(StatusCode::CREATED, text, call.metadata)
        };
        if let Some(applied) = prefer.applied() {
            answer::add(&mut response, PREFERENCE_APPLIED, applied);
        }
        answer::add(&mut response, header::LOCATION, &format!("{}/Tables('{}')", call.root, table.name()));
        Ok(response)
    }
}

/// Reads the name of the table that a body asks for.
fn table_name(body: &[u8]) -> Result<String, Fault> {
    let mut name = None;
    Reader::new().visit(body, |member| {
        if let Member::Property("TableName", value) = member {
            name = value.as_str().map(str::to_owned);
        }
        Ok::<_, Error>(())
    })?;
    name.ok_or_else(|| Error::new(ErrorKind::InvalidTableName).because("the body has no `TableName`").into())
}
