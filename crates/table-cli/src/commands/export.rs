//! `tables export`: entities to files.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use table_core::{ErrorKind, Filter};

use crate::bar::{Bar, Unit};
use crate::data::export::{Exported, Exporting, ONE_KIND};
use crate::data::files::failed;
use crate::data::form::Form;
use crate::data::manifest::{self, Listed};
use crate::data::scan::Wanted;
use crate::data::{open, refused};
use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;
use crate::source::Opened;

/// The arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// Table whose entities to write
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    table: Option<String>,
    /// Write every table, each to a file of the directory that -o names
    #[arg(long, requires = "output", conflicts_with_all = ["kind", "filter", "select"])]
    all: bool,
    /// File to write (else the standard output); with --all a directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What the file is to be
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Odata)]
    form: Form,
    /// Only entities of this kind, without their copies
    #[arg(long)]
    kind: Option<String>,
    /// Only entities that satisfy this filter, such as "Age ge 40"
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Only these properties, beside the keys
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    select: Vec<String>,
    /// Without the copies of entities, which the store makes again
    #[arg(long)]
    entities_only: bool,
    /// Write each table as of one moment, by a snapshot (the store's file grows if others write much meanwhile)
    #[arg(long)]
    consistent: bool,
}

const EXAMPLES: &str = "\
Examples:
  tables export Company -o company.jsonl            every row, to be imported again
  tables export Company --kind employee --filter \"Age ge 40\" --as csv -o staff.csv
  tables export --all -o dump --entities-only       every table, with a list of the files

odata, azure-csv and azcopy keep every value; csv and md are for people. Parquet, where this is built with
it, is for what analyses: --kind KIND --as parquet, with typed columns and what the keys say. Contents of blobs go to a
directory beside the file. With --keys sealed values are opened, and stand in the file as they are;
without, entities that have some are left out, and counted.";

impl Export {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        if self.form.is_of_one_kind() && self.kind.is_none() {
            return Err(Failure::Usage(ONE_KIND.into()));
        }
        let filter = self.filter.as_deref().map(Filter::parse).transpose()?;
        let wanted = Wanted {
            kind: self.kind.clone(),
            filter,
            select: self.select.clone(),
            entities_only: self.entities_only,
            consistent: self.consistent,
            has_keys: session.options().keys.is_some(),
        };
        session.close();
        let opened = open::to_read(open::name(session.options())?, session.options())?;
        let bar = session.bar(self.output.is_none());
        let whole = Whole { opened: &opened, wanted: &wanted, form: self.form, bar: &bar };
        match (&self.table, &self.output) {
            (Some(table), None) => {
                let exported = whole.exporting(table).to_output(session.output())?;
                drop(bar);
                refuse_parts(&[&exported])
            }
            (Some(table), Some(path)) => {
                let exported = whole.exporting(table).to_file(path)?;
                drop(bar);
                report(session, &[(table.clone(), path.clone(), exported)])
            }
            (None, Some(directory)) => {
                let done = whole.to_files(directory)?;
                drop(bar);
                report(session, &done)
            }
            (None, None) => Err(Failure::Usage("name a table, or give --all and -o DIRECTORY".into())),
        }
    }
}

/// A store whose tables are written, and how.
struct Whole<'w> {
    opened: &'w Opened,
    wanted: &'w Wanted,
    form: Form,
    bar: &'w Bar,
}

impl Whole<'_> {
    fn exporting<'e>(&'e self, table: &'e str) -> Exporting<'e> {
        // Which rows a filter or a kind finds is not known before.
        let is_all = self.wanted.filter.is_none() && self.wanted.kind.is_none() && !self.wanted.entities_only;
        let rows = if is_all { self.opened.rows_of(table) } else { None };
        self.bar.begin(format!("export {table}"), rows, Unit::Rows);
        let Self { opened, wanted, form, bar } = *self;
        Exporting { tables: opened.tables(), table, wanted, form, bar }
    }

    /// Writes every table to a directory, and the list of them at last: a directory without one is not whole.
    fn to_files(&self, directory: &Path) -> Result<Vec<(String, PathBuf, Exported)>, Failure> {
        fs::create_dir_all(directory).map_err(|error| failed("make", directory, error))?;
        let mut entries = fs::read_dir(directory).map_err(|error| failed("read", directory, error))?;
        if entries.next().is_some() {
            let text = format!("the directory `{}` is not empty: name a new one", directory.display());
            return Err(Failure::Usage(text));
        }
        let (mut done, mut listed) = (Vec::new(), Vec::new());
        for table in self.opened.tables().tables()? {
            let file = format!("{table}.{}", self.form.extension());
            let path = directory.join(&file);
            let exported = self.exporting(&table).to_file(&path)?;
            listed.push(Listed::new(&table, &file, &exported));
            done.push((table, path, exported));
        }
        manifest::write(directory, &listed)?;
        Ok(done)
    }
}

/// Prints a line for each file.
fn report(session: &mut Session<'_>, done: &[(String, PathBuf, Exported)]) -> Result<Exit, Failure> {
    let names = ["table", "file", "entities", "bytes", "copies", "sealed", "blobs", "blobsGone"];
    let mut lines = session.output().lines(&names);
    for (table, path, exported) in done {
        let sealed = exported.counts.sealed.values().sum();
        lines.push(vec![
            Cell::text(table),
            Cell::text(path.display().to_string()),
            count(exported.digest.entities),
            count(exported.bytes),
            count(exported.counts.copies),
            count(sealed),
            count(exported.blobs),
            count(exported.blobs_gone),
        ])?;
    }
    lines.finish()?;
    let all: Vec<_> = done.iter().map(|(_, _, exported)| exported).collect();
    refuse_parts(&all)
}

/// Returns a count as a cell.
pub(crate) fn count(number: u64) -> Cell {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Refuses to call done what has left out sealed entities, or rows of entities that have several.
fn refuse_parts(exported: &[&Exported]) -> Result<Exit, Failure> {
    if exported.iter().any(|exported| exported.counts.apart != 0) {
        return Err(refused(
            ErrorKind::InvalidQuery,
            "rows of wide entities were left out of which the filter is not true, though others of theirs are there: filter by \
             PartitionKey and RowKey alone"
                .into(),
        ));
    }
    let sealed: Vec<_> = exported.iter().filter_map(|exported| exported.counts.sealed_text()).collect();
    if sealed.is_empty() {
        return Ok(Exit::Done);
    }
    Err(refused(
        ErrorKind::KeyUnavailable,
        format!(
            "entities with sealed values were left out: {}; the rest is written. Give --keys to open them",
            sealed.join(", ")
        ),
    ))
}
