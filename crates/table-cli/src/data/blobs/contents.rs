//! Where the contents lie that entities refer to.

use std::fs::{self, File};
use std::io::{ErrorKind as IoKind, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use table_core::{ErrorKind, Tables, ValueRef};

use super::{Held, directory, hex, note};
use crate::data::files::failed;
use crate::failure::Failure;

/// Where contents lie.
#[derive(Debug)]
pub(crate) enum Contents {
    /// In a store.
    Store(Tables),
    /// In a directory beside a file.
    Directory(PathBuf),
    /// Nowhere: there are no entities.
    Nowhere,
}

/// A content in a file.
pub(super) struct Noted {
    pub(super) digest: String,
    pub(super) content_type: String,
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Contents {
    /// Returns those beside a file.
    pub(crate) fn beside(file: &Path) -> Self {
        Self::Directory(directory(file))
    }

    /// Returns the digest of what a reference refers to; `None` if that is not there.
    fn digest(&self, blob: &Held, reference: &[u8]) -> Result<Option<String>, Failure> {
        match self {
            Self::Nowhere => Ok(None),
            Self::Directory(directory) => Ok(find(directory, reference)?.ok().map(|noted| noted.digest)),
            Self::Store(tables) => {
                let reader = match blob.open(tables) {
                    Ok(reader) => reader,
                    Err(error) if error.kind() == ErrorKind::BlobGone => return Ok(None),
                    Err(error) => return Err(error.into()),
                };
                digest_of(reader, tables.path()).map(Some)
            }
        }
    }
}

/// Returns the digest of what a reader of a store gives.
pub(crate) fn digest_of(mut reader: impl Read, place: &Path) -> Result<String, Failure> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let read = reader
            .read(&mut buffer)
            .map_err(|error| failed("read the contents of a blob in", place, error))?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(buffer.get(..read).unwrap_or_default());
    }
}

/// Returns whether two values refer to the same contents, one of each side.
pub(crate) fn are_same(sides: [&Contents; 2], values: [ValueRef<'_>; 2]) -> Result<bool, Failure> {
    let [one, other] = values.map(Held::of);
    let (Some((one, of_one)), Some((other, of_other))) = (one, other) else { return Ok(false) };
    if one.len() != other.len() {
        return Ok(false);
    }
    let [first, second] = sides;
    let digest = first.digest(&one, of_one)?;
    Ok(digest.is_some() && digest == second.digest(&other, of_other)?)
}

/// Finds what a reference refers to in a directory; the words say what is wrong.
pub(super) fn find(directory: &Path, reference: &[u8]) -> Result<Result<Noted, String>, Failure> {
    let note = note(directory, reference);
    let text = match fs::read_to_string(&note) {
        Ok(text) => text,
        Err(error) if error.kind() == IoKind::NotFound => {
            return Ok(Err(format!("has no contents: there is no `{}`", note.display())));
        }
        Err(error) => return Err(failed("read", &note, error)),
    };
    let mut parts = text.trim_end_matches('\n').splitn(3, ' ');
    let (Some(digest), Some(_), Some(content_type)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(Err(format!("has no contents: `{}` is damaged", note.display())));
    };
    // A digest names a file of this directory, and no other.
    if digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Err(format!("has no contents: `{}` names no digest", note.display())));
    }
    let path = directory.join(digest);
    match File::open(&path) {
        Ok(file) => {
            let (digest, content_type) = (digest.to_owned(), content_type.to_owned());
            Ok(Ok(Noted { digest, content_type, path, file }))
        }
        Err(error) if error.kind() == IoKind::NotFound => {
            Ok(Err(format!("has no contents: there is no `{}`", path.display())))
        }
        Err(error) => Err(failed("read", &path, error)),
    }
}
