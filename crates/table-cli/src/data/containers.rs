//! Containers of blobs from one store to another, those of logs among them.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::path::Path;

use table_core::blob::{BlobInfo, Container};
use table_core::{ErrorKind, Tables};
use twox_hash::XxHash3_64;

use super::blobs::contents::digest_of;
use super::compare::Compared;
use super::counts::Counts;
use super::load::Mode;
use super::notes::{Notes, Progress};
use super::read::Place;
use super::reject::{Reject, Rejects};
use crate::bar::Bar;
use crate::failure::Failure;

/// So many blobs are begun at once at most.
const AT_ONCE: usize = 100;

/// So many bytes of them, or one blob more.
const BYTES_AT_ONCE: u64 = 8 << 20;

/// So many names are listed at once.
const LISTED: usize = 1_000;

/// The stores, the container's name, and how blobs are written.
pub(crate) struct Moving<'m> {
    pub(crate) from: &'m Tables,
    pub(crate) to: &'m Tables,
    pub(crate) name: &'m str,
    pub(crate) mode: Mode,
    pub(crate) bar: &'m Bar,
}

/// Copies the blobs of a container behind those that are done. What is not taken goes to the rejects.
pub(crate) fn copy(
    moving: &Moving<'_>,
    journal: &mut dyn Notes,
    progress: &mut Progress,
    rejects: &mut Rejects,
) -> Result<(), Failure> {
    let source = moving.from.container(moving.name)?;
    let target = match moving.to.container(moving.name) {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            let mut blobs = 0;
            let mut names = Names::new(&source, "");
            while names.next()?.is_some() {
                blobs += 1;
            }
            let why = Reject::part(format!("container `{}`: {error}", moving.name));
            progress.reject_bytes = rejects.write(&[why])?;
            progress.counts.add(&Counts { read: blobs, rejected: blobs, ..Counts::default() });
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let repeated = progress.begun.line;
    let mut names = Names::new(&source, "");
    names.after = progress.keys.take().map(|(name, _)| name);
    loop {
        let (mut batch, mut bytes) = (Vec::new(), 0_u64);
        while batch.len() < AT_ONCE && bytes < BYTES_AT_ONCE {
            let Some(blob) = names.next()? else { break };
            bytes = bytes.saturating_add(blob.length);
            batch.push(blob);
        }
        let Some(last) = batch.last() else { return Ok(()) };
        let last = last.name.clone();
        let first = progress.done.line;
        let to = Place { offset: 0, line: first + u64::try_from(batch.len()).unwrap_or_default() };
        journal.begin(to)?;
        let mut refused = Vec::new();
        for (line, blob) in (first..).zip(&batch) {
            let mut copying = Copying { source: &source, target: &target, counts: &mut progress.counts };
            let why = copying.blob(blob, moving.mode, line < repeated)?;
            moving.bar.add(1);
            refused.extend(why.map(|why| Reject::text(line, None, why)));
        }
        progress.reject_bytes = rejects.write(&refused)?;
        progress.done = to;
        progress.keys = Some((last, String::new()));
        journal.done(progress)?;
    }
}

/// Copies blobs, one by one.
struct Copying<'c> {
    source: &'c Container,
    target: &'c Container,
    counts: &'c mut Counts,
}

impl Copying<'_> {
    /// Copies a blob; returns why it is not taken. `may_be_there` says that a copy that was cut short may have written it.
    fn blob(&mut self, blob: &BlobInfo, mode: Mode, may_be_there: bool) -> Result<Option<String>, Failure> {
        let reader = match self.source.open(&blob.name) {
            Ok(reader) => reader,
            // It was deleted since it was listed.
            Err(error) if error.kind() == ErrorKind::BlobNotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.counts.read += 1;
        if matches!(mode, Mode::Insert | Mode::Skip)
            && let Some(found) = self.target.find(&blob.name)?
        {
            if may_be_there && self.is_same(blob, &found)? {
                self.counts.written += 1;
                return Ok(None);
            }
            if mode == Mode::Skip {
                self.counts.skipped += 1;
                return Ok(None);
            }
            self.counts.rejected += 1;
            return Ok(Some(format!(
                "container `{}` has a blob `{}` already: give --mode replace to put this one in its place, or skip",
                self.target.name(),
                blob.name.escape_debug()
            )));
        }
        self.target.upload(&blob.name, &blob.content_type, reader)?;
        self.counts.written += 1;
        Ok(None)
    }

    fn is_same(&self, blob: &BlobInfo, found: &BlobInfo) -> Result<bool, Failure> {
        let is_alike = blob.length == found.length && blob.content_type == found.content_type;
        Ok(is_alike && hash(self.source, blob)? == hash(self.target, found)?)
    }
}

/// Compares the blobs of a container in two stores by their names, types and contents.
pub(crate) fn compare(from: &Tables, to: &Tables, name: &str) -> Result<Compared, Failure> {
    let [first, second] = [from.container(name)?, to.container(name)?];
    let (mut ones, mut others) = (Names::new(&first, ""), Names::new(&second, ""));
    let mut compared = Compared::default();
    let (mut one, mut other) = (ones.next()?, others.next()?);
    loop {
        let order = match (&one, &other) {
            (None, None) => return Ok(compared),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.name.cmp(&other.name),
        };
        let of_one = match &one {
            Some(one) if order != Ordering::Greater => hash(&first, one)?,
            _ => None,
        };
        let of_other = match &other {
            Some(other) if order == Ordering::Equal => hash(&second, other)?,
            _ => None,
        };
        if let Some(hash) = of_one {
            compared.first.add(hash);
        }
        if let Some(hash) = of_other {
            compared.second.add(hash);
        }
        match order {
            Ordering::Less => compared.only_first += u64::from(of_one.is_some()),
            Ordering::Greater => compared.only_second += 1,
            Ordering::Equal => compared.changed += u64::from(of_one != of_other),
        }
        if order != Ordering::Greater {
            one = ones.next()?;
        }
        if order != Ordering::Less {
            other = others.next()?;
        }
    }
}

/// Returns the hash of a blob's name, type and contents; `None` if it is gone.
fn hash(container: &Container, blob: &BlobInfo) -> Result<Option<u64>, Failure> {
    let reader = match container.open(&blob.name) {
        Ok(reader) => reader,
        Err(error) if error.kind() == ErrorKind::BlobNotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let content_type = reader.content_type().to_owned();
    let text = [&*blob.name, &*content_type, &*digest_of(reader, Path::new(container.name()))?].join("\0");
    Ok(Some(XxHash3_64::oneshot(text.as_bytes())))
}

/// The blobs of a container by their names. No snapshot is held between one page of them and the next.
pub(crate) struct Names<'n> {
    container: &'n Container,
    prefix: &'n str,
    ready: VecDeque<BlobInfo>,
    after: Option<String>,
    is_ended: bool,
}

impl<'n> Names<'n> {
    /// Begins with the first blob whose name begins so.
    pub(crate) fn new(container: &'n Container, prefix: &'n str) -> Self {
        Self { container, prefix, ready: VecDeque::new(), after: None, is_ended: false }
    }

    /// Returns the next one.
    pub(crate) fn next(&mut self) -> Result<Option<BlobInfo>, Failure> {
        if self.ready.is_empty() && !self.is_ended {
            let listing = match &self.after {
                Some(after) => self.container.list_after(self.prefix, after)?,
                None => self.container.list(self.prefix)?,
            };
            for blob in listing.take(LISTED) {
                self.ready.push_back(blob?);
            }
            self.is_ended = self.ready.len() < LISTED;
            self.after = self.ready.back().map(|blob| blob.name.clone());
        }
        Ok(self.ready.pop_front())
    }
}
