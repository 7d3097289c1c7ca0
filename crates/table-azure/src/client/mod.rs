//! A client of the Table service's protocol, which knows nothing of typed tables.
//!
//! A [`Client`] sends [requests](Request) to one account, signs them, and sends them again where that is safe and may help. What
//! it makes of an answer is a value or a [`Failure`].

mod answer;
mod batch;
mod calls;
mod connection;
mod credential;
mod failure;
mod request;
#[cfg(feature = "tracing")]
mod request_span;
#[cfg(not(feature = "tracing"))]
#[path = "no_request_span.rs"]
#[allow(clippy::unused_self, reason = "it has the functions that `request_span` has")]
mod request_span;
mod retry;
mod sending;
mod transport;

pub use self::answer::Answer;
pub use self::batch::{Operation, Outcome};
pub use self::calls::{Found, Next, PageOf, PageRequest};
pub use self::connection::{ConnectionError, Endpoint};
pub use self::credential::{AccessToken, Credential, CredentialError, TokenCredential};
pub use self::failure::{Failure, Refusal, Source};
pub use self::request::Request;
pub use self::retry::Retries;
pub use self::sending::{Client, ClientError, Counts, Sent};
