//! What belongs to the service of queues: properties and statistics.

use http::StatusCode;
use table_core::Ticks;

use super::QueueService;
use super::call::{Call, Need};
use crate::exchange::Response;
use crate::fault::Fault;
use crate::service::answer;
use crate::wire::properties;

impl QueueService {
    /// Answers a request for what belongs to the service.
    pub(super) async fn of_service(&self, call: &Call<'_>) -> Result<Response, Fault> {
        match (call.method, call.parameters.get("comp")) {
            ("GET", Some("properties")) => {
                call.need(&Need::of_account("r", 's'))?;
                Ok(answer::xml(StatusCode::OK, self.records.properties().await?.to_xml()))
            }
            ("PUT", Some("properties")) => {
                call.need(&Need::of_account("w", 's'))?;
                self.records.set_properties(&call.request.body).await?;
                Ok(answer::empty(StatusCode::ACCEPTED))
            }
            ("GET", Some("stats")) => {
                call.need(&Need::of_account("r", 's'))?;
                // There is no second copy that lags behind: it is as new as the answer.
                Ok(answer::xml(StatusCode::OK, properties::stats(Ticks::now())))
            }
            _ => Err(Fault::invalid_uri()),
        }
    }
}
