//! The service's own sentence for each of its codes.

use super::{Error, ErrorKind};

impl Error {
    /// Returns the sentence that the service has for the error's [code](Self::code), for an answer to a client of the service.
    /// It says nothing of what was asked for: our own words are the error's `Display`.
    ///
    /// Clients look for some of these sentences, misspelt as they are.
    ///
    /// ```
    /// use table_core::Store;
    ///
    /// # let store = Store::temporary()?;
    /// let error = store.create_table("a-b-c").unwrap_err();
    /// assert_eq!((error.status(), error.code()), (400, "InvalidResourceName"));
    /// assert_eq!(error.service_text(), "The specifed resource name contains invalid characters.");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "cannot create table `a-b-c`: a table's name holds ASCII letters and digits alone and starts with a letter"
    /// );
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn service_text(&self) -> &'static str {
        match self.kind() {
            // The code is that of any number that is out of range.
            kind @ ErrorKind::TableNameLength => kind.service_text(),
            _ => text_of(self.code()),
        }
    }
}

impl ErrorKind {
    /// Returns the sentence that the service has for errors of this kind: see
    /// [`Error::service_text`](crate::Error::service_text), which knows the operation too.
    pub const fn service_text(self) -> &'static str {
        match self {
            Self::TableNameLength => {
                "The specified resource name length is not within the permissible limits."
            }
            _ => text_of(self.code()),
        }
    }
}

macro_rules! texts {
    ($($code:literal: $text:literal;)+) => {
        /// Returns the service's sentence for one of its codes; that of `InternalError` for a code that is not known.
        const fn text_of(code: &str) -> &'static str {
            $(if is_same(code, $code) {
                return $text;
            })+
            "The server encountered an internal error. Please retry the request."
        }

        #[cfg(test)]
        const CODES: &[&str] = &[$($code),+];
    };
}

/// Returns whether both are one text, where it can be known when the program is compiled.
const fn is_same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (rest_a, rest_b);
    }
    a.is_empty() && b.is_empty()
}

texts! {
    "EntityAlreadyExists": "The specified entity already exists.";
    "ResourceNotFound": "The specified resource does not exist.";
    "UpdateConditionNotSatisfied": "The update condition specified in the request was not satisfied.";
    "TableAlreadyExists": "The table specified already exists.";
    "TableNotFound": "The table specified does not exist.";
    "InvalidResourceName": "The specifed resource name contains invalid characters.";
    "OutOfRangeInput": "One of the request inputs is out of range.";
    "PropertiesNeedValue": "The values are not specified for all properties in the entity.";
    "PropertyNameInvalid": "The property name is invalid.";
    "PropertyNameTooLong": "The property name exceeds the maximum allowed length.";
    "PropertyValueTooLarge": "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.";
    "TooManyProperties": "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.";
    "EntityTooLarge": "The entity is larger than the maximum allowed size (1MB).";
    "InvalidInput": "One of the request inputs is not valid.";
    "RequestBodyTooLarge": "The request body is too large and exceeds the maximum permissible limit.";
    "InvalidDuplicateRow": "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.";
    "CommandsInBatchActOnDifferentPartitions": "All commands in a batch must operate on same entity group.";
    "OperationTimedOut": "The operation could not be completed within the permitted time.";
    "ServerBusy": "The server is currently unable to receive requests. Please retry your request.";
    "NotImplemented": "The requested operation is not implemented on the specified resource.";
    "InsufficientAccountPermissions": "The account being accessed does not have sufficient permissions to execute this operation.";
    "AuthenticationFailed": "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.";
    "AuthorizationFailure": "This request is not authorized to perform this operation.";
    "AuthorizationPermissionMismatch": "This request is not authorized to perform this operation using this permission.";
    "QueueNotFound": "The specified queue does not exist.";
    "MessageNotFound": "The specified message does not exist.";
    "MessageTooLarge": "The message exceeds the maximum allowed size.";
    "PopReceiptMismatch": "The specified pop receipt did not match the pop receipt for a dequeued message.";
    "ContainerNotFound": "The specified container does not exist.";
    "BlobAlreadyExists": "The specified blob already exists.";
    "BlobNotFound": "The specified blob does not exist.";
    "InvalidBlockList": "The specified block list is invalid.";
    "InternalError": "The server encountered an internal error. Please retry the request.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence() {
        for kind in ErrorKind::ALL {
            assert!(CODES.contains(&kind.code()), "{kind:?} has a code that no sentence is for");
            let error = Error::new(*kind);
            assert_eq!(error.service_text(), kind.service_text(), "{kind:?}");
            assert!(kind.service_text().ends_with('.'), "{kind:?}");
        }
        for (at, code) in CODES.iter().enumerate() {
            assert!(!CODES[..at].contains(code), "{code} has two sentences");
        }
    }

    #[test]
    fn the_sentence_is_that_of_the_operation() {
        let error = Error::new(ErrorKind::TableNotFound);
        assert_eq!(error.service_text(), "The table specified does not exist.");
        let dropped = error.with_code("ResourceNotFound");
        assert_eq!(dropped.service_text(), "The specified resource does not exist.");
    }

    #[test]
    fn what_clients_look_for_is_there_as_they_spell_it() {
        for (kind, text) in [
            (ErrorKind::InvalidTableName, "The specifed resource name contains invalid characters"),
            (
                ErrorKind::TableNameLength,
                "The specified resource name length is not within the permissible limits",
            ),
        ] {
            assert!(kind.service_text().contains(text), "{kind:?}");
        }
    }
}
