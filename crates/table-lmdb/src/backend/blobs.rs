//! The blobs of a store on LMDB.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError};

use table_engine::contents::{BlobAnswer, BlobId, BlobInfo, BlobTask, ContainerId};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::{BlobSnapshot, Blobs};
use table_engine::sorting;

use crate::blobs::{BlobOutcome, BlobView, BlobWork, no_such_container};
use crate::handle::lmdb_snapshot::LmdbSnapshot;
use crate::handle::shared::Shared;
use crate::jobs::reclaim;
use crate::lmdb::{self, Db, ReadTxn};
use crate::open::OptionalDb;
use crate::records::features::Feature;
use crate::state::StoreState;
use crate::write::encoded::BlobOps;
use crate::write::prepare;
use crate::write::transaction::clock;

/// Names of a dropped container that go in one transaction, and blobs that wait which are looked at together.
const PURGED_AT_ONCE: usize = 1_000;

/// Returns the error of a task in a container of another store.
#[cold]
fn strange_container(container: ContainerId) -> Error {
    let number = container.number;
    Error::new(ErrorKind::ContainerNotFound).because(format!(
        "container number {number} is another store's, or of this one before it was opened anew; get a new handle"
    ))
}

impl Shared {
    /// Does this work in one transaction, which other writers may share.
    fn work_on_blobs(&self, work: Vec<BlobWork>) -> Result<Vec<BlobOutcome>> {
        let queue_ops = BlobOps { work, ..BlobOps::default() };
        let outcomes = queue_ops.outcomes.clone();
        self.writer.commit(self, prepare::of_blobs(queue_ops)).map_err(|refused| refused.error)?;
        let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *outcomes))
    }

    /// Reads blobs in a snapshot; `None` if the store has had none.
    pub(crate) fn look_at_blobs<T>(
        &self,
        look: impl FnOnce(BlobView<'_>, &ReadTxn<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(db) = self.optional_db(OptionalDb::Blobs)? else { return Ok(None) };
        let txn = self.environment.read_txn()?;
        look(BlobView::of_snapshot(&self.environment, &txn, db)?, &txn).map(Some)
    }

    /// Returns the containers that were dropped and are still to be removed, and the blobs that no upload and no
    /// reference needs any more.
    fn left_blobs(&self) -> Result<(Vec<u32>, Vec<BlobId>)> {
        let found = self.look_at_blobs(|view, _| {
            let directory = view.directory()?;
            let dropped = directory.queues.iter().filter(|listed| listed.is_dropped);
            let now = clock();
            let waiting =
                if view.counters()?.waiting.count == 0 { Vec::new() } else { view.waiting(usize::MAX)? };
            let over = waiting.into_iter().filter(|(_, waiting)| waiting.is_over(now));
            Ok((dropped.map(|listed| listed.number).collect(), over.map(|(id, _)| id).collect()))
        });
        let found = match found {
            // Writers need no reader's slot where there is nothing to purge.
            Err(full) if full.kind() == ErrorKind::TooManyReaders => {
                let has_blobs = self.transact(|_, _, meta| Ok(meta.features.has(Feature::Blobs)))?;
                if has_blobs { Err(full) } else { Ok(None) }
            }
            found => found,
        };
        Ok(found?.unwrap_or_default())
    }

    /// Returns whether there is something of blobs to be removed.
    pub(crate) fn has_left_blobs(&self) -> Result<bool> {
        let (dropped, over) = self.left_blobs()?;
        Ok(!dropped.is_empty() || !over.is_empty())
    }

    /// Removes the containers that this process or another has dropped, and the remains of uploads that were given up.
    pub(crate) fn purge_blobs(&self) -> Result<()> {
        let (dropped, mut over) = self.left_blobs()?;
        for container in dropped {
            loop {
                let outcomes = self.work_on_blobs(vec![BlobWork::Purge(container, PURGED_AT_ONCE)])?;
                if outcomes.contains(&BlobOutcome::Left) {
                    over = self.left_blobs()?.1;
                }
                if !outcomes.contains(&BlobOutcome::Purged(false)) {
                    break;
                }
            }
        }
        for id in over {
            while self.work_on_blobs(vec![BlobWork::Clear(id)])?.contains(&BlobOutcome::Purged(false)) {}
        }
        Ok(())
    }

    fn own_container(&self, container: ContainerId) -> Result<u32> {
        if container.store == self.number { Ok(container.number) } else { Err(strange_container(container)) }
    }
}

impl Blobs for Shared {
    fn identity(&self) -> [u8; 16] {
        *StoreState::identity(self)
    }

    fn container(&self, name: &str) -> Result<ContainerId> {
        let id = |number| ContainerId { store: self.number, number };
        let found =
            self.look_at_blobs(|view, _| Ok(view.directory()?.find(name).map(|listed| listed.number)))?;
        if let Some(Some(number)) = found {
            return Ok(id(number));
        }
        self.writer.check_writable()?;
        self.made(OptionalDb::Blobs)?;
        match *self.work_on_blobs(vec![BlobWork::Create(name.into())])? {
            [BlobOutcome::Container(number)] => Ok(id(number)),
            _ => Err(lmdb::damaged_page()),
        }
    }

    fn containers(&self) -> Result<Vec<String>> {
        let names = self.look_at_blobs(|view, _| {
            let directory = view.directory()?;
            let listed = directory.queues.iter().filter(|listed| !listed.is_dropped);
            Ok(listed.map(|listed| listed.name.to_string()).collect::<Vec<_>>())
        })?;
        let mut names = names.unwrap_or_default();
        sorting::sort(&mut names);
        Ok(names)
    }

    fn drop_container(&self, name: &str) -> Result<()> {
        self.writer.check_writable()?;
        if self.optional_db(OptionalDb::Blobs)?.is_none() {
            return Err(Error::new(ErrorKind::ContainerNotFound));
        }
        self.work_on_blobs(vec![BlobWork::Bury(name.into())])?;
        self.purge_blobs()
    }

    fn carry_out(self: Arc<Self>, tasks: Vec<BlobTask>) -> Result<Vec<BlobAnswer>> {
        // An upload for rows needs no container, and may be the first blob.
        self.writer.check_writable()?;
        self.made(OptionalDb::Blobs)?;
        let mut work = Vec::with_capacity(tasks.len());
        for task in tasks {
            match &task {
                BlobTask::Put { container, .. }
                | BlobTask::Append { container, .. }
                | BlobTask::Delete { container, .. }
                | BlobTask::Name { container, .. } => self.own_container(*container).map(drop)?,
                BlobTask::Stage(_) | BlobTask::ForRows | BlobTask::Abandon(_) => {}
            }
            work.push(BlobWork::of(task));
        }
        let outcomes = self.work_on_blobs(work)?;
        if outcomes.contains(&BlobOutcome::Left) {
            reclaim::start(&self);
        }
        let answers = outcomes.into_iter().filter_map(|outcome| match outcome {
            BlobOutcome::Answer(answer) => Some(answer),
            _ => None,
        });
        Ok(answers.collect())
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn BlobSnapshot>> {
        // A snapshot can look into a database only that was opened before it.
        let db = self.optional_db(OptionalDb::Blobs)?;
        Ok(Box::new(LmdbBlobs { moment: LmdbSnapshot::new(&self)?, db, store: self.number }))
    }
}

/// Blobs in a snapshot.
struct LmdbBlobs {
    moment: LmdbSnapshot,
    /// The database, unless the store has had no blob.
    db: Option<Db>,
    store: u64,
}

impl LmdbBlobs {
    fn view(&self) -> Result<BlobView<'_>> {
        let (inner, txn) = self.moment.parts();
        let db = self.db.ok_or_else(no_such_container)?;
        BlobView::of_snapshot(&inner.environment, txn, db)
    }

    /// Returns a view of the blobs, once it has made sure that the container is there.
    fn view_of(&self, container: ContainerId) -> Result<BlobView<'_>> {
        if container.store != self.store {
            return Err(strange_container(container));
        }
        let view = self.view()?;
        view.check_container(container.number)?;
        Ok(view)
    }
}

impl BlobSnapshot for LmdbBlobs {
    fn find(&self, container: ContainerId, name: &str) -> Result<Option<BlobInfo>> {
        self.view_of(container)?.find(container.number, name)
    }

    fn list(
        &self,
        container: ContainerId,
        prefix: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<(Vec<BlobInfo>, bool)> {
        self.view_of(container)?.list(container.number, prefix, after, most)
    }

    fn blob(&self, id: BlobId) -> Result<Option<BlobInfo>> {
        if self.db.is_none() {
            return Ok(None);
        }
        self.view()?.unnamed(id)
    }

    fn segment(&self, id: BlobId, number: u32, was_sound: bool) -> Result<Cow<'_, [u8]>> {
        self.view()?.segment(id, number, was_sound).map(Cow::Borrowed)
    }
}
