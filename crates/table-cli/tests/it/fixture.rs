//! A store with something of every kind in it, made once for all tests, and copies of it for those that write.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::fill::fill;

/// Where a store lies, and its key ring.
#[derive(Debug)]
pub(crate) struct Place {
    store: PathBuf,
    ring: PathBuf,
}

impl Place {
    fn at(directory: &Path) -> Self {
        Self { store: directory.join("company.tables"), ring: directory.join("company.keys") }
    }

    /// Returns the store's directory.
    pub(crate) fn store(&self) -> &str {
        self.store.to_str().expect("the path is text")
    }

    /// Returns the key ring's file.
    pub(crate) fn ring(&self) -> &str {
        self.ring.to_str().expect("the path is text")
    }
}

/// Returns the store that all tests read.
pub(crate) fn company() -> &'static Place {
    static COMPANY: OnceLock<Place> = OnceLock::new();
    COMPANY.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("table-cli");
        // What an earlier run has left.
        drop(fs::remove_dir_all(&directory));
        fs::create_dir_all(&directory).unwrap();
        let place = Place::at(&directory);
        fill(&place.store, &place.ring).unwrap();
        place
    })
}

/// Returns a copy of that store, which may be written to.
pub(crate) fn copy() -> (TempDir, Place) {
    let from = company();
    let directory = tempfile::tempdir().unwrap();
    let place = Place::at(directory.path());
    copy_all(&from.store, &place.store);
    fs::copy(&from.ring, &place.ring).unwrap();
    (directory, place)
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if entry.is_dir() {
            copy_all(&entry, &to.join(name));
        } else if name != "lock.mdb" {
            fs::copy(&entry, to.join(name)).unwrap();
        }
    }
}
