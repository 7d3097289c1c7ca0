//! The store's connections: those that threads wait with, and those that a runtime of the store's drives.

#[cfg(feature = "queue")]
use std::future::Future;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use table_engine::__executor as executor;
use table_engine::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, Config, NoTls, Row};

use crate::connection::{Call, Connection};
use crate::driver::{DrivenConnection, Driver};
use crate::error::{is_lost, of_server};
use crate::losses::Losses;
#[cfg(feature = "tls")]
use crate::tls::Tls;

/// What each connection is told first. Rows are found by their keys, whatever the server takes the tables' sizes to be: of a
/// table that was small when a statement was prepared, it would read every row long after that has grown. What it takes to be dear
/// by these settings is not worth compiling. Statements see what was committed before them, and quote texts as the standard does,
/// whatever the database's own defaults are. And a client whose machine is gone holds no lock for hours.
const SETUP: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
    SET client_min_messages = warning; SET default_transaction_isolation = 'read committed';
    SET standard_conforming_strings = on; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10;
    SET tcp_keepalives_count = 3; SET tcp_user_timeout = 60000";

/// How connections are made, and how many are kept.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) config: Config,
    /// Whether statements stay prepared on a connection.
    pub(crate) prepares: bool,
    /// The most connections of calls that are awaited, and the most that are kept for others.
    pub(crate) most: usize,
    /// How long a call waits for a server that was reached before.
    pub(crate) patience: Duration,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Tls>,
}

/// The connections of a store.
pub(crate) struct Pool {
    connector: Connector,
    /// Those that no thread waits with now.
    driven: Mutex<Vec<Arc<DrivenConnection>>>,
    /// Whether there has been a connection: where there is none at first, the address may be wrong.
    has_connected: AtomicBool,
    awaited: OnceLock<Arc<Awaited>>,
}

/// The connections of calls that are awaited.
pub(crate) struct Awaited {
    runtime: Option<Runtime>,
    idle: Mutex<Vec<Arc<Connection>>>,
    free: Arc<Semaphore>,
}

/// A connection for a thread to wait with; it goes back to its pool when this is dropped.
pub(crate) struct Blocking {
    connection: Arc<DrivenConnection>,
    pool: Arc<Pool>,
    /// Whether something is open or unknown on it, so that it does not go back.
    is_spent: bool,
}

/// A connection of a call that is awaited; it goes back to its pool when this is dropped.
pub(crate) struct Shared {
    connection: Arc<Connection>,
    pool: Arc<Awaited>,
    is_spent: bool,
    _permit: OwnedSemaphorePermit,
}

impl Connector {
    /// Makes a connection, driven by a task on the runtime that this is awaited on.
    async fn connect(&self) -> Result<Connection, tokio_postgres::Error> {
        let client = self.client().await?;
        let connection = Connection::new(client, self.prepares);
        connection.execute(SETUP).await?;
        Ok(connection)
    }

    async fn client(&self) -> Result<Client, tokio_postgres::Error> {
        // What drives the connection ends when the client is dropped, or the connection is lost: the client's calls say so then.
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let (client, connection) = self.config.connect(tls.clone()).await?;
            tokio::spawn(async move { drop(connection.await) });
            return Ok(client);
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Arc<Self> {
        Arc::new(Self {
            connector,
            driven: Mutex::default(),
            has_connected: AtomicBool::new(false),
            awaited: OnceLock::new(),
        })
    }

    /// Returns a connection for a thread to wait with.
    pub(crate) fn blocking(self: &Arc<Self>) -> Result<Blocking> {
        let idle = std::iter::from_fn(|| lock(&self.driven).pop()).find(|idle| !idle.is_closed());
        let mut losses = self.losses();
        let connection = match idle {
            Some(idle) => idle,
            None => loop {
                match self.connect() {
                    Ok(connection) => break Arc::new(connection),
                    Err(error) if self.goes_on(&error) && losses.wait() => {}
                    Err(error) => return Err(error),
                }
            },
        };
        Ok(Blocking { connection, pool: self.clone(), is_spent: false })
    }

    /// Returns the answer to a statement that reads, or that changes nothing more when it is run again.
    pub(crate) fn query(self: &Arc<Self>, call: &Call) -> Result<Vec<Row>> {
        let mut answers = self.query_all(std::slice::from_ref(call))?;
        Ok(answers.pop().unwrap_or_default())
    }

    /// Returns the answers to several statements of that sort; one round trip for all.
    pub(crate) fn query_all(self: &Arc<Self>, calls: &[Call]) -> Result<Vec<Vec<Row>>> {
        let mut losses = self.losses();
        loop {
            let connection = self.blocking()?;
            match connection.wait(connection.query_all(calls)) {
                Ok(answers) => return Ok(answers),
                Err(error) if is_lost(&error) && losses.wait() => self.forget_idle(),
                Err(error) => return Err(of_server(error)),
            }
        }
    }

    /// Returns the answers as [`query_all`](Self::query_all) does, and waits for them without a thread.
    pub(crate) async fn query_all_awaited(&self, calls: &[Call]) -> Result<Vec<Vec<Row>>> {
        let mut losses = self.losses();
        loop {
            let connection = self.shared().await?;
            match connection.query_all(calls).await {
                Ok(answers) => return Ok(answers),
                Err(error) if is_lost(&error) && self.wait(&mut losses).await? => self.forget_idle(),
                Err(error) => return Err(of_server(error)),
            }
        }
    }

    /// Returns how long a call may wait for the server from now on.
    pub(crate) fn losses(&self) -> Losses {
        Losses::within(self.connector.patience)
    }

    /// Returns whether a server that can't be reached now was there before.
    fn goes_on(&self, error: &Error) -> bool {
        // Relaxed: it says that something was so, and orders nothing.
        error.kind() == ErrorKind::Unreachable && self.has_connected.load(Ordering::Relaxed)
    }

    /// Drops the connections that no thread waits with: one of them was lost, so the others may be.
    pub(crate) fn forget_idle(&self) {
        drop(std::mem::take(&mut *lock(&self.driven)));
        if let Some(awaited) = self.awaited.get() {
            drop(std::mem::take(&mut *lock(&awaited.idle)));
        }
    }

    fn connect(&self) -> Result<DrivenConnection> {
        let driver = Driver::new().map_err(no_runtime)?;
        let connection = driver.wait(self.connector.connect()).map_err(of_server)?;
        self.has_connected.store(true, Ordering::Relaxed);
        Ok(DrivenConnection::new(connection, driver))
    }

    /// Returns a connection for a call that is awaited, on whatever runtime.
    pub(crate) async fn shared(&self) -> Result<Shared> {
        let pool = self.awaited()?;
        let permit = Arc::clone(&pool.free).acquire_owned().await.map_err(|_| closed())?;
        let idle = std::iter::from_fn(|| lock(&pool.idle).pop()).find(|idle| !idle.is_closed());
        let mut losses = self.losses();
        let connection = match idle {
            Some(idle) => idle,
            None => loop {
                match self.connect_awaited(&pool).await {
                    Ok(connection) => break Arc::new(connection),
                    Err(error) if self.goes_on(&error) && self.wait(&mut losses).await? => {}
                    Err(error) => return Err(error),
                }
            },
        };
        Ok(Shared { connection, pool, is_spent: false, _permit: permit })
    }

    async fn connect_awaited(&self, pool: &Awaited) -> Result<Connection> {
        let runtime = pool.runtime.as_ref().ok_or_else(closed)?;
        let connector = self.connector.clone();
        let made = runtime.spawn(async move { connector.connect().await }).await;
        let connection = made.map_err(|_| closed())?.map_err(of_server)?;
        self.has_connected.store(true, Ordering::Relaxed);
        Ok(connection)
    }

    /// Has a future run by the thread that drives the connections of calls that are awaited.
    #[cfg(feature = "queue")]
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let pool = self.awaited()?;
        // Nobody waits for it: it says itself what it has come to.
        drop(pool.runtime.as_ref().ok_or_else(closed)?.spawn(future));
        Ok(())
    }

    /// Waits without a thread; false if there is to be no other attempt.
    pub(crate) async fn wait(&self, losses: &mut Losses) -> Result<bool> {
        match losses.next() {
            Some(wait) => self.sleep(wait).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Is ready after so long.
    async fn sleep(&self, span: Duration) -> Result<()> {
        if span.is_zero() {
            return Ok(());
        }
        let pool = self.awaited()?;
        // The caller's runtime may be any, and have no clock.
        let slept =
            pool.runtime.as_ref().ok_or_else(closed)?.spawn(async move { tokio::time::sleep(span).await });
        slept.await.map_err(|_| closed())
    }

    fn awaited(&self) -> Result<Arc<Awaited>> {
        if let Some(known) = self.awaited.get() {
            return Ok(known.clone());
        }
        // One thread drives all: it moves bytes and does nothing else.
        let name = "table-postgres connections";
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name(name).enable_all().build();
        let free = Arc::new(Semaphore::new(self.connector.most));
        let made = Awaited { runtime: Some(runtime.map_err(no_runtime)?), idle: Mutex::default(), free };
        // Another thread may have been quicker; then this runtime ends unused.
        Ok(self.awaited.get_or_init(|| Arc::new(made)).clone())
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        // Without waiting: a runtime that is dropped within another one would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Blocking {
    /// Has the connection closed when this is dropped: something may be open on it.
    pub(crate) fn spend(&mut self) {
        self.is_spent = true;
    }
}

impl Deref for Blocking {
    type Target = DrivenConnection;

    fn deref(&self) -> &DrivenConnection {
        &self.connection
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        let mut idle = lock(&self.pool.driven);
        if !self.is_spent && !self.connection.is_closed() && idle.len() < self.pool.connector.most {
            idle.push(self.connection.clone());
        }
    }
}

impl Shared {
    /// Has the connection closed when this is dropped: something may be open on it.
    pub(crate) fn spend(&mut self) {
        self.is_spent = true;
    }

    /// Has the connection go back when this is dropped.
    pub(crate) fn keep(&mut self) {
        self.is_spent = false;
    }
}

impl Deref for Shared {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.is_spent && !self.connection.is_closed() {
            lock(&self.pool.idle).push(self.connection.clone());
        }
    }
}

#[cold]
fn closed() -> Error {
    executor::error(ErrorKind::Unreachable, "the store was closed")
}

#[cold]
fn no_runtime(error: std::io::Error) -> Error {
    executor::error(ErrorKind::Io, "nothing could be set up to talk to the server with").caused_by(error)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
