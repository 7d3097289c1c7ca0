//! The tables of an account, as users hold them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor as seam;
use table_engine::{Error, ErrorKind, Propagate, Result, Tables};

use crate::client::{Client, ClientError, ConnectionError, Credential, Endpoint, Retries};
use crate::store::{AzureStore, LEASE, Provider, Settings};

/// What a connection string is like.
const EXAMPLE: &str = "`DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=..`, or `UseDevelopmentStorage=true` for an emulator";

/// What an error says was attempted.
const CONNECT: &str = "connect to the account";

/// The tables of an account of Azure storage, of an emulator, or of another server of the protocol. It lends the handle that
/// every store has, [`Tables`]. Handles of it share connections, and are cheap to clone.
#[derive(Clone)]
pub struct AzureTables {
    store: Arc<AzureStore>,
    tables: Tables,
}

/// How an account is reached.
///
/// ```no_run
/// use std::time::Duration;
///
/// use table_azure::AzureOptions;
/// use table_azure::client::Retries;
///
/// let tables = AzureOptions::new()
///     .timeout(Duration::from_secs(10))
///     .retries(Retries::default().attempts(8))
///     .prefix("Staging")
///     .connect("UseDevelopmentStorage=true")?;
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "options do nothing until they connect"]
pub struct AzureOptions {
    retries: Retries,
    timeout: Duration,
    settings: Settings,
    provider: Option<Provider>,
}

/// Shows no key.
impl fmt::Debug for AzureOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureOptions")
            .field("retries", &self.retries)
            .field("timeout", &self.timeout)
            .field("settings", &self.settings)
            .field("has_keys", &self.provider.is_some())
            .finish()
    }
}

impl Default for AzureOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl AzureOptions {
    /// Returns the default of each option: what [`AzureTables::options`] gives.
    pub fn new() -> Self {
        let settings = Settings {
            prefix: String::new(),
            has_layouts: true,
            has_tokens: true,
            awaits: true,
            reads_secondary: false,
            propagate: Propagate::Background,
            keeps_tombstones: Duration::from_secs(24 * 3_600),
            lease: LEASE,
        };
        Self { retries: Retries::default(), timeout: Duration::from_secs(30), settings, provider: None }
    }

    /// Says how often a request is sent again.
    pub fn retries(self, retries: Retries) -> Self {
        Self { retries, ..self }
    }

    /// Says how long a request may take, up to the end of its answer: 30 seconds if it is not said.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Gives all tables names that begin so in the account; the program does not see it. So tests, or several programs, share an
    /// account. ASCII letters and digits with a letter first are possible, and the name of a table comes to 63 with them at the
    /// most; `connect` refuses others.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.settings.prefix);
        self
    }

    /// Opens tables without the table `TcLayouts`, for a credential that does not reach it. Whether rows are laid out as the
    /// structs declare is then not known: the program answers for it.
    pub fn assume_layouts(mut self) -> Self {
        self.settings.has_layouts = false;
        self
    }

    /// Leaves the property `TcCommit` out of rows. A change whose answer was lost is then unknown where its condition does not
    /// hold any more.
    pub fn without_tokens(mut self) -> Self {
        self.settings.has_tokens = false;
        self
    }

    /// Seals the properties that structs declare as `encrypted`, by keys that this provider wraps. They are kept in the table
    /// `TcKeys` of the account, and made when they are first needed: the call that needs one waits for it, also one that is
    /// awaited.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use table_azure::AzureOptions;
    /// use table_core::crypt::KeyRing;
    ///
    /// let keys = Arc::new(KeyRing::open("keys.ring")?);
    /// let tables = AzureOptions::new().encryption(keys).connect("UseDevelopmentStorage=true")?;
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[cfg(feature = "encrypt")]
    pub fn encryption(mut self, provider: Arc<dyn table_engine::crypt::KeyProvider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Lets reads be answered by the account's copy in another region where the account itself is not reached, or is busy: the
    /// account must be one that has such a copy to be read. What comes from there may be of some time ago. A change that was
    /// planned on it is refused by its condition, never made; what a change itself looks at is read from the account.
    pub fn secondary_reads(mut self) -> Self {
        self.settings.reads_secondary = true;
        self
    }

    /// Sets how copies that are `eventual` are propagated. The default is a thread of the process that has written an entity, in
    /// the background.
    pub fn propagate(mut self, propagate: Propagate) -> Self {
        self.settings.propagate = propagate;
        self
    }

    /// Says how long the rows are kept that mark where copies were: a day if it is not said. They keep what comes late from a
    /// process that was held up from bringing a copy back, so that none may be held up for longer; [`Tables::propagate`]
    /// removes older ones.
    pub fn keep_tombstones(mut self, keeps: Duration) -> Self {
        self.settings.keeps_tombstones = keeps;
        self
    }

    /// Says for how long a process goes by what it has read of layouts, of the states of indexes and of keys: a minute if it is not
    /// said. It is noted with each table that is created, and with the first keys, for every program that uses them. A job that makes
    /// an index or removes one waits for two leases at each change of its states, so that no writer goes by earlier ones, and so does
    /// a change of keys; a lease is to be longer than a request [takes](Self::timeout) at the most. A process reads the states again
    /// with the first call after its lease.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// Says whether calls that are awaited wait for requests by themselves, as they do if it is not said, or on threads of a pool:
    /// for tests of the calls that block.
    #[doc(hidden)]
    pub fn awaits(mut self, awaits: bool) -> Self {
        self.settings.awaits = awaits;
        self
    }

    /// Connects to the account that a connection string names: `UseDevelopmentStorage=true`, or one with a key or a shared access
    /// signature. Nothing is sent yet.
    pub fn connect(self, connection: &str) -> Result<AzureTables> {
        let client = Client::connect(connection, self.retries, self.timeout).map_err(refused)?;
        AzureTables::of(client, self.settings, self.provider)
    }

    /// Connects to the account at an endpoint by a key, a shared access signature, or tokens of a directory. Nothing is sent yet.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use table_azure::AzureOptions;
    /// use table_azure::client::{AccessToken, Credential, CredentialError, Endpoint, TokenCredential};
    /// use table_core::asynchronous::BoxFuture;
    ///
    /// /// A token that something else keeps fresh in a file.
    /// struct FromFile;
    ///
    /// impl TokenCredential for FromFile {
    ///     fn token(&self) -> BoxFuture<'_, Result<AccessToken, CredentialError>> {
    ///         Box::pin(async { Ok(AccessToken::new(std::fs::read_to_string("/run/token")?.trim())) })
    ///     }
    /// }
    ///
    /// let endpoint = Endpoint::parse("https://contoso.table.core.windows.net").map_err(Box::new)?;
    /// let tables = AzureOptions::new().connect_to(endpoint, Credential::Token(Arc::new(FromFile)))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn connect_to(self, endpoint: Endpoint, credential: Credential) -> Result<AzureTables> {
        let client = Client::new(endpoint, credential, self.retries, self.timeout).map_err(refused)?;
        AzureTables::of(client, self.settings, self.provider)
    }
}

impl AzureTables {
    /// Connects to the account that a connection string names, as [`AzureOptions::connect`] does.
    pub fn connect(connection: &str) -> Result<Self> {
        AzureOptions::new().connect(connection)
    }

    /// Returns options, for tables that are reached other than with the defaults.
    pub fn options() -> AzureOptions {
        AzureOptions::new()
    }

    fn of(client: Client, settings: Settings, provider: Option<Provider>) -> Result<Self> {
        check_prefix(&settings.prefix)?;
        let client = if settings.reads_secondary { client.secondary_reads() } else { client };
        let store = AzureStore::new(client, settings, provider)?;
        Ok(Self { tables: seam::tables(store.clone()), store })
    }

    /// Returns what a program does with the keys by which values are sealed.
    #[cfg(feature = "encrypt")]
    pub fn encryption(&self) -> Result<crate::Encryption> {
        crate::Encryption::new(&self.store).map_err(|error| error.attempted("use encrypted properties"))
    }

    /// Returns what sends the requests.
    pub fn client(&self) -> &Client {
        self.store.client()
    }
}

impl Deref for AzureTables {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl fmt::Debug for AzureTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AzureTables").field("client", self.client()).finish_non_exhaustive()
    }
}

#[cold]
fn refused(error: ClientError) -> Error {
    let kind = match error {
        ClientError::Connection(ConnectionError::Key | ConnectionError::Insecure) => ErrorKind::AccessDenied,
        ClientError::Connection(_) | ClientError::Certificates(_) => ErrorKind::Unreachable,
    };
    let because = match &error {
        ClientError::Connection(ConnectionError::NoPair(_) | ConnectionError::Lacks(_)) => {
            format!("{error}; write it like {EXAMPLE}")
        }
        _ => error.to_string(),
    };
    Error::new(kind).attempted(CONNECT).because(because).caused_by(error)
}

/// Refuses a prefix that no table's name begins with.
fn check_prefix(prefix: &str) -> Result<()> {
    let begins = prefix.chars().next().is_none_or(|first| first.is_ascii_alphabetic());
    if begins && prefix.chars().all(|char| char.is_ascii_alphanumeric()) {
        return Ok(());
    }
    let because = format!(
        "the prefix `{}` begins no table's name: those have ASCII letters and digits alone, and start with a letter",
        prefix.escape_debug()
    );
    Err(Error::new(ErrorKind::InvalidTableName).attempted(CONNECT).because(because))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_refused_with_what_would_be_right() {
        let refused = |connection: &str, prefix: &str| {
            let error = AzureOptions::new().prefix(prefix).connect(connection).unwrap_err();
            (error.kind(), error.to_string())
        };
        let (kind, text) = refused("postgres://app@localhost/app", "");
        assert_eq!(kind, ErrorKind::Unreachable);
        assert_eq!(
            text,
            "cannot connect to the account: part 1 of the connection string is no `Name=value`; write it like \
             `DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey=..`, or `UseDevelopmentStorage=true` for an emulator"
        );
        for prefix in ["a_b", "1a", "\u{e4}"] {
            let (kind, text) = refused("UseDevelopmentStorage=true", prefix);
            assert_eq!(kind, ErrorKind::InvalidTableName);
            assert!(
                text.starts_with(&format!("cannot connect to the account: the prefix `{prefix}`")),
                "{text}"
            );
        }
    }
}
