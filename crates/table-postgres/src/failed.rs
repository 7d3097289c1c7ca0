//! Why an attempt to carry something out has not succeeded.

use table_engine::__executor::Refused;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::{is_conflict, is_lost, of_server};
use crate::token::Token;

/// Why an attempt has not succeeded.
pub(crate) enum Failed {
    Refused(Refused),
    /// The server chose another transaction, or what was read is not there any more.
    Again,
    /// Some row was written without a new time since it was read, or before: it has to be looked at.
    Hidden,
    /// The connection was lost before the answer came: this token says whether the plan was carried out.
    Lost(Token),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// Says what an error is before anything was sent that writes.
pub(crate) fn before(error: Error) -> Failed {
    // A connection may have been lost while it was idle. Where there is no server, the next attempt finds that out.
    if is_conflict(&error) || is_lost(&error) {
        return Failed::Again;
    }
    Refused::whole(of_server(error)).into()
}

/// Returns whether something that the statement demands does not hold, or a row is there that was to be inserted.
pub(crate) fn does_not_hold(error: &Error) -> bool {
    error
        .code()
        .is_some_and(|code| *code == SqlState::DIVISION_BY_ZERO || *code == SqlState::UNIQUE_VIOLATION)
}
