//! `tables import`: files to tables.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use table_core::Tables;

use super::export::count;
use crate::bar::{Bar, Unit};
use crate::data::blobs::BlobReader;
use crate::data::blobs::contents::Contents;
use crate::data::counts::Counts;
use crate::data::files;
use crate::data::import::Import as Run;
use crate::data::journal::{ImportOf, Journal};
use crate::data::journal_file::JournalFile;
use crate::data::kinds::Kinds;
use crate::data::load::{Loader, Mode, Writing};
use crate::data::notes::Progress;
use crate::data::open::{self, Opening};
use crate::data::read::{FileReader, Types};
use crate::data::reject::Rejects;
use crate::declared::Structs;
use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
pub(crate) struct Import {
    /// Table to write to; it is made if there is none
    table: String,
    /// File to read, whatever its form; - reads the standard input
    file: PathBuf,
    /// What to do with an entity whose keys are taken
    #[arg(long, value_enum, default_value_t = Mode::Insert)]
    mode: Mode,
    /// File for what is not taken (else FILE.rejects.jsonl, or import.rejects.jsonl here)
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Go on with an import of the file that was cut short
    #[arg(long)]
    resume: bool,
    /// In CSV take values that say no type as text, not as what they look like
    #[arg(long)]
    as_text: bool,
    /// Write rows as they are, copies of entities among them
    #[arg(long)]
    raw: bool,
    /// Wait for the disk once per transaction, not twice: quicker, but a power cut may undo the last ones
    #[arg(long)]
    relaxed: bool,
}

const EXAMPLES: &str = "\
Examples:
  tables import --write Company company.jsonl
  tables import --write Company staff.csv --mode replace
  tables import --write Company big.jsonl --resume      after it was stopped

Forms are told by what the file holds: lines of OData JSON, an array or a page of them (AzCopy's),
CSV with or without columns X@type (Storage Explorer's). Entities of kinds that the table has noted
get their copies; copies in the file are left out. What is not taken goes to the file of rejects, a
line of JSON each with line, column, code and a sentence, and the exit code is 1 then.";

impl Import {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let opening = Opening { relaxed: self.relaxed, creates: false };
        let store = open::name(session.options())?.to_owned();
        if !session.options().write {
            return Err(Failure::Usage("an import changes the store: give --write".into()));
        }
        session.close();
        let opened = open::to_write(&store, session.options(), opening)?;
        let tables = opened.tables();
        let bar = session.bar(false);
        let (counts, rejects) = if self.file == Path::new("-") {
            self.run_pipe(tables, &bar, session.all_declared())?
        } else {
            self.run_file(tables, &store, &bar, session.all_declared())?
        };
        drop(bar);
        self.report(session, &counts, &rejects)
    }

    fn run_pipe(&self, tables: &Tables, bar: &Bar, structs: Structs) -> Result<(Counts, PathBuf), Failure> {
        if self.resume {
            return Err(Failure::Usage("what comes by a pipe can't be resumed: give a file".into()));
        }
        bar.begin(format!("import {}", self.table), None, Unit::Rows);
        let path = self.rejects.clone().unwrap_or_else(|| PathBuf::from("import.rejects.jsonl"));
        let reader = FileReader::new(io::stdin(), self.types(tables)?)?;
        let loader = Loader::new(tables, &self.table, self.writing(), structs)?;
        let mut rejects = Rejects::new(path)?;
        let mut run = Run {
            tables,
            loader,
            rejects: &mut rejects,
            journal: None,
            progress: Progress::default(),
            on_disk: None,
            blobs: None,
            bar,
            secrets: BTreeMap::new(),
        };
        let counts = run.run(reader)?;
        Ok((counts, rejects.path().to_owned()))
    }

    fn run_file(
        &self,
        tables: &Tables,
        store: &str,
        bar: &Bar,
        structs: Structs,
    ) -> Result<(Counts, PathBuf), Failure> {
        let bytes = files::length_of(&self.file)?;
        let bytes = bytes.ok_or_else(|| {
            Failure::NotFound(format!("cannot read `{}`: there is no such file", self.file.display()))
        })?;
        let rejects = self.rejects.clone().unwrap_or_else(|| files::beside(&self.file, ".rejects.jsonl"));
        Rejects::refuse_source(&rejects, &self.file)?;
        bar.begin(format!("import {}", self.table), Some(bytes), Unit::Bytes);
        let (raw, text) = (if self.raw { "raw" } else { "" }, if self.as_text { " text" } else { "" });
        let target = format!("{store} {} {} {raw}{text}", self.table, self.mode.name());
        let of = ImportOf { target, bytes };
        let path = Journal::path_of(&self.file);
        let begun = if self.resume {
            Journal::resume(&path, &of)?
        } else {
            refuse_begun(&path)?;
            None
        };

        let mut writing = self.writing();
        if let Some((_, progress)) = &begun {
            writing.repeated = progress.begun;
        }
        // What can't be read makes no table.
        let mut reader = FileReader::open(&self.file, self.types(tables)?)?;
        let loader = Loader::new(tables, &self.table, writing, structs)?;
        let (mut journal, progress, mut rejects) = match begun {
            Some((journal, progress)) => {
                if progress.done.offset > 0 {
                    reader.go_to(progress.done, bytes)?;
                }
                let rejects = Rejects::resumed(rejects, progress.reject_bytes)?;
                (journal, progress, rejects)
            }
            None => (Journal::create(path, &of)?, Progress::default(), Rejects::new(rejects)?),
        };
        let blobs = Some(BlobReader::new(Contents::beside(&self.file)));
        let mut run = Run {
            tables,
            loader,
            rejects: &mut rejects,
            journal: Some(&mut journal),
            on_disk: self.relaxed.then(|| progress.clone()),
            progress,
            blobs,
            bar,
            secrets: BTreeMap::new(),
        };
        let counts = run.run(reader)?;
        journal.finish()?;
        Ok((counts, rejects.path().to_owned()))
    }

    /// Returns the types of values that say none, by the kinds that the table has noted.
    fn types(&self, tables: &Tables) -> Result<Types, Failure> {
        Ok(Types::new(Kinds::of(tables, &self.table)?.infos(), self.as_text))
    }

    fn writing(&self) -> Writing {
        Writing { mode: self.mode, is_raw: self.raw, ..Writing::default() }
    }

    fn report(&self, session: &mut Session<'_>, counts: &Counts, rejects: &Path) -> Result<Exit, Failure> {
        let names = ["table", "read", "written", "skipped", "copies", "rejected", "rejects"];
        let mut lines = session.output().lines(&names);
        let file = if counts.rejected > 0 { Cell::text(rejects.display().to_string()) } else { Cell::Null };
        lines.push(vec![
            Cell::text(&self.table),
            count(counts.read),
            count(counts.written),
            count(counts.skipped),
            count(counts.copies),
            count(counts.rejected),
            file,
        ])?;
        lines.finish()?;
        if counts.rejected > 0 {
            session.note(self.mode.rejected(counts.rejected, rejects));
        }
        Ok(if counts.rejected > 0 { Exit::Refused } else { Exit::Done })
    }
}

/// Refuses to begin anew where an import was cut short, since what it has written would be refused.
fn refuse_begun(journal: &Path) -> Result<(), Failure> {
    JournalFile::refuse_begun(journal, || {
        let path = journal.display();
        format!("an import of this file was cut short: go on with --resume, or remove `{path}` to begin anew")
    })
}
