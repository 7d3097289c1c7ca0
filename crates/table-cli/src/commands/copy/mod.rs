//! `tables copy`: from stores and files to stores and files.

mod parts;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use sha2::{Digest, Sha256};
use table_core::{ErrorKind, Tables};

use crate::bar::Unit;
use crate::data::blobs::hex;
use crate::data::copy::{Copied, Copying, Log, Origin, copy};
use crate::data::copy_journal::{CopyJournal, Part};
use crate::data::export::Exporting;
use crate::data::files;
use crate::data::form::Form;
use crate::data::journal_file::JournalFile;
use crate::data::load::Mode;
use crate::data::open::{self, Opening};
use crate::data::place::{Place, form_of, table_of};
use crate::data::refused;
use crate::data::reject::Rejects;
use crate::data::scan::Wanted;
use crate::data::whole::Whole;
use crate::failure::{Exit, Failure};
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
    /// Only this queue; may be given several times
    #[arg(long = "queue", value_name = "QUEUE")]
    queues: Vec<String>,
    /// Only this container of blobs; may be given several times
    #[arg(long = "container", value_name = "CONTAINER")]
    containers: Vec<String>,
    /// What to do with what is there already: an entity, a blob, a queue that has messages
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
    /// Go on with a copy that was cut short
    #[arg(long)]
    resume: bool,
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

Everything in a store is copied: entities with the blobs that they hold, containers of blobs, logs,
which are in the container logs, and queues, whose messages stay hidden, counted and set aside as
they are. Where kinds are new in the target it gets those that the source has noted, so that writes
by `tables` keep copies there, too. At the end both are compared: the exit code is 1 if something
differs or was refused. Sealed values, those of blobs too, are opened with --keys and sealed anew by
the target; without --keys entities that have some are left out and counted. A copy that was stopped
goes on with --resume, by the journal beside the file of rejects.";

impl Copy {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        if !session.options().write {
            return Err(Failure::Usage("a copy changes the target: give --write".into()));
        }
        let (source, target) = (Place::parse(&self.source), Place::parse(&self.target));
        let is_same = match (&source, &target) {
            (Place::Store(source), Place::Store(target)) => {
                files::are_one(Path::new(source), Path::new(target))
            }
            _ => false,
        };
        if is_same || source == target {
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
        session.close();
        if let Some(path) = path {
            return self.to_file(session, &name, &path);
        }
        let mut options = session.options().clone();
        if let Some(keys) = &self.target_keys {
            options.keys = Some(keys.clone());
        }
        let open_target =
            || open::to_write(&name, &options, Opening { relaxed: self.relaxed, creates: true });
        let mut copying = self.copying(session);
        let (mut done, mut cut) = (Vec::new(), Vec::new());
        match &source {
            Place::Store(source) => {
                let from = open::to_read(source, session.options())?;
                let parts = self.parts_of(from.tables())?;
                for part in &parts {
                    let rows = if let Part::Table(table) = part { from.rows_of(table) } else { None };
                    copying.rows.extend(rows.map(|rows| (part.name().to_owned(), rows)));
                }
                note_pending(session, from.tables())?;
                let to = open_target()?;
                let mut log = self.log(session, 0)?;
                let whole = Whole { from: from.tables(), to: to.tables(), copying: &copying };
                for part in parts {
                    let copied = whole.part(&part, &mut log)?;
                    done.push((part, copied));
                }
                log.journal.finish()?;
            }
            Place::File(path) => {
                self.refuse_parts_of_files()?;
                let table = table_of(path, &self.tables)?;
                Rejects::refuse_source(&self.rejects, path)?;
                let to = open_target()?;
                let mut log = self.log(session, files::length_of(path)?.unwrap_or_default())?;
                let copied = copy(&Origin::File(path), to.tables(), &table, &copying, &mut log)?;
                log.journal.finish()?;
                done.push((Part::Table(table), copied));
            }
            Place::Files(directory) => {
                self.refuse_parts_of_files()?;
                let files = self.files_of(directory)?;
                for listed in &files {
                    Rejects::refuse_source(&self.rejects, &directory.join(&listed.file))?;
                }
                let to = open_target()?;
                let mut log = self.log(session, 0)?;
                for listed in files {
                    let path = directory.join(&listed.file);
                    let copied = copy(&Origin::File(&path), to.tables(), &listed.table, &copying, &mut log)?;
                    cut.extend(listed.lacks(copied.counts.read));
                    done.push((Part::Table(listed.table), copied));
                }
                log.journal.finish()?;
            }
        }
        let rejected: u64 = done.iter().map(|(_, copied)| copied.counts.rejected).sum();
        let in_file = files::length_of(&self.rejects)?.is_some_and(|bytes| bytes > 0);
        if rejected > 0 && in_file {
            session.note(self.mode.rejected(rejected, &self.rejects));
        }
        let exit = report::report(session, &done)?;
        if !cut.is_empty() {
            let text = format!("{}: what is there was copied", cut.join("; "));
            return Err(refused(ErrorKind::Corrupt, text));
        }
        Ok(exit)
    }

    fn copying(&self, session: &Session<'_>) -> Copying {
        let wanted = Wanted {
            entities_only: self.entities_only,
            has_keys: session.options().keys.is_some(),
            ..Wanted::default()
        };
        Copying {
            mode: self.mode,
            is_raw: self.raw,
            is_relaxed: self.relaxed,
            verifies: !self.no_verify,
            wanted,
            rows: BTreeMap::new(),
            structs: session.all_declared(),
        }
    }

    /// Opens the journal and the file of rejects, those of a copy that was cut short if it is gone on with. A file that is copied
    /// has so many bytes.
    fn log(&self, session: &Session<'_>, bytes: u64) -> Result<Log, Failure> {
        let path = files::beside(&self.rejects, ".journal");
        let digest = self.digest(bytes);
        if self.resume {
            if let Some(journal) = CopyJournal::resume(&path, &digest)? {
                let rejects = Rejects::resumed(self.rejects.clone(), journal.reject_bytes())?;
                return Ok(Log { journal, rejects, bar: session.bar(false) });
            }
        } else {
            JournalFile::refuse_begun(&path, || {
                let path = path.display();
                format!("a copy was cut short: go on with --resume, or remove `{path}` to begin anew")
            })?;
        }
        let rejects = Rejects::new(self.rejects.clone())?;
        Ok(Log { journal: CopyJournal::create(path, &digest)?, rejects, bar: session.bar(false) })
    }

    /// Returns a digest of what is copied and how, so that no other copy goes on with this one's journal. The names of stores,
    /// which may hold passwords, can't be had from it.
    fn digest(&self, bytes: u64) -> String {
        let flags = format!("{} {} {} {bytes}", self.mode.name(), self.raw, self.entities_only);
        let lists = [&self.tables, &self.queues, &self.containers].map(|names| names.join(","));
        let parts = [&self.source, &self.target, &flags].into_iter().chain(&lists);
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part);
        }
        hex(&hash.finalize())
    }

    fn to_file(&self, session: &mut Session<'_>, source: &str, path: &Path) -> Result<Exit, Failure> {
        self.refuse_parts_of_files()?;
        if self.resume {
            let text = "a file is written whole or not at all: a copy to one is begun anew, and not resumed";
            return Err(Failure::Usage(text.into()));
        }
        let form = form_of(path).unwrap_or(Form::Odata);
        let table = table_of(path, &self.tables)?;
        let from = open::to_read(source, session.options())?;
        let wanted = self.copying(session).wanted;
        let bar = session.bar(false);
        bar.begin(format!("export {table}"), from.rows_of(&table), Unit::Rows);
        let exporting = Exporting { tables: from.tables(), table: &table, wanted: &wanted, form, bar: &bar };
        let exported = exporting.to_file(path)?;
        drop(bar);
        let mut counts = exported.counts;
        counts.written = counts.read;
        counts.rejected = counts.sealed.values().sum();
        let copied = Copied { counts, compared: None };
        report::report(session, &[(Part::Table(table), copied)])
    }
}

/// Notes that copies of the source are still to follow their entities, if some are: they come along as they are.
fn note_pending(session: &mut Session<'_>, from: &Tables) -> Result<(), Failure> {
    let entities = match from.pending_propagation() {
        Err(error) if error.kind() == ErrorKind::Unsupported => 0,
        pending => pending?.entities,
    };
    if entities > 0 {
        session.note(format!(
            "copies of {entities} entities are still to follow in the source, and come along as they are: a program with the structs \
             lets them follow first, by `tables outbox retry --write`"
        ));
    }
    Ok(())
}
