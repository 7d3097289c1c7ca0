//! The operations of the protocol of queues, over the queues of a store.
//!
//! The queues are those that programs have by `Tables::queue`: what a client of the protocol puts is a message's text, which a
//! program reads as JSON, or as it is by `Queue::into_text`; what a program sends is JSON to the client. Nothing is set aside
//! for a client: however often it receives a message, it shows again.

mod address;
mod call;
mod listing;
mod messages;
mod metadata;
mod of_queue;
mod of_service;
mod operation;
mod texts;

use std::sync::Arc;

use http::Method;
use table_core::__executor::RecordOwner;
use table_core::asynchronous::{AsyncQueue, AsyncTables};
use table_core::{Error, ErrorKind, Ticks};

use self::address::{Address, Resource};
use self::call::Call;
use self::operation::operation_of;
use crate::account::{AccountKeys, KeyKeeper};
use crate::auth::{self, QueueCaller};
use crate::cors;
use crate::exchange::{Request, Response};
use crate::fault::Fault;
use crate::ids::RequestIds;
use crate::listen::Handle;
use crate::records::Records;
use crate::service::answer;
use crate::wire::acl::SignedIdentifier;
use crate::wire::error::{self, Form};
use crate::wire::parameters::Parameters;

/// Answers requests over the queues of a store.
///
/// It keeps nothing that another process over the same store must know of: several may answer for one store.
#[derive(Debug)]
pub struct QueueService {
    tables: AsyncTables,
    account: Arc<KeyKeeper>,
    records: Records,
    ids: RequestIds,
}

impl QueueService {
    /// Makes a service of an account over the tables that it is kept with, and their queues.
    #[must_use]
    pub fn new(tables: AsyncTables, account: Arc<KeyKeeper>) -> Self {
        Self { records: Records::of_queues(tables.clone()), tables, account, ids: RequestIds::new() }
    }

    /// Answers a request.
    pub async fn call(&self, request: Request) -> Response {
        let id = self.ids.next();
        let done = self.answer(&request, &id).await;
        let mut response = done.unwrap_or_else(|fault| error::response(&fault, Form::Storage, &id));
        answer::add_common(&mut response, &request, &id);
        cors::add_headers(&self.records, &request, &mut response).await;
        response
    }

    async fn answer(&self, request: &Request, id: &str) -> Result<Response, Fault> {
        let address = Address::parse(request.head.uri.path(), request.header("host"), self.account.name())?;
        let parameters = Parameters::parse(request.head.uri.query().unwrap_or(""))?.in_small_letters()?;
        if request.head.method == Method::OPTIONS {
            return cors::preflight(&self.records, request).await;
        }
        let caller = self.caller(request, address.resource.queue()).await?;
        let method = match request.head.method.as_str() {
            // Its answer has headers alone. Of messages there is none: to receive them is more than to look.
            "HEAD" if matches!(parameters.get("comp"), Some("metadata" | "acl")) => "GET",
            method => method,
        };
        let call = Call {
            request,
            method,
            parameters: &parameters,
            caller: &caller,
            is_secondary: address.is_secondary,
            root: &address.root(request),
        };
        let done = if call.is_secondary && method != "GET" {
            Err(Fault::read_only_secondary())
        } else {
            self.dispatch(&call, &address.resource).await
        };
        let refused = |fault| error::response(&fault, Form::Storage, id);
        let mut response = done.unwrap_or_else(refused);
        response.extensions_mut().insert(operation_of(&call, &address.resource));
        Ok(response)
    }

    async fn dispatch(&self, call: &Call<'_>, resource: &Resource) -> Result<Response, Fault> {
        match (resource, call.method, call.parameters.get("comp")) {
            (Resource::Service, "GET", Some("list")) => self.list_queues(call).await,
            (Resource::Service, ..) => self.of_service(call).await,
            (Resource::Queue(name), _, Some("metadata")) => self.metadata(call, name).await,
            (Resource::Queue(name), _, Some("acl")) => self.policies(call, name).await,
            (Resource::Queue(_) | Resource::Messages(_) | Resource::Message(..), _, Some(_)) => {
                Err(Fault::invalid_query_parameter())
            }
            (Resource::Queue(name), "PUT", None) => self.create_queue(call, name).await,
            (Resource::Queue(name), "DELETE", None) => self.delete_queue(call, name).await,
            (Resource::Messages(name), "POST", None) => self.put_message(call, name).await,
            (Resource::Messages(name), "GET", None) => self.get_messages(call, name).await,
            (Resource::Messages(name), "DELETE", None) => self.clear_messages(call, name).await,
            (Resource::Message(name, id), "PUT", None) => self.update_message(call, name, id).await,
            (Resource::Message(name, id), "DELETE", None) => self.delete_message(call, name, id).await,
            _ => Err(Fault::unsupported_verb()),
        }
    }

    /// Returns the queue of a name, as texts; a queue that is not there is refused.
    async fn queue(&self, name: &str) -> Result<AsyncQueue<String>, Fault> {
        let found = self.tables.find_queue::<String>(name).await?;
        let queue = found.ok_or_else(|| Error::new(ErrorKind::QueueNotFound))?;
        // The protocol sets nothing aside: clients count for themselves.
        Ok(queue.into_text().max_dequeues(u32::MAX))
    }

    /// Finds out who asks, by the keys that are known, and by those that another process has made meanwhile.
    async fn caller(&self, request: &Request, queue: &str) -> Result<QueueCaller, Fault> {
        let keys = self.account.current().await?;
        let refused = match self.caller_by(request, queue, &keys).await {
            Err(refused) if refused.status == 403 => refused,
            answer => return answer,
        };
        match self.account.after_failure(keys.generation()).await? {
            Some(keys) => self.caller_by(request, queue, &keys).await,
            None => Err(refused),
        }
    }

    /// Finds out who asks. The policy of a token is looked up where its signature is right.
    async fn caller_by(
        &self,
        request: &Request,
        queue: &str,
        keys: &AccountKeys,
    ) -> Result<QueueCaller, Fault> {
        let Some(id) = auth::policy_of_queue(request, queue, keys) else {
            return auth::authorize_queue(request, queue, keys, &|_| None, Ticks::now());
        };
        let policies = match self.records.policies(RecordOwner::Queue(queue)).await {
            // That there is no such queue is nothing to tell a sender who is not known yet.
            Err(fault) if fault.status < 500 => return Err(Fault::not_authenticated()),
            policies => policies?,
        };
        let policy = policies.iter().find(|policy| policy.id == id).map(SignedIdentifier::policy_of_queue);
        auth::authorize_queue(request, queue, keys, &|_| policy.clone(), Ticks::now())
    }
}

impl Handle for Arc<QueueService> {
    fn handle(&self, request: Request) -> impl Future<Output = Response> + Send {
        self.call(request)
    }
}
