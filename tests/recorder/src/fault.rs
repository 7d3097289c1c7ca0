//! Which call is to fail, and how: `CALL:N:ERRNO:MODE`.
//!
//! `CALL` is one of the names in [`Call`], `N` counts its calls below the directory from 1, `ERRNO` is a number, and
//! `MODE` one of
//!
//! - `once`: the n-th call fails, and does nothing;
//! - `ever`: so do all after it;
//! - `short`: the n-th call writes the first half of what it was given;
//! - `late`: the n-th call does all, and says that it failed.

use std::ffi::c_int;

/// The calls that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Open,
    Read,
    Write,
    Pwrite,
    Writev,
    Sync,
    Truncate,
    Link,
    Rename,
    Unlink,
    Mkdir,
    Rmdir,
    Mmap,
    Seek,
    Stat,
}

impl Call {
    const ALL: [(&'static str, Self); 15] = [
        ("open", Self::Open),
        ("read", Self::Read),
        ("write", Self::Write),
        ("pwrite", Self::Pwrite),
        ("writev", Self::Writev),
        ("sync", Self::Sync),
        ("truncate", Self::Truncate),
        ("link", Self::Link),
        ("rename", Self::Rename),
        ("unlink", Self::Unlink),
        ("mkdir", Self::Mkdir),
        ("rmdir", Self::Rmdir),
        ("mmap", Self::Mmap),
        ("seek", Self::Seek),
        ("stat", Self::Stat),
    ];
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Once,
    Ever,
    Short,
    Late,
}

/// What is to become of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It is made.
    Passes,
    /// It is not made, and fails with this number.
    Fails(c_int),
    /// Half of it is made.
    Half,
    /// It is made, and fails with this number.
    FailsLate(c_int),
}

#[derive(Debug)]
pub(crate) struct Fault {
    call: Call,
    place: u64,
    errno: c_int,
    mode: Mode,
    /// Calls of this kind so far.
    count: u64,
}

impl Fault {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let name = parts.next()?;
        let call = Call::ALL.iter().find(|(known, _)| *known == name)?.1;
        let (place, errno) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let mode = match parts.next()? {
            "once" => Mode::Once,
            "ever" => Mode::Ever,
            "short" => Mode::Short,
            "late" => Mode::Late,
            _ => return None,
        };
        Some(Self { call, place, errno, mode, count: 0 })
    }

    /// Counts a call, and says what is to become of it.
    pub(crate) fn fate(&mut self, call: Call) -> Fate {
        if call != self.call {
            return Fate::Passes;
        }
        self.count += 1;
        match self.mode {
            Mode::Ever if self.count >= self.place => Fate::Fails(self.errno),
            Mode::Once if self.count == self.place => Fate::Fails(self.errno),
            Mode::Short if self.count == self.place => Fate::Half,
            Mode::Late if self.count == self.place => Fate::FailsLate(self.errno),
            _ => Fate::Passes,
        }
    }
}
