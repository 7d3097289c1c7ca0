//! Contents to files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use table_core::{ErrorKind, Tables};

use super::contents::find;
use super::{Held, directory, hex, note};
use crate::data::files::failed;
use crate::failure::Failure;

/// Writes contents of blobs beside a file.
pub(crate) struct BlobWriter {
    directory: PathBuf,
    is_made: bool,
    written: u64,
    gone: u64,
}

impl BlobWriter {
    /// Makes a writer of the contents beside this file. A directory is made with the first of them.
    pub(crate) fn beside(file: &Path) -> Self {
        Self { directory: directory(file), is_made: false, written: 0, gone: 0 }
    }

    /// Writes what a reference refers to, unless it is there. What no entity holds any more is counted.
    pub(crate) fn write(&mut self, tables: &Tables, blob: &Held, reference: &[u8]) -> Result<(), Failure> {
        if self.has(blob, reference)? {
            return Ok(());
        }
        let mut reader = match blob.open(tables) {
            Ok(reader) => reader,
            Err(error) if error.kind() == ErrorKind::BlobGone => {
                self.gone += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        self.make()?;
        let content_type = reader.content_type().to_owned();
        let part = self.directory.join("content.part");
        let (digest, length) = copy(&mut reader, &part)?;
        let path = self.directory.join(&digest);
        fs::rename(&part, &path).map_err(|error| failed("write", &path, error))?;
        let note = note(&self.directory, reference);
        let text = format!("{digest} {length} {content_type}\n");
        let named = write_note(&part, &text).and_then(|()| fs::rename(&part, &note));
        named.map_err(|error| failed("write", &note, error))?;
        self.written += 1;
        Ok(())
    }

    /// Returns whether a reference has its content there, whole: an export that was stopped may have left half of it.
    fn has(&self, blob: &Held, reference: &[u8]) -> Result<bool, Failure> {
        let Ok(noted) = find(&self.directory, reference)? else { return Ok(false) };
        let found = noted.file.metadata().map_err(|error| failed("read", &noted.path, error))?;
        Ok(found.len() == blob.len())
    }

    /// Returns how many contents were written, and how many were gone when they were to be.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.written, self.gone)
    }

    fn make(&mut self) -> Result<(), Failure> {
        if !self.is_made {
            let refs = self.directory.join("refs");
            fs::create_dir_all(&refs).map_err(|error| failed("make", &refs, error))?;
            self.is_made = true;
        }
        Ok(())
    }
}

/// Writes what is noted of a reference, and brings it to the disk.
fn write_note(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Copies what a reader gives into a file; returns the digest and the length of it.
fn copy(reader: &mut impl Read, path: &Path) -> Result<(String, u64), Failure> {
    let mut run = || {
        let mut file = File::create(path)?;
        let (mut hash, mut length, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
        loop {
            let read = reader.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hash.update(bytes);
            file.write_all(bytes)?;
            length += u64::try_from(read).unwrap_or_default();
        }
        file.sync_all()?;
        Ok((hex(&hash.finalize()), length))
    };
    run().map_err(|error| failed("write", path, error))
}
