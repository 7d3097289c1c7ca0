//! The stores that this process has open.
//!
//! LMDB's locks are the process's, not the descriptor's: a second environment on one file would, when closed, release
//! the first one's. So each file is open once, and a second opening shares it.

use std::any::Any;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use heed::EnvClosingEvent;

use table_engine::error::{Error, ErrorKind, Result};

use super::map::PATIENCE;
use super::options::OpenOptions;

/// A file's identity, by whatever path it was reached.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

#[cfg(unix)]
impl Identity {
    pub(super) fn of(file: &File, _: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        file.metadata().map(|metadata| Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// A file's identity: elsewhere, the path without its links.
#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity(std::path::PathBuf);

#[cfg(not(unix))]
impl Identity {
    pub(super) fn of(_: &File, path: &Path) -> io::Result<Self> {
        path.canonicalize().map(Self)
    }
}

/// A store's place in the registry. Its lock is held while the store is being opened.
type Slot = Arc<Mutex<Option<Registered>>>;

struct Registered {
    store: Weak<dyn Any + Send + Sync>,
    options: OpenOptions,
    /// Tells when the environment is really closed, which may be long after `store` is gone.
    closed: EnvClosingEvent,
}

impl Registered {
    fn is_closed(&self) -> bool {
        self.closed.wait_timeout(Duration::ZERO)
    }
}

static STORES: Mutex<Vec<(Identity, Slot)>> = Mutex::new(Vec::new());

/// Locks a mutex, also after a panic: its value is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn slot(identity: &Identity) -> Slot {
    let mut stores = lock(&STORES);
    // No thread waits at a slot that only the registry holds; if its environment is closed too, it is removed.
    stores.retain(|(_, slot)| {
        Arc::strong_count(slot) > 1 || lock(slot).as_ref().is_some_and(|opened| !opened.is_closed())
    });
    if let Some((_, slot)) = stores.iter().find(|(known, _)| known == identity) {
        return Arc::clone(slot);
    }
    let slot = Slot::default();
    stores.push((identity.clone(), Arc::clone(&slot)));
    slot
}

/// Returns the store that is open under this identity, or else the one that `open` makes, with the event of its
/// closing.
pub(super) fn shared<T: Any + Send + Sync>(
    identity: &Identity,
    options: &OpenOptions,
    open: impl FnOnce() -> Result<(Arc<T>, EnvClosingEvent)>,
) -> Result<Arc<T>> {
    let slot = slot(identity);
    let mut opened = lock(&slot);
    if let Some(stale) = &*opened {
        if let Some(store) = stale.store.upgrade() {
            let conflict = |because| Error::new(ErrorKind::OptionsConflict).because(because);
            if let Some(because) = stale.options.conflict(options) {
                return Err(conflict(because));
            }
            return store
                .downcast()
                .map_err(|_| conflict("the store is open in this process as another type".into()));
        }
        // Another thread may be dropping its last handle. An opening before that is done would lose its locks.
        if !stale.closed.wait_timeout(PATIENCE) {
            return Err(Error::new(ErrorKind::OptionsConflict).because(
                "the store was closed in this process, yet a snapshot or an iterator of it is still alive; \
                 drop that first",
            ));
        }
    }
    *opened = None;
    let (store, closed) = open()?;
    let weak = Arc::downgrade(&store);
    *opened = Some(Registered { store: weak, options: options.clone(), closed });
    Ok(store)
}
