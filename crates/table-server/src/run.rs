//! The server as a process: a store, a service over it, sockets, signals.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;

use table_core::asynchronous::AsyncTables;
use table_core::{Error, Store, Tables};
#[cfg(feature = "postgres")]
use table_postgres::PostgresTables;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::account::{AccountError, Given, KeyKeeper, KeyName};
use crate::admin::Admin;
use crate::config::{Config, Key, WELL_KNOWN_KEY};
use crate::listen::{Drained, Limits, Server};
use crate::queues::QueueService;
use crate::service::{Service, Settings};

/// How many files a process has open beside its connections: the store's, sockets that listen, those of the runtime.
const OTHER_FILES: u64 = 256;
/// How many connections the operator's address takes.
const ADMIN_CONNECTIONS: usize = 64;

/// Why a server did not start, or did not end well.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The store can't be opened, or closed.
    Store(Error),
    /// The account's keys can't be had.
    Account(AccountError),
    /// It can't listen at an address.
    Listen(SocketAddr, io::Error),
    /// The store's keys are the well-known ones, and others can reach the address.
    WellKnownKey(SocketAddr),
    /// The certificate is of no use.
    #[cfg(feature = "tls")]
    Tls(crate::listen::TlsError),
    /// Encryption was asked for, and this binary was built without it.
    #[cfg(not(feature = "tls"))]
    WithoutTls,
    /// The operating system refuses something.
    System(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "{error}"),
            Self::Account(error) => write!(f, "{error}"),
            Self::Listen(address, error) => write!(f, "cannot listen at `{address}`: {error}"),
            Self::WellKnownKey(address) => write!(
                f,
                "`{address}` is an address that others can reach, and a key that the store has of the account is the \
                 well-known one: exchange it by the admin address, listen at an address of this machine, or give \
                 `--allow-well-known-key`"
            ),
            #[cfg(feature = "tls")]
            Self::Tls(error) => write!(f, "{error}"),
            #[cfg(not(feature = "tls"))]
            Self::WithoutTls => {
                write!(f, "a certificate is given, and this binary was built without the feature `tls`")
            }
            Self::System(error) => write!(f, "the operating system refuses: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<AccountError> for RunError {
    fn from(error: AccountError) -> Self {
        Self::Account(error)
    }
}

/// Serves until a signal says to stop. Then what is under way is answered, and the store is closed.
pub async fn run(mut config: Config) -> Result<(), RunError> {
    permit_files(files_of(&config));
    let settings = config.clone();
    // Where the database is far, its answers are waited for.
    let opened = tokio::task::spawn_blocking(move || OpenedStore::open(&settings)).await;
    let store = opened.map_err(|error| RunError::System(error.into()))??;
    let tables = store.to_async();
    let keys = Arc::new(keys(&config, &tables).await?);
    // Clients are told of the keys that are good.
    config.key1 = Key::new(keys.current().await?.key(KeyName::Key1));
    let settings = Settings { is_raw: config.is_raw, ..Settings::default() };
    let service = Arc::new(Service::new(tables.clone(), Arc::clone(&keys), settings));

    let at = |address| move |error| RunError::Listen(address, error);
    let server = Server::bind(config.address, config.limits.clone(), service);
    let server = server.await.map_err(at(config.address))?;
    let counters = server.counters();
    let queue_server = match config.queue_address {
        Some(address) => {
            let service = Arc::new(QueueService::new(tables.clone(), Arc::clone(&keys)));
            let server = Server::bind(address, config.limits.clone(), service).await.map_err(at(address))?;
            Some(server.counting_with(counters.clone()))
        }
        None => None,
    };
    #[cfg(feature = "tls")]
    let (server, queue_server, tls) = match tls(&config)? {
        Some(tls) => {
            (server.with_tls(tls.clone()), queue_server.map(|server| server.with_tls(tls.clone())), Some(tls))
        }
        None => (server, queue_server, None),
    };
    #[cfg(not(feature = "tls"))]
    if config.tls.is_some() {
        return Err(RunError::WithoutTls);
    }
    let mut admin = Admin::new(tables, counters);
    let admin_server = match config.admin_address {
        Some(address) => {
            // What exchanges keys shows them, and asks for no signature.
            if address.ip().to_canonical().is_loopback() {
                admin = admin.with_keys(keys);
            }
            let limits = Limits { connections: ADMIN_CONNECTIONS, ..config.limits.clone() };
            Some(Server::bind(address, limits, admin.clone()).await.map_err(at(address))?)
        }
        None => None,
    };

    let (stop, stopped) = oneshot::channel();
    let (stop_admin, admin_stopped) = oneshot::channel::<()>();
    #[cfg(feature = "tls")]
    let signals = signals(admin, stop, tls)?;
    #[cfg(not(feature = "tls"))]
    let signals = signals(admin, stop)?;
    let signals = tokio::spawn(signals);
    let address = server.address();
    let admin_server = admin_server.map(|server| {
        let at = server.address();
        let done = async { drop(admin_stopped.await) };
        (tokio::spawn(async move { server.run(done).await }), at)
    });
    let queue_address = queue_server.as_ref().map(Server::address);
    let admin = admin_server.as_ref().map(|(_, at)| *at);
    say_ready(&config, Listening { tables: address, queues: queue_address, admin });

    let (stop_queues, queues_stopped) = oneshot::channel::<()>();
    let queues = async {
        match queue_server {
            Some(server) => server.run(async { drop(queues_stopped.await) }).await,
            None => Drained { abandoned: 0 },
        }
    };
    let stopped = async {
        drop(stopped.await);
        drop(stop_queues);
    };
    let (drained, drained_queues) = tokio::join!(server.run(stopped), queues);
    let abandoned = drained.abandoned.saturating_add(drained_queues.abandoned);
    drop(stop_admin);
    if let Some((admin, _)) = admin_server {
        drop(admin.await);
    }
    signals.abort();
    if abandoned > 0 {
        say(&format!("{abandoned} connections were given up that took too long"));
    }
    let closed = tokio::task::spawn_blocking(move || store.close()).await;
    closed.map_err(|error| RunError::System(error.into()))?.map_err(RunError::Store)
}

/// The store that the settings name.
enum OpenedStore {
    Directory(Store),
    #[cfg(feature = "postgres")]
    Postgres(PostgresTables),
}

impl OpenedStore {
    fn open(config: &Config) -> Result<Self, Error> {
        #[cfg(feature = "postgres")]
        if let Some(address) = &config.postgres {
            return PostgresTables::connect(address.as_str()).map(Self::Postgres);
        }
        let mut options = Store::options();
        options = options.durability(config.durability);
        if let Some(size) = config.map_size {
            options = options.map_size(size);
        }
        options.open(&config.directory).map(Self::Directory)
    }

    fn close(self) -> Result<(), Error> {
        match self {
            Self::Directory(store) => store.close(),
            // What was acknowledged is the database's.
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Ok(()),
        }
    }
}

impl Deref for OpenedStore {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        match self {
            Self::Directory(store) => store,
            #[cfg(feature = "postgres")]
            Self::Postgres(tables) => tables,
        }
    }
}

/// Returns the account's keys, as the store has them, made as they are given if it has none.
async fn keys(config: &Config, tables: &AsyncTables) -> Result<KeyKeeper, RunError> {
    let text = |key: &Key| key.as_str().to_owned().into();
    let given = Given { key1: Some(text(&config.key1)), key2: config.key2.as_ref().map(text) };
    let keys = KeyKeeper::open(tables.clone(), &config.account, given.clone()).await?;
    if !keys.is_as_given(&given) {
        say("the store has other keys than are given: they were exchanged, and the store's are good");
    }
    let current = keys.current().await?;
    let is_well_known =
        [KeyName::Key1, KeyName::Key2].iter().any(|which| current.key(*which) == WELL_KNOWN_KEY);
    let is_open = |address: &SocketAddr| !address.ip().to_canonical().is_loopback();
    let open = [Some(config.address), config.queue_address].into_iter().flatten().find(is_open);
    if let Some(address) = open.filter(|_| is_well_known && !config.may_well_known) {
        return Err(RunError::WellKnownKey(address));
    }
    Ok(keys)
}

/// Returns how many files the process may have open: the connections of each address, and its own.
fn files_of(config: &Config) -> u64 {
    let addresses = if config.queue_address.is_some() { 2 } else { 1 };
    let of_clients = config.limits.connections.saturating_mul(addresses);
    let connections = of_clients.saturating_add(config.admin_address.map_or(0, |_| ADMIN_CONNECTIONS));
    u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES)
}

/// Raises the number of files that the process may have open to what it wants, as far as it may.
fn permit_files(wanted: u64) {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        limit.current = Some(most);
        if setrlimit(Resource::Nofile, limit).is_err() || most < wanted {
            say(&format!(
                "the process may have {most} files open, fewer than its connections may take ({wanted}): raise `ulimit -n`, or lower \
                 `--max-connections`"
            ));
        }
    }
}

/// Returns what waits for signals: the first to stop begins to drain, the second ends the process.
#[cfg(not(feature = "tls"))]
fn signals(admin: Admin, stop: oneshot::Sender<()>) -> Result<impl Future<Output = ()> + Send, RunError> {
    stops(admin, stop)
}

/// Returns what waits for signals: the first to stop begins to drain, the second ends the process; a hang-up has the
/// certificate read anew.
#[cfg(feature = "tls")]
fn signals(
    admin: Admin,
    stop: oneshot::Sender<()>,
    tls: Option<crate::listen::Tls>,
) -> Result<impl Future<Output = ()> + Send, RunError> {
    let stops = stops(admin, stop)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(RunError::System)?;
    let reloads = async move {
        while hang_up.recv().await.is_some() {
            match tls.as_ref().map(crate::listen::Tls::reload) {
                Some(Err(error)) => say(&format!("the certificate stays as it was: {error}")),
                Some(Ok(())) => say("the certificate was read anew"),
                None => {}
            }
        }
    };
    Ok(async move {
        tokio::join!(stops, reloads);
    })
}

fn stops(admin: Admin, stop: oneshot::Sender<()>) -> Result<impl Future<Output = ()> + Send, RunError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(RunError::System)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(RunError::System)?;
    let mut next = async move || {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    Ok(async move {
        next().await;
        admin.drain();
        stop.send(()).ok();
        next().await;
        say("ended before all was answered");
        std::process::exit(1);
    })
}

/// Reads the certificate that the settings name, if they do.
#[cfg(feature = "tls")]
fn tls(config: &Config) -> Result<Option<crate::listen::Tls>, RunError> {
    let Some((certificate, key)) = &config.tls else { return Ok(None) };
    crate::listen::Tls::read(certificate, key).map(Some).map_err(RunError::Tls)
}

/// Where it listens.
struct Listening {
    tables: SocketAddr,
    queues: Option<SocketAddr>,
    admin: Option<SocketAddr>,
}

/// Says where it listens, and what clients connect by.
fn say_ready(config: &Config, Listening { tables, queues, admin }: Listening) {
    let of_queues = queues.map(|queues| format!(", for queues at {queues}")).unwrap_or_default();
    let admin = admin.map(|admin| format!("; health and metrics at http://{admin}")).unwrap_or_default();
    let connects_by = config.connection_string(tables, queues);
    say(&format!("listening at {tables}{of_queues}{admin}\n{connects_by}"));
}

/// Writes a line for the operator. A closed standard output does not end the server.
fn say(text: &str) {
    drop(writeln!(io::stdout().lock(), "{text}"));
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::files_of;
    use crate::config::{Flags, read};

    #[test]
    fn each_address_may_have_its_connections() {
        let files = |flags: &[&str]| {
            let flags = [&["table-server", "--max-connections=1000"], flags].concat();
            files_of(&read(Flags::try_parse_from(flags).unwrap(), |_| None).unwrap())
        };
        assert_eq!(files(&["--admin-address=none"]), 1_256);
        assert_eq!(files(&[]), 1_320);
        assert_eq!(files(&["--queue-address=127.0.0.1:10001"]), 2_320);
    }
}
