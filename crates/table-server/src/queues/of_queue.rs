//! Queues that are made and dropped, with their metadata and policies.

use http::{HeaderName, StatusCode};
use table_core::__executor::RecordOwner;
use table_core::ErrorKind;

use super::QueueService;
use super::call::{Call, Need};
use super::metadata::Metadata;
use crate::exchange::Response;
use crate::fault::Fault;
use crate::service::answer;
use crate::wire::acl;

/// The header that tells how many messages a queue has.
const COUNT: HeaderName = HeaderName::from_static("x-ms-approximate-messages-count");

impl QueueService {
    /// Makes a queue. One that is there with the same metadata is as good.
    pub(super) async fn create_queue(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        call.need(&Need::of_account("cw", 'c'))?;
        let metadata = Metadata::of(call.request)?;
        let made = self.tables.create_queue::<String>(name).await;
        let (_, is_new) = made.map_err(|error| match error.kind() {
            // The service's sentence would not say of what there are too many.
            ErrorKind::ValueOutOfRange => Fault::new(409, "OperationNotAllowed", error.to_string()),
            _ => error.into(),
        })?;
        if is_new {
            if metadata != Metadata::default() {
                metadata.keep(&self.records, name).await?;
            }
            return Ok(answer::empty(StatusCode::CREATED));
        }
        if Metadata::kept(&self.records, name).await? == metadata {
            return Ok(answer::empty(StatusCode::NO_CONTENT));
        }
        Err(Fault::new(409, "QueueAlreadyExists", "The specified queue already exists."))
    }

    /// Drops a queue with its messages.
    pub(super) async fn delete_queue(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        call.need(&Need::of_account("d", 'c'))?;
        self.tables.drop_queue(name).await?;
        Ok(answer::empty(StatusCode::NO_CONTENT))
    }

    /// Answers a request for the metadata of a queue, or to give it others.
    pub(super) async fn metadata(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        match call.method {
            "GET" => {
                call.need(&Need::of_account("r", 'c').or_of_queue('r'))?;
                let stats = self.queue(name).await?.stats().await?;
                let mut response = answer::empty(StatusCode::OK);
                Metadata::kept(&self.records, name).await?.add_to(&mut response);
                let count = stats.ready.saturating_add(stats.hidden);
                answer::add(&mut response, COUNT, &count.to_string());
                Ok(response)
            }
            "PUT" => {
                call.need(&Need::of_account("w", 'c'))?;
                Metadata::of(call.request)?.keep(&self.records, name).await?;
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            _ => Err(Fault::unsupported_verb()),
        }
    }

    /// Answers a request for the policies of a queue, or to give it others.
    pub(super) async fn policies(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        // Policies say what tokens may do, so no token may change them.
        if !call.caller.is_owner() {
            return Err(Fault::not_authorized());
        }
        match call.method {
            "GET" => Ok(answer::xml(
                StatusCode::OK,
                acl::to_xml(&self.records.policies(RecordOwner::Queue(name)).await?),
            )),
            "PUT" => {
                let policies = acl::read_of_queue(&call.request.body)?;
                self.records.set_policies(RecordOwner::Queue(name), &policies).await?;
                Ok(answer::empty(StatusCode::NO_CONTENT))
            }
            _ => Err(Fault::unsupported_verb()),
        }
    }
}
