//! Pages of other origins: what browsers ask before a request, and what they look for in an answer.

use http::StatusCode;

use crate::exchange::{Request, Response};
use crate::fault::Fault;
use crate::records::Records;
use crate::service::answer;
use crate::wire::cors;

/// Answers a browser that asks whether a page may send a request, by the rules of a service.
pub(crate) async fn preflight(records: &Records, request: &Request) -> Result<Response, Fault> {
    let headers = cors::preflight(&records.properties().await?.cors, request)?;
    let mut response = answer::empty(StatusCode::OK);
    response.headers_mut().extend(headers);
    Ok(response)
}

/// Adds what lets a browser show an answer to a page of another origin, if a rule of the service allows that. Where the rules
/// can't be read, the answer stays as it is, and a browser shows it to no such page.
pub(crate) async fn add_headers(records: &Records, request: &Request, response: &mut Response) {
    if request.header("origin").is_some()
        && let Ok(properties) = records.properties().await
    {
        response.headers_mut().extend(cors::headers(&properties.cors, request));
    }
}
