//! The contents of blobs beside a file of entities.
//!
//! `staff.jsonl` has its contents in `staff.jsonl.blobs`: each in a file that the digest of its bytes names, once for all
//! entities that share it. An entity refers to a blob by an identity of the store that it comes from. The directory `refs`
//! has a file for each, named by that, with the digest, the length and the content type of what it referred to. So neither the
//! writer nor the reader keeps a list in memory. A blob whose bytes are sealed has them there as they were before, since the
//! keys were given, and is sealed again where it is read.

pub(crate) mod contents;
mod held;
mod reader;
mod writer;

use std::fmt::Write;
use std::path::{Path, PathBuf};

pub(crate) use self::held::Held;
pub(crate) use self::reader::BlobReader;
pub(crate) use self::writer::BlobWriter;
use super::files;

/// Returns the directory of the contents beside a file.
fn directory(file: &Path) -> PathBuf {
    files::beside(file, ".blobs")
}

/// Returns the path of what is noted of a reference.
fn note(directory: &Path, reference: &[u8]) -> PathBuf {
    directory.join("refs").join(hex(reference))
}

/// Returns bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A text takes all that is written.
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    text
}

/// Returns the bytes of a text that [`hex`] has made; `None` if it is none.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { (0..text.len()).step_by(2).map(byte).collect() } else { None }
}
