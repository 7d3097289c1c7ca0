//! Gathering the entries of a log, and writing them. A module of its own to be seen from where a store's clock can be set.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::blob::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::BLOB_AT_ONCE;
use crate::model::Ticks;

/// So many bytes are gathered before they are written.
const GATHERED: usize = 64 * 1024;

/// So old may the first be of what is gathered, when another comes.
const OLDEST: Duration = Duration::from_secs(1);

/// The most bytes of an entry.
const ENTRY: usize = 1024 * 1024;

/// What a log's blobs are.
const CONTENT_TYPE: &str = "application/x-ndjson";

/// What a handle, with its clones, has to write.
#[derive(Debug)]
pub struct Writer {
    container: Container,
    log: Arc<str>,
    /// Lines, all of one hour.
    gathered: Vec<u8>,
    since: Option<Instant>,
    /// The time of the last entry.
    last: Ticks,
    /// The hour of what is gathered, as a blob's name has it.
    hour: String,
    /// The blob that has this handle's entries of the hour, once there is one.
    blob: Option<String>,
}

impl Writer {
    /// Makes the writer of a handle on this log.
    pub fn new(container: Container, log: Arc<str>) -> Self {
        let (gathered, hour) = (Vec::new(), String::new());
        Self { container, log, gathered, since: None, last: Ticks::MIN, hour, blob: None }
    }

    /// Takes in an entry of this time, or of the last one's if the clock was set back.
    pub fn append(&mut self, text: &str, now: Ticks) -> Result<()> {
        if text.len() > ENTRY || self.gathered.len() + text.len() > BLOB_AT_ONCE - ENTRY {
            let because = if text.len() > ENTRY {
                format!("an entry may have {ENTRY} bytes as JSON, and this one has {}", text.len())
            } else {
                "what was gathered before can't be written; `flush` tells why".into()
            };
            return Err(self.named(Error::new(ErrorKind::BlobTooLarge).because(because)));
        }
        let at = now.max(self.last);
        let hour = hour(at);
        if hour != self.hour {
            // A blob has the entries of one hour.
            self.flush()?;
            self.hour = hour;
            self.blob = None;
        }
        self.last = at;
        self.since.get_or_insert_with(Instant::now);
        self.gathered.extend_from_slice(format!("{{\"at\":\"{at}\",\"entry\":{text}}}\n").as_bytes());
        let is_old = self.since.is_some_and(|since| since.elapsed() >= OLDEST);
        if is_old || self.gathered.len() >= GATHERED { self.flush() } else { Ok(()) }
    }

    /// Writes what was gathered.
    pub fn flush(&mut self) -> Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        match &self.blob {
            Some(blob) => self.container.append(blob, &self.gathered).map(drop)?,
            None => self.blob = Some(self.begin()?),
        }
        self.gathered.clear();
        self.since = None;
        Ok(())
    }

    /// Puts what was gathered into a blob of its own; the blob's name.
    fn begin(&self) -> Result<String> {
        let prefix = format!("{}/{}/", self.log, self.hour);
        let last = self.container.list(&prefix)?.last().transpose()?;
        let number = |name: &str| name.strip_prefix(&prefix)?.strip_suffix(".log")?.parse::<u64>().ok();
        let mut next = last.and_then(|last| number(&last.name)).unwrap_or(0).saturating_add(1);
        loop {
            let name = format!("{prefix}{next:06}.log");
            match self.container.put_new(&name, CONTENT_TYPE, &self.gathered) {
                Ok(()) => return Ok(name),
                // Another was quicker.
                Err(error) if error.kind() == ErrorKind::BlobAlreadyExists && next < u64::MAX => next += 1,
                Err(error) => return Err(error),
            }
        }
    }

    #[cold]
    fn named(&self, error: Error) -> Error {
        self.container.named("append to the log", Some(&self.log), error)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A drop has no caller that an error could be returned to.
        drop(self.flush());
    }
}

/// Returns the hour of a time, as a blob's name has it.
fn hour(at: Ticks) -> String {
    let t = at.civil();
    format!("{:04}/{:02}/{:02}/{:02}00", t.year, t.month, t.day, t.hour)
}
