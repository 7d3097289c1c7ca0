//! How a store is opened.

#[cfg(feature = "encrypt")]
use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor as executor;
#[cfg(feature = "encrypt")]
use table_engine::crypt::KeyProvider;
use table_engine::{Error, ErrorKind, Propagate, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::PostgresTables;
use crate::pool::Connector;
use crate::store::PostgresStore;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::token::LONGEST_PATIENCE;

/// The longest name of a schema that the server tells from others.
const MOST_BYTES: usize = 63;

/// What an address is like.
const EXAMPLE: &str = "`postgres://user:password@host:5432/database`";

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
    creates: bool,
    connections: usize,
    prepares: bool,
    patience: Duration,
    awaits: bool,
    propagate: Propagate,
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
        Self::new()
    }
}

impl PostgresOptions {
    /// Returns the default of each option: what [`PostgresTables::options`] gives.
    #[must_use]
    pub fn new() -> Self {
        let (schema, patience) = ("tables".to_owned(), Duration::from_secs(30));
        Self {
            schema,
            creates: true,
            connections: 16,
            prepares: true,
            patience,
            awaits: true,
            propagate: Propagate::Background,
            #[cfg(feature = "tls")]
            trusted: None,
            #[cfg(feature = "encrypt")]
            provider: None,
        }
    }

    /// Sets the schema of the database that the store lies in; by default `tables`. It is made if there is none, which takes the
    /// right to create one.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets whether a store that is missing is made. The default is `true`. Where it is not made, to connect is
    /// [`Io`](ErrorKind::Io), as for a file that is missing.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.creates = create;
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

    /// Sets how copies that are `eventual` are propagated. The default is a thread of this process in the background, for the kinds
    /// that the process has opened. What a process leaves that ends, others find.
    #[must_use]
    pub fn propagate(mut self, propagate: Propagate) -> Self {
        self.propagate = propagate;
        self
    }

    /// Sets whether calls that are awaited wait without a thread, for tests of those that block.
    #[doc(hidden)]
    #[must_use]
    pub fn awaits(mut self, awaits: bool) -> Self {
        self.awaits = awaits;
        self
    }

    /// Opens the store, and makes it if there is none, unless [`create`](Self::create) forbids it.
    ///
    /// The address is a URL or a list of `key=value`, as `psql` takes it, with several hosts if there are. It names a host, or the
    /// directory of a socket (`host=/run/postgresql`). `sslmode` is `disable`, `prefer` or `require`, which takes the feature `tls`
    /// and verifies the server's certificate and its name.
    ///
    /// It blocks until the server answers. An address that can't be read, and a server that is not reached, are
    /// [`Unreachable`](ErrorKind::Unreachable); a user, password or database that the server does not take is
    /// [`AccessDenied`](ErrorKind::AccessDenied).
    pub fn connect(&self, address: &str) -> Result<PostgresTables> {
        let located = |error: Error| error.attempted("open the store");
        if self.schema.is_empty() || self.schema.len() > MOST_BYTES || self.schema.contains('\0') {
            let because = format!("a schema has a name of 1 to {MOST_BYTES} bytes, without NUL");
            return Err(located(executor::error(ErrorKind::Incompatible, because)));
        }
        let mut config: Config = address.parse().map_err(|error| located(unreadable(error)))?;
        let servers = servers(&config);
        if servers.is_empty() {
            let because = format!("the address names no host: write it like {EXAMPLE}");
            return Err(located(executor::error(ErrorKind::Unreachable, because)));
        }
        limit_waits(&mut config);
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
        PostgresStore::open(self, connector).map(PostgresTables::new).map_err(|error| {
            let is_unreached = error.kind() == ErrorKind::Unreachable;
            let error =
                if is_unreached { error.and(&format!("; it is looked for at {servers}")) } else { error };
            located(error)
        })
    }

    pub(crate) fn schema_name(&self) -> &str {
        &self.schema
    }

    #[cfg(feature = "encrypt")]
    pub(crate) fn provider(&self) -> Option<Arc<dyn KeyProvider>> {
        self.provider.as_ref().map(|Provider(provider)| provider.clone())
    }

    pub(crate) fn creates(&self) -> bool {
        self.creates
    }

    pub(crate) fn propagates_manually(&self) -> bool {
        self.propagate == Propagate::Manual
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.awaits
    }
}

/// Returns the error of an address that can't be read, without the address itself, which may hold a password.
#[cold]
fn unreadable(error: tokio_postgres::Error) -> Error {
    let is_of_tls =
        std::error::Error::source(&error).is_some_and(|why| why.to_string().contains("`sslmode`"));
    let because = if is_of_tls {
        "`sslmode` in the address is `disable`, `prefer` or `require`, and by the last the server's certificate and name are \
         verified"
            .to_owned()
    } else {
        format!("this is no address of a database: write it like {EXAMPLE}")
    };
    executor::error(ErrorKind::Unreachable, because).caused_by(error)
}

/// Returns the hosts that an address names, with their ports.
fn servers(config: &Config) -> String {
    let mut hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        })
        .collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let port = |at: usize| config.get_ports().get(at).or_else(|| config.get_ports().first()).unwrap_or(&5432);
    let all = hosts.iter().enumerate().map(|(at, host)| format!("`{host}` port {}", port(at)));
    all.collect::<Vec<_>>().join(", ")
}

/// Sets how long it takes to find out that a server's machine is gone, as far as the address doesn't: the system's own limits are
/// hours.
fn limit_waits(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(60));
    }
    // What the driver has where the address says nothing.
    if config.get_keepalives_idle() == Duration::from_secs(2 * 60 * 60) {
        config.keepalives_idle(Duration::from_secs(30));
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(Duration::from_secs(10));
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_addresses_are_told_without_their_passwords() {
        let refused = |address: &str| {
            let error = PostgresTables::connect(address).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
            error.to_string()
        };
        for address in ["company.tables", "http://app:secret@localhost/app", "UseDevelopmentStorage=true"] {
            assert_eq!(
                refused(address),
                "cannot open the store: this is no address of a database: write it like \
                 `postgres://user:password@host:5432/database`"
            );
        }
        for address in ["", "postgres:///app", "user=app password=secret dbname=app"] {
            assert_eq!(
                refused(address),
                "cannot open the store: the address names no host: write it like \
                 `postgres://user:password@host:5432/database`"
            );
        }
        let text = refused("postgres://app:secret@localhost/app?sslmode=verify-full");
        assert!(text.starts_with("cannot open the store: `sslmode` in the address is `disable`, "), "{text}");
        let text = refused("postgres://app:secret@127.0.0.1:1/app");
        assert!(
            text.ends_with("; it is looked for at `127.0.0.1` port 1") && !text.contains("secret"),
            "{text}"
        );
    }

    #[test]
    fn a_machine_that_is_gone_is_found_out_within_minutes_unless_the_address_says_otherwise() {
        let limits = |address: &str| {
            let mut config: Config = address.parse().unwrap();
            limit_waits(&mut config);
            let seconds = |limit: Option<&Duration>| limit.map(Duration::as_secs);
            (
                seconds(config.get_connect_timeout()),
                seconds(config.get_tcp_user_timeout()),
                config.get_keepalives_idle().as_secs(),
                config.get_keepalives_interval().map(|interval| interval.as_secs()),
                config.get_keepalives_retries(),
            )
        };
        let address = "postgres://app@localhost/app";
        assert_eq!(limits(address), (Some(10), Some(60), 30, Some(10), Some(3)));
        let own = "connect_timeout=1&tcp_user_timeout=2&keepalives_idle=3&keepalives_interval=4&keepalives_retries=5";
        assert_eq!(limits(&format!("{address}?{own}")), (Some(1), Some(2), 3, Some(4), Some(5)));
    }
}
