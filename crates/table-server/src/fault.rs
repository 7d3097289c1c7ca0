//! Why a request is refused: a status, a code of the protocol and a sentence.

use std::borrow::Cow;

use table_core::Error;

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
}

impl Fault {
    /// Makes a refusal.
    pub fn new(status: u16, code: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: code.into(), text: text.into(), index: None }
    }

    /// Makes the refusal of what can't be read.
    pub fn invalid_input(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "InvalidInput", text)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let text = error.service_text();
        Self {
            status: error.status(),
            code: error.code().to_owned().into(),
            text: if text.is_empty() { error.to_string().into() } else { text.into() },
            index: error.index(),
        }
    }
}
