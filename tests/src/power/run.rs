//! How a recorded process says what it has done, and goes on when something is refused.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::store::CheckReport;
use table_core::{Durability, Error, ErrorKind, OpenOptions, Result, Store};

use super::{batches, wrong};

/// The variable with the file that acknowledgements are written to; the recorder notes them.
pub const ACKS: &str = "RECORDER_ACKS";

/// The variable that is set where one of the process's calls was made to fail before the power was cut.
pub const FAULTED: &str = "POWER_FAULTED";

/// Whether a commit in doubt is taken for lost.
static ACCEPTS_LOST: AtomicBool = AtomicBool::new(false);

/// What a store is opened with.
pub(super) fn options() -> OpenOptions {
    Store::options().accept_lost_commit(ACCEPTS_LOST.load(Ordering::Relaxed))
}

/// Opens what is left. Where a header could not be written, and the note of that has not come to the disk either, that
/// commit is in doubt, and the store is refused until it is taken for lost.
pub(super) fn open_left(open: impl Fn() -> Result<Store>) -> Result<Store> {
    ACCEPTS_LOST.store(false, Ordering::Relaxed);
    match open() {
        Err(error) if error.kind() == ErrorKind::OutcomeUnknown && std::env::var_os(FAULTED).is_some() => {
            ACCEPTS_LOST.store(true, Ordering::Relaxed);
            open()
        }
        opened => opened,
    }
}

/// How often anything is tried.
const ATTEMPTS: usize = 3;

/// Where a process says what it has done.
#[derive(Debug)]
pub struct Acks(Mutex<Option<File>>);

impl Acks {
    /// The file that is given by the environment; none where nothing is recorded.
    pub fn open() -> Self {
        let open = |path| File::options().create(true).append(true).open(path).expect("it can be made");
        Self(Mutex::new(std::env::var_os(ACKS).map(open)))
    }

    /// Says that something is done; or before it is done, that it is about to be.
    pub fn say(&self, line: impl std::fmt::Display) {
        if let Some(file) = &mut *self.0.lock().expect("nobody panics here") {
            // One write for a line, which the recorder notes whole.
            file.write_all(format!("{line}\n").as_bytes()).expect("it is in memory");
        }
    }
}

/// One thread's store, which is opened anew when it has stopped.
#[derive(Debug)]
pub struct Run<O> {
    open: O,
    store: Option<Store>,
}

/// Everything was refused: nothing more can be done.
#[derive(Clone, Copy, Debug)]
pub struct GivenUp;

impl<O: Fn() -> Result<Store>> Run<O> {
    /// A store that is opened when it is needed.
    pub fn new(open: O) -> Self {
        Self { open, store: None }
    }

    /// The store.
    pub fn store(&mut self) -> Result<Store, GivenUp> {
        for _ in 0..ATTEMPTS {
            if let Some(store) = &self.store {
                return Ok(store.clone());
            }
            match (self.open)() {
                Ok(store) => self.store = Some(store),
                Err(error) => eprintln!("{error}"),
            }
        }
        self.store.clone().ok_or(GivenUp)
    }

    /// Closes it.
    pub fn close(&mut self) {
        self.store = None;
    }

    /// Exchanges the store for what is made of it, if that can be; else it is opened anew.
    pub fn renew(&mut self, made: impl FnOnce(Store) -> Result<Store>) -> Result<(), GivenUp> {
        self.store()?;
        match self.store.take().map(made) {
            Some(Ok(store)) => self.store = Some(store),
            Some(Err(error)) => eprintln!("{error}"),
            None => {}
        }
        Ok(())
    }

    /// Tries something that may be done twice.
    pub fn attempt<T>(&mut self, mut done: impl FnMut(&Store) -> Result<T>) -> Result<T, GivenUp> {
        for _ in 0..ATTEMPTS {
            let store = self.store()?;
            match done(&store) {
                Ok(value) => return Ok(value),
                Err(error) => {
                    eprintln!("{error}");
                    drop(store);
                    if error.kind() == ErrorKind::OutcomeUnknown {
                        self.close();
                    }
                }
            }
        }
        Err(GivenUp)
    }
}

/// Does the work of one thread, from the opening on; says how it ended.
pub(super) fn work_alone<O: Fn() -> Result<Store>>(
    open: O,
    work: impl FnOnce(&mut Run<O>, &Acks) -> std::result::Result<(), GivenUp>,
) {
    let acks = Acks::open();
    let mut run = Run::new(open);
    let whole = || -> Result<(), GivenUp> {
        run.store()?;
        acks.say("open");
        work(&mut run, &acks)?;
        // What frees space in the background writes no more when the process ends.
        run.attempt(|store| store.reclaim().map(drop))?;
        acks.say("end of steps");
        Ok(())
    };
    match whole() {
        Ok(()) => acks.say("end"),
        Err(GivenUp) => acks.say("given up"),
    }
}

/// Opens what is left twice, and finds it sound. `look` says how many acknowledged commits are lost, if it looks at this
/// opening: a relaxed store may lose one. Then the first opening is written to, and `go_on` goes on with each.
pub(super) fn open_twice(
    root: &Path,
    level: Durability,
    acks: super::Acks<'_>,
    open: impl Fn() -> Result<Store>,
    mut look: impl FnMut(usize, &Store, &CheckReport) -> std::result::Result<Option<u64>, String>,
    mut go_on: impl FnMut(usize, &Store) -> std::result::Result<(), String>,
) -> std::result::Result<u64, String> {
    let mut lost = 0;
    for opening in 0..2 {
        if opening == 0 && acks.iter().any(|ack| ack == "open") && !root.join("store/data.mdb").exists() {
            return Err("the store is gone".into());
        }
        let store = open_left(&open).map_err(|e| wrong("opening", e))?;
        let report = store.check().map_err(|e| wrong("checking", e))?;
        if !report.problems.is_empty() {
            return Err(format!("{:?}", report.problems));
        }
        if let Some(found) = look(opening, &store, &report)? {
            if found > u64::from(level == Durability::Relaxed) {
                return Err(format!("{found} commits that were acknowledged are lost"));
            }
            if opening == 0 {
                lost = found;
            } else if lost != found {
                return Err("the second opening shows another state than the first".into());
            }
        }
        if opening == 0 {
            batches::write_on(&store)?;
        }
        go_on(opening, &store)?;
    }
    Ok(lost)
}

/// An error in one line, by what each of its causes says.
pub(super) fn told(error: &Error) -> String {
    let mut text = format!("error {:?} {error}", error.kind());
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text = format!("{text}, since {next}");
        cause = next.source();
    }
    text.replace('\n', " ")
}

/// The file of a key ring in a directory.
pub fn ring(root: &Path) -> PathBuf {
    root.join("ring")
}
