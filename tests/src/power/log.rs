//! What the recorder has noted of a process, read back; `tests/recorder` writes it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A call that changed something, or a word of the process's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A file was opened so that it is made if it is not there.
    Open {
        /// Its number.
        file: u64,
        /// Whether it was emptied.
        emptied: bool,
        /// Where it is.
        path: PathBuf,
    },
    /// Bytes were written.
    Write {
        /// The file's number.
        file: u64,
        /// Where the bytes lie in it.
        offset: u64,
        /// Whether they were durable on return.
        flushed: bool,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A file was given this length.
    Truncate {
        /// The file's number.
        file: u64,
        /// In bytes.
        length: u64,
    },
    /// A file was flushed.
    Sync {
        /// Its number.
        file: u64,
        /// Whether that failed.
        failed: bool,
    },
    /// A directory was flushed.
    SyncDirectory {
        /// Where it is.
        path: PathBuf,
        /// Whether that failed.
        failed: bool,
    },
    /// A file got another name.
    Link(PathBuf, PathBuf),
    /// A file or a directory got another name in the place of its own.
    Rename(PathBuf, PathBuf),
    /// A file's name was removed.
    Unlink(PathBuf),
    /// A directory was made.
    Mkdir(PathBuf),
    /// A directory was removed.
    Rmdir(PathBuf),
    /// The process says that something is done, or is about to be.
    Ack(String),
    /// A call was made to fail.
    Fault(String),
}

/// Reads a log. The last note of a process that was killed may be cut off, and is left out.
pub fn read(path: &Path) -> std::io::Result<Vec<Note>> {
    let bytes = match std::fs::read(path) {
        // Of a process that has done nothing.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes?,
    };
    let (mut rest, mut notes) = (&*bytes, Vec::new());
    while let Some((note, after)) = next(rest) {
        notes.push(note);
        rest = after;
    }
    Ok(notes)
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

fn next(bytes: &[u8]) -> Option<(Note, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (file, rest) = number(rest)?;
    let (second, rest) = number(rest)?;
    let (third, rest) = number(rest)?;
    let (first_text, rest) = text(rest)?;
    let (second_text, rest) = text(rest)?;
    let path = |text| PathBuf::from(OsStr::from_bytes(text));
    let words = || String::from_utf8_lossy(first_text).trim_end().to_owned();
    let note = match kind {
        1 => Note::Open { file, emptied: second == 1, path: path(first_text) },
        2 => Note::Write { file, offset: second, flushed: third == 1, bytes: first_text.to_vec() },
        3 => Note::Truncate { file, length: second },
        4 => Note::Sync { file, failed: third == 1 },
        5 => Note::SyncDirectory { path: path(first_text), failed: third == 1 },
        6 => Note::Link(path(first_text), path(second_text)),
        7 => Note::Rename(path(first_text), path(second_text)),
        8 => Note::Unlink(path(first_text)),
        9 => Note::Mkdir(path(first_text)),
        10 => Note::Rmdir(path(first_text)),
        11 => Note::Ack(words()),
        12 => Note::Fault(format!("{} {}", words(), path(second_text).display())),
        _ => return None,
    };
    Some((note, rest))
}
