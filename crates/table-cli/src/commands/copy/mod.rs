//! `tables copy`: from stores and files to stores and files.

use std::path::{Path, PathBuf};

use clap::Args;
use table_core::{ErrorKind, Tables};

use super::export::count;
use crate::args::Options;
use crate::data::copy::{Copied, Copying, Origin, copy};
use crate::data::export::to_file;
use crate::data::form::Form;
use crate::data::load::Mode;
use crate::data::manifest::{self, Listed};
use crate::data::open::{self, Opening};
use crate::data::place::{Place, form_of, table_of};
use crate::data::refused;
use crate::data::reject::Rejects;
use crate::data::scan::Wanted;
use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `copy`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
pub(crate) struct Copy {
    /// Store, file, or directory that `export --all` has made
    source: String,
    /// Store to write to, made if there is none; or a new file
    target: String,
    /// Only this table; may be given several times
    #[arg(long = "table", value_name = "TABLE")]
    tables: Vec<String>,
    /// What to do with an entity whose keys are taken
    #[arg(long, value_enum, default_value_t = Mode::Insert)]
    mode: Mode,
    /// Without the copies of entities, which the target makes again
    #[arg(long)]
    entities_only: bool,
    /// Write rows as they are, copies of entities among them
    #[arg(long)]
    raw: bool,
    /// File for what is not taken
    #[arg(long, value_name = "FILE", default_value = "copy.rejects.jsonl")]
    rejects: PathBuf,
    /// Keys of the target, if they are others than those of --keys
    #[arg(long, value_name = "FILE")]
    target_keys: Option<PathBuf>,
    /// Wait for the disk once per transaction, not twice: quicker, but a power cut may undo the last ones
    #[arg(long)]
    relaxed: bool,
    /// Do not read both again at the end to compare them
    #[arg(long)]
    no_verify: bool,
}

const EXAMPLES: &str = "\
Examples:
  tables copy --write azure:CONNECTION company.tables            every table of an account
  tables copy --write company.tables postgres://localhost/company --table Company
  tables copy --write company.tables company.jsonl --table Company

A table that is new in the target gets the kinds that the source has noted of it, so that writes by
`tables` keep copies there, too. At the end source and target are compared: the exit code is 1 if
entities differ or were refused. Blobs that entities hold come along; queues, named blobs and logs
do not. Sealed values are opened with --keys and sealed anew by the target; without --keys entities
that have some are refused.";

impl Copy {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        if !session.options().write {
            return Err(Failure::Usage("a copy changes the target: give --write".into()));
        }
        let (source, target) = (Place::parse(&self.source), Place::parse(&self.target));
        if source == target {
            return Err(Failure::Usage("source and target are the same".into()));
        }
        let (name, path) = match (&source, target) {
            (_, Place::Store(name)) => (name, None),
            (Place::Store(source), Place::File(path)) => (source.clone(), Some(path)),
            _ => {
                let text = "a file, or a directory of files, is copied to a store: name one as the target";
                return Err(Failure::Usage(text.into()));
            }
        };
        if let Some(path) = path {
            return self.to_file(session, &name, &path);
        }
        let mut options = session.options().clone();
        if let Some(keys) = &self.target_keys {
            options.keys = Some(keys.clone());
        }
        let mut done = Vec::new();
        match &source {
            Place::Store(source) => {
                let from = open::to_read(source, session.options())?;
                let to = self.open_target(&name, &options)?;
                let mut rejects = Rejects::new(self.rejects.clone())?;
                for table in self.tables_of(from.tables())? {
                    let origin = Origin::Table(from.tables(), &table);
                    let copied;
                    (copied, rejects) = copy(&origin, to.tables(), &table, &self.copying(session), rejects)?;
                    done.push((table, copied));
                }
            }
            Place::File(path) => {
                let table = table_of(path, &self.tables)?;
                let to = self.open_target(&name, &options)?;
                let rejects = Rejects::new(self.rejects.clone())?;
                let origin = Origin::File(path);
                let (copied, _) = copy(&origin, to.tables(), &table, &self.copying(session), rejects)?;
                done.push((table, copied));
            }
            Place::Files(directory) => {
                let files = self.files_of(directory)?;
                let to = self.open_target(&name, &options)?;
                let mut rejects = Rejects::new(self.rejects.clone())?;
                for Listed { table, file, .. } in files {
                    let path = directory.join(file);
                    let origin = Origin::File(&path);
                    let copied;
                    (copied, rejects) = copy(&origin, to.tables(), &table, &self.copying(session), rejects)?;
                    done.push((table, copied));
                }
            }
        }
        report(session, &done)
    }

    fn open_target(&self, name: &str, options: &Options) -> Result<crate::source::Opened, Failure> {
        open::to_write(name, options, Opening { relaxed: self.relaxed, creates: true })
    }

    fn copying(&self, session: &Session<'_>) -> Copying {
        let wanted = Wanted {
            entities_only: self.entities_only,
            has_keys: session.options().keys.is_some(),
            ..Wanted::default()
        };
        Copying { mode: self.mode, is_raw: self.raw, verifies: !self.no_verify, wanted }
    }

    /// Returns the tables that are to be copied.
    fn tables_of(&self, from: &Tables) -> Result<Vec<String>, Failure> {
        if self.tables.is_empty() {
            return Ok(from.tables()?);
        }
        let named = |name: &String| Ok(from.dynamic_table(name)?.name().to_owned());
        self.tables.iter().map(named).collect()
    }

    /// Returns the files that are to be copied.
    fn files_of(&self, directory: &Path) -> Result<Vec<Listed>, Failure> {
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

    fn to_file(&self, session: &mut Session<'_>, source: &str, path: &Path) -> Result<Exit, Failure> {
        let form = form_of(path).unwrap_or(Form::Odata);
        let table = table_of(path, &self.tables)?;
        let from = open::to_read(source, session.options())?;
        let wanted = self.copying(session).wanted;
        let exported = to_file(from.tables(), &table, &wanted, form, path)?;
        let mut counts = exported.counts;
        counts.written = counts.read;
        counts.rejected = counts.sealed.values().sum();
        report(session, &[(table, Copied { counts, compared: None })])
    }
}

/// Prints a line for each table, and refuses to call done what was not taken or differs.
fn report(session: &mut Session<'_>, done: &[(String, Copied)]) -> Result<Exit, Failure> {
    let names = [
        "table",
        "read",
        "written",
        "skipped",
        "copies",
        "rejected",
        "differences",
        "digest",
        "targetDigest",
    ];
    let mut lines = session.output().lines(&names);
    let (mut is_whole, mut sealed) = (true, Vec::new());
    for (table, Copied { counts, compared }) in done {
        let differences = compared.map(|compared| compared.only_first + compared.changed);
        is_whole &= counts.rejected == 0 && differences.unwrap_or_default() == 0;
        sealed.extend(counts.sealed_text());
        lines.push(vec![
            Cell::text(table),
            count(counts.read),
            count(counts.written),
            count(counts.skipped),
            count(counts.copies),
            count(counts.rejected),
            differences.map_or(Cell::Null, count),
            compared.map_or(Cell::Null, |compared| Cell::text(compared.first.text())),
            compared.map_or(Cell::Null, |compared| Cell::text(compared.second.text())),
        ])?;
    }
    lines.finish()?;
    if !sealed.is_empty() {
        let sealed = sealed.join(", ");
        return Err(refused(
            ErrorKind::KeyUnavailable,
            format!(
                "entities with sealed values were left out: {sealed}; the rest is written. Give --keys to open them"
            ),
        ));
    }
    Ok(if is_whole { Exit::Done } else { Exit::Refused })
}
