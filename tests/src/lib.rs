//! What the integration tests share.

pub mod child;
pub mod damage;
pub mod forge;
pub mod pages;
#[cfg(unix)]
pub mod power;
pub mod random;
pub mod staff;
pub mod vault;
pub mod work;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::{Durability, OpenOptions, Store};

/// A directory that is removed with everything in it when the value is dropped.
///
/// It lies in memory where the system has a memory file system, so that a slow disk can't make the tests slow: what
/// a test shows about durability it shows by killing processes, not by cutting the power.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new, empty directory.
    #[expect(clippy::new_without_default, reason = "making a directory is no default")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("table-core-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch directory can be made");
        Self(path)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A store in it.
    pub fn store(&self) -> Store {
        Store::open(self.0.join("store")).expect("a store can be made")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Options for a store whose test is not about power failures: one flush less per commit.
pub fn relaxed() -> OpenOptions {
    Store::options().durability(Durability::Relaxed)
}

/// The README's program, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub mod readme {}

/// The one of the crate's own README.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/README.md")]
pub mod core_readme {}

/// The programs of the cookbook.
#[cfg(doctest)]
#[doc = include_str!("../../docs/cookbook.md")]
pub mod cookbook {}
