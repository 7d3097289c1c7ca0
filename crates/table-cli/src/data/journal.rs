//! How far an import has come, beside its file: by this it is resumed when it was cut short.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind as IoKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::blobs::hex;
use super::counts::Counts;
use super::files::{self, failed};
use super::notes::{Notes, Progress};
use super::read::Place;
use crate::failure::Failure;

/// What a journal begins with.
const HEAD: &str = "tables-import 1";

/// What an import is of, so that another one does not go on with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportOf {
    /// The store, the table and the way of writing.
    pub(crate) target: String,
    /// How many bytes the file has.
    pub(crate) bytes: u64,
}

impl ImportOf {
    /// Returns the first line. It has a digest of what is meant: the name of a store may hold a password.
    fn line(&self) -> String {
        format!("{HEAD}\t{}\t{}\n", self.bytes, hex(&Sha256::digest(&self.target)))
    }
}

/// The file.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Returns the path of the journal beside a file.
    pub(crate) fn path_of(file: &Path) -> PathBuf {
        files::beside(file, ".journal")
    }

    /// Begins a journal.
    pub(crate) fn create(path: PathBuf, of: &ImportOf) -> Result<Self, Failure> {
        let made = File::create(&path).and_then(|mut file| {
            file.write_all(of.line().as_bytes())?;
            file.sync_data()?;
            Ok(file)
        });
        let file = made.map_err(|error| failed("write", &path, error))?;
        Ok(Self { path, file })
    }

    /// Reads the journal of an import that was cut short, to go on with it; `None` if there is none.
    pub(crate) fn resume(path: PathBuf, of: &ImportOf) -> Result<Option<(Self, Progress)>, Failure> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == IoKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &path, error)),
        };
        // A line that was cut short was not written.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines = text.get(..whole).unwrap_or_default();
        let Some(lines) = lines.strip_prefix(&of.line()) else {
            return Err(Failure::Usage(format!(
                "`{}` is of another import: of another file, table, store or mode. Remove it to begin anew",
                path.display()
            )));
        };
        let mut progress = Progress::default();
        for (number, line) in lines.lines().enumerate() {
            read(line, &mut progress).ok_or_else(|| {
                let text = format!("line {} of `{}` is damaged", number + 2, path.display());
                Failure::Usage(format!("{text}: remove the file to begin anew, with --mode skip, say"))
            })?;
        }
        let opened = OpenOptions::new().write(true).open(&path).and_then(|mut file| {
            let whole = u64::try_from(whole).unwrap_or_default();
            file.set_len(whole)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        });
        let file = opened.map_err(|error| failed("write", &path, error))?;
        Ok(Some((Self { path, file }, progress)))
    }

    /// Removes the journal: the import is through.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        files::remove(&self.path)
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| failed("write", &self.path, error))
    }
}

impl Notes for Journal {
    fn begin(&mut self, to: Place) -> Result<(), Failure> {
        self.write(&format!("begin\t{}\t{}\n", to.offset, to.line))
    }

    fn done(&mut self, progress: &Progress) -> Result<(), Failure> {
        let Progress { done, counts, reject_bytes, .. } = progress;
        let mut line = format!("done\t{}\t{}", done.offset, done.line);
        for number in counts.numbers().into_iter().chain([*reject_bytes]) {
            // A text takes all that is written.
            write!(line, "\t{number}").unwrap_or_default();
        }
        line.push('\n');
        self.write(&line)
    }
}

/// Reads a line.
fn read(line: &str, progress: &mut Progress) -> Option<()> {
    let mut parts = line.split('\t');
    let what = parts.next()?;
    let numbers: Vec<u64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match (what, &*numbers) {
        ("begin", [offset, line]) => progress.begun = Place { offset: *offset, line: *line },
        ("done", [offset, line, read, written, skipped, copies, rejected, bytes]) => {
            progress.done = Place { offset: *offset, line: *line };
            progress.reject_bytes = *bytes;
            progress.counts = Counts::of_numbers([*read, *written, *skipped, *copies, *rejected]);
        }
        _ => return None,
    }
    Some(())
}
