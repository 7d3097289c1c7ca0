//! Logs: entries in blobs that are named by time.

mod read;
#[doc(hidden)]
pub mod write;

use std::fmt;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::read::{Entries, Entry};
use self::write::Writer;
use super::{BlobInfo, Container};
use crate::contents::name;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::tables::Tables;
use crate::model::Ticks;

/// The container that has the blobs of all logs.
const CONTAINER: &str = "logs";

/// How long the entries are that a blob has, by the time in its name.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Entries of one type in the order of their times; [`Store::log`](crate::Tables::log) gives it.
///
/// An entry is a line of JSON in a blob of the container `logs`, and the blobs are named by the hour:
/// `requests/2014/07/31/1800/000001.log`. So entries of a time are found by their blobs' names, old ones go by whole blobs,
/// and no table has a partition into which all writes go.
///
/// Entries are gathered and written many at once: when there are 64 KiB of them, when one is appended a second or more
/// after the first of those that were gathered, at a [`flush`](Self::flush), and when the last clone of the handle is
/// dropped. What was written is in the store as any other change is; what was only gathered is lost with the process. Each
/// handle that writes has a blob of its own in each hour, so several threads and processes may write one log. A blob's
/// times never go back, whatever the clock does.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use table_core::Store;
/// use table_core::blob::Log;
///
/// #[derive(Serialize, Deserialize)]
/// struct Request {
///     path: String,
///     status: u16,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let requests: Log<Request> = store.log("requests")?;
/// requests.append(&Request { path: "/".into(), status: 200 })?;
/// requests.append(&Request { path: "/favicon.ico".into(), status: 404 })?;
/// requests.flush()?;
///
/// let failed = requests.entries()?.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.value.status >= 400));
/// assert_eq!(failed.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Log<T> {
    container: Container,
    name: Arc<str>,
    writer: Arc<Mutex<Writer>>,
    entries: PhantomData<fn() -> T>,
}

impl Tables {
    /// Returns the log of this name. Its blobs are in the container `logs`, under its name.
    ///
    /// A name has 3 to 63 small letters, digits and hyphens.
    pub fn log<T>(&self, name: &str) -> Result<Log<T>> {
        name::check_log(name).map_err(|error| error.attempted("open the log"))?;
        let container = self.container(CONTAINER)?;
        let name: Arc<str> = name.into();
        let writer = Arc::new(Mutex::new(Writer::new(container.clone(), name.clone())));
        Ok(Log { container, name, writer, entries: PhantomData })
    }
}

impl<T> Log<T> {
    /// Appends an entry that is JSON.
    pub(crate) fn append_text(&self, text: &str) -> Result<()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).append(text, Ticks::now())
    }

    /// Returns the log's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes what was gathered. When this returns, it is on disk as a commit is.
    ///
    /// After an error it is still gathered, and the next flush tries again.
    pub fn flush(&self) -> Result<()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }

    /// Returns the blobs that may have entries of these times, in order.
    pub fn blobs(&self, times: impl RangeBounds<Ticks>) -> Result<Vec<BlobInfo>> {
        let mut found = Vec::new();
        for blob in self.container.list(&format!("{}/", self.name))? {
            let blob = blob?;
            let hour = read::hour_of(&self.name, &blob.name)
                .ok_or_else(|| self.container.named("read", Some(&blob.name), strange()))?;
            if meets(&times, hour) {
                found.push(blob);
            }
        }
        Ok(found)
    }

    /// Drops the blobs all whose entries are older than this; how many blobs that were. It drops whole hours: entries of the
    /// hour that the time lies in stay. A reader that has begun with them reads on.
    pub fn drop_before(&self, time: Ticks) -> Result<usize> {
        let mut dropped = 0;
        for blob in self.blobs(..time)? {
            let is_over = read::hour_of(&self.name, &blob.name)
                .and_then(|hour| hour.checked_add(HOUR))
                .is_some_and(|end| end <= time);
            if is_over && self.container.delete(&blob.name)? {
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// Writes the blobs that may have entries of these times to files in a directory, under their own names; how many those
    /// are. A file that is there already is written anew.
    pub fn export(&self, times: impl RangeBounds<Ticks>, directory: impl AsRef<Path>) -> Result<usize> {
        let blobs = self.blobs(times)?;
        for blob in &blobs {
            let path = directory.as_ref().join(&blob.name);
            let failed = |error: std::io::Error| {
                let because = format!("the file `{}` can't be written: {error}", path.display());
                let error = Error::new(ErrorKind::Io).because(because).caused_by(error);
                self.container.named("export", Some(&blob.name), error)
            };
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(failed)?;
            }
            let mut reader = self.container.open(&blob.name)?;
            let mut file = std::fs::File::create(&path).map_err(failed)?;
            let mut buffer = vec![0; 64 * 1024];
            loop {
                let read = reader.read(&mut buffer).map_err(failed)?;
                if read == 0 {
                    break;
                }
                file.write_all(buffer.get(..read).unwrap_or_default()).map_err(failed)?;
            }
            file.sync_all().map_err(failed)?;
        }
        Ok(blobs.len())
    }
}

impl<T: Serialize> Log<T> {
    /// Appends an entry, with the time by the system's clock. It is written with others: see [`flush`](Self::flush).
    ///
    /// After an error of the store the entry is gathered all the same, and written when the store can; one that is no JSON,
    /// or has more than 1 MiB, is refused.
    pub fn append(&self, entry: &T) -> Result<()> {
        let text = self.text(entry)?;
        self.append_text(&text)
    }

    /// Returns an entry as JSON.
    pub(crate) fn text(&self, entry: &T) -> Result<String> {
        crate::json::text(entry).map_err(|because| {
            let error = Error::new(ErrorKind::ValueOutOfRange).because(because);
            self.container.named("append to the log", Some(&self.name), error)
        })
    }
}

impl<T: DeserializeOwned> Log<T> {
    /// Returns all entries, as they are now, in the order of their times.
    pub fn entries(&self) -> Result<Entries<T>> {
        self.during(..)
    }

    /// Returns the entries of these times, as they are now, in the order of their times. It holds a snapshot of the store,
    /// and of each blob of the hour that it is in some 64 KiB.
    pub fn during(&self, times: impl RangeBounds<Ticks>) -> Result<Entries<T>> {
        Entries::new(&self.container, &self.name, &times)
    }
}

/// Returns whether an hour may have entries of these times.
fn meets(times: &impl RangeBounds<Ticks>, hour: Ticks) -> bool {
    let begins_in_time = match times.end_bound() {
        Bound::Included(end) => hour <= *end,
        Bound::Excluded(end) => hour < *end,
        Bound::Unbounded => true,
    };
    let ends_in_time = match times.start_bound() {
        Bound::Included(start) | Bound::Excluded(start) => {
            hour.checked_add(HOUR).is_none_or(|end| *start < end)
        }
        Bound::Unbounded => true,
    };
    begins_in_time && ends_in_time
}

/// Returns the error of a blob whose name is none of a log's.
#[cold]
fn strange() -> Error {
    Error::new(ErrorKind::InvalidBlobName)
        .because("its name is none that a log gives; keep other blobs in another container")
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        let (container, name, writer) = (self.container.clone(), self.name.clone(), self.writer.clone());
        Self { container, name, writer, entries: PhantomData }
    }
}

impl<T> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("name", &self.name).finish_non_exhaustive()
    }
}
