//! What was not taken, and why.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use table_core::{DynamicEntity, Error};

use super::files::{self, failed};
use crate::failure::Failure;
use crate::output::push_json_text;

/// A part of a file that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reject {
    /// The line where it begins, from 1; of what comes from no file, the number of the entity.
    pub(crate) line: u64,
    /// The character of the line, from 1, if it is known.
    pub(crate) column: Option<u64>,
    /// The service's code for it.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The partition key and the row key, if they are known.
    pub(crate) keys: Option<(String, String)>,
}

impl Reject {
    /// Makes one of a text that is no entity.
    pub(crate) fn text(line: u64, column: Option<u64>, message: impl Into<String>) -> Self {
        Self { line, column, code: "InvalidInput", message: message.into(), keys: None }
    }

    /// Makes one of an entity that the store refuses.
    pub(crate) fn entity(line: u64, entity: &DynamicEntity, error: &Error) -> Self {
        Self {
            line,
            column: None,
            code: error.code(),
            message: error.to_string(),
            keys: Some((entity.partition_key().to_owned(), entity.row_key().to_owned())),
        }
    }

    /// Makes one of an entity that is not given to the store, in words for it.
    pub(crate) fn of(line: u64, entity: &DynamicEntity, message: String) -> Self {
        let keys = Some((entity.partition_key().to_owned(), entity.row_key().to_owned()));
        Self { line, column: None, code: "InvalidInput", message, keys }
    }

    /// Makes one of a part of a store that is left out as a whole, in words for it.
    pub(crate) fn part(message: String) -> Self {
        Self { code: "NotImplemented", ..Self::text(0, None, message) }
    }

    fn push(&self, text: &mut String) {
        write!(text, "{{\"line\":{}", self.line).unwrap_or_default();
        if let Some(column) = self.column {
            write!(text, ",\"column\":{column}").unwrap_or_default();
        }
        let keys = self.keys.as_ref();
        let named = [
            ("code", Some(self.code)),
            ("partitionKey", keys.map(|(partition, _)| &**partition)),
            ("rowKey", keys.map(|(_, row)| &**row)),
            ("message", Some(&*self.message)),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                write!(text, ",\"{name}\":").unwrap_or_default();
                push_json_text(text, value);
            }
        }
        text.push_str("}\n");
    }
}

/// The file of what was not taken, made with the first of it.
#[derive(Debug)]
pub(crate) struct Rejects {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
}

impl Rejects {
    /// Refuses a file of rejects that is what the entities are read from: it would be removed.
    pub(crate) fn refuse_source(path: &Path, source: &Path) -> Result<(), Failure> {
        if files::are_one(path, source) {
            let text =
                format!("`{}` is read, and can't be the file of rejects: name another one", path.display());
            return Err(Failure::Usage(text));
        }
        Ok(())
    }

    /// Begins a new file; one that is there of an earlier run is removed.
    pub(crate) fn new(path: PathBuf) -> Result<Self, Failure> {
        files::remove(&path)?;
        Ok(Self { path, file: None, bytes: 0 })
    }

    /// Goes on with a file that had so many bytes when it was last written; what stands behind them is removed. One that has become
    /// shorter is gone on with where it ends.
    pub(crate) fn resumed(path: PathBuf, bytes: u64) -> Result<Self, Failure> {
        let mut rejects = Self { path, file: None, bytes: 0 };
        if let Some(found) = fs::metadata(&rejects.path).ok().filter(fs::Metadata::is_file) {
            rejects.bytes = bytes.min(found.len());
            let file = OpenOptions::new().write(true).open(&rejects.path);
            let cut = file.and_then(|mut file| {
                file.set_len(rejects.bytes)?;
                file.seek(SeekFrom::End(0))?;
                Ok(file)
            });
            rejects.file = Some(cut.map_err(|error| failed("write", &rejects.path, error))?);
        }
        Ok(rejects)
    }

    /// Returns the file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends lines, and brings them to the disk; returns how many bytes the file has.
    pub(crate) fn write(&mut self, rejects: &[Reject]) -> Result<u64, Failure> {
        if rejects.is_empty() {
            return Ok(self.bytes);
        }
        let mut text = String::new();
        for reject in rejects {
            reject.push(&mut text);
        }
        let run = |file: &mut Option<File>| {
            let file = match file {
                Some(file) => file,
                None => file.insert(File::create(&self.path)?),
            };
            file.write_all(text.as_bytes())?;
            // A device or a pipe has no disk.
            if file.metadata()?.is_file() { file.sync_data() } else { Ok(()) }
        };
        run(&mut self.file).map_err(|error| failed("write", &self.path, error))?;
        self.bytes += u64::try_from(text.len()).unwrap_or_default();
        Ok(self.bytes)
    }
}
