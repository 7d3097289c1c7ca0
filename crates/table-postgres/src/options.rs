//! How a store is opened.

#[cfg(feature = "encrypt")]
use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor as executor;
#[cfg(feature = "encrypt")]
use table_engine::crypt::KeyProvider;
use table_engine::{ErrorKind, Result};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::PostgresTables;
use crate::pool::Connector;
use crate::store::PostgresStore;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::token::LONGEST_PATIENCE;

/// The longest name of a schema that the server tells from others.
const MOST_BYTES: usize = 63;

/// Options, for a store that is opened other than with the defaults.
///
/// ```no_run
/// use table_postgres::PostgresTables;
///
/// let tables = PostgresTables::options()
///     .schema("company")
///     .connections(32)
///     .connect("postgres://app@db1.example.com,db2.example.com/app?target_session_attrs=read-write")?;
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    schema: String,
    connections: usize,
    prepares: bool,
    patience: Duration,
    awaits: bool,
    propagates_by_hand: bool,
    #[cfg(feature = "tls")]
    trusted: Option<Vec<u8>>,
    #[cfg(feature = "encrypt")]
    provider: Option<Provider>,
}

/// A provider of keys, which shows nothing.
#[cfg(feature = "encrypt")]
#[derive(Clone)]
struct Provider(Arc<dyn KeyProvider>);

#[cfg(feature = "encrypt")]
impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        let (schema, patience) = ("tables".to_owned(), Duration::from_secs(30));
        Self {
            schema,
            connections: 16,
            prepares: true,
            patience,
            awaits: true,
            propagates_by_hand: false,
            #[cfg(feature = "tls")]
            trusted: None,
            #[cfg(feature = "encrypt")]
            provider: None,
        }
    }
}

impl PostgresOptions {
    /// Sets the schema of the database that the store lies in; by default `tables`. It is made if there is none, which takes the
    /// right to create one.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets how many connections calls that are awaited have at the most, and how many are kept for others; by default 16. Each
    /// thread that waits has one of its own, and so has each snapshot.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most;
        self
    }

    /// Sets whether statements are prepared once for each connection; by default they are. Behind a pooler that hands each
    /// transaction to another process of the server they must not be: then each is sent whole, and takes a little longer.
    #[must_use]
    pub fn prepare_statements(mut self, prepares: bool) -> Self {
        self.prepares = prepares;
        self
    }

    /// Sets how long a call waits for a server that was reached before and is lost, such as one that is started anew or gives way
    /// to its standby; by default 30 seconds, and 5 minutes at the most. After that it is [`Unreachable`](ErrorKind::Unreachable), or
    /// [`OutcomeUnknown`](ErrorKind::OutcomeUnknown) of a change that may have been carried out.
    #[must_use]
    pub fn patience(mut self, longest: Duration) -> Self {
        self.patience = longest;
        self
    }

    /// Sets the certificates, in PEM, of those whom the server's certificate is to be signed by; by default those that the system
    /// trusts. They are asked for where the address has `sslmode=require`, and the server's name is to be that of the address.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn trust(mut self, certificates: impl Into<Vec<u8>>) -> Self {
        self.trusted = Some(certificates.into());
        self
    }

    /// Sets the provider of the key that encrypted properties need, which stays on this side: the server gets wrapped keys alone.
    /// Without one they can be neither read nor written; copies of sealed values are kept all the same, since a copy holds the very
    /// bytes of its entity.
    ///
    /// The provider is asked when the store is opened, and when its root key is renewed. Every process gives one that knows the
    /// keys of the first.
    #[cfg(feature = "encrypt")]
    #[must_use]
    pub fn encryption(mut self, provider: Arc<dyn KeyProvider>) -> Self {
        self.provider = Some(Provider(provider));
        self
    }

    /// Sets whether copies that are `eventual` follow only when `Store::propagate` is called; by default a thread of this process
    /// has them follow, as long as there are any, of the kinds that the process has opened. What a process leaves that ends,
    /// others find.
    #[must_use]
    pub fn propagate_by_hand(mut self, by_hand: bool) -> Self {
        self.propagates_by_hand = by_hand;
        self
    }

    /// Sets whether calls that are awaited wait without a thread, for tests of those that block.
    #[doc(hidden)]
    #[must_use]
    pub fn awaits(mut self, awaits: bool) -> Self {
        self.awaits = awaits;
        self
    }

    /// Opens the store, and makes it if there is none.
    ///
    /// The address is a URL or a list of `key=value`, as `psql` takes it, with several hosts if there are.
    pub fn connect(&self, address: &str) -> Result<PostgresTables> {
        let located = |error: table_engine::Error| error.attempted("open");
        if self.schema.is_empty() || self.schema.len() > MOST_BYTES || self.schema.contains('\0') {
            let because = format!("a schema has a name of 1 to {MOST_BYTES} bytes, without NUL");
            return Err(located(executor::error(ErrorKind::Incompatible, because)));
        }
        let config: Config = address.parse().map_err(|error: tokio_postgres::Error| {
            // Not the address itself, which may hold a password.
            let because =
                "the address is none: it is to be like `postgres://user:password@host:5432/database`";
            located(executor::error(ErrorKind::Unreachable, because).caused_by(error))
        })?;
        #[cfg(not(feature = "tls"))]
        if config.get_ssl_mode() == SslMode::Require {
            let because = "the address asks for TLS, and the program is built without the feature `tls` of table-postgres";
            return Err(located(executor::error(ErrorKind::Unsupported, because)));
        }
        #[cfg(feature = "tls")]
        let tls = match config.get_ssl_mode() {
            SslMode::Require => Some(Tls::new(self.trusted.as_deref()).map_err(located)?),
            _ => None,
        };
        let connector = Connector {
            config,
            prepares: self.prepares,
            most: self.connections.max(1),
            patience: self.patience.min(LONGEST_PATIENCE),
            #[cfg(feature = "tls")]
            tls,
        };
        PostgresStore::open(self, connector).map(PostgresTables::new).map_err(located)
    }

    pub(crate) fn schema_name(&self) -> &str {
        &self.schema
    }

    #[cfg(feature = "encrypt")]
    pub(crate) fn provider(&self) -> Option<Arc<dyn KeyProvider>> {
        self.provider.as_ref().map(|Provider(provider)| provider.clone())
    }

    pub(crate) fn propagates_by_hand(&self) -> bool {
        self.propagates_by_hand
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.awaits
    }
}
