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
    /// The request was not sent: the time had come after which it is not to be.
    Expired,
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
        // A proxy answers 503 also when the connection to the service broke behind the request.
        self.status == 429 || self.status == 503 && self.code == "ServerBusy"
    }

    /// Returns whether the service, or what stands before it, failed: what was asked may be done all the same.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        matches!(self.status, 408 | 500 | 502 | 503 | 504) && !self.is_throttled()
    }

    /// Returns whether the service says that something is not there, and not a server that knows nothing of tables.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.status == 404 && !self.code.is_empty()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service answers {}", self.status)?;
        if !self.code.is_empty() {
            write!(f, " {}", self.code)?;
        }
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "the service is not reached: {}", chain(&**why)),
            Self::NoAnswer(why) => write!(f, "no answer has come from the service: {}", chain(&**why)),
            Self::Refused(refusal) | Self::Unsettled(refusal) => refusal.fmt(f),
            Self::Malformed(why) => write!(f, "the service's answer can't be read: {why}"),
            Self::Credential(why) => write!(f, "the credential gives no token: {why}"),
            Self::Expired => {
                f.write_str("what the request relies on was read too long ago for it to be sent")
            }
        }
    }
}

/// Where a service was looked for that was not reached.
#[derive(Debug)]
pub(super) struct NotReached {
    pub(super) address: String,
    pub(super) why: Source,
}

impl fmt::Display for NotReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no connection to `{}`", self.address)
    }
}

impl std::error::Error for NotReached {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let why: &(dyn std::error::Error + 'static) = &*self.why;
        Some(why)
    }
}

/// Returns what an error and all that have led to it say: the last of them mostly says why.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(why) | Self::NoAnswer(why) | Self::Credential(why) => {
                let why: &(dyn std::error::Error + 'static) = &**why;
                Some(why)
            }
            Self::Refused(_) | Self::Unsettled(_) | Self::Malformed(_) | Self::Expired => None,
        }
    }
}
