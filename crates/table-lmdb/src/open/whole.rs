//! A look at a whole small environment in its file, before any of it is touched through the map.
//!
//! LMDB believes its pages. A flipped bit in a page's number, in an offset or in a flag leads it out of the file, which
//! kills the process. A store is too large to be read at each opening; the environments beside it are not.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use lmdb_verify::raw_pages;

use table_engine::error::Result;

use super::atomic_create::DATA;
use super::reader_pin::with_pinned_reader;
use crate::lmdb::{self, LmdbEnv};

/// Checks the newest commit of the environment in a directory.
pub(super) fn check(env: &LmdbEnv, dir: &Path) -> Result<()> {
    let data = dir.join(DATA);
    let mut file =
        File::open(&data).map_err(|error| lmdb::file_damage(lmdb_verify::Error::unread(error), &data, ""))?;
    with_pinned_reader(env, &mut file, &data, |_, header, file| {
        let length = file.seek(SeekFrom::End(0)).map_err(lmdb_verify::Error::unread);
        let verified = length.and_then(|length| raw_pages::verify_unnamed(file, header, length));
        verified.map(drop).map_err(|error| lmdb::file_damage(error, &data, ""))
    })
}
