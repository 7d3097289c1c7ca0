//! What data are copied from and to, and compared: stores, files, directories of files.

use std::path::{Path, PathBuf};

use super::form::Form;
use super::manifest;
use crate::failure::Failure;
use crate::source::is_connection;

/// Where data lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A store, as `--store` names it.
    Store(String),
    /// A file with the entities of one table.
    File(PathBuf),
    /// A directory with a file for each table, as `export --all` makes it.
    Files(PathBuf),
}

impl Place {
    /// Reads what the command line names. How its name ends says what a file is that is not there yet.
    pub(crate) fn parse(text: &str) -> Self {
        let is_remote = text.starts_with("azure:") || text.contains("://") || is_connection(text);
        let path = Path::new(text);
        if is_remote {
            Self::Store(text.to_owned())
        } else if manifest::path(path).is_file() {
            Self::Files(path.to_owned())
        } else if path.is_file() || (!path.exists() && form_of(path).is_some()) {
            Self::File(path.to_owned())
        } else {
            Self::Store(text.to_owned())
        }
    }
}

/// Returns the lossless form that a file's name tells.
pub(crate) fn form_of(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()? {
        "jsonl" | "ndjson" => Some(Form::Odata),
        "csv" => Some(Form::AzureCsv),
        "json" => Some(Form::Azcopy),
        _ => None,
    }
}

/// Returns the table whose entities a file has: the one that is named, or the one that the file is named after.
pub(crate) fn table_of(path: &Path, named: &[String]) -> Result<String, Failure> {
    match named {
        [table] => Ok(table.clone()),
        [] => path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .map(str::to_owned)
            .ok_or_else(|| Failure::Usage(format!("`{}` names no table: give --table", path.display()))),
        _ => Err(Failure::Usage(format!(
            "the file `{}` has the entities of one table: give one --table",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_by_what_is_there_and_else_by_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("data"), "").unwrap();
        std::fs::create_dir(path("dump")).unwrap();
        std::fs::write(path("dump/manifest.jsonl"), "").unwrap();
        std::fs::create_dir(path("odd.csv")).unwrap();
        let parse = |name: &str| Place::parse(path(name).to_str().unwrap());
        let store = |name: &str| Place::Store(path(name).to_str().unwrap().to_owned());
        assert_eq!(parse("data"), Place::File(path("data")));
        assert_eq!(parse("new.jsonl"), Place::File(path("new.jsonl")));
        assert_eq!(parse("dump"), Place::Files(path("dump")));
        assert_eq!(parse("odd.csv"), store("odd.csv"));
        assert_eq!(parse("company.tables"), store("company.tables"));
        assert_eq!(Place::parse("azure:x.json"), Place::Store("azure:x.json".into()));
        assert_eq!(table_of(Path::new("a/Company.jsonl"), &[]).unwrap(), "Company");
        assert_eq!(table_of(Path::new("a/Company.jsonl"), &["Staff".into()]).unwrap(), "Staff");
    }
}
