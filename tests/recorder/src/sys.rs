//! System calls as they are: never through the C library's functions, which are replaced here.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libc::{iovec, mode_t, off_t, size_t, ssize_t};

/// Makes one system call whose arguments are numbers or pointers, and gives what it gave.
macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the arguments are those of a caller of the function that this call is behind, or lie in memory that
        // outlives the call; the kernel checks pointers itself.
        unsafe { libc::syscall(libc::$number $(, $argument)*) }
    };
}

pub(crate) fn errno() -> c_int {
    // SAFETY: it has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: it points to this thread's own number.
    unsafe { *place }
}

pub(crate) fn set_errno(errno: c_int) {
    // SAFETY: it has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: it points to this thread's own number.
    unsafe { *place = errno };
}

/// The bytes of a C string.
pub(crate) fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the caller of a function that takes a path gives one, which ends and lives during the call.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// The bytes that a caller gives to be written.
pub(crate) fn bytes<'a>(buffer: *const c_void, length: size_t) -> &'a [u8] {
    if buffer.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: the caller of a function that writes gives so many bytes, which live during the call.
    unsafe { std::slice::from_raw_parts(buffer.cast(), length) }
}

/// The pieces that a caller gives to be written.
pub(crate) fn pieces<'a>(pieces: *const iovec, count: c_int) -> &'a [iovec] {
    if pieces.is_null() || count <= 0 {
        return &[];
    }
    // SAFETY: the caller of a function that writes pieces gives so many, which live during the call.
    unsafe { std::slice::from_raw_parts(pieces, count as usize) }
}

pub(crate) fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    call!(SYS_openat, directory, path, flags, mode) as c_int
}

pub(crate) fn write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t {
    call!(SYS_write, fd, buffer, length) as ssize_t
}

pub(crate) fn pwrite(fd: c_int, buffer: *const c_void, length: size_t, offset: off_t) -> ssize_t {
    call!(SYS_pwrite64, fd, buffer, length, offset) as ssize_t
}

pub(crate) fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    call!(SYS_writev, fd, pieces, count) as ssize_t
}

pub(crate) fn pwritev(fd: c_int, pieces: *const iovec, count: c_int, offset: off_t) -> ssize_t {
    // The offset is given in two halves, of which a machine of 64 bits looks at the first.
    call!(SYS_pwritev, fd, pieces, count, offset, 0_i64) as ssize_t
}

pub(crate) fn read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t {
    call!(SYS_read, fd, buffer, length) as ssize_t
}

pub(crate) fn pread(fd: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
    call!(SYS_pread64, fd, buffer, length, offset) as ssize_t
}

pub(crate) fn ftruncate(fd: c_int, length: off_t) -> c_int {
    call!(SYS_ftruncate, fd, length) as c_int
}

pub(crate) fn fsync(fd: c_int) -> c_int {
    call!(SYS_fsync, fd) as c_int
}

pub(crate) fn fdatasync(fd: c_int) -> c_int {
    call!(SYS_fdatasync, fd) as c_int
}

pub(crate) fn msync(address: *mut c_void, length: size_t, flags: c_int) -> c_int {
    call!(SYS_msync, address, length, flags) as c_int
}

pub(crate) fn linkat(from: c_int, old: *const c_char, to: c_int, new: *const c_char, flags: c_int) -> c_int {
    call!(SYS_linkat, from, old, to, new, flags) as c_int
}

pub(crate) fn renameat2(
    from: c_int,
    old: *const c_char,
    to: c_int,
    new: *const c_char,
    flags: c_uint,
) -> c_int {
    call!(SYS_renameat2, from, old, to, new, flags) as c_int
}

pub(crate) fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    call!(SYS_unlinkat, directory, path, flags) as c_int
}

pub(crate) fn mkdirat(directory: c_int, path: *const c_char, mode: mode_t) -> c_int {
    call!(SYS_mkdirat, directory, path, mode) as c_int
}

pub(crate) fn mmap(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    call!(SYS_mmap, address, length, protection, flags, fd, offset) as *mut c_void
}

pub(crate) fn lseek(fd: c_int, offset: off_t, from: c_int) -> off_t {
    call!(SYS_lseek, fd, offset, from)
}

pub(crate) fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    found: *mut libc::statx,
) -> c_int {
    call!(SYS_statx, directory, path, flags, mask, found) as c_int
}

/// The flags that a descriptor was opened with.
pub(crate) fn flags(fd: c_int) -> c_int {
    call!(SYS_fcntl, fd, libc::F_GETFL) as c_int
}

pub(crate) fn lock(fd: c_int, operation: c_int) {
    while call!(SYS_flock, fd, operation) == -1 && errno() == libc::EINTR {}
}

/// The number and length of an open file, and whether it is a directory.
pub(crate) fn stat(fd: c_int) -> Option<(u64, u64, bool)> {
    // SAFETY: a structure of numbers may be zero.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    if call!(SYS_newfstatat, fd, c"".as_ptr(), &raw mut found, libc::AT_EMPTY_PATH) != 0 {
        return None;
    }
    let is_directory = found.st_mode & libc::S_IFMT == libc::S_IFDIR;
    Some((found.st_ino, u64::try_from(found.st_size).unwrap_or(0), is_directory))
}

/// Where an open file is, or was.
pub(crate) fn path_of(fd: c_int) -> Option<Vec<u8>> {
    let link = format!("/proc/self/fd/{fd}\0");
    let mut path = vec![0_u8; libc::PATH_MAX as usize];
    let length = call!(SYS_readlinkat, libc::AT_FDCWD, link.as_ptr(), path.as_mut_ptr(), path.len());
    path.truncate(usize::try_from(length).ok()?);
    Some(path)
}
