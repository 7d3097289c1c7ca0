//! Directories for the stores of tests.

use std::path::Path;

use tempfile::TempDir;

/// Returns a directory in memory, where there is such a place: the disk's flushes are not what these tests wait for.
pub(crate) fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    dir.unwrap()
}
