//! Reading the entries of a log, by time.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{meets, strange};
use crate::blob::{BlobInfo, Container};
use crate::contents::{SEGMENT, length_of, segments};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{BlobSnapshot, Blobs};
use crate::model::Ticks;

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<T> {
    /// When it was appended.
    pub at: Ticks,
    /// What was appended.
    pub value: T,
}

/// A line of a blob.
#[derive(Deserialize)]
struct Line<T> {
    entry: T,
}

/// The entries of a log, in the order of their times; [`Log::during`](super::Log::during) gives it.
///
/// An entry whose JSON is not the log's type is [`SchemaMismatch`](ErrorKind::SchemaMismatch), and the next one follows.
/// Damage ends the iteration with its error.
pub struct Entries<T> {
    snapshot: Box<dyn BlobSnapshot>,
    container: Container,
    log: Box<str>,
    times: (Bound<Ticks>, Bound<Ticks>),
    /// The name of the last blob that was listed; and whether there is no other.
    listed: Option<String>,
    is_listed: bool,
    /// What was listed and not begun, all blobs of an hour one behind the other.
    blobs: VecDeque<(Ticks, BlobInfo)>,
    /// The blobs of the hour that is read, each with its next line.
    open: BTreeMap<(Ticks, usize), Cursor>,
    is_over: bool,
    of: PhantomData<fn() -> T>,
}

/// A blob whose lines are read.
struct Cursor {
    blob: BlobInfo,
    /// The segment that is read next.
    next: u32,
    /// What was read of it and not given out.
    ahead: Vec<u8>,
    from: usize,
    /// The line that comes next.
    line: Vec<u8>,
}

/// How many blobs are listed at once.
const LISTED: usize = 256;

impl<T> Entries<T> {
    pub(super) fn new(container: &Container, log: &str, times: &impl RangeBounds<Ticks>) -> Result<Self> {
        let snapshot = container.asked("read the log in", None, Blobs::read_snapshot)?;
        Ok(Self {
            snapshot,
            container: container.clone(),
            log: log.into(),
            times: (times.start_bound().cloned(), times.end_bound().cloned()),
            listed: None,
            is_listed: false,
            blobs: VecDeque::new(),
            open: BTreeMap::new(),
            is_over: false,
            of: PhantomData,
        })
    }

    /// Lists blobs until one of another hour is known, or there is no other.
    fn list(&mut self) -> Result<()> {
        let prefix = format!("{}/", self.log);
        let is_one_hour = |blobs: &VecDeque<(Ticks, BlobInfo)>| {
            blobs.front().map(|(hour, _)| hour) == blobs.back().map(|(hour, _)| hour)
        };
        while !self.is_listed && is_one_hour(&self.blobs) {
            let (found, is_end) =
                self.snapshot.list(self.container.id, &prefix, self.listed.as_deref(), LISTED)?;
            self.is_listed = is_end || found.is_empty();
            self.listed = found.last().map(|last| last.name.clone());
            for blob in found {
                let hour = hour_of(&self.log, &blob.name).ok_or_else(strange)?;
                if meets(&self.times, hour) {
                    self.blobs.push_back((hour, blob));
                }
            }
        }
        Ok(())
    }

    /// Opens the blobs of the next hour.
    fn begin_hour(&mut self) -> Result<()> {
        self.list()?;
        let Some(hour) = self.blobs.front().map(|(hour, _)| *hour) else { return Ok(()) };
        let mut number = 0;
        while self.blobs.front().is_some_and(|(of, _)| *of == hour) {
            let Some((_, blob)) = self.blobs.pop_front() else { break };
            let cursor = Cursor { blob, next: 0, ahead: Vec::new(), from: 0, line: Vec::new() };
            self.go_on(cursor, number)?;
            number += 1;
        }
        Ok(())
    }

    /// Has a blob wait with its next line, unless it has come to its end.
    fn go_on(&mut self, mut cursor: Cursor, number: usize) -> Result<()> {
        if cursor.read_line(&*self.snapshot)? {
            let at = time_of(&cursor.line).ok_or_else(|| cursor.damaged())?;
            self.open.insert((at, number), cursor);
        }
        Ok(())
    }

    /// Returns the next line, with its time and its blob.
    fn next_line(&mut self) -> Result<Option<(Ticks, Vec<u8>, String)>> {
        loop {
            if self.open.is_empty() {
                self.begin_hour()?;
            }
            let Some(((at, number), mut cursor)) = self.open.pop_first() else {
                if self.is_listed && self.blobs.is_empty() {
                    return Ok(None);
                }
                continue;
            };
            let line = std::mem::take(&mut cursor.line);
            let name = cursor.blob.name.clone();
            self.go_on(cursor, number)?;
            let is_after_start = match self.times.0 {
                Bound::Included(start) => at >= start,
                Bound::Excluded(start) => at > start,
                Bound::Unbounded => true,
            };
            let is_before_end = match self.times.1 {
                Bound::Included(end) => at <= end,
                Bound::Excluded(end) => at < end,
                Bound::Unbounded => true,
            };
            if is_after_start && is_before_end {
                return Ok(Some((at, line, name)));
            }
        }
    }
}

impl Cursor {
    /// Reads the next line; whether there is one.
    fn read_line(&mut self, snapshot: &dyn BlobSnapshot) -> Result<bool> {
        self.line.clear();
        loop {
            let rest = self.ahead.get(self.from..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                self.line.extend_from_slice(rest.get(..end).unwrap_or_default());
                self.from += end + 1;
                return Ok(true);
            }
            self.line.extend_from_slice(rest);
            (self.from, self.ahead) = (0, Vec::new());
            if u64::from(self.next) >= segments(self.blob.length) {
                // Lines come whole.
                return if self.line.is_empty() { Ok(false) } else { Err(self.damaged()) };
            }
            let before = u64::from(self.next) * length_of(SEGMENT);
            let bytes = snapshot.segment(self.blob.id, self.next, false)?;
            if length_of(bytes.len()) != (self.blob.length - before).min(length_of(SEGMENT)) {
                return Err(self.damaged());
            }
            self.ahead.extend_from_slice(&bytes);
            self.next += 1;
        }
    }

    #[cold]
    fn damaged(&self) -> Error {
        let because = "a line of it is none that a log writes; keep other blobs in another container";
        Error::new(ErrorKind::SchemaMismatch).because(because).blob(&self.blob.name)
    }
}

impl<T: DeserializeOwned> Iterator for Entries<T> {
    type Item = Result<Entry<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let (at, line, name) = match self.next_line() {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.is_over = true;
                return None;
            }
            Err(error) => {
                self.is_over = true;
                let name = error.blob_name().map(str::to_owned);
                return Some(Err(self.container.named("read the log in", name.as_deref(), error)));
            }
        };
        // The message of a JSON error can hold what stands in the text.
        let read = serde_json::from_slice::<Line<T>>(&line).map_err(|_| {
            let because = format!("the entry of {at} is not the JSON of `{}`", std::any::type_name::<T>());
            let error = Error::new(ErrorKind::SchemaMismatch).because(because);
            self.container.named("read the log in", Some(&name), error)
        });
        Some(read.map(|Line { entry }| Entry { at, value: entry }))
    }
}

impl<T> fmt::Debug for Entries<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("log", &self.log).field("times", &self.times).finish_non_exhaustive()
    }
}

/// Returns the time that a line begins with.
fn time_of(line: &[u8]) -> Option<Ticks> {
    let rest = line.strip_prefix(b"{\"at\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
}

/// Returns the hour that a blob of a log is named by: `queue/2014/07/31/1800/000001.log`.
pub(super) fn hour_of(log: &str, name: &str) -> Option<Ticks> {
    let rest = name.strip_prefix(log)?.strip_prefix('/')?.strip_suffix(".log")?;
    let mut parts = rest.split('/');
    let mut next = |length: usize| parts.next().filter(|part| part.len() == length);
    let (year, month, day, hour) = (next(4)?, next(2)?, next(2)?, next(4)?.strip_suffix("00")?);
    let number =
        parts.next().filter(|number| number.len() >= 6 && number.bytes().all(|b| b.is_ascii_digit()));
    number.filter(|_| parts.next().is_none())?;
    format!("{year}-{month}-{day}T{hour}:00:00Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blobs_name_says_its_hour_or_is_none_of_a_log() {
        let hour: Ticks = "2014-07-31T18:00:00Z".parse().unwrap();
        assert_eq!(hour_of("queue", "queue/2014/07/31/1800/000001.log"), Some(hour));
        assert_eq!(hour_of("queue", "queue/2014/07/31/1800/1000001.log"), Some(hour));
        for name in [
            "other/2014/07/31/1800/000001.log",
            "queue/2014/07/31/1800/000001.txt",
            "queue/2014/07/31/1830/000001.log",
            "queue/2014/07/31/1800/a.log",
            "queue/2014/07/31/1800/000001/2.log",
            "queue/2014/13/31/1800/000001.log",
            "queue/2014/07/1800/000001.log",
            "queue",
        ] {
            assert_eq!(hour_of("queue", name), None, "{name}");
        }
        assert_eq!(time_of(b"{\"at\":\"2014-07-31T18:00:00Z\",\"entry\":1}"), Some(hour));
        assert_eq!(time_of(b"{\"at\":\"now\"}"), None);
        assert_eq!(time_of(b""), None);
    }
}
