//! Power failures, by a recorder and a disk that forgets: `docs/internals/testing.md` says how to run the long forms.

#![cfg(target_os = "linux")]

mod cuts;
mod flushes;

use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use integration_tests::Scratch;
use integration_tests::child::Child;
use integration_tests::power::Work;
use integration_tests::power::disk::Disk;
use integration_tests::power::log::{self, Note};
use integration_tests::power::run::FAULTED;

/// The program whose roles the children play.
const PROGRAM: &str = env!("CARGO_BIN_EXE_power-child");

/// Images that one child looks at.
const BATCH: u64 = 250;

/// How much to do: from the environment, or as much as every run can afford.
pub(crate) fn size(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

/// What the choices of a test depend on.
pub(crate) fn seed() -> u64 {
    size("POWER_SEED", 20_261_122)
}

/// The shared object of the package `recorder`, which cargo has built beside this binary.
fn recorder() -> PathBuf {
    let binary = std::env::current_exe().unwrap();
    let near = binary.ancestors().skip(1).take(2).map(|dir| dir.join("librecorder.so"));
    near.into_iter().find(|path| path.exists()).expect("cargo builds the recorder with the tests")
}

/// What was recorded of a process.
pub(crate) struct Recording {
    scratch: Scratch,
    work: String,
    seed: u64,
    /// Whether a call was made to fail.
    faulted: bool,
    pub(crate) notes: Vec<Note>,
    pub(crate) status: ExitStatus,
}

impl Recording {
    /// Records a process that does some work, one of whose calls is made to fail if so asked.
    pub(crate) fn of(work: &str, seed: u64, fault: Option<&str>) -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path().join("root")).unwrap();
        Work::parse(work).expect("work").prepare(&scratch.path().join("root"));
        let mut command = Command::new(PROGRAM);
        command.args(["record", work]).arg(scratch.path().join("root")).arg(seed.to_string());
        command
            .env("LD_PRELOAD", recorder())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .stdout(Stdio::null());
        command.env("RECORDER_ROOT", scratch.path().join("root"));
        command.env("RECORDER_LOG", scratch.path().join("log"));
        command.env("RECORDER_ACKS", scratch.path().join("acks"));
        command.env("POWER_CHILD_SECONDS", "30");
        if let Some(fault) = fault {
            command.env("RECORDER_FAULT", fault);
        }
        let output = command.output().unwrap();
        if !output.status.success() {
            println!("{work} {fault:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let notes = log::read(&scratch.path().join("log")).unwrap();
        Self { scratch, work: work.to_owned(), seed, faulted: fault.is_some(), notes, status: output.status }
    }

    /// The directory that the work was done in.
    pub(super) fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    fn log(&self) -> PathBuf {
        self.scratch.path().join("log")
    }

    /// That the notes tell all that happened.
    pub(super) fn assert_complete(&self) {
        let mut disk = Disk::new(&self.root(), false, 0);
        self.notes.iter().for_each(|note| disk.apply(note));
        assert_eq!(disk.differs_from(&self.root()).unwrap(), None, "{}", self.work);
    }

    /// How many notes are of this kind.
    pub(crate) fn count(&self, is: impl Fn(&Note) -> bool) -> usize {
        self.notes.iter().filter(|note| is(note)).count()
    }

    /// Has so many images looked at.
    pub(super) fn images(&self, count: u64, ignores_flushes: bool) -> Seen {
        let mut seen = Seen::default();
        let mut next = 0;
        while next < count {
            let end = count.min(next + BATCH);
            next = self.look(next..end, count, ignores_flushes, &mut seen);
        }
        seen
    }

    /// Starts a child that looks at images of these numbers; returns the number of the next.
    fn look(&self, numbers: std::ops::Range<u64>, count: u64, lies: bool, seen: &mut Seen) -> u64 {
        let mut command = Command::new(PROGRAM);
        command.args(["verify", &self.work]).arg(self.root());
        command.args([self.seed, count, numbers.start, numbers.end].map(|number| number.to_string()));
        command.arg(if lies { "lies" } else { "flushes" }).arg(self.log());
        if self.faulted {
            command.env(FAULTED, "1");
        }
        // A store that kills who reads it says so by a signal.
        let mut child = Child::spawn(command.stderr(Stdio::null()));
        let mut at = numbers.start;
        while let Some(line) = child.next_within(Duration::from_secs(120)).expect("an image takes no minute")
        {
            match line.split_once(' ') {
                Some(("at", number)) => at = number.parse().unwrap(),
                Some(("lost", lost)) => seen.good(lost.parse().unwrap()),
                Some(("bad", text)) => seen.bad(format!("{} image {at} of {count}: {text}", self.work)),
                _ => {
                    assert_eq!(line, "end");
                    child.finish();
                    return numbers.end;
                }
            }
        }
        seen.bad(format!("{} image {at} of {count}: the process died", self.work));
        at + 1
    }

    /// Has another process look at what is there.
    pub(crate) fn look_at_rest(&self) -> Result<u64, String> {
        let mut command = Command::new(PROGRAM);
        command.args(["look", &self.work]).arg(self.root()).arg(self.seed.to_string()).arg(self.log());
        let mut child = Child::spawn(command.stderr(Stdio::inherit()));
        let line = child.next_within(Duration::from_secs(60)).map_err(|_| "it hangs".to_owned())?;
        let line = line.ok_or("the process died")?;
        match line.split_once(' ') {
            Some(("lost", lost)) => lost.parse().map_err(|_| line),
            _ => Err(line),
        }
    }
}

/// What became of images.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) images: u64,
    pub(super) bad: u64,
    /// Images without the last commit that was acknowledged.
    pub(super) lost: u64,
    /// The first few that are bad.
    pub(super) texts: Vec<String>,
}

impl Seen {
    fn good(&mut self, lost: u64) {
        self.images += 1;
        self.lost += u64::from(lost > 0);
    }

    fn bad(&mut self, text: String) {
        self.images += 1;
        self.bad += 1;
        if self.texts.len() < 5 {
            self.texts.push(text);
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.images += other.images;
        self.bad += other.bad;
        self.lost += other.lost;
        self.texts.extend(other.texts);
        self.texts.truncate(5);
    }

    #[track_caller]
    pub(super) fn assert_good(&self, what: &str) {
        println!("{what}: {} images, {} bad, {} without the last commit", self.images, self.bad, self.lost);
        assert_eq!(self.bad, 0, "{what}: {:#?}", self.texts);
    }
}
