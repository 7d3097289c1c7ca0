#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// LMDB writes its words as the machine has them, and their layout is known for these alone.
#[cfg(not(all(unix, target_pointer_width = "64", target_endian = "little")))]
compile_error!(
    "lmdb-verify needs a 64-bit little-endian Unix system, such as Linux or macOS on x86_64 or aarch64"
);

mod error;
mod fields;
mod free_list;
mod header;
mod integrity_check;
mod met;
mod names;
mod page_set;
mod pages;
mod pre_cow_check;
pub mod raw_pages;
mod reader;
mod stale_pages;
#[cfg(test)]
mod tests;
mod tree;
mod used_pages;

pub use self::error::{Cause, Error, Foreign, Result};
pub use self::header::{Header, TREE};
pub use self::integrity_check::PagesReport;
pub use self::names::Names;
pub use self::pages::{HEADER, Pages};
pub use self::reader::{PageReader, state_of_write};
pub use self::tree::{
    Entry, LeafPath, LeafWalk, LeavesAhead, Page, SnapshotPages, Source, Tree, Verify, VerifyEntry,
    WalkedLeaf, Written, is_database,
};
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub use self::tree::{Image, Row};
