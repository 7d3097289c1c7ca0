//! Connections of callers that block: each has a runtime of its own, which its caller's thread drives while it waits. No other
//! thread is woken for an answer.

use std::future::Future;
use std::ops::Deref;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::connection::Connection;

/// A runtime that the threads drive that wait for what runs on it.
pub(crate) struct Driver(Option<Runtime>);

/// A connection with what drives it.
pub(crate) struct DrivenConnection {
    connection: Connection,
    driver: Driver,
}

impl Driver {
    pub(crate) fn new() -> std::io::Result<Self> {
        Builder::new_current_thread().enable_io().enable_time().build().map(|runtime| Self(Some(runtime)))
    }

    /// Waits for a future on the caller's thread; on another one if the caller's own drives a runtime already.
    pub(crate) fn wait<F>(&self, future: F) -> F::Output
    where
        F: Future + Send,
        F::Output: Send,
    {
        let Some(runtime) = &self.0 else { unreachable!("the runtime goes when its driver is dropped") };
        if Handle::try_current().is_err() {
            return runtime.block_on(future);
        }
        let waited = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join());
        waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Without waiting: a runtime that is dropped within another one would panic.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl DrivenConnection {
    pub(crate) fn new(connection: Connection, driver: Driver) -> Self {
        Self { connection, driver }
    }

    /// Waits for what a future of this connection gives.
    pub(crate) fn wait<F>(&self, future: F) -> F::Output
    where
        F: Future + Send,
        F::Output: Send,
    {
        self.driver.wait(future)
    }

    /// Ends a transaction that is to change nothing, and waits for no answer. Returns whether the connection is of further use.
    pub(crate) fn end_transaction(&self) -> bool {
        // Within another runtime this thread can drive nothing; the server ends what a connection that is closed has begun.
        if self.connection.is_closed() || Handle::try_current().is_ok() {
            return false;
        }
        self.driver.wait(async {
            self.connection.roll_back();
            // What is on its way is written when the connection has been driven a little.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        });
        true
    }
}

impl Deref for DrivenConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}
