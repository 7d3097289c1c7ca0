//! The operations of the protocol, over a store.

mod account;
pub(crate) mod answer;
mod batch;
mod call;
mod change;
mod metadata;
mod opened;
mod operation;
mod page;
mod rows;
mod tables;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use table_core::__executor::RecordOwner;
use table_core::asynchronous::{AsyncDynamicTable, AsyncTables};
use table_core::odata::Metadata;
use table_core::{Error, ErrorKind, Ticks};

use self::call::Call;
use self::opened::OpenedTables;
use self::operation::operation_of;
use crate::account::{AccountKeys, KeyKeeper};
use crate::auth::{self, Caller};
use crate::cors;
use crate::exchange::{Request, Response};
use crate::fault::Fault;
use crate::ids::RequestIds;
use crate::listen::Handle;
use crate::records::Records;
use crate::wire::acl::SignedIdentifier;
use crate::wire::address::{Address, Resource};
use crate::wire::parameters::Parameters;
use crate::wire::{error, headers};

/// What can be chosen of a service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// How long a query reads, until its page ends early.
    pub read_time: Duration,
    /// Whether senders who have a key of the account write rows of declared kinds as any others, without their copies. Tokens
    /// never permit that.
    pub is_raw: bool,
}

impl Default for Settings {
    fn default() -> Self {
        // The service's own pages end so.
        Self { read_time: Duration::from_secs(5), is_raw: false }
    }
}

/// Answers requests over the tables of a store.
///
/// It keeps nothing that another process over the same store must know of: several may answer for one store.
#[derive(Debug)]
pub struct Service {
    tables: AsyncTables,
    account: Arc<KeyKeeper>,
    settings: Settings,
    opened: OpenedTables,
    records: Records,
    ids: RequestIds,
}

impl Service {
    /// Makes a service of an account over the tables that it is kept with.
    #[must_use]
    pub fn new(tables: AsyncTables, account: Arc<KeyKeeper>, settings: Settings) -> Self {
        Self {
            records: Records::of_tables(tables.clone()),
            tables,
            account,
            settings,
            opened: OpenedTables::default(),
            ids: RequestIds::new(),
        }
    }

    /// Answers a request.
    pub async fn call(&self, request: Request) -> Response {
        let id = self.ids.next();
        let mut response = match self.answer(&request, &id).await {
            Ok(response) => response,
            Err(fault) => error::response(&fault, error::Form::of(&request), &id),
        };
        answer::add_common(&mut response, &request, &id);
        cors::add_headers(&self.records, &request, &mut response).await;
        response
    }

    async fn answer(&self, request: &Request, id: &str) -> Result<Response, Fault> {
        let address = Address::parse(request.head.uri.path(), request.header("host"), self.account.name())?;
        let parameters = Parameters::parse(request.head.uri.query().unwrap_or(""))?;
        if request.head.method == Method::OPTIONS {
            return cors::preflight(&self.records, request).await;
        }
        let caller = self.caller(request).await?;
        let method = headers::method(request);
        if address.is_secondary && method != "GET" {
            return Err(Fault::read_only_secondary());
        }
        let call = Call {
            request,
            method,
            parameters: &parameters,
            restricted: caller.access().map(|access| self.restricted(access)),
            caller: &caller,
            metadata: match headers::metadata(request.header("accept"), parameters.get("$format")) {
                // A batch is answered in parts, each as that part asks for.
                Err(_) if address.resource == Resource::Batch => Metadata::Minimal,
                metadata => metadata?,
            },
            root: &address.root(request),
            account: self.account.name(),
            request_id: id,
        };
        let done = self.dispatch(&call, &address.resource).await;
        let refused = |fault| error::response(&fault, error::Form::of(request), id);
        let mut response = done.unwrap_or_else(refused);
        response.extensions_mut().insert(operation_of(&call, &address.resource));
        #[cfg(feature = "tracing")]
        if let Resource::Table(name) | Resource::Rows(name) | Resource::Row { table: name, .. } =
            &address.resource
        {
            response.extensions_mut().insert(crate::exchange::Collection(name.clone()));
        }
        Ok(response)
    }

    async fn dispatch(&self, call: &Call<'_>, resource: &Resource) -> Result<Response, Fault> {
        match resource {
            Resource::Service => self.of_service(call).await,
            Resource::Metadata => self.metadata(call).await,
            Resource::Tables => self.tables(call).await,
            Resource::Table(name) => self.one_table(call, name).await,
            // In boxes, since a future is as large as the largest that it may wait for, and what reads one entity waits for
            // none of these.
            Resource::Batch => Box::pin(self.batch(call)).await,
            // Clients whose endpoint ends with a table's name post their batches there.
            Resource::TableBatch => Err(Fault::media_type_not_supported()),
            Resource::NoKeys(table) => {
                self.on_table(call, table, |_| async { Ok(()) }).await?;
                Err(Fault::wrong_keys())
            }
            Resource::Rows(name) if call.parameters.get("comp") == Some("acl") => {
                self.policies(call, name).await
            }
            Resource::Rows(_) if call.parameters.get("comp").is_some() => {
                Err(Fault::invalid_query_parameter())
            }
            Resource::Rows(name) if call.method == "GET" => Box::pin(self.query_entities(call, name)).await,
            Resource::Rows(name) => self.write_entity(call, name, None).await,
            Resource::Row { table, partition_key, row_key } if call.method == "GET" => {
                self.get_entity(call, table, [partition_key, row_key]).await
            }
            Resource::Row { table, partition_key, row_key } => {
                self.write_entity(call, table, Some((partition_key, row_key))).await
            }
        }
    }

    /// Finds out who asks, by the keys that are known, and by those that another process has made meanwhile.
    async fn caller(&self, request: &Request) -> Result<Caller, Fault> {
        let keys = self.account.current().await?;
        let refused = match self.caller_by(request, &keys).await {
            Err(refused) if refused.status == 403 => refused,
            answer => return answer,
        };
        match self.account.after_failure(keys.generation()).await? {
            Some(keys) => self.caller_by(request, &keys).await,
            None => Err(refused),
        }
    }

    /// Finds out who asks. The policy of a token is looked up where its signature is right.
    async fn caller_by(&self, request: &Request, keys: &AccountKeys) -> Result<Caller, Fault> {
        let Some(name) = auth::policy_of(request, keys) else {
            return auth::authorize(request, keys, &|_, _| None, Ticks::now());
        };
        let policies = match self.records.policies(RecordOwner::Table(&name.table)).await {
            // That there is no such table is nothing to tell a sender who is not known yet.
            Err(fault) if fault.status < 500 => return Err(Fault::not_authenticated()),
            policies => policies?,
        };
        let policy = policies.iter().find(|policy| policy.id == name.id).map(SignedIdentifier::policy);
        auth::authorize(request, keys, &|_, _| policy.clone(), Ticks::now())
    }

    fn restricted(&self, access: &table_core::access::Access) -> AsyncTables {
        self.tables.blocking().restricted(access).to_async()
    }

    /// Opens a table, as the sender may use it.
    async fn open_table(&self, call: &Call<'_>, name: &str) -> table_core::Result<AsyncDynamicTable> {
        match &call.restricted {
            Some(tables) => tables.dynamic_table(name).await,
            None if self.settings.is_raw => Ok(self.opened.get(&self.tables, name).await?.raw()),
            None => self.opened.get(&self.tables, name).await,
        }
    }

    /// Opens a table anew where the error says that the handle, which was kept, is of a table that is gone. Any other error it
    /// returns.
    async fn reopen_table(
        &self,
        call: &Call<'_>,
        name: &str,
        error: Error,
    ) -> table_core::Result<AsyncDynamicTable> {
        if !matches!(error.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed) {
            return Err(error);
        }
        self.opened.forget(name);
        self.open_table(call, name).await
    }

    /// Returns what the closure makes of a table, as the sender may use it.
    async fn on_table<T, F: Future<Output = table_core::Result<T>> + Send>(
        &self,
        call: &Call<'_>,
        name: &str,
        with: impl Fn(AsyncDynamicTable) -> F,
    ) -> Result<T, Fault> {
        let done = with(self.open_table(call, name).await?).await;
        Ok(match done {
            Err(error) => with(self.reopen_table(call, name, error).await?).await?,
            Ok(done) => done,
        })
    }
}

impl Handle for Arc<Service> {
    fn handle(&self, request: Request) -> impl Future<Output = Response> + Send {
        self.call(request)
    }
}
