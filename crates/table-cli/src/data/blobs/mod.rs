//! The contents of blobs beside a file of entities.
//!
//! `staff.jsonl` has its contents in `staff.jsonl.blobs`: each in a file that the digest of its bytes names, once for all
//! entities that share it. An entity refers to a blob by an identity of the store that it comes from. The directory `refs`
//! has a file for each, named by that, with the digest, the length and the content type of what it referred to. So neither the
//! writer nor the reader keeps a list in memory.

pub(crate) mod contents;
mod reader;
mod writer;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use table_core::blob::Blob;
use table_core::{Value, ValueRef};

pub(crate) use self::reader::BlobReader;
pub(crate) use self::writer::BlobWriter;
use super::files;

/// Bytes of a property that refers to a blob.
const REFERENCE_BYTES: usize = 40;

/// Returns the blob that a value refers to, and the bytes of the reference.
pub(crate) fn reference(value: ValueRef<'_>) -> Option<(Blob, &[u8])> {
    match value {
        ValueRef::Binary(bytes) if bytes.len() == REFERENCE_BYTES => {
            let blob = Blob::of(&Value::Binary(bytes.to_vec()))?;
            (!blob.is_empty()).then_some((blob, bytes))
        }
        _ => None,
    }
}

/// Returns the directory of the contents beside a file.
fn directory(file: &Path) -> PathBuf {
    files::beside(file, ".blobs")
}

/// Returns the path of what is noted of a reference.
fn note(directory: &Path, reference: &[u8]) -> PathBuf {
    directory.join("refs").join(hex(reference))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A text takes all that is written.
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    text
}
