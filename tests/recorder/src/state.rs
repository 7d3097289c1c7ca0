//! What the process is asked to do, and the lock under which it does it.

use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::fault::{Call, Fate, Fault};
use crate::note::{Kind, encode};
use crate::{paths, sys};

/// What was asked for by the variables.
#[derive(Debug)]
pub(crate) struct State {
    root: Vec<u8>,
    acks: Vec<u8>,
    /// Where notes go; negative if nowhere.
    log: c_int,
    lock: Mutex<Option<Fault>>,
}

static STATE: OnceLock<Option<State>> = OnceLock::new();

fn variable(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(|value| value.as_bytes().to_vec())
}

/// What was asked for; `None` if nothing was.
pub(crate) fn state() -> Option<&'static State> {
    STATE
        .get_or_init(|| {
            let root = variable("RECORDER_ROOT")?;
            let log = variable("RECORDER_LOG").and_then(|path| CString::new(path).ok()).map_or(-1, |path| {
                let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
                sys::openat(libc::AT_FDCWD, path.as_ptr(), flags, 0o600)
            });
            let fault =
                variable("RECORDER_FAULT").and_then(|text| Fault::parse(std::str::from_utf8(&text).ok()?));
            Some(State {
                root,
                acks: variable("RECORDER_ACKS").unwrap_or_default(),
                log,
                lock: Mutex::new(fault),
            })
        })
        .as_ref()
}

/// What an open file is to the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Watched,
    Acks,
}

impl State {
    pub(crate) fn watches(&self, path: &[u8]) -> bool {
        paths::is_below(path, &self.root)
    }

    /// What an open file is, with its path; `None` if it is of no interest.
    pub(crate) fn what(&self, fd: c_int) -> Option<(What, Vec<u8>)> {
        let path = sys::path_of(fd)?;
        if self.watches(&path) {
            Some((What::Watched, path))
        } else if !self.acks.is_empty() && path == self.acks {
            Some((What::Acks, path))
        } else {
            None
        }
    }

    /// Nobody else makes a call that is noted, or notes one, until what this gives is dropped.
    pub(crate) fn lock(&self) -> Locked<'_> {
        let fault = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.log >= 0 {
            sys::lock(self.log, libc::LOCK_EX);
        }
        Locked { state: self, fault }
    }
}

/// The lock, held.
#[derive(Debug)]
pub(crate) struct Locked<'s> {
    state: &'s State,
    fault: MutexGuard<'s, Option<Fault>>,
}

impl Locked<'_> {
    /// Notes what was done. `errno` stays as it is.
    pub(crate) fn note(&self, kind: Kind, numbers: [u64; 3], first: &[u8], second: &[u8]) {
        if self.state.log < 0 {
            return;
        }
        let errno = sys::errno();
        let note = encode(kind, numbers, first, second);
        let mut left = &*note;
        while !left.is_empty() {
            match usize::try_from(sys::write(self.state.log, left.as_ptr().cast(), left.len())) {
                Ok(written) if written > 0 => left = left.get(written..).unwrap_or(&[]),
                // A log that ends early is seen by who reads it.
                _ => break,
            }
        }
        sys::set_errno(errno);
    }

    /// What is to become of a call. One that fails is noted, and its number set.
    pub(crate) fn fate(&mut self, call: Call, on: &[u8]) -> Fate {
        let fate = self.fault.as_mut().map_or(Fate::Passes, |fault| fault.fate(call));
        if fate != Fate::Passes {
            self.note(Kind::Fault, [0; 3], format!("{call:?} {fate:?}").as_bytes(), on);
        }
        if let Fate::Fails(errno) = fate {
            sys::set_errno(errno);
        }
        fate
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if self.state.log >= 0 {
            let errno = sys::errno();
            sys::lock(self.state.log, libc::LOCK_UN);
            sys::set_errno(errno);
        }
    }
}
