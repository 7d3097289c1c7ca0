//! The list of the files of a whole store.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use table_core::ValueRef;
use table_core::odata::{Member, Reader};

use super::export::Exported;
use super::files::{NewFile, failed};
use crate::failure::Failure;
use crate::output::push_json_text;

/// The name of the list.
const NAME: &str = "manifest.jsonl";

/// A file in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) table: String,
    pub(crate) file: String,
    /// How many rows were written, if that is known.
    pub(crate) entities: Option<u64>,
    /// The sum of the hashes of the entities.
    pub(crate) digest: String,
}

impl Listed {
    /// Returns what is wrong with the file if so many entities were read of it; `None` if they are as many as were written.
    pub(crate) fn lacks(&self, read: u64) -> Option<String> {
        let written = self.entities.filter(|written| *written != read)?;
        Some(format!("`{}` has {read} entities, and {written} by the list of the export", self.file))
    }

    /// Makes the line of a table's file.
    pub(crate) fn new(table: &str, file: &str, exported: &Exported) -> Self {
        Self {
            table: table.to_owned(),
            file: file.to_owned(),
            entities: Some(exported.digest.entities),
            digest: exported.digest.text(),
        }
    }
}

/// Returns the path of the list of a directory.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Writes the list of a directory.
pub(crate) fn write(directory: &Path, files: &[Listed]) -> Result<(), Failure> {
    let mut text = String::new();
    for listed in files {
        text.push_str("{\"table\":");
        push_json_text(&mut text, &listed.table);
        text.push_str(",\"file\":");
        push_json_text(&mut text, &listed.file);
        // A text takes all that is written.
        let entities = listed.entities.unwrap_or_default();
        writeln!(text, ",\"entities\":\"{entities}\",\"digest\":\"{}\"}}", listed.digest).unwrap_or_default();
    }
    let mut file = NewFile::create(&path(directory))?;
    file.write(text.as_bytes())?;
    file.finish().map(drop)
}

/// Reads the list of a directory.
pub(crate) fn read(directory: &Path) -> Result<Vec<Listed>, Failure> {
    let path = path(directory);
    let text = fs::read_to_string(&path).map_err(|error| failed("read", &path, error))?;
    let mut files = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut listed = Listed::default();
        let read = Reader::new().visit(line.as_bytes(), |member| {
            if let Member::Property(name, ValueRef::String(value)) = member {
                match name {
                    "table" => value.clone_into(&mut listed.table),
                    "file" => value.clone_into(&mut listed.file),
                    "digest" => value.clone_into(&mut listed.digest),
                    "entities" => listed.entities = value.parse().ok(),
                    _ => {}
                }
            }
            Ok(())
        });
        // A file of this directory, and no other.
        let is_sound = read.is_ok() && !listed.table.is_empty() && !listed.file.contains(['/', '\\']);
        if !is_sound || listed.file.is_empty() {
            let line = number + 1;
            return Err(Failure::Usage(format!(
                "line {line} of `{}` names no table and file of an export",
                path.display()
            )));
        }
        files.push(listed);
    }
    Ok(files)
}
