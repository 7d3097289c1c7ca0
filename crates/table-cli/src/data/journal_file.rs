//! A file of lines, each of which is on the disk before the work goes on. One run at a time writes to it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::files::{self, failed};
use crate::failure::Failure;

/// The file.
#[derive(Debug)]
pub(crate) struct JournalFile {
    path: PathBuf,
    file: File,
}

impl JournalFile {
    /// Begins a file with its first line.
    pub(crate) fn create(path: PathBuf, first: &str) -> Result<Self, Failure> {
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = files::lock(opened.map_err(|error| failed("write", &path, error))?, &path)?;
        file.set_len(0).map_err(|error| failed("write", &path, error))?;
        let mut journal = Self { path, file };
        journal.write(first)?;
        Ok(journal)
    }

    /// Opens the file of a run that was cut short, and reads its lines; `None` if there is none, or not a whole line in it.
    pub(crate) fn open(path: PathBuf) -> Result<Option<(Self, String)>, Failure> {
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == IoKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &path, error)),
        };
        let mut file = files::lock(file, &path)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| failed("read", &path, error))?;
        // A line that was cut short was not written.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        text.truncate(whole);
        if text.is_empty() {
            return Ok(None);
        }
        Ok(Some((Self { path, file }, text)))
    }

    /// Refuses to go on if there is a file: `cure` says what is to be done with it. While another run writes to it, that is told.
    pub(crate) fn refuse_begun(path: &Path, cure: impl FnOnce() -> String) -> Result<(), Failure> {
        match File::open(path) {
            Ok(file) => files::lock(file, path).and_then(|_| Err(Failure::Usage(cure()))),
            Err(error) if error.kind() == IoKind::NotFound => Ok(()),
            Err(error) => Err(failed("read", path, error)),
        }
    }

    /// Cuts off what stands behind so many bytes, which is half a line, and goes there.
    pub(crate) fn go_on_behind(&mut self, bytes: usize) -> Result<(), Failure> {
        let bytes = u64::try_from(bytes).unwrap_or_default();
        let moved = self.file.set_len(bytes).and_then(|()| self.file.seek(SeekFrom::Start(bytes)));
        moved.map(drop).map_err(|error| failed("write", &self.path, error))
    }

    /// Appends a line, which has its end.
    pub(crate) fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| failed("write", &self.path, error))
    }

    /// Removes the file: the work is through.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        files::remove(&self.path)
    }
}
