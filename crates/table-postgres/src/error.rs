//! What the server says is wrong, as errors of the tables.

use table_engine::__executor as executor;
use table_engine::{Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// Returns the error of a table that is not there, or is no more.
#[cold]
pub(crate) fn missing() -> Error {
    executor::error(ErrorKind::TableNotFound, "there is no such table; create it first")
}

/// Returns the error of stored bytes that are not of the library's form.
#[cold]
pub(crate) fn damaged(what: &'static str) -> Error {
    executor::error(ErrorKind::Corrupt, format!("{what} is not as this library writes it"))
}

/// Returns whether the connection is gone, so that it is unknown what became of the statement.
pub(crate) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        // The server was told to end, or its process died: the answer to a commit may have been next.
        Some(code) => code.code().starts_with("57P") || code.code().starts_with("08"),
        None => true,
    }
}

/// Returns whether another attempt may succeed: the server had to choose between this transaction and another.
pub(crate) fn is_conflict(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED
    })
}

/// Returns whether an error of the tables was made of such a one.
pub(crate) fn is_of_conflict(error: &Error) -> bool {
    let cause = std::error::Error::source(error);
    cause.and_then(|cause| cause.downcast_ref()).is_some_and(is_conflict)
}

/// Returns the error of the tables for what the server or the connection says.
#[cold]
pub(crate) fn of_server(error: tokio_postgres::Error) -> Error {
    let Some(answer) = error.as_db_error() else {
        let because = format!("there is no connection to the server, or it was lost: {}", cause(&error));
        return executor::error(ErrorKind::Unreachable, because).caused_by(error);
    };
    let code = answer.code().clone();
    let kind = match code.code() {
        "42P01" | "3F000" => return missing(),
        // A right that is missing, a wrong password, no such user or database.
        "42501" | "28000" | "28P01" | "3D000" => ErrorKind::AccessDenied,
        "25006" => ErrorKind::ReadOnly,
        "53100" => ErrorKind::DiskFull,
        "53000" | "53200" | "53300" | "53400" | "40001" | "40P01" => ErrorKind::Throttled,
        // Of an index row that is too large.
        "54000" => ErrorKind::KeyTooLong,
        "57014" => ErrorKind::Unreachable,
        lost if lost.starts_with("57P") || lost.starts_with("08") => ErrorKind::Unreachable,
        _ => ErrorKind::Io,
    };
    // Its detail may show values; its message does not.
    let because = format!("the server says: {} ({})", answer.message(), code.code());
    let told = executor::error(kind, because);
    // What it says of a conflict names processes and transactions alone.
    if is_conflict(&error) { told.caused_by(error) } else { told }
}

/// Returns what the error and all that have led to it say: the last of them mostly says why. None of them shows an address.
fn cause(error: &tokio_postgres::Error) -> String {
    let first: Option<&dyn std::error::Error> = Some(error);
    let all = std::iter::successors(first, |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
