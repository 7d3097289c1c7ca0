//! What belongs to the service and to tables beside their entities: properties, statistics, policies, metadata.

use http::StatusCode;
use table_core::__executor::RecordOwner;

use super::Service;
use super::answer;
use super::call::Call;
use crate::exchange::Response;
use crate::fault::Fault;
use crate::wire::{acl, properties};

impl Service {
    /// Answers a request for what belongs to the service.
    pub(super) async fn of_service(&self, call: &Call<'_>) -> Result<Response, Fault> {
        match (call.method, call.parameters.get("comp")) {
            ("GET", Some("properties")) => {
                call.need(&["r"], 's')?;
                let stored = self.records.properties().await?;
                Ok(answer::xml(StatusCode::OK, stored.to_xml()))
            }
            ("PUT", Some("properties")) => {
                call.need(&["w"], 's')?;
                self.records.set_properties(&call.request.body).await?;
                Ok(answer::empty(StatusCode::ACCEPTED))
            }
            ("GET", Some("stats")) => {
                call.need(&["r"], 's')?;
                // There is no second copy that lags behind: it is as new as the answer.
                Ok(answer::xml(StatusCode::OK, properties::stats(table_core::Ticks::now())))
            }
            _ => Err(Fault::invalid_uri()),
        }
    }

    /// Answers a request for a table's policies.
    pub(super) async fn policies(&self, call: &Call<'_>, table: &str) -> Result<Response, Fault> {
        // Policies say what tokens may do, so no token may change them.
        if !call.caller.is_owner() {
            return Err(Fault::not_authorized());
        }
        match call.method {
            "GET" => {
                let stored = self.records.policies(RecordOwner::Table(table)).await?;
                Ok(answer::xml(StatusCode::OK, acl::to_xml(&stored)))
            }
            "PUT" => {
                let policies = acl::read(&call.request.body)?;
                self.records.set_policies(RecordOwner::Table(table), &policies).await?;
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            _ => Err(Fault::unsupported_verb()),
        }
    }
}
