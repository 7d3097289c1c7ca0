//! What the service says, as the engine's errors.

use table_engine::{Error, ErrorKind};

use crate::client::{Failure, Refusal};

/// Returns the kind of what the service refuses, by its code, else by its status.
fn kind_of(refusal: &Refusal) -> Option<ErrorKind> {
    Some(match (&*refusal.code, refusal.status) {
        ("EntityAlreadyExists", _) => ErrorKind::EntityAlreadyExists,
        ("ResourceNotFound" | "EntityNotFound", _) => ErrorKind::EntityNotFound,
        ("UpdateConditionNotSatisfied" | "ConditionNotMet", _) | (_, 412) => ErrorKind::ConditionNotMet,
        ("TableNotFound", _) => ErrorKind::TableNotFound,
        ("TableAlreadyExists", _) => ErrorKind::TableAlreadyExists,
        ("InvalidResourceName", _) => ErrorKind::InvalidTableName,
        ("PropertyNameInvalid", _) => ErrorKind::PropertyNameInvalid,
        ("PropertyNameTooLong", _) => ErrorKind::PropertyNameTooLong,
        ("PropertyValueTooLarge", _) => ErrorKind::PropertyValueTooLarge,
        ("KeyValueTooLarge", _) => ErrorKind::KeyTooLong,
        ("TooManyProperties", _) => ErrorKind::TooManyProperties,
        ("EntityTooLarge", _) => ErrorKind::EntityTooLarge,
        ("InvalidDuplicateRow", _) => ErrorKind::DuplicateRow,
        ("RequestBodyTooLarge", _) | (_, 413) => ErrorKind::BatchTooLarge,
        _ => return None,
    })
}

/// What is said where the service refuses a table's name, and says no more.
const TABLE_NAME: &str = "a table's name has 3 to 63 ASCII letters and digits, with what `AzureOptions::prefix` puts before it, and starts with a letter";

/// Returns the error of what the service has refused.
#[cold]
pub(super) fn refused(refusal: &Refusal) -> Error {
    if let Some(kind) = kind_of(refusal) {
        let error = Error::new(kind);
        return if kind == ErrorKind::InvalidTableName { error.because(TABLE_NAME) } else { error };
    }
    let (kind, more) = match (&*refusal.code, refusal.status) {
        ("TableBeingDeleted", _) => {
            (ErrorKind::Throttled, "; a table of this name is still being dropped: try again in a minute")
        }
        (_, 401 | 403) => (ErrorKind::AccessDenied, "; check the key or the token, and what it permits"),
        (_, 429 | 503) => (ErrorKind::Throttled, ""),
        _ => (ErrorKind::Io, ""),
    };
    let said = refusal.to_string();
    let said = if more.is_empty() { &*said } else { said.trim_end_matches('.') };
    Error::new(kind).because(format!("{said}{more}"))
}

/// Returns the error of a read that has not come to an answer.
#[cold]
pub(super) fn unread(failure: Failure) -> Error {
    match failure {
        Failure::Refused(refusal) => refused(&refusal),
        Failure::Malformed(_) => Error::new(ErrorKind::Corrupt).because(failure.to_string()),
        Failure::Credential(_) => {
            Error::new(ErrorKind::AccessDenied).because(failure.to_string()).caused_by(failure)
        }
        _ => Error::new(ErrorKind::Unreachable).because(failure.to_string()).caused_by(failure),
    }
}

/// Returns the error of a write that has not come to an answer, or to none that can be read.
#[cold]
pub(super) fn unwritten(failure: Failure) -> Error {
    match failure {
        Failure::NoAnswer(_) | Failure::Unsettled(_) | Failure::Malformed(_) => {
            let because = format!("{failure}; the change may have been carried out: read what it is of");
            Error::new(ErrorKind::OutcomeUnknown).because(because).caused_by(failure)
        }
        other => unread(other),
    }
}

/// Returns the error of a change that was carried out or not, which nothing tells any more.
#[cold]
pub(super) fn unknown() -> Error {
    Error::new(ErrorKind::OutcomeUnknown).because(
        "an answer of the service was lost, and what the change is of was written by others since: read it, to see whether the \
         change was carried out",
    )
}

/// Returns the error of tables whose layouts are not noted.
#[cold]
pub(super) fn keeps_no_jobs() -> Error {
    let because = "the store keeps no jobs where layouts are not noted: give a credential that reaches the table `TcLayouts`, \
                   and connect without `AzureOptions::assume_layouts`";
    Error::new(ErrorKind::Unsupported).because(because)
}

/// Returns the refusal of a plan that keeps other indexes than are to be kept now.
#[cold]
pub(super) fn another_epoch() -> Error {
    let because = "an index of the kind has come, gone or become ready meanwhile; plan the change again";
    Error::new(ErrorKind::ConditionNotMet).because(because)
}

/// Returns the error of a table that is not there.
#[cold]
pub(super) fn missing() -> Error {
    Error::new(ErrorKind::TableNotFound).because("there is no such table; create it first")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, code: &str) -> Refusal {
        Refusal { status, code: code.into(), text: "No.".into(), index: None, retry_after: None }
    }

    #[test]
    fn refusals_have_the_kind_of_their_code_or_status() {
        for (status, code, kind) in [
            (409, "EntityAlreadyExists", ErrorKind::EntityAlreadyExists),
            (404, "ResourceNotFound", ErrorKind::EntityNotFound),
            (404, "", ErrorKind::Io),
            (503, "", ErrorKind::Throttled),
            (412, "", ErrorKind::ConditionNotMet),
            (413, "", ErrorKind::BatchTooLarge),
            (403, "AuthenticationFailed", ErrorKind::AccessDenied),
            (409, "TableBeingDeleted", ErrorKind::Throttled),
            (503, "ServerBusy", ErrorKind::Throttled),
            (400, "InvalidInput", ErrorKind::Io),
        ] {
            assert_eq!(refused(&refusal(status, code)).kind(), kind, "{status} {code}");
        }
        let denied = refused(&refusal(403, "AuthenticationFailed"));
        assert_eq!(
            denied.to_string(),
            "the service answers 403 AuthenticationFailed: No; check the key or the token, and what it permits"
        );
    }

    #[test]
    fn an_answer_that_is_lost_leaves_a_write_unknown_and_a_read_undone() {
        let lost = || Failure::NoAnswer("gone".into());
        assert_eq!(unread(lost()).kind(), ErrorKind::Unreachable);
        assert_eq!(unwritten(lost()).kind(), ErrorKind::OutcomeUnknown);
        let unsent = || Failure::Unreachable("nobody listens".into());
        assert_eq!(unwritten(unsent()).kind(), ErrorKind::Unreachable);
        assert_eq!(unwritten(unsent()).to_string(), "the service is not reached: nobody listens");
        assert_eq!(unwritten(Failure::Malformed("x".into())).kind(), ErrorKind::OutcomeUnknown);
    }
}
