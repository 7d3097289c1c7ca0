//! What `table-core` and its derive macros have in common, each rule once.
//!
//! A macro checks a declaration before the compiler has types, and the library checks it again when they are known. Both
//! ask here what a format of a key part means, which names and characters the service takes, and how many of a thing there
//! may be. The functions are `const` where the library asks while a program compiles.
//!
//! ```
//! use table_words::{Format, names};
//!
//! const ID: Format<'_> = match Format::parse("06") {
//!     Ok(format) => format,
//!     Err(_) => panic!("a width"),
//! };
//! assert_eq!((ID, ID.width()), (Format::Pad(6), Some(6)));
//! assert!(names::is_property("FirstName") && !names::is_property("first name"));
//! ```
//!
//! This crate has no promises of its own: `table-core` depends on it in exactly its own version.

#![forbid(unsafe_code)]

pub mod format;
pub mod key;
pub mod limits;
pub mod names;
pub mod picture;
pub mod taken;

pub use format::{Format, TimeItem, TimePattern};
