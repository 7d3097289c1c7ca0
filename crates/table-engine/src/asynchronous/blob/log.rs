//! Logs, awaited.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::asynchronous::{AsyncTables, Reads, RowStream, WithoutPages, pool};
use crate::blob::{Entries, Log};
use crate::error::Result;
use crate::model::Ticks;

/// Entries of one type in the order of their times, whose calls are awaited; [`AsyncTables::log`] gives it.
///
/// It has the methods of [`Log`]. Entries are gathered and written many at once: what was only gathered is written by a
/// [`flush`](Self::flush). The drop of the last clone writes it too, and blocks meanwhile: flush before.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_core::Store;
/// use table_core::asynchronous::{AsyncLog, block_on};
///
/// #[derive(Serialize, Deserialize)]
/// struct Request {
///     path: String,
///     status: u16,
/// }
///
/// # block_on(async {
/// # let store = Store::temporary()?.to_async();
/// let requests: AsyncLog<Request> = store.log("requests").await?;
/// requests.append(&Request { path: "/".into(), status: 200 }).await?;
/// requests.append(&Request { path: "/favicon.ico".into(), status: 404 }).await?;
/// requests.flush().await?;
///
/// let mut entries = requests.entries();
/// while let Some(entry) = entries.try_next().await? {
///     println!("{} {} {}", entry.at, entry.value.path, entry.value.status);
/// }
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct AsyncLog<T> {
    log: Log<T>,
    reads: Reads,
}

impl<T> Log<T> {
    /// Returns the log with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncLog<T> {
        AsyncLog { log: self.clone(), reads: Reads::Inline }
    }
}

impl AsyncTables {
    /// Returns the log of this name; see [`Tables::log`](crate::Tables::log).
    pub async fn log<T: 'static>(&self, name: &str) -> Result<AsyncLog<T>> {
        let (name, reads) = (name.to_owned(), self.reading());
        let log = self.run(move |tables| tables.log(&name)).await?;
        Ok(AsyncLog { log, reads })
    }
}

impl<T: 'static> AsyncLog<T> {
    /// Returns the log with calls that block.
    pub fn blocking(&self) -> &Log<T> {
        &self.log
    }

    /// Returns the log's name.
    pub fn name(&self) -> &str {
        self.log.name()
    }

    /// Writes what was gathered. When this returns, it is on disk as a commit is.
    pub async fn flush(&self) -> Result<()> {
        self.run(Log::flush).await
    }

    /// Drops the blobs all whose entries are older than this; how many blobs that were. See [`Log::drop_before`].
    pub async fn drop_before(&self, time: Ticks) -> Result<usize> {
        self.run(move |log| log.drop_before(time)).await
    }

    /// Appends an entry, with the time by the system's clock; see [`Log::append`]. It is taken in on a thread of a pool, since
    /// what was gathered may have to be written first. If the future is dropped, it is appended or not.
    pub async fn append(&self, entry: &T) -> Result<()>
    where
        T: Serialize,
    {
        let text = self.log.text(entry)?;
        self.run(move |log| log.append_text(&text)).await
    }

    /// Returns all entries, as they are when the first is asked for, in the order of their times.
    pub fn entries(&self) -> RowStream<WithoutPages<Entries<T>>>
    where
        T: DeserializeOwned + Send,
    {
        self.during(..)
    }

    /// Returns the entries of these times, as they are when the first is asked for, in the order of their times.
    pub fn during(&self, times: impl RangeBounds<Ticks>) -> RowStream<WithoutPages<Entries<T>>>
    where
        T: DeserializeOwned + Send,
    {
        let times: (Bound<Ticks>, Bound<Ticks>) = (times.start_bound().cloned(), times.end_bound().cloned());
        let log = self.log.clone();
        RowStream::new(self.reads, move || Ok(WithoutPages::new(log.during(times)?)))
    }

    /// Runs a call that blocks on a thread of a pool.
    pub async fn run<R: Send + 'static>(
        &self,
        call: impl FnOnce(&Log<T>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let log = self.log.clone();
        pool::run(move || call(&log)).await
    }
}

impl<T> Clone for AsyncLog<T> {
    fn clone(&self) -> Self {
        Self { log: self.log.clone(), reads: self.reads }
    }
}

impl<T> fmt::Debug for AsyncLog<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncLog").field("name", &self.log.name()).finish_non_exhaustive()
    }
}
