//! How far an import has come, beside its file: by this it is resumed when it was cut short.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::blobs::hex;
use super::counts::Counts;
use super::files;
use super::journal_file::JournalFile;
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
pub(crate) struct Journal(JournalFile);

impl Journal {
    /// Returns the path of the journal beside a file.
    pub(crate) fn path_of(file: &Path) -> PathBuf {
        files::beside(file, ".journal")
    }

    /// Begins a journal.
    pub(crate) fn create(path: PathBuf, of: &ImportOf) -> Result<Self, Failure> {
        JournalFile::create(path, &of.line()).map(Self)
    }

    /// Reads the journal of an import that was cut short, to go on with it; `None` if there is none.
    pub(crate) fn resume(path: &Path, of: &ImportOf) -> Result<Option<(Self, Progress)>, Failure> {
        let Some((mut file, text)) = JournalFile::open(path.to_owned())? else { return Ok(None) };
        let Some(lines) = text.strip_prefix(&of.line()) else {
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
        file.go_on_behind(text.len())?;
        Ok(Some((Self(file), progress)))
    }

    /// Removes the journal: the import is through.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.0.finish()
    }
}

impl Notes for Journal {
    fn begin(&mut self, to: Place) -> Result<(), Failure> {
        self.0.write(&format!("begin\t{}\t{}\n", to.offset, to.line))
    }

    fn done(&mut self, progress: &Progress) -> Result<(), Failure> {
        let Progress { done, counts, reject_bytes, .. } = progress;
        let mut line = format!("done\t{}\t{}", done.offset, done.line);
        for number in counts.numbers().into_iter().chain([*reject_bytes]) {
            // A text takes all that is written.
            write!(line, "\t{number}").unwrap_or_default();
        }
        line.push('\n');
        self.0.write(&line)
    }
}

/// Reads a line.
fn read(line: &str, progress: &mut Progress) -> Option<()> {
    let mut parts = line.split('\t');
    let what = parts.next()?;
    let numbers: Vec<u64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match (what, &*numbers) {
        // A run that was cut short, too, may have begun less than the one before it.
        ("begin", [offset, line]) => {
            progress.begun = progress.begun.later(Place { offset: *offset, line: *line });
        }
        ("done", [offset, line, read, written, skipped, copies, rejected, bytes]) => {
            progress.done = Place { offset: *offset, line: *line };
            progress.reject_bytes = *bytes;
            progress.counts = Counts::of_numbers([*read, *written, *skipped, *copies, *rejected]);
        }
        _ => return None,
    }
    Some(())
}
