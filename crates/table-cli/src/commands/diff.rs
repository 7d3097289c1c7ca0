//! `tables diff`: what two stores or files have in different ways.

use std::path::{Path, PathBuf};

use clap::Args;
use table_core::ErrorKind;

use super::export::count;
use crate::args::Options;
use crate::data::blobs::contents::Contents;
use crate::data::compare::{Difference, How, Side, compare};
use crate::data::kinds::Kinds;
use crate::data::manifest::{self, Listed};
use crate::data::place::{Place, table_of};
use crate::data::pull::Pull;
use crate::data::read::Types;
use crate::data::scan::Wanted;
use crate::data::{open, refused};
use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;
use crate::source::Opened;

/// The arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    /// Store, file, or directory that `export --all` has made
    a: String,
    /// What to compare it with
    b: String,
    /// Only this table; may be given several times
    #[arg(long = "table", value_name = "TABLE")]
    tables: Vec<String>,
    /// Without the copies of entities
    #[arg(long)]
    entities_only: bool,
    /// Print the number of differences of each table only
    #[arg(long)]
    count: bool,
}

const EXAMPLES: &str = "\
Examples:
  tables diff company.tables backup.tables
  tables diff company.tables azure:CONNECTION --table Company --count
  tables diff monday/Company.jsonl tuesday/Company.jsonl

A line for each entity that one side alone has, or whose properties differ: their names, and no
values. Blobs are compared by their contents, times of writing not at all. The exit code is 1 if
there are differences. Files must be in the order of their keys, as `export` writes them.";

impl Diff {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let mut differ = false;
        match self.compare(session, &mut differ) {
            // Who has read enough of the differences has still to be told that there are some.
            Err(failure) if differ && failure.is_closed_pipe() => {}
            compared => compared?,
        }
        Ok(if differ { Exit::Refused } else { Exit::Done })
    }

    /// Compares the tables, and prints what differs; says so in `differ` before the first line of it is printed.
    fn compare(&self, session: &mut Session<'_>, differ: &mut bool) -> Result<(), Failure> {
        session.close();
        let wanted = Wanted {
            entities_only: self.entities_only,
            has_keys: session.options().keys.is_some(),
            ..Wanted::default()
        };
        let a = Compared::open(&self.a, session.options())?;
        let b = Compared::open(&self.b, session.options())?;
        let tables = self.tables_of(&a, &b)?;
        let names: &[&str] = if self.count {
            &["table", "entities", "onlyFirst", "onlySecond", "changed"]
        } else {
            &["table", "partitionKey", "rowKey", "difference", "properties"]
        };
        let mut lines = session.output().lines(names);
        for table in tables {
            // Values of a file that say no type have that of the other side's kinds.
            let (first, second) =
                (a.side(&table, &wanted, b.types(&table)?)?, b.side(&table, &wanted, a.types(&table)?)?);
            let missing = match (&first, &second) {
                (None, None) => return Err(Failure::NotFound(format!("neither has a table `{table}`"))),
                (Some(_), None) => Some(How::OnlyFirst),
                (None, Some(_)) => Some(How::OnlySecond),
                (Some(_), Some(_)) => None,
            };
            if let Some(how) = missing {
                *differ = true;
                if !self.count {
                    let how = format!("table {}", text_of(how));
                    lines.push(vec![
                        Cell::text(&table),
                        Cell::Null,
                        Cell::Null,
                        Cell::text(how),
                        Cell::Null,
                    ])?;
                }
            }
            let mut each = |difference: Difference| {
                *differ = true;
                if self.count { Ok(()) } else { Ok(lines.push(line(&table, difference))?) }
            };
            let (mut first, mut second) = (first.unwrap_or_else(nothing), second.unwrap_or_else(nothing));
            let compared = compare(&mut first, &mut second, &mut each)?;
            let sealed = [&mut first, &mut second].map(|side| side.rows.take_counts().sealed_text());
            if let Some(sealed) = sealed.into_iter().flatten().next() {
                return Err(refused(
                    ErrorKind::KeyUnavailable,
                    format!(
                        "sealed values of `{table}` can't be compared: {sealed}. Give --keys to open them"
                    ),
                ));
            }
            if self.count {
                lines.push(vec![
                    Cell::text(&table),
                    count(compared.first.entities),
                    count(compared.only_first),
                    count(compared.only_second),
                    count(compared.changed),
                ])?;
            }
        }
        lines.finish()?;
        Ok(())
    }

    /// Returns the tables to compare: those that are named, or all of both.
    fn tables_of(&self, a: &Compared, b: &Compared) -> Result<Vec<String>, Failure> {
        if let (Compared::File(path), _) | (_, Compared::File(path)) = (a, b) {
            return Ok(vec![table_of(path, &self.tables)?]);
        }
        if !self.tables.is_empty() {
            return Ok(self.tables.clone());
        }
        let mut tables = a.tables()?;
        for table in b.tables()? {
            if !tables.iter().any(|known| known.eq_ignore_ascii_case(&table)) {
                tables.push(table);
            }
        }
        tables.sort_by_key(|table| table.to_ascii_lowercase());
        Ok(tables)
    }
}

/// One of the two that are compared.
enum Compared {
    Store(Opened),
    File(PathBuf),
    Files(PathBuf, Vec<Listed>),
}

impl Compared {
    fn open(name: &str, options: &Options) -> Result<Self, Failure> {
        match Place::parse(name) {
            Place::Store(name) => Ok(Self::Store(open::to_read(&name, options)?)),
            Place::File(path) => Ok(Self::File(path)),
            Place::Files(directory) => {
                let files = manifest::read(&directory)?;
                Ok(Self::Files(directory, files))
            }
        }
    }

    fn tables(&self) -> Result<Vec<String>, Failure> {
        match self {
            Self::Store(store) => Ok(store.tables().tables()?),
            Self::File(_) => Ok(Vec::new()),
            Self::Files(_, files) => Ok(files.iter().map(|listed| listed.table.clone()).collect()),
        }
    }

    /// Returns the types of the properties of a table's kinds, as far as they are noted.
    fn types(&self, table: &str) -> Result<Types, Failure> {
        match self {
            Self::Store(store) => Ok(Types::new(Kinds::of(store.tables(), table)?.infos(), false)),
            Self::File(_) | Self::Files(..) => Ok(Types::default()),
        }
    }

    /// Returns the entities of a table; `None` if there is no such table. `types` are those of values of a file that say none.
    fn side(&self, table: &str, wanted: &Wanted, types: Types) -> Result<Option<Side>, Failure> {
        let of_file =
            |path: &Path| Ok(Some(Side { rows: Pull::file(path, types)?, contents: Contents::beside(path) }));
        match self {
            Self::Store(store) => match Pull::table(store.tables(), table, wanted) {
                Ok(rows) => Ok(Some(Side { rows, contents: Contents::Store(store.tables().clone()) })),
                Err(Failure::Store(error)) if error.kind() == ErrorKind::TableNotFound => Ok(None),
                Err(failure) => Err(failure),
            },
            Self::File(path) => of_file(path),
            Self::Files(directory, files) => {
                match files.iter().find(|listed| listed.table.eq_ignore_ascii_case(table)) {
                    Some(listed) => of_file(&directory.join(&listed.file)),
                    None => Ok(None),
                }
            }
        }
    }
}

fn nothing() -> Side {
    Side { rows: Pull::nothing(), contents: Contents::Nowhere }
}

fn text_of(how: How) -> &'static str {
    match how {
        How::OnlyFirst => "only in the first",
        How::OnlySecond => "only in the second",
        How::Changed => "changed",
    }
}

fn line(table: &str, difference: Difference) -> Vec<Cell> {
    let Difference { partition, row, how, properties } = difference;
    let properties = if properties.is_empty() { Cell::Null } else { Cell::text(properties.join(",")) };
    vec![Cell::text(table), Cell::text(partition), Cell::text(row), Cell::text(text_of(how)), properties]
}
