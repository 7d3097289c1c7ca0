//! Why a command failed, and the code that the process exits with.

use std::fmt;
use std::io;

use table_core::{Error, ErrorKind};

/// What the process exits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It is done.
    Done,
    /// The store refuses it.
    Refused,
    /// The command line is not one that it takes.
    Usage,
    /// There is no such store, table, entity, queue or blob.
    NotFound,
    /// Stored bytes are damaged, or a check found copies that do not agree.
    Damaged,
    /// The store is in use, or its server is too busy or out of reach.
    Busy,
}

impl Exit {
    /// Returns the number of the exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Damaged => 4,
            Self::Busy => 5,
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The store refuses.
    Store(Error),
    /// The command refuses: the store can't do it, or what it is to be done with is not known.
    Refused(String),
    /// The command line can't be meant so.
    Usage(String),
    /// What the command asks for is not there.
    NotFound(String),
    /// The output can't be written.
    Output(io::Error),
}

impl Failure {
    /// Returns the code to exit with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Store(error) => exit_of(error.kind()),
            Self::Usage(_) => Exit::Usage,
            Self::NotFound(_) => Exit::NotFound,
            Self::Refused(_) | Self::Output(_) => Exit::Refused,
        }
    }

    /// Returns whether the reader of the output has gone, having seen enough.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the line of JSON that a program reads.
    pub(crate) fn to_json(&self) -> String {
        let code = match self {
            Self::Store(error) => error.code(),
            Self::Refused(_) => "NotImplemented",
            Self::Usage(_) => "InvalidInput",
            Self::NotFound(_) => "ResourceNotFound",
            Self::Output(_) => "InternalError",
        };
        let mut line = String::from("{\"error\":{\"code\":");
        crate::output::push_json_text(&mut line, code);
        line.push_str(",\"message\":");
        crate::output::push_json_text(&mut line, &self.to_string());
        line.push_str("}}");
        line
    }
}

fn exit_of(kind: ErrorKind) -> Exit {
    match kind {
        kind if kind.is_damage() => Exit::Damaged,
        _ => match kind.status() {
            404 => Exit::NotFound,
            503 => Exit::Busy,
            _ => Exit::Refused,
        },
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "{error}"),
            Self::Refused(text) | Self::Usage(text) | Self::NotFound(text) => f.write_str(text),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
