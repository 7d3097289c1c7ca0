//! Files that commands read and write.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind as IoKind, Write};
use std::path::{Path, PathBuf};

use table_core::{Error, ErrorKind};

use crate::failure::Failure;

/// Returns the failure of something that was done with a file, in words that follow "cannot ".
pub(crate) fn failed(doing: &'static str, path: &Path, error: io::Error) -> Failure {
    if error.kind() == IoKind::NotFound {
        return Failure::NotFound(format!("cannot {doing} `{}`: there is no such file", path.display()));
    }
    let because = format!("`{}`: {error}", path.display());
    Failure::Store(Error::new(ErrorKind::Io).because(because).attempted(doing).caused_by(error))
}

/// Returns the path of a file beside another one, whose name is that one's with an ending.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// Returns the length of a file; `None` if there is none.
pub(crate) fn length_of(path: &Path) -> Result<Option<u64>, Failure> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if error.kind() == IoKind::NotFound => Ok(None),
        Err(error) => Err(failed("look at", path, error)),
    }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != IoKind::NotFound => Err(failed("remove", path, error)),
        _ => Ok(()),
    }
}

/// A file that gets its name when all of it is written: what is cut short leaves a file of the same name untouched.
pub(crate) struct NewFile {
    path: PathBuf,
    part: PathBuf,
    file: Option<BufWriter<File>>,
    written: u64,
}

impl NewFile {
    /// Begins the file of this path, under another name.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let part = beside(path, ".part");
        let file = File::create(&part).map_err(|error| failed("write", &part, error))?;
        let file = Some(BufWriter::with_capacity(1 << 16, file));
        Ok(Self { path: path.to_owned(), part, file, written: 0 })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes).map_err(|error| failed("write", &self.part, error))?;
        self.written += u64::try_from(bytes.len()).unwrap_or_default();
        Ok(())
    }

    /// Brings the file to the disk and gives it its name; returns how many bytes it has.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        if let Some(file) = self.file.take() {
            let whole = file.into_inner().map_err(io::IntoInnerError::into_error);
            let synced = whole.and_then(|file| file.sync_all());
            let named = synced.and_then(|()| fs::rename(&self.part, &self.path));
            if let Err(error) = named {
                drop(fs::remove_file(&self.part));
                return Err(failed("write", &self.path, error));
            }
        }
        Ok(self.written)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            drop(fs::remove_file(&self.part));
        }
    }
}
