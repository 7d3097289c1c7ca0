//! How far a copy has come, beside its file of rejects: by this it is resumed when it was cut short.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::Split;

use super::blobs::{hex, unhex};
use super::counts::Counts;
use super::journal_file::JournalFile;
use super::notes::{Notes, Progress};
use super::read::Place;
use crate::failure::Failure;

/// What a journal begins with.
const HEAD: &str = "tables-copy 1";

/// A part of a store that is copied by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Table(String),
    Queue(String),
    Container(String),
}

impl Part {
    /// Returns what it is, in a word.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Self::Table(_) => "table",
            Self::Queue(_) => "queue",
            Self::Container(_) => "container",
        }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Table(name) | Self::Queue(name) | Self::Container(name) => name,
        }
    }

    fn of(what: &str, name: &str) -> Option<Self> {
        [Self::Table, Self::Queue, Self::Container]
            .into_iter()
            .map(|part| part(name.to_owned()))
            .find(|part| part.what() == what)
    }
}

/// How the rows of a table are written, which is settled before the first one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Whether rows are written as they are, copies among them.
    pub(crate) is_raw: bool,
    /// Whether the kinds of the source are noted in the target.
    pub(crate) notes_kinds: bool,
}

/// What is noted of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    /// How it is written, once it has begun.
    pub(crate) plan: Option<Plan>,
    pub(crate) progress: Progress,
    /// Whether all of it is written.
    pub(crate) is_ended: bool,
}

/// The file.
#[derive(Debug)]
pub(crate) struct CopyJournal {
    file: JournalFile,
    parts: BTreeMap<Part, Noted>,
    reject_bytes: u64,
}

impl CopyJournal {
    /// Begins a journal of the copy that this digest stands for.
    pub(crate) fn create(path: PathBuf, digest: &str) -> Result<Self, Failure> {
        let file = JournalFile::create(path, &format!("{HEAD}\t{digest}\n"))?;
        Ok(Self { file, parts: BTreeMap::new(), reject_bytes: 0 })
    }

    /// Reads the journal of a copy that was cut short, to go on with it; `None` if there is none.
    pub(crate) fn resume(path: &Path, digest: &str) -> Result<Option<Self>, Failure> {
        let Some((mut file, text)) = JournalFile::open(path.to_owned())? else { return Ok(None) };
        let Some(lines) = text.strip_prefix(&format!("{HEAD}\t{digest}\n")) else {
            return Err(Failure::Usage(format!(
                "`{}` is of another copy: of other stores, tables or ways to write. Remove it to begin anew",
                path.display()
            )));
        };
        let mut read = Reading::default();
        for (number, line) in lines.lines().enumerate() {
            read.line(line).ok_or_else(|| {
                let text = format!("line {} of `{}` is damaged", number + 2, path.display());
                Failure::Usage(format!("{text}: remove the file to begin anew, with --mode skip, say"))
            })?;
        }
        file.go_on_behind(text.len())?;
        Ok(Some(Self { file, parts: read.parts, reject_bytes: read.reject_bytes }))
    }

    /// Returns what is noted of a part.
    pub(crate) fn noted(&self, part: &Part) -> Noted {
        self.parts.get(part).cloned().unwrap_or_default()
    }

    /// Returns how many bytes the file of rejects had at last.
    pub(crate) fn reject_bytes(&self) -> u64 {
        self.reject_bytes
    }

    /// Notes that a part begins, or is gone on with, and how it is written.
    pub(crate) fn enter(&mut self, part: &Part, plan: Plan) -> Result<(), Failure> {
        let Plan { is_raw, notes_kinds } = plan;
        let (raw, kinds) = (u8::from(is_raw), u8::from(notes_kinds));
        self.file.write(&format!("part\t{}\t{}\t{raw}\t{kinds}\n", part.what(), hex(part.name().as_bytes())))
    }

    /// Notes that all of the part is written that was entered last.
    pub(crate) fn end(&mut self, progress: &Progress) -> Result<(), Failure> {
        self.done(progress)?;
        self.file.write("end\n")
    }

    /// Removes the journal: the copy is through.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.file.finish()
    }
}

impl Notes for CopyJournal {
    fn begin(&mut self, to: Place) -> Result<(), Failure> {
        self.file.write(&format!("begin\t{}\t{}\n", to.offset, to.line))
    }

    fn done(&mut self, progress: &Progress) -> Result<(), Failure> {
        let Progress { done, keys, counts, reject_bytes, .. } = progress;
        let (partition, row) = match keys {
            Some((partition, row)) => (hex(partition.as_bytes()), format!("+{}", hex(row.as_bytes()))),
            None => (String::new(), "-".to_owned()),
        };
        let mut line = format!("done\t{}\t{}\t{partition}\t{row}", done.offset, done.line);
        for number in counts.numbers().into_iter().chain([*reject_bytes]) {
            // A text takes all that is written.
            write!(line, "\t{number}").unwrap_or_default();
        }
        for (name, count) in &counts.sealed {
            write!(line, "\t{}={count}", hex(name.as_bytes())).unwrap_or_default();
        }
        line.push('\n');
        self.file.write(&line)
    }
}

/// What has been read of a journal.
#[derive(Default)]
struct Reading {
    parts: BTreeMap<Part, Noted>,
    last: Option<Part>,
    reject_bytes: u64,
}

impl Reading {
    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split('\t');
        match words.next()? {
            "part" => {
                let (what, name) = (words.next()?, text(words.next()?)?);
                let (is_raw, notes_kinds) = (flag(words.next()?)?, flag(words.next()?)?);
                let part = Part::of(what, &name)?;
                self.parts.entry(part.clone()).or_default().plan = Some(Plan { is_raw, notes_kinds });
                self.last = Some(part);
            }
            "begin" => {
                let begun = Place { offset: number(&mut words)?, line: number(&mut words)? };
                let progress = &mut self.noted()?.progress;
                // A run that was cut short, too, may have begun less than the one before it.
                progress.begun = progress.begun.later(begun);
            }
            "done" => {
                let progress = progress(&mut words)?;
                self.reject_bytes = progress.reject_bytes;
                let noted = self.noted()?;
                let begun = noted.progress.begun;
                noted.progress = Progress { begun, ..progress };
            }
            "end" => self.noted()?.is_ended = true,
            _ => return None,
        }
        words.next().is_none().then_some(())
    }

    fn noted(&mut self) -> Option<&mut Noted> {
        self.parts.get_mut(self.last.as_ref()?)
    }
}

fn progress(words: &mut Split<'_, char>) -> Option<Progress> {
    let done = Place { offset: number(words)?, line: number(words)? };
    let (partition, row) = (words.next()?, words.next()?);
    let keys = match row.strip_prefix('+') {
        Some(row) => Some((text(partition)?, text(row)?)),
        None => None,
    };
    let mut numbers = [0; 5];
    for place in &mut numbers {
        *place = number(words)?;
    }
    let mut counts = Counts::of_numbers(numbers);
    let reject_bytes = number(words)?;
    for word in words {
        let (name, count) = word.split_once('=')?;
        counts.sealed.insert(text(name)?, count.parse().ok()?);
    }
    Some(Progress { done, begun: Place::default(), keys, counts, reject_bytes })
}

fn number(words: &mut Split<'_, char>) -> Option<u64> {
    words.next()?.parse().ok()
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn text(word: &str) -> Option<String> {
    String::from_utf8(unhex(word)?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn progress_at(line: u64) -> Progress {
        let counts = Counts {
            read: 9,
            written: 5,
            rejected: 1,
            sealed: BTreeMap::from([("patient.Diagnosis".to_owned(), 3)]),
            ..Counts::default()
        };
        let keys = Some(("a\tb\n".to_owned(), String::new()));
        let done = Place { offset: 7, line };
        Progress { done, begun: Place { offset: 0, line }, keys, counts, reject_bytes: 70 }
    }

    #[test]
    fn what_was_noted_is_read_and_half_a_line_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        assert!(CopyJournal::resume(&path, "d").unwrap().is_none());
        let mut journal = CopyJournal::create(path.clone(), "d").unwrap();
        let (table, blobs) = (Part::Table("Any".into()), Part::Container("photos".into()));
        let plan = Plan { is_raw: true, notes_kinds: false };
        journal.enter(&table, plan).unwrap();
        journal.begin(Place { offset: 0, line: 4 }).unwrap();
        journal.end(&progress_at(4)).unwrap();
        journal.enter(&blobs, Plan::default()).unwrap();
        journal.begin(Place { offset: 0, line: 8 }).unwrap();
        let whole = fs::read(&path).unwrap();
        drop(journal);

        let read = CopyJournal::resume(&path, "d").unwrap().unwrap();
        let wanted = Noted { plan: Some(plan), progress: progress_at(4), is_ended: true };
        assert_eq!(read.noted(&table), wanted);
        let noted = read.noted(&blobs);
        assert_eq!((noted.progress.begun.line, noted.is_ended, read.reject_bytes()), (8, false, 70));
        assert_eq!(read.noted(&Part::Queue("hires".into())), Noted::default());
        drop(read);

        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(CopyJournal::resume(&path, "d").is_ok(), "cut off at {end}");
        }
        fs::write(&path, &whole).unwrap();
        assert!(matches!(CopyJournal::resume(&path, "e"), Err(Failure::Usage(_))));
        for wrong in ["end\textra", "part\tshelf\t41\t0\t0", "done\t1", "begin\tx\t1", "part\ttable\t4\t0\t0"]
        {
            fs::write(&path, format!("{HEAD}\td\n{wrong}\n")).unwrap();
            assert!(matches!(CopyJournal::resume(&path, "d"), Err(Failure::Usage(_))), "{wrong}");
        }
    }
}
