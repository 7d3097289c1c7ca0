//! The containers that an access names, and the blobs in fields if it is to all.

use std::borrow::Cow;
use std::sync::Arc;

use super::backend::RestrictedBackend;
use super::checks::{Check, is_on};
use crate::access::Names;
use crate::contents::{BlobAnswer, BlobId, BlobInfo, BlobTask, ContainerId};
use crate::error::Result;
use crate::executor::{BlobSnapshot, Blobs, Rights};

pub(super) struct RestrictedBlobs {
    inner: Arc<dyn Blobs>,
    store: Arc<RestrictedBackend>,
}

impl RestrictedBlobs {
    /// Makes those of a store; refused where the access names no container.
    pub(super) fn new(inner: Arc<dyn Blobs>, store: Arc<RestrictedBackend>) -> Result<Self> {
        store.limits.check_time()?;
        let names = &store.limits.access().containers;
        if matches!(names, Names::These(names) if names.is_empty()) && is_on(Check::Containers) {
            return Err(store.limits.is_not_to());
        }
        Ok(Self { inner, store })
    }

    fn has(&self, name: &str) -> bool {
        self.store.limits.access().containers.has(name) || !is_on(Check::Containers)
    }

    /// Refuses what is asked, unless it is permitted. A blob without a name may be any: to bring one is part of naming it.
    fn check(&self, task: &BlobTask) -> Result<()> {
        let limits = &self.store.limits;
        let put = |is_new: bool| if is_new { Rights::ADD } else { Rights::ADD.and(Rights::UPDATE) };
        match task {
            BlobTask::Put { container, is_new, .. } | BlobTask::Name { container, is_new, .. } => {
                limits.check(put(*is_new))?;
                self.store.check_container(*container)
            }
            BlobTask::Append { container, .. } => {
                limits.check(put(false))?;
                self.store.check_container(*container)
            }
            BlobTask::Delete { container, .. } => {
                limits.check(Rights::DELETE)?;
                self.store.check_container(*container)
            }
            BlobTask::Stage(_) | BlobTask::Abandon(_) => limits.check(Rights::ADD),
            BlobTask::ForRows => {
                limits.check(Rights::ADD)?;
                check_nameless(&self.store)
            }
        }
    }
}

/// Refuses blobs that are in no container, unless the access is to all.
fn check_nameless(store: &RestrictedBackend) -> Result<()> {
    if store.limits.access().containers == Names::All || !is_on(Check::Containers) {
        return Ok(());
    }
    Err(store.limits.is_not_to())
}

impl Blobs for RestrictedBlobs {
    fn identity(&self) -> [u8; 16] {
        self.inner.identity()
    }

    fn container(&self, name: &str) -> Result<ContainerId> {
        self.store.limits.check_time()?;
        if !self.has(name) {
            return Err(self.store.limits.is_not_to());
        }
        // To open one that is missing would make it.
        if is_on(Check::Administration) && !self.inner.containers()?.iter().any(|known| known == name) {
            return Err(self.store.limits.never("make containers"));
        }
        let container = self.inner.container(name)?;
        self.store.admit_container(container);
        Ok(container)
    }

    fn containers(&self) -> Result<Vec<String>> {
        self.store.limits.check_time()?;
        Ok(self.inner.containers()?.into_iter().filter(|name| self.has(name)).collect())
    }

    fn drop_container(&self, name: &str) -> Result<()> {
        if is_on(Check::Administration) {
            return Err(self.store.limits.never("drop containers"));
        }
        self.inner.drop_container(name)
    }

    fn carry_out(self: Arc<Self>, tasks: Vec<BlobTask>) -> Result<Vec<BlobAnswer>> {
        tasks.iter().try_for_each(|task| self.check(task))?;
        self.inner.clone().carry_out(tasks)
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn BlobSnapshot>> {
        self.store.limits.check_time()?;
        let inner = self.inner.clone().read_snapshot()?;
        Ok(Box::new(RestrictedBlobSnapshot { inner, store: self.store.clone() }))
    }
}

/// A snapshot of the blobs in those containers.
struct RestrictedBlobSnapshot {
    inner: Box<dyn BlobSnapshot>,
    store: Arc<RestrictedBackend>,
}

impl RestrictedBlobSnapshot {
    fn check(&self, container: ContainerId) -> Result<()> {
        self.store.limits.check(Rights::READ)?;
        self.store.check_container(container)
    }
}

impl BlobSnapshot for RestrictedBlobSnapshot {
    fn find(&self, container: ContainerId, name: &str) -> Result<Option<BlobInfo>> {
        self.check(container)?;
        self.inner.find(container, name)
    }

    fn list(
        &self,
        container: ContainerId,
        prefix: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<(Vec<BlobInfo>, bool)> {
        self.check(container)?;
        self.inner.list(container, prefix, after, most)
    }

    fn blob(&self, id: BlobId) -> Result<Option<BlobInfo>> {
        self.store.limits.check(Rights::READ)?;
        check_nameless(&self.store)?;
        self.inner.blob(id)
    }

    fn segment(&self, id: BlobId, number: u32, was_sound: bool) -> Result<Cow<'_, [u8]>> {
        // Of a blob that was found: by its container, or by its identity.
        self.store.limits.check(Rights::READ)?;
        self.inner.segment(id, number, was_sound)
    }
}
