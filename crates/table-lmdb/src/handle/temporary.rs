//! Stores that last as long as their handles.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::{env, io, process};

use table_engine::error::Result;

use crate::open::{Durability, OpenOptions};
use crate::{Store, lmdb};

/// The number of names that are tried; each is one of 2^64.
const NAMES: u64 = 16;

/// A directory that is removed, with all that is in it, when it is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// Makes a directory where the system keeps temporary files. Other users can't look into it, and it is new: the
    /// call fails if there is a directory or a link of that name.
    fn make() -> io::Result<Self> {
        let names = RandomState::new();
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for name in 0..NAMES {
            let name = format!("tables-{}-{:016x}", process::id(), names.hash_one(name));
            let path = env::temp_dir().join(name);
            match private().create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

#[cfg_attr(not(unix), expect(unused_mut, reason = "only there it has a mode"))]
fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

impl Drop for TemporaryDirectory {
    /// Removes the directory. A failure can't be reported; then the directory is left among the temporary files.
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

impl Store {
    /// Returns a new store in a directory of its own among the system's temporary ones, which is removed when the last
    /// handle of it is dropped: stores, tables, snapshots and iterators. For unit tests: each has a store for itself,
    /// and nothing to clean up.
    ///
    /// It is a store like any other, on disk; what a power failure would leave of it is not cared for
    /// ([`Durability::Relaxed`]). A process that is killed leaves the directory behind.
    /// [`OpenOptions::temporary`] makes one with other options.
    ///
    /// ```
    /// use table_core::{Entity, Result, Store, Table};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// struct Employee { department: String, id: u32, age: i32 }
    ///
    /// /// What is to be tested.
    /// fn birthday(staff: &Table<Employee>, id: u32) -> Result<i32> {
    ///     Ok(staff.update(Employee::key("Sales", id), |employee| employee.age += 1)?.age)
    /// }
    ///
    /// // In a test. The table keeps the store.
    /// let staff = Store::temporary()?.table::<Employee>()?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 1, age: 40 })?;
    /// assert_eq!(birthday(&staff, 1)?, 41);
    /// assert!(birthday(&staff, 2).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn temporary() -> Result<Self> {
        Self::options().durability(Durability::Relaxed).temporary()
    }
}

impl OpenOptions {
    /// Opens a new store that lasts as long as its handles; see [`Store::temporary`].
    pub fn temporary(&self) -> Result<Store> {
        let directory = TemporaryDirectory::make().map_err(|error| {
            let place = env::temp_dir();
            let because = format!("no directory could be made in `{}`: {error}", place.display());
            lmdb::io_error(error).because(because).attempted("open a temporary store")
        })?;
        let store = self.open(directory.path())?;
        store.shared().keep(directory);
        Ok(store)
    }
}
