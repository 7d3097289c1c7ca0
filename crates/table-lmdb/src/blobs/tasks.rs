//! What is done to blobs, in the overlay.

use std::ops::ControlFlow;
use std::sync::Arc;

use table_engine::contents::keys::{self, Key};
use table_engine::contents::{
    BlobAnswer, BlobContent, BlobId, BlobRecord, BlobTask, NameRecord, REMOVED_AT_ONCE, SEGMENT, Waiting,
    length_of, segments,
};
use table_engine::error::{Error, ErrorKind, Result};

use super::overlay::{BlobOverlay, full};
use super::view;
use crate::records::features::Feature;
use crate::records::meta;
use crate::verified::{Stop, body};

/// Content whose segments have their checksums. It is shared between the attempts to write it.
#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    pub(super) id: BlobId,
    pub(super) content_type: Box<str>,
    pub(super) first: u32,
    segments: Vec<(Vec<u8>, Arc<Vec<u8>>)>,
    pub(super) length: u64,
}

impl Sealed {
    pub(crate) fn of(content: BlobContent) -> Self {
        let length = content.length();
        let BlobContent { id, content_type, first, segments } = content;
        let seal = |(number, bytes)| {
            let key = keys::segment(id, number);
            let record = Arc::new(meta::sealed(&key, bytes));
            (key, record)
        };
        Self { id, content_type, first, segments: (first..).zip(segments).map(seal).collect(), length }
    }

    pub(super) fn digest(&self) -> u64 {
        let checksums = self.segments.iter().map(|(_, record)| meta::checksum_of(record));
        checksums.fold(0, u64::wrapping_add)
    }

    /// Returns about how many bytes it writes.
    fn weight(&self) -> usize {
        self.segments.iter().map(|(_, record)| record.len() + 64).sum()
    }
}

/// Work on blobs, with the numbers of this store.
#[derive(Clone, Debug)]
pub(crate) enum BlobWork {
    Create(Box<str>),
    /// Has a container be no more. Its blobs go later.
    Bury(Box<str>),
    /// Removes so many names of a container that was dropped, and then itself.
    Purge(u32, usize),
    Put {
        container: u32,
        name: String,
        content: Sealed,
        is_new: bool,
    },
    Append {
        container: u32,
        name: String,
        content: BlobContent,
    },
    Delete {
        container: u32,
        name: String,
    },
    Stage(Sealed),
    Name {
        container: u32,
        name: String,
        id: BlobId,
        is_new: bool,
    },
    Abandon(BlobId),
    /// Notes that rows are to refer to blobs.
    ForRows,
    /// Removes some of a blob that waits for nothing more.
    Clear(BlobId),
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlobOutcome {
    Container(u32),
    Answer(BlobAnswer),
    /// Whether nothing is left to be done.
    Purged(bool),
    /// A blob is so large that it goes later.
    Left,
}

impl BlobWork {
    /// Returns the work that a task is, in a container of this number.
    pub(crate) fn of(task: BlobTask) -> Self {
        match task {
            BlobTask::Put { container, name, content, is_new } => {
                Self::Put { container: container.number, name, content: Sealed::of(content), is_new }
            }
            BlobTask::Append { container, name, content } => {
                Self::Append { container: container.number, name, content }
            }
            BlobTask::Delete { container, name } => Self::Delete { container: container.number, name },
            BlobTask::Stage(content) => Self::Stage(Sealed::of(content)),
            BlobTask::Name { container, name, id, is_new } => {
                Self::Name { container: container.number, name, id, is_new }
            }
            BlobTask::Abandon(id) => Self::Abandon(id),
            BlobTask::ForRows => Self::ForRows,
        }
    }

    /// Returns about how many bytes it writes.
    pub(crate) fn weight(&self) -> usize {
        const FEW: usize = 1_024;
        FEW + match self {
            Self::Put { content, .. } | Self::Stage(content) => content.weight(),
            Self::Append { content, .. } => {
                content.segments.iter().map(Vec::len).sum::<usize>() + 2 * SEGMENT
            }
            Self::Purge(_, most) => most * FEW,
            _ => 0,
        }
    }
}

impl BlobOverlay<'_> {
    /// Does a piece of work in the overlay. An error refuses the plan.
    pub(crate) fn carry_out(&mut self, work: &BlobWork) -> Result<BlobOutcome> {
        let answer = match work {
            BlobWork::Create(name) => {
                return self.list(name).map(|(number, _)| BlobOutcome::Container(number));
            }
            BlobWork::Bury(name) => {
                let number = self.list_as_dropped(name)?;
                let number = number.ok_or_else(|| Error::new(ErrorKind::ContainerNotFound))?;
                return Ok(BlobOutcome::Container(number));
            }
            BlobWork::Purge(container, most) => {
                return self.purge(*container, *most).map(BlobOutcome::Purged);
            }
            BlobWork::Clear(id) => return self.clear(*id).map(BlobOutcome::Purged),
            BlobWork::Put { container, name, content, is_new } => {
                self.put(*container, name, content, *is_new)?;
                BlobAnswer::Done
            }
            BlobWork::Append { container, name, content } => {
                BlobAnswer::Length(self.append(*container, name, content)?)
            }
            BlobWork::Delete { container, name } => BlobAnswer::Removed(self.delete(*container, name)?),
            BlobWork::Stage(content) => {
                self.stage(content)?;
                BlobAnswer::Done
            }
            BlobWork::Name { container, name, id, is_new } => {
                self.name_upload(*container, name, *id, *is_new)?;
                BlobAnswer::Done
            }
            BlobWork::ForRows => {
                self.set_feature(Feature::BlobRows);
                BlobAnswer::Done
            }
            BlobWork::Abandon(id) => {
                if matches!(self.waiting(*id)?, Some(Waiting::Upload(_))) {
                    self.give_up(*id)?;
                }
                BlobAnswer::Done
            }
        };
        Ok(BlobOutcome::Answer(answer))
    }

    /// Removes names of a container that was dropped, with their blobs; whether the container is gone.
    fn purge(&mut self, container: u32, most: usize) -> Result<bool> {
        let mut directory = self.directory()?;
        if !directory.get(container).is_some_and(|listed| listed.is_dropped) {
            return Ok(true);
        }
        let (mut gone, mut room) = (Vec::new(), REMOVED_AT_ONCE);
        let is_end = self.view.walk(&keys::name(container, ""), None, |key, record| {
            if gone.len() == most || room == 0 {
                return Ok(ControlFlow::Break(()));
            }
            let Some(Key::Name(_, name)) = Key::parse(key) else { return Err(view::damaged(key)) };
            let named = NameRecord::decode(body(record)).ok_or_else(|| view::damaged(key))?;
            room = room.saturating_sub(segments(self.view.blob(named.id)?.length));
            gone.push(name.to_owned());
            Ok(ControlFlow::Continue(Stop::Not))
        })?;
        for name in &gone {
            self.remove_name(container, name)?;
        }
        if is_end {
            directory.queues.retain(|listed| listed.number != container);
            self.set_directory(directory);
        }
        Ok(is_end)
    }

    /// Refuses a container that is not there.
    pub(super) fn check_container(&self, container: u32) -> Result<()> {
        match self.directory()?.get(container) {
            Some(listed) if !listed.is_dropped => Ok(()),
            _ => Err(view::no_such_container()),
        }
    }

    /// Returns the blob of a name, as the overlay leaves it.
    fn named(&self, container: u32, name: &str) -> Result<Option<BlobId>> {
        let named = self.read(&keys::name(container, name), NameRecord::decode)?;
        Ok(named.map(|named| named.id))
    }

    /// Has a name lead to a blob, whose references count it already.
    pub(super) fn set_name(&mut self, container: u32, name: &str, id: BlobId, is_new: bool) -> Result<()> {
        let key = keys::name(container, name);
        let old = self.find(&key)?.map(std::borrow::Cow::into_owned);
        if is_new && old.is_some() {
            return Err(Error::new(ErrorKind::BlobAlreadyExists));
        }
        if let Some(former) = self.named(container, name)? {
            self.release(former)?;
        }
        self.replace(key, old.as_deref(), Some(NameRecord { id }.encode()))
    }

    fn put(&mut self, container: u32, name: &str, content: &Sealed, is_new: bool) -> Result<()> {
        self.check_container(container)?;
        self.add_content(content)?;
        let now = self.at.clock.store;
        let blob = BlobRecord {
            length: content.length,
            digest: content.digest(),
            references: 1,
            made: now,
            changed: now,
            content_type: content.content_type.clone(),
        };
        self.set_blob(content.id, None, Some(&blob))?;
        self.set_name(container, name, content.id, is_new)
    }

    pub(super) fn add_content(&mut self, content: &Sealed) -> Result<()> {
        for (key, record) in &content.segments {
            self.replace_sealed(key.clone(), None, Some(record.clone()))?;
        }
        Ok(())
    }

    /// Has a blob be of this content, that a row of the plan is to refer to. One that is there already is this
    /// transaction's own, and no reader has seen it: what of it differs is written.
    pub(crate) fn compose(&mut self, content: &Sealed) -> Result<()> {
        let now = self.at.clock.store;
        let old = self.blob(content.id)?;
        let before = old.as_ref().map_or(0, |(blob, _)| segments(blob.length));
        for (number, (key, record)) in (0_u64..).zip(&content.segments) {
            let found = if number < before { self.find(key)? } else { None };
            if found.as_deref() == Some(record.as_slice()) {
                continue;
            }
            let checksum = found.as_deref().map(meta::checksum_of);
            drop(found);
            self.replace_sealed(key.clone(), checksum, Some(record.clone()))?;
        }
        for number in length_of(content.segments.len())..before {
            let key = segment_key(content.id, number)?;
            let checksum = self.find(&key)?.map(|record| meta::checksum_of(&record));
            self.replace_sealed(key, checksum, None)?;
        }
        let blob = BlobRecord {
            length: content.length,
            digest: content.digest(),
            references: old.as_ref().map_or(0, |(blob, _)| blob.references),
            made: old.as_ref().map_or(now, |(blob, _)| blob.made),
            changed: now,
            content_type: content.content_type.clone(),
        };
        self.set_blob(content.id, old.as_ref(), Some(&blob))
    }

    fn append(&mut self, container: u32, name: &str, content: &BlobContent) -> Result<u64> {
        let Some(id) = self.named(container, name)? else {
            let length = content.length();
            self.put(container, name, &Sealed::of(content.clone()), true)?;
            return Ok(length);
        };
        self.check_container(container)?;
        let old = self.must_have_blob(id)?;
        let mut blob = old.0.clone();
        let bytes = content.segments.concat();
        // What the last segment has room for comes into it.
        let mut number = blob.length / full();
        let begun = usize::try_from(blob.length % full()).unwrap_or_default();
        let mut rest = bytes.as_slice();
        if begun > 0 {
            let key = segment_key(id, number)?;
            let record = self.must_find(&key)?;
            let former = body(&record);
            if former.len() != begun {
                return Err(view::damaged(&key));
            }
            let (head, tail) = rest.split_at(rest.len().min(SEGMENT - begun));
            let checksum = meta::checksum_of(&record);
            let mut joined = Vec::with_capacity(begun + head.len() + meta::CHECKSUM);
            joined.extend_from_slice(former);
            joined.extend_from_slice(head);
            let joined = Arc::new(meta::sealed(&key, joined));
            blob.digest = blob.digest.wrapping_sub(checksum).wrapping_add(meta::checksum_of(&joined));
            drop(record);
            self.replace_sealed(key, Some(checksum), Some(joined))?;
            rest = tail;
            number += 1;
        }
        for part in rest.chunks(SEGMENT) {
            let key = segment_key(id, number)?;
            let record = Arc::new(meta::sealed(&key, part.to_vec()));
            blob.digest = blob.digest.wrapping_add(meta::checksum_of(&record));
            self.replace_sealed(key, None, Some(record))?;
            number += 1;
        }
        blob.length += length_of(bytes.len());
        blob.changed = self.at.clock.store;
        self.set_blob(id, Some(&old), Some(&blob))?;
        Ok(blob.length)
    }

    fn delete(&mut self, container: u32, name: &str) -> Result<bool> {
        self.check_container(container)?;
        self.remove_name(container, name)
    }

    fn remove_name(&mut self, container: u32, name: &str) -> Result<bool> {
        let key = keys::name(container, name);
        let Some(record) = self.find(&key)?.map(std::borrow::Cow::into_owned) else { return Ok(false) };
        let named = NameRecord::decode(body(&record)).ok_or_else(|| view::damaged(&key))?;
        self.replace(key, Some(&record), None)?;
        self.release(named.id)?;
        Ok(true)
    }
}

/// Returns the key of a segment, if a blob can have so many.
fn segment_key(id: BlobId, number: u64) -> Result<Vec<u8>> {
    let number = u32::try_from(number).map_err(|_| {
        Error::new(ErrorKind::BlobTooLarge).because("a blob has 2^32 segments of 64 KiB at most")
    })?;
    Ok(keys::segment(id, number))
}
