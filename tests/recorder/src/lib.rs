//! A shared object for `LD_PRELOAD`: it stands between a program and the C library, notes in a log what the program
//! writes and flushes below one directory, and makes one of its system calls fail if asked to.
//!
//! | variable | what |
//! | --- | --- |
//! | `RECORDER_ROOT` | the directory, absolute and without links; without it nothing is done |
//! | `RECORDER_LOG` | the log, which is appended to; `integration_tests::power::log` says how it is laid out |
//! | `RECORDER_ACKS` | a file whose writes are noted as what the program has acknowledged |
//! | `RECORDER_FAULT` | `CALL:N:ERRNO:MODE`, see the module `fault` |
//!
//! Each call and its note are made under one lock, also between processes, so the log's order is the true one.
//! What is written through a map is not seen; a store writes its lock file alone so.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]
#![allow(unsafe_code, reason = "the C library's functions are replaced, and pointers are what they take")]
#![allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::ptr_as_ptr,
    reason = "the kernel gives every answer as one wide number, which is C's narrower type made wide"
)]

mod fault;
mod hooks;
mod note;
mod paths;
mod state;
mod sys;
