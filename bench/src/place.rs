//! Directories for one run, removed when it ends.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
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

    /// In memory if there is a file system there, with a name of its own.
    pub(crate) fn for_tests(name: &str) -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self::at(parent.join(format!("table-bench-test-{name}-{}", std::process::id())))
    }

    fn under(parent: &Path) -> io::Result<Self> {
        Self::at(parent.join(format!("table-bench-{}", std::process::id())))
    }

    fn at(path: PathBuf) -> io::Result<Self> {
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
