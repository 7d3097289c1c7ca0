//! Why a request is refused: a status, a code of the protocol and a sentence.

use std::borrow::Cow;

use table_core::Error;
use table_wire::percent::BadEscape;

use crate::account::AccountError;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status of HTTP.
    pub status: u16,
    /// The protocol's code, such as `EntityAlreadyExists`.
    pub code: Cow<'static, str>,
    /// The sentence.
    pub text: Cow<'static, str>,
    /// Which operation of a batch it is of.
    pub index: Option<usize>,
    /// What went wrong within the server, for who runs it and no client.
    pub detail: Option<String>,
}

impl Fault {
    /// Makes a refusal.
    pub fn new(status: u16, code: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: code.into(), text: text.into(), index: None, detail: None }
    }

    /// Makes the refusal of what can't be read.
    pub fn invalid_input(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "InvalidInput", text)
    }

    /// Makes the refusal of an address that names nothing.
    pub fn invalid_uri() -> Self {
        Self::new(400, "InvalidUri", "The requested URI does not represent any resource on the server.")
    }

    /// Makes the refusal of an address with another number of keys than the resource has.
    pub fn wrong_keys() -> Self {
        Self::invalid_input(
            "The number of keys specified in the URI does not match number of key properties for the resource.",
        )
    }

    /// Makes the refusal of a query that the resource does not have.
    pub fn invalid_query_parameter() -> Self {
        let text = "Value for one of the query parameters specified in the request URI is invalid.";
        Self::new(400, "InvalidQueryParameterValue", text)
    }

    /// Makes the refusal of a method that the resource does not have.
    pub fn unsupported_verb() -> Self {
        Self::new(405, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.")
    }

    /// Makes the refusal of a request without a header that it needs.
    pub fn missing_header(name: &str) -> Self {
        let text = format!("An HTTP header that's mandatory for this request is not specified: {name}.");
        Self::new(400, "MissingRequiredHeader", text)
    }

    /// Makes the refusal of a batch at an address that takes none, and of a request for types that no answer has.
    pub fn media_type_not_supported() -> Self {
        Self::new(415, "MediaTypeNotSupported", "None of the provided media types are supported")
    }

    /// Makes the refusal of a write at the secondary address, which only reads.
    pub fn read_only_secondary() -> Self {
        Self::new(403, "InsufficientAccountPermissions", "Write operations are not allowed.")
    }

    /// Makes the refusal of what the sender is known for and may not do.
    pub fn not_authorized() -> Self {
        Self::new(
            403,
            "AuthorizationPermissionMismatch",
            "This request is not authorized to perform this operation using this permission.",
        )
    }

    /// Makes the refusal of what may work a moment later.
    pub fn server_busy() -> Self {
        Self::new(
            503,
            "ServerBusy",
            "The server is currently unable to receive requests. Please retry your request.",
        )
    }

    /// Makes the refusal of a token that is for other kinds of resources.
    pub fn wrong_resource_type() -> Self {
        Self::new(
            403,
            "AuthorizationResourceTypeMismatch",
            "This request is not authorized to perform this operation using this resource type.",
        )
    }

    /// Makes the refusal of a token that is for encrypted connections alone.
    pub fn wrong_protocol() -> Self {
        Self::new(
            403,
            "AuthorizationProtocolMismatch",
            "This request is not authorized to perform this operation using this protocol.",
        )
    }

    /// Makes the refusal of a token that is for other addresses.
    pub fn wrong_address() -> Self {
        Self::new(
            403,
            "AuthorizationSourceIPMismatch",
            "This request is not authorized to perform this operation using this source IP.",
        )
    }

    /// Makes the refusal of a sender who is not known, whatever the reason.
    pub fn not_authenticated() -> Self {
        Self::new(
            403,
            "AuthenticationFailed",
            "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly \
             including the signature.",
        )
    }
}

impl From<BadEscape> for Fault {
    fn from(_: BadEscape) -> Self {
        let text = "An escape of the requested URI is no UTF-8, or is not two hexadecimal digits.";
        Self::new(400, "InvalidUri", text)
    }
}

impl From<AccountError> for Fault {
    fn from(error: AccountError) -> Self {
        let error = match error {
            AccountError::Store(error) => return error.into(),
            other => other,
        };
        let text = "Server encountered an internal error. Please try again after some time.";
        Self { detail: Some(error.to_string()), ..Self::new(500, "InternalError", text) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let text = error.service_text();
        // The service has one sentence for all that it can't read, which does not say where the mistake is.
        let text =
            if error.code() == "InvalidInput" { format!("{text} {error}").into() } else { text.into() };
        // That it is the client's mistake, the answer says.
        let detail = (error.status() >= 500).then(|| error.text_without_keys());
        Self { status: error.status(), code: error.code().into(), text, index: error.index(), detail }
    }
}
