//! Why a request was not carried out.

use std::fmt;
use std::time::Duration;

use super::credential::CredentialError;

/// What a lower layer says.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The service has not got the request.
    Unreachable(Source),
    /// The service may have got the request, and no answer has come.
    NoAnswer(Source),
    /// The service refused the request, which was not carried out.
    Refused(Refusal),
    /// The service said, as often as it was asked, that it failed or had no time: what was asked may have been carried out.
    Unsettled(Refusal),
    /// The answer is not one of the protocol.
    Malformed(String),
    /// There is no token to send.
    Credential(CredentialError),
}

/// The service's refusal, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of HTTP.
    pub status: u16,
    /// The service's code, such as `EntityAlreadyExists`; empty where it says none.
    pub code: String,
    /// The first line of the service's sentence.
    pub text: String,
    /// Which operation of a batch it is of.
    pub index: Option<usize>,
    /// How long the service asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Returns whether it may work a moment later, and nothing was done.
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        matches!(self.status, 429 | 503)
    }

    /// Returns whether the service, or what stands before it, failed: what was asked may be done all the same.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        matches!(self.status, 408 | 500 | 502 | 504)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service answers {}", self.status)?;
        for text in [&self.code, &self.text].into_iter().filter(|text| !text.is_empty()) {
            write!(f, " {text}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "the service is not reached: {why}"),
            Self::NoAnswer(why) => write!(f, "no answer has come from the service: {why}"),
            Self::Refused(refusal) | Self::Unsettled(refusal) => refusal.fmt(f),
            Self::Malformed(why) => write!(f, "the service's answer can't be read: {why}"),
            Self::Credential(why) => write!(f, "the credential gives no token: {why}"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(why) | Self::NoAnswer(why) | Self::Credential(why) => {
                let why: &(dyn std::error::Error + 'static) = &**why;
                Some(why)
            }
            Self::Refused(_) | Self::Unsettled(_) | Self::Malformed(_) => None,
        }
    }
}
