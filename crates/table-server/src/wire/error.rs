//! Refusals as answers.

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use table_core::Ticks;

use super::{json, xml};
use crate::exchange::{Detail, Request, Response};
use crate::fault::Fault;

/// The header that repeats the code of a refusal.
pub const ERROR_CODE: &str = "x-ms-error-code";

/// How a refusal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As JSON.
    Json,
    /// As XML: what clients expect that ask for it, and of what is XML anyway.
    Xml,
    /// As XML in the form of the services beside tables.
    #[cfg(feature = "queue")]
    Storage,
}

impl Form {
    /// Returns the form that the sender of a request can read.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let is_of_xml = request
            .head
            .uri
            .query()
            .is_some_and(|query| query.split('&').any(|one| one.starts_with("comp=")));
        let accept = request.header("accept").unwrap_or("");
        if is_of_xml || accept.contains("xml") && !accept.contains("json") { Self::Xml } else { Self::Json }
    }
}

/// Makes the answer that tells a refusal.
#[must_use]
pub fn response(fault: &Fault, form: Form, request_id: &str) -> Response {
    let text = text_of(fault, request_id);
    let (body, media_type) = match form {
        Form::Json => {
            let mut body = b"{\"odata.error\":{\"code\":".to_vec();
            json::string(&fault.code, &mut body);
            body.extend_from_slice(b",\"message\":{\"lang\":\"en-US\",\"value\":");
            json::string(&text, &mut body);
            body.extend_from_slice(b"}}}");
            (body, "application/json;odata=minimalmetadata;streaming=true;charset=utf-8")
        }
        Form::Xml => {
            let mut body = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"");
            body.push_str("http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\"><m:code>");
            xml::escape(&fault.code, &mut body);
            body.push_str("</m:code><m:message xml:lang=\"en-US\">");
            xml::escape(&text, &mut body);
            body.push_str("</m:message></m:error>");
            (body.into_bytes(), "application/xml")
        }
        #[cfg(feature = "queue")]
        Form::Storage => {
            let mut writer = xml::Writer::new();
            writer.element("Error", |writer| {
                writer.text("Code", &fault.code);
                writer.text("Message", &text);
            });
            (writer.finish(), "application/xml")
        }
    };
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Ok(code) = HeaderValue::from_str(&fault.code) {
        response.headers_mut().insert(ERROR_CODE, code);
    }
    if let Some(detail) = &fault.detail {
        response.extensions_mut().insert(Detail(detail.clone()));
    }
    response
}

/// Returns the sentence of a refusal with what clients look for around it: which operation of a batch, which request, when.
fn text_of(fault: &Fault, request_id: &str) -> String {
    let index = fault.index.map(|index| format!("{index}:")).unwrap_or_default();
    format!("{index}{}\nRequestId:{request_id}\nTime:{}", fault.text, Ticks::now())
}
