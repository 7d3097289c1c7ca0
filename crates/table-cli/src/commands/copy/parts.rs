//! Which parts of a store are copied.

use std::path::Path;

use table_core::{ErrorKind, Tables};

use super::Copy;
use crate::data::copy_journal::Part;
use crate::data::manifest::{self, Listed};
use crate::failure::Failure;

impl Copy {
    /// Returns whether parts are named, so that only these are copied.
    pub(super) fn names_parts(&self) -> bool {
        !(self.tables.is_empty() && self.queues.is_empty() && self.containers.is_empty())
    }

    /// Returns the parts of a store that are to be copied: those that are named, or all.
    pub(super) fn parts_of(&self, from: &Tables) -> Result<Vec<Part>, Failure> {
        if !self.names_parts() {
            let tables = from.tables()?.into_iter().map(Part::Table);
            let containers = or_none(from.containers())?.into_iter().map(Part::Container);
            let queues = or_none(from.queues())?.into_iter().map(Part::Queue);
            return Ok(tables.chain(containers).chain(queues).collect());
        }
        let mut parts = Vec::new();
        for name in &self.tables {
            parts.push(Part::Table(from.dynamic_table(name)?.name().to_owned()));
        }
        for name in &self.containers {
            known("container", name, &from.containers()?)?;
            parts.push(Part::Container(name.clone()));
        }
        for name in &self.queues {
            known("queue", name, &from.queues()?)?;
            parts.push(Part::Queue(name.clone()));
        }
        Ok(parts)
    }

    /// Returns the files that are to be copied.
    pub(super) fn files_of(&self, directory: &Path) -> Result<Vec<Listed>, Failure> {
        let mut files = manifest::read(directory)?;
        for name in &self.tables {
            if !files.iter().any(|listed| listed.table.eq_ignore_ascii_case(name)) {
                let text = format!("`{}` has no file of the table `{name}`", directory.display());
                return Err(Failure::NotFound(text));
            }
        }
        if !self.tables.is_empty() {
            let is_named =
                |listed: &Listed| self.tables.iter().any(|name| name.eq_ignore_ascii_case(&listed.table));
            files.retain(is_named);
        }
        Ok(files)
    }

    /// Refuses names of queues and containers where files are copied, which have none.
    pub(super) fn refuse_parts_of_files(&self) -> Result<(), Failure> {
        if self.queues.is_empty() && self.containers.is_empty() {
            return Ok(());
        }
        let text = "files have entities of tables alone: --queue and --container go from store to store";
        Err(Failure::Usage(text.into()))
    }
}

/// Returns names, or none where a store has not the ability to have any.
fn or_none(names: table_core::Result<Vec<String>>) -> Result<Vec<String>, Failure> {
    match names {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Vec::new()),
        names => Ok(names?),
    }
}

fn known(what: &str, name: &String, all: &[String]) -> Result<(), Failure> {
    if all.contains(name) {
        return Ok(());
    }
    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    Err(Failure::NotFound(format!("the source has no {what} `{name}`; it has {all}")))
}
