//! Entities into a table: one thread reads while another writes.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use table_core::{DynamicEntity, Tables, Value};

use super::blobs::BlobReader;
use super::counts::Counts;
use super::kinds::ENTITY_TYPE;
use super::load::{Loader, WholeChunks};
use super::notes::{Notes, Progress};
use super::read::{Chunk, FileReader};
use super::reject::{Reject, Rejects};
use crate::bar::{Bar, Unit};
use crate::failure::Failure;

/// So many chunks are read before they are written: one waits while another is written.
const AHEAD: usize = 1;

/// What gives entities, a chunk at a time.
pub(crate) trait Chunks {
    /// Returns the next chunk; `None` at the end.
    fn chunk(&mut self) -> Result<Option<Chunk>, Failure>;
}

impl<R: Read> Chunks for FileReader<R> {
    fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
        Self::chunk(self)
    }
}

/// An import that runs.
pub(crate) struct Import<'i> {
    pub(crate) tables: &'i Tables,
    pub(crate) loader: Loader<'i>,
    pub(crate) rejects: &'i mut Rejects,
    /// There is none of what comes by a pipe.
    pub(crate) journal: Option<&'i mut dyn Notes>,
    pub(crate) progress: Progress,
    /// How far it had come a chunk before, where commits are not on the disk until the next one is: that alone is noted as done.
    pub(crate) on_disk: Option<Progress>,
    /// What brings the contents of blobs.
    pub(crate) blobs: Option<BlobReader>,
    pub(crate) bar: &'i Bar,
    /// The properties that are to be sealed, of the kinds of the source, by the text of `EntityType`.
    pub(crate) secrets: BTreeMap<String, Vec<String>>,
}

impl Import<'_> {
    /// Writes all entities that the source gives; returns what became of them.
    pub(crate) fn run(&mut self, source: impl Chunks + Send) -> Result<Counts, Failure> {
        let mut source = WholeChunks::new(source, self.loader.joins_by());
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD);
            scope.spawn(move || read_all(&mut source, &sender));
            self.write_all(&receiver)
        })?;
        Ok(self.progress.counts.clone())
    }

    fn write_all(&mut self, chunks: &Receiver<Result<Chunk, Failure>>) -> Result<(), Failure> {
        for chunk in chunks {
            self.write(chunk?)?;
        }
        Ok(())
    }

    /// Returns why an entity is not written whose sealed values were opened: the table would keep them open.
    fn unsealed(&mut self, entity: &DynamicEntity) -> Option<String> {
        if let Some(name) = self.loader.left_open(entity) {
            return Some(format!(
                "the table seals `{name}`, and a row that is written as it is has it open: leave --raw out"
            ));
        }
        let text = entity.get(ENTITY_TYPE)?.as_str()?;
        let secrets = self.secrets.get(text)?;
        let name =
            secrets.iter().find(|name| entity.get(name).is_some() && !self.loader.seals(text, name))?;
        Some(format!(
            "the table does not seal `{name}` of `{text}`: write an entity by the struct first, so that it notes the kind"
        ))
    }

    fn write(&mut self, chunk: Chunk) -> Result<(), Failure> {
        let Chunk { mut items, mut rejects, to, keys, left_out, .. } = chunk;
        if let Some(journal) = &mut self.journal {
            journal.begin(to)?;
        }
        let unread = u64::try_from(rejects.len()).unwrap_or_default();
        if let Some(blobs) = &mut self.blobs {
            let mut kept = Vec::with_capacity(items.len());
            let loader = &mut self.loader;
            let mut seals = |entity: &DynamicEntity, name: &str| {
                let text = entity.get(ENTITY_TYPE).and_then(Value::as_str);
                text.is_some_and(|text| loader.seals(text, name))
            };
            for mut item in items {
                match blobs.bring(self.tables, &mut item.entity, &mut seals)? {
                    None => kept.push(item),
                    Some(why) => rejects.push(Reject::of(item.line, &item.entity, why)),
                }
            }
            items = kept;
        }
        if !self.secrets.is_empty() || self.loader.may_leave_open() {
            let mut kept = Vec::with_capacity(items.len());
            for item in items {
                match self.unsealed(&item.entity) {
                    None => kept.push(item),
                    Some(why) => rejects.push(Reject::of(item.line, &item.entity, why)),
                }
            }
            items = kept;
        }
        let without = u64::try_from(rejects.len()).unwrap_or_default() - unread;
        let mut counts = self.loader.load(items, &mut rejects)?;
        counts.read += unread + without;
        counts.rejected += unread + without;
        rejects.sort_by_key(|reject| reject.line);
        self.progress.reject_bytes = self.rejects.write(&rejects)?;
        self.progress.counts.add(&counts);
        self.progress.counts.add(&left_out);
        self.progress.done = to;
        self.progress.keys = keys.or_else(|| self.progress.keys.take());
        // Of a file it is known how long it is, and of a table how many rows it has.
        let Counts { read, copies, .. } = self.progress.counts;
        self.bar.set(if self.bar.counts(Unit::Bytes) { to.offset } else { read + copies });
        let Some(journal) = &mut self.journal else { return Ok(()) };
        match &mut self.on_disk {
            None => journal.done(&self.progress),
            Some(before) => journal.done(&std::mem::replace(before, self.progress.clone())),
        }
    }
}

fn read_all(source: &mut impl Chunks, chunks: &SyncSender<Result<Chunk, Failure>>) {
    loop {
        let (chunk, is_last) = match source.chunk() {
            Ok(Some(chunk)) => (Ok(chunk), false),
            Ok(None) => return,
            Err(failure) => (Err(failure), true),
        };
        // The writer has given up.
        if chunks.send(chunk).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use table_core::Store;

    use super::super::load::Writing;
    use super::super::read::{Item, Place};
    use super::*;
    use crate::declared::Structs;

    /// Gives so many chunks of an entity each.
    struct Few(std::ops::Range<u64>);

    impl Chunks for Few {
        fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
            let Some(line) = self.0.next() else { return Ok(None) };
            let (place, to) = (Place { offset: 0, line }, Place { offset: 0, line: line + 1 });
            let items = vec![Item::new(line, place, DynamicEntity::new("p", line.to_string()))];
            Ok(Some(Chunk { items, to, ..Chunk::default() }))
        }
    }

    /// The lines that are begun and done, in their order.
    #[derive(Default)]
    struct Noted(Vec<(&'static str, u64)>);

    impl Notes for Noted {
        fn begin(&mut self, to: Place) -> Result<(), Failure> {
            self.0.push(("begin", to.line));
            Ok(())
        }

        fn done(&mut self, progress: &Progress) -> Result<(), Failure> {
            self.0.push(("done", progress.done.line));
            Ok(())
        }
    }

    #[test]
    fn what_a_power_cut_may_undo_is_not_noted_as_done() {
        for (on_disk, done) in [(None, [2, 3]), (Some(Progress::default()), [1, 2])] {
            let store = Store::temporary().unwrap();
            let structs: Structs = Vec::new().into();
            let loader = Loader::new(&store, "Any", Writing::default(), structs).unwrap();
            let mut noted = Noted::default();
            let mut run = Import {
                tables: &store,
                loader,
                rejects: &mut Rejects::new(PathBuf::from("no rejects")).unwrap(),
                journal: Some(&mut noted),
                progress: Progress::default(),
                on_disk,
                blobs: None,
                bar: &Bar::default(),
                secrets: BTreeMap::new(),
            };
            assert_eq!(run.run(Few(1..3)).unwrap().written, 2);
            assert_eq!(noted.0, [("begin", 2), ("done", done[0]), ("begin", 3), ("done", done[1])]);
        }
    }
}
