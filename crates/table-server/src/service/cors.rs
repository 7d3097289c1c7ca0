//! Pages of other origins: what browsers ask before a request, and what they look for in an answer.

use http::StatusCode;

use super::Service;
use super::answer;
use crate::exchange::{Request, Response};
use crate::fault::Fault;
use crate::wire::cors;

impl Service {
    /// Answers a browser that asks whether a page may send a request.
    pub(super) async fn preflight(&self, request: &Request) -> Result<Response, Fault> {
        let properties = self.records.properties().await?;
        let headers = cors::preflight(&properties.cors, request)?;
        let mut response = answer::empty(StatusCode::OK);
        response.headers_mut().extend(headers);
        Ok(response)
    }

    /// Adds what lets a browser show an answer to a page of another origin, if a rule allows that.
    pub(super) async fn add_cors(&self, request: &Request, response: &mut Response) -> Result<(), Fault> {
        if request.header("origin").is_some() {
            let properties = self.records.properties().await?;
            response.headers_mut().extend(cors::headers(&properties.cors, request));
        }
        Ok(())
    }
}
