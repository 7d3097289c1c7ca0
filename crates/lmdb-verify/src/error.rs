//! What is wrong with pages, or with reading them.

use std::{fmt, io};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is damaged, or why it could not be looked at; [`cause`](Self::cause) says which.
#[derive(Debug)]
pub struct Error(Box<Cause>);

/// The cause of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The data file can't be read.
    Unread(io::Error),
    /// LMDB refused a call.
    Lmdb(heed::Error),
    /// The data file is none that this crate can read.
    Foreign(Foreign),
    /// The data file is damaged.
    File {
        /// The page, where one is known.
        page: Option<u64>,
        /// What the file is or lacks: it goes on behind the file's name.
        what: String,
    },
    /// The way to the first leaf of the unnamed database leads nowhere.
    FirstLeaf,
    /// A page in the map that a search, a walk or a write came to is damaged or out of use.
    Page,
    /// A check of every page has found this in the map.
    Map {
        /// The page, where one is known.
        page: Option<u64>,
        /// What is wrong, as a sentence.
        what: String,
    },
    /// The list of free pages is damaged, so that a write by it could overwrite what is in use.
    FreeList,
    /// A page of the database of this name is damaged, so that a write could lose what is on it. The name of the unnamed
    /// one is `main`.
    Database(String),
    /// The caller's own check has refused an entry.
    Entry(Box<dyn std::error::Error + Send + Sync>),
}

/// The reason why a file is no environment that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// It is empty. LMDB would take it for a new one, and fill it.
    Empty,
    /// It does not begin with a meta page.
    NotLmdb,
    /// It is of another of LMDB's data formats.
    Format(u32),
}

impl Error {
    /// Returns the error of an entry that the caller's own check refuses.
    #[cold]
    pub fn entry(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Cause::Entry(Box::new(error)).into()
    }

    /// Returns the error of a data file that can't be read.
    #[cold]
    pub fn unread(error: io::Error) -> Self {
        Cause::Unread(error).into()
    }

    /// Returns the error of a damaged data file. The text goes on behind the file's name.
    #[cold]
    pub fn file(what: impl Into<String>) -> Self {
        Cause::File { page: None, what: what.into() }.into()
    }

    #[cold]
    pub(crate) fn map(page: Option<u64>, what: impl Into<String>) -> Self {
        Cause::Map { page, what: what.into() }.into()
    }

    #[cold]
    pub(crate) fn lmdb(error: heed::Error) -> Self {
        Cause::Lmdb(error).into()
    }

    /// Returns the cause.
    pub fn cause(&self) -> &Cause {
        &self.0
    }

    /// Returns the cause, taken out of the error.
    pub fn into_cause(self) -> Cause {
        *self.0
    }

    /// Returns whether it says that a file could not be read, and nothing of what is in it.
    pub fn is_unread(&self) -> bool {
        matches!(*self.0, Cause::Unread(_))
    }
}

/// Returns the error of a page whose contents can't be right.
#[cold]
pub(crate) fn damaged() -> Error {
    Cause::Page.into()
}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        Self(Box::new(cause))
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty"),
            Self::NotLmdb => f.write_str("is not a file of LMDB's data format 1"),
            Self::Format(format) => write!(f, "has LMDB's data format {format}; this library reads 1"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Cause::Unread(error) => write!(f, "the data file can't be read: {error}"),
            Cause::Lmdb(error) => error.fmt(f),
            Cause::Foreign(foreign) => write!(f, "the data file {foreign}"),
            Cause::File { what, .. } => write!(f, "the data file {what}"),
            Cause::FirstLeaf => {
                f.write_str("the way to the first leaf of the unnamed database leads nowhere")
            }
            Cause::Page => f.write_str("a page is damaged"),
            Cause::Map { what, .. } => f.write_str(what),
            Cause::FreeList => f.write_str(
                "the list of free pages is damaged, and a write by it could overwrite what is in use",
            ),
            Cause::Database(name) => {
                write!(f, "a page of the database `{name}` is damaged, and a write could lose what is on it")
            }
            Cause::Entry(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Cause::Unread(error) => Some(error),
            Cause::Lmdb(error) => Some(error),
            Cause::Entry(error) => Some(&**error),
            _ => None,
        }
    }
}
