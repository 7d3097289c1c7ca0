//! Directories for one run, removed when it ends.

use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct Place(PathBuf);

impl Place {
    /// In memory, where a flush costs nothing.
    pub(crate) fn in_memory() -> io::Result<Self> {
        Self::under(Path::new("/dev/shm"))
    }

    /// Beside this program, on the disk that it was built on.
    pub(crate) fn on_disk() -> io::Result<Self> {
        let program = std::env::current_exe()?;
        Self::under(program.parent().unwrap_or(&program))
    }

    fn under(parent: &Path) -> io::Result<Self> {
        let path = parent.join(format!("table-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("`{}` is left behind: {error}", self.0.display());
        }
    }
}
