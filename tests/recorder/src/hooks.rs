//! The C library's functions, in their places.
//!
//! `open` and `openat` take their last argument only with some flags. It is declared always: on the machines that the
//! tests run on it is passed as any other, and one that was not given is not looked at by the kernel.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libc::{iovec, mode_t, off_t, size_t, ssize_t};

use crate::fault::{Call, Fate};
use crate::note::Kind;
use crate::state::{Locked, State, What, state};
use crate::{paths, sys};

/// Defines functions of the C library by others of here; some have a second name.
macro_rules! replace {
    (@one $name:ident ($($argument:ident: $type:ty),*) -> $result:ty = $body:expr) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> $result {
            $body
        }
    };
    ($($name:ident $(| $other:ident)?: $arguments:tt -> $result:ty = $body:expr;)+) => {$(
        replace! { @one $name $arguments -> $result = $body }
        $(replace! { @one $other $arguments -> $result = $body })?
    )+};
}

replace! {
    open | open64: (path: *const c_char, flags: c_int, mode: mode_t) -> c_int =
        opened(libc::AT_FDCWD, path, flags, mode);
    openat | openat64: (directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int =
        opened(directory, path, flags, mode);
    write: (fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t = written(fd, buffer, length);
    pwrite | pwrite64: (fd: c_int, buffer: *const c_void, length: size_t, offset: off_t) -> ssize_t =
        pwritten(fd, buffer, length, offset);
    writev: (fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t = gathered(fd, pieces, count, None);
    pwritev | pwritev64: (fd: c_int, pieces: *const iovec, count: c_int, offset: off_t) -> ssize_t =
        gathered(fd, pieces, count, Some(offset));
    read: (fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t =
        may_fail(fd, Call::Read).unwrap_or_else(|| sys::read(fd, buffer, length));
    pread | pread64: (fd: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t =
        may_fail(fd, Call::Read).unwrap_or_else(|| sys::pread(fd, buffer, length, offset));
    lseek | lseek64: (fd: c_int, offset: off_t, from: c_int) -> off_t =
        may_fail(fd, Call::Seek).map_or_else(|| sys::lseek(fd, offset, from), |failed| failed as off_t);
    statx: (directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, found: *mut libc::statx) -> c_int =
        looked_at(directory, path, flags, mask, found);
    ftruncate | ftruncate64: (fd: c_int, length: off_t) -> c_int = truncated(fd, length);
    fsync: (fd: c_int) -> c_int = synced(fd, sys::fsync);
    fdatasync: (fd: c_int) -> c_int = synced(fd, sys::fdatasync);
    link: (old: *const c_char, new: *const c_char) -> c_int =
        linked(libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0);
    linkat: (from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_int) -> c_int =
        linked(from, old, to, new, flags);
    rename: (old: *const c_char, new: *const c_char) -> c_int =
        renamed(libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0);
    renameat: (from: c_int, old: *const c_char, to: c_int, new: *const c_char) -> c_int =
        renamed(from, old, to, new, 0);
    renameat2: (from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_uint) -> c_int =
        renamed(from, old, to, new, flags);
    unlink: (path: *const c_char) -> c_int = removed(libc::AT_FDCWD, path, 0);
    unlinkat: (directory: c_int, path: *const c_char, flags: c_int) -> c_int = removed(directory, path, flags);
    rmdir: (path: *const c_char) -> c_int = removed(libc::AT_FDCWD, path, libc::AT_REMOVEDIR);
    mkdir: (path: *const c_char, mode: mode_t) -> c_int = made(libc::AT_FDCWD, path, mode);
    mkdirat: (directory: c_int, path: *const c_char, mode: mode_t) -> c_int = made(directory, path, mode);
    mmap | mmap64: (
        address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t
    ) -> *mut c_void = mapped(address, length, protection, flags, fd, offset);
    msync: (address: *mut c_void, length: size_t, flags: c_int) -> c_int = sys::msync(address, length, flags);
}

/// An open file of interest.
fn of(fd: c_int) -> Option<(&'static State, What, Vec<u8>)> {
    let state = state()?;
    let errno = sys::errno();
    let found = state.what(fd);
    sys::set_errno(errno);
    found.map(|(what, path)| (state, what, path))
}

/// A path of interest.
fn at(directory: c_int, path: *const c_char) -> Option<(&'static State, Vec<u8>)> {
    let state = state()?;
    let path = paths::absolute(directory, path)?;
    state.watches(&path).then_some((state, path))
}

/// What is said of a call that was made.
fn said(fate: Fate) -> Option<c_int> {
    match fate {
        Fate::FailsLate(errno) => {
            sys::set_errno(errno);
            Some(-1)
        }
        _ => None,
    }
}

fn opened(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let Some((state, name)) = at(directory, path) else {
        return sys::openat(directory, path, flags, mode);
    };
    let mut locked = state.lock();
    let fate = locked.fate(Call::Open, &name);
    if let Fate::Fails(_) = fate {
        return -1;
    }
    let fd = sys::openat(directory, path, flags, mode);
    if fd >= 0
        && flags & libc::O_CREAT != 0
        && let Some((number, ..)) = sys::stat(fd)
    {
        locked.note(Kind::Open, [number, u64::from(flags & libc::O_TRUNC != 0), 0], &name, &[]);
    }
    said(fate).unwrap_or(fd)
}

/// Notes what was written. A write to a descriptor that flushes by itself is durable, unless it failed late: then
/// nobody knows.
fn note_write(locked: &Locked<'_>, fd: c_int, offset: off_t, bytes: &[u8], fate: Fate) {
    let Some((number, ..)) = sys::stat(fd) else { return };
    let flushes = sys::flags(fd) & libc::O_DSYNC != 0;
    let failed = matches!(fate, Fate::FailsLate(_));
    let offset = u64::try_from(offset).unwrap_or(0);
    locked.note(Kind::Write, [number, offset, u64::from(flushes && !failed)], bytes, &[]);
    if flushes && failed {
        locked.note(Kind::Sync, [number, 0, 1], &[], &[]);
    }
}

/// Where the next bytes go.
fn place(fd: c_int) -> off_t {
    if sys::flags(fd) & libc::O_APPEND != 0 {
        sys::stat(fd).and_then(|(_, length, _)| off_t::try_from(length).ok()).unwrap_or(0)
    } else {
        sys::lseek(fd, 0, libc::SEEK_CUR)
    }
}

fn written(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t {
    let Some((state, what, path)) = of(fd) else { return sys::write(fd, buffer, length) };
    let mut locked = state.lock();
    if what == What::Acks {
        locked.note(Kind::Ack, [0; 3], sys::bytes(buffer, length), &[]);
        return sys::write(fd, buffer, length);
    }
    let fate = locked.fate(Call::Write, &path);
    let length = match fate {
        Fate::Fails(_) => return -1,
        Fate::Half => length / 2,
        _ => length,
    };
    let offset = place(fd);
    let count = sys::write(fd, buffer, length);
    if let Ok(count) = usize::try_from(count) {
        note_write(&locked, fd, offset, sys::bytes(buffer, count), fate);
    }
    said(fate).map_or(count, |said| said as ssize_t)
}

fn pwritten(fd: c_int, buffer: *const c_void, length: size_t, offset: off_t) -> ssize_t {
    let Some((state, _, path)) = of(fd) else { return sys::pwrite(fd, buffer, length, offset) };
    let mut locked = state.lock();
    let fate = locked.fate(Call::Pwrite, &path);
    let length = match fate {
        Fate::Fails(_) => return -1,
        Fate::Half => length / 2,
        _ => length,
    };
    let count = sys::pwrite(fd, buffer, length, offset);
    if let Ok(count) = usize::try_from(count) {
        note_write(&locked, fd, offset, sys::bytes(buffer, count), fate);
    }
    said(fate).map_or(count, |said| said as ssize_t)
}

/// Several pieces, at an offset or where the last ended.
fn gathered(fd: c_int, pieces: *const iovec, count: c_int, offset: Option<off_t>) -> ssize_t {
    let make = |pieces: *const iovec, count| match offset {
        Some(offset) => sys::pwritev(fd, pieces, count, offset),
        None => sys::writev(fd, pieces, count),
    };
    let Some((state, _, path)) = of(fd) else { return make(pieces, count) };
    let mut locked = state.lock();
    let fate = locked.fate(Call::Writev, &path);
    let offset = offset.unwrap_or_else(|| place(fd));
    let given = sys::pieces(pieces, count);
    let mut bytes: Vec<u8> = Vec::new();
    for piece in given {
        bytes.extend_from_slice(sys::bytes(piece.iov_base, piece.iov_len));
    }
    let half = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() / 2 };
    let count = match fate {
        Fate::Fails(_) => return -1,
        Fate::Half => make(&raw const half, 1),
        _ => make(pieces, count),
    };
    if let Some(written) = usize::try_from(count).ok().and_then(|count| bytes.get(..count)) {
        note_write(&locked, fd, offset, written, fate);
    }
    said(fate).map_or(count, |said| said as ssize_t)
}

/// Counts a call that changes nothing; what it gives if it is to fail.
fn may_fail(fd: c_int, call: Call) -> Option<ssize_t> {
    let (state, _, path) = of(fd)?;
    match state.lock().fate(call, &path) {
        Fate::Fails(_) => Some(-1),
        fate => said(fate).map(|said| said as ssize_t),
    }
}

/// Looks at a path, or, where that is empty, at an open file.
fn looked_at(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    found: *mut libc::statx,
) -> c_int {
    let look = || sys::statx(directory, path, flags, mask, found);
    if sys::text(path).is_empty() {
        return may_fail(directory, Call::Stat).map_or_else(look, |failed| failed as c_int);
    }
    let Some((state, name)) = at(directory, path) else { return look() };
    let fate = state.lock().fate(Call::Stat, &name);
    if let Fate::Fails(_) = fate {
        return -1;
    }
    let done = look();
    said(fate).unwrap_or(done)
}

fn truncated(fd: c_int, length: off_t) -> c_int {
    let Some((state, _, path)) = of(fd) else { return sys::ftruncate(fd, length) };
    let mut locked = state.lock();
    let fate = locked.fate(Call::Truncate, &path);
    if let Fate::Fails(_) = fate {
        return -1;
    }
    let done = sys::ftruncate(fd, length);
    if done == 0
        && let Some((number, ..)) = sys::stat(fd)
    {
        locked.note(Kind::Truncate, [number, u64::try_from(length).unwrap_or(0), 0], &[], &[]);
    }
    said(fate).unwrap_or(done)
}

fn synced(fd: c_int, sync: fn(c_int) -> c_int) -> c_int {
    let Some((state, _, path)) = of(fd) else { return sync(fd) };
    let Some((number, _, is_directory)) = sys::stat(fd) else { return sync(fd) };
    let mut locked = state.lock();
    let fate = locked.fate(Call::Sync, &path);
    let done = if let Fate::Fails(_) = fate { -1 } else { sync(fd) };
    let failed = u64::from(done != 0);
    if is_directory {
        locked.note(Kind::SyncDirectory, [0, 0, failed], &path, &[]);
    } else {
        locked.note(Kind::Sync, [number, 0, failed], &[], &[]);
    }
    said(fate).unwrap_or(done)
}

/// Makes a call that changes names, and notes it.
fn name(state: &State, call: Call, kind: Kind, paths: [&[u8]; 2], make: impl FnOnce() -> c_int) -> c_int {
    let mut locked = state.lock();
    let fate = locked.fate(call, paths[0]);
    if let Fate::Fails(_) = fate {
        return -1;
    }
    let done = make();
    if done == 0 {
        locked.note(kind, [0; 3], paths[0], paths[1]);
    }
    said(fate).unwrap_or(done)
}

fn linked(from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_int) -> c_int {
    match (at(from, old), at(to, new)) {
        (Some((state, before)), Some((_, after))) => {
            name(state, Call::Link, Kind::Link, [&before, &after], || sys::linkat(from, old, to, new, flags))
        }
        _ => sys::linkat(from, old, to, new, flags),
    }
}

fn renamed(from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_uint) -> c_int {
    match (at(from, old), at(to, new)) {
        (Some((state, before)), Some((_, after))) => {
            name(state, Call::Rename, Kind::Rename, [&before, &after], || {
                sys::renameat2(from, old, to, new, flags)
            })
        }
        _ => sys::renameat2(from, old, to, new, flags),
    }
}

fn removed(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    let Some((state, gone)) = at(directory, path) else { return sys::unlinkat(directory, path, flags) };
    let (call, kind) = if flags & libc::AT_REMOVEDIR == 0 {
        (Call::Unlink, Kind::Unlink)
    } else {
        (Call::Rmdir, Kind::Rmdir)
    };
    name(state, call, kind, [&gone, &[]], || sys::unlinkat(directory, path, flags))
}

fn made(directory: c_int, path: *const c_char, mode: mode_t) -> c_int {
    let Some((state, new)) = at(directory, path) else { return sys::mkdirat(directory, path, mode) };
    name(state, Call::Mkdir, Kind::Mkdir, [&new, &[]], || sys::mkdirat(directory, path, mode))
}

fn mapped(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    if fd >= 0
        && let Some((state, _, path)) = of(fd)
        && let Fate::Fails(_) = state.lock().fate(Call::Mmap, &path)
    {
        return libc::MAP_FAILED;
    }
    sys::mmap(address, length, protection, flags, fd, offset)
}
