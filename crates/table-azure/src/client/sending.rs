//! Requests, signed, sent, and sent again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, io};

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, IF_MATCH};
use http_body_util::Full;
use table_engine::Ticks;
use table_wire::date;
use table_wire::shared_key::Signed;

use super::answer::{self, Answer};
use super::connection::{self, ConnectionError, Endpoint};
use super::credential::Credential;
use super::failure::{Failure, NotReached, Source};
use super::request::Request;
use super::request_span::RequestSpan;
use super::retry::{Cause, Retries};
use super::transport::{Body, Transport};

/// The version of the protocol: the first that takes tokens of a directory for tables.
const VERSION: &str = "2020-12-06";

/// What sends the requests of one account. A future of it is polled within a runtime of tokio.
pub struct Client {
    transport: Transport,
    endpoint: Endpoint,
    /// Where reads may go whose answers may be of some time ago.
    secondary: Option<Endpoint>,
    credential: Credential,
    retries: Retries,
    requests: AtomicU64,
    repeats: AtomicU64,
}

/// How many requests were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub requests: u64,
    /// Those that were sent again.
    pub repeats: u64,
}

/// An answer, and how it came.
#[derive(Debug)]
pub struct Sent {
    /// The answer to the request that was sent last.
    pub answer: Answer,
    /// Whether one that was sent before may have been carried out.
    pub may_be_done: bool,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = (&self.endpoint, &self.credential);
        f.debug_struct("Client")
            .field("endpoint", &shown.0)
            .field("credential", &shown.1)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client of the account at an endpoint. `timeout` is of each request, up to the end of its answer.
    pub fn new(
        endpoint: Endpoint,
        credential: Credential,
        retries: Retries,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        if matches!(credential, Credential::Token(_)) && !endpoint.is_secure() {
            return Err(ClientError::Connection(ConnectionError::Insecure));
        }
        let transport = Transport::new(endpoint.is_secure(), timeout).map_err(ClientError::Certificates)?;
        let (requests, repeats) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { transport, endpoint, secondary: None, credential, retries, requests, repeats })
    }

    /// Returns the client that sends a read again to the account's copy in another region, in turn with the account itself, if
    /// an answer of some time ago will do for the read. What is not found there, or is refused, counts for nothing.
    #[must_use]
    pub fn secondary_reads(mut self) -> Self {
        self.secondary = Some(self.endpoint.secondary());
        self
    }

    /// Makes a client of the account that a connection string names.
    pub fn connect(connection: &str, retries: Retries, timeout: Duration) -> Result<Self, ClientError> {
        let (endpoint, credential) = connection::parse(connection).map_err(ClientError::Connection)?;
        Self::new(endpoint, credential, retries, timeout)
    }

    /// Returns where the account is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns how many requests were sent.
    pub fn counts(&self) -> Counts {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts { requests: load(&self.requests), repeats: load(&self.repeats) }
    }

    /// Sends a request, and sends it again as long as the [rule](Retries) allows and the service does not answer, is busy, or
    /// fails. An answer is one that the service has made of the request, whether it carries it out or refuses it.
    pub async fn send(&self, request: &Request) -> Result<Sent, Failure> {
        let mut may_be_done = false;
        let mut attempted = 1;
        loop {
            let mut cause = Cause::Lost;
            if let Some(secondary) = self.secondary.as_ref().filter(|_| request.may_be_stale && attempted > 1)
                && let Ok(answer) = self.send_once(secondary, request, attempted).await
                && answer.is_success()
            {
                return Ok(Sent { answer, may_be_done });
            }
            let failure = match self.send_once(&self.endpoint, request, attempted).await {
                Ok(answer) => {
                    let Some(refusal) = answer::passing(&answer, request.is_batch()) else {
                        return Ok(Sent { answer, may_be_done });
                    };
                    // Behind a failure the service may have gone on with a write.
                    may_be_done |= refusal.is_failing() && !request.is_read();
                    cause = Cause::Busy(refusal.retry_after);
                    if may_be_done { Failure::Unsettled(refusal) } else { Failure::Refused(refusal) }
                }
                Err(Failure::NoAnswer(why)) => {
                    may_be_done |= !request.is_read();
                    Failure::NoAnswer(why)
                }
                Err(Failure::Unreachable(why)) if may_be_done => Failure::NoAnswer(why),
                Err(Failure::Unreachable(why)) => Failure::Unreachable(why),
                Err(Failure::Expired) if may_be_done => {
                    return Err(Failure::NoAnswer(Failure::Expired.into()));
                }
                Err(other) => return Err(other),
            };
            let Some(wait) = self.retries.wait(attempted, cause) else { return Err(failure) };
            // What a write relies on may be so no more after that time.
            if request.until.is_some_and(|until| until.saturating_duration_since(Instant::now()) <= wait) {
                return Err(failure);
            }
            tokio::time::sleep(wait).await;
            self.repeats.fetch_add(1, Ordering::Relaxed);
            attempted += 1;
        }
    }

    /// Sends a request once, which is the attempt of this number.
    async fn send_once(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        attempt: u32,
    ) -> Result<Answer, Failure> {
        let span = RequestSpan::new(endpoint, request, attempt.saturating_sub(1));
        let sending = async {
            let mut signed = self.sign(endpoint, request).await?;
            // A token may have been long in coming, and a thread was held up.
            if request.until.is_some_and(|until| Instant::now() >= until) {
                return Err(Failure::Expired);
            }
            span.name_in(signed.headers_mut());
            self.requests.fetch_add(1, Ordering::Relaxed);
            self.transport.send(signed).await
        };
        let answer = span.around(sending).await.map_err(|failure| match failure {
            Failure::Unreachable(why) => {
                Failure::Unreachable(NotReached { address: format!("{endpoint:#}"), why }.into())
            }
            other => other,
        });
        span.answered(&answer);
        answer
    }

    /// Makes the request of HTTP, with a date of now.
    async fn sign(&self, endpoint: &Endpoint, request: &Request) -> Result<http::Request<Body>, Failure> {
        let path = endpoint.path_of(&request.resource);
        let mut address = endpoint.address_of(&path);
        let token = match &self.credential {
            Credential::Sas(token) => &**token,
            Credential::Key(_) | Credential::Token(_) => "",
        };
        for (mark, text) in
            ['?', '&'].into_iter().zip([&*request.query, token].into_iter().filter(|s| !s.is_empty()))
        {
            address.push(mark);
            address.push_str(text);
        }
        let date = date::format(Ticks::now());
        let content_type = if request.body.is_empty() { "" } else { &*request.content_type };
        let mut built = http::Request::builder()
            .method(request.method.clone())
            .uri(address)
            .header("x-ms-date", &date)
            .header("x-ms-version", VERSION)
            .header("dataserviceversion", "3.0;NetFx")
            .header(ACCEPT, "application/json;odata=minimalmetadata");
        for (name, value) in [
            (CONTENT_TYPE, content_type),
            (IF_MATCH, request.if_match.as_deref().unwrap_or_default()),
            (HeaderName::from_static("prefer"), if request.is_insert() { "return-no-content" } else { "" }),
        ] {
            if !value.is_empty() {
                built = built.header(name, value);
            }
        }
        let authorization = match &self.credential {
            Credential::Sas(_) => None,
            Credential::Key(key) => {
                let signed = Signed {
                    account: key.account(),
                    method: request.method.as_str(),
                    content_md5: "",
                    content_type,
                    date: &date,
                    path: &path,
                    comp: None,
                };
                Some(format!("SharedKey {}:{}", key.account(), key.sign(&signed.text())))
            }
            Credential::Token(tokens) => {
                let timeout = self.transport.timeout();
                let token = tokio::time::timeout(timeout, tokens.token()).await.unwrap_or_else(|_| {
                    Err(io::Error::new(io::ErrorKind::TimedOut, format!("it took longer than {timeout:?}"))
                        .into())
                });
                let token = token.map_err(Failure::Credential)?;
                Some(format!("Bearer {}", token.text()))
            }
        };
        if let Some(text) = authorization {
            let value = HeaderValue::try_from(text).map(|mut value| {
                value.set_sensitive(true);
                value
            });
            built = built.header(AUTHORIZATION, value.map_err(|why| Failure::Credential(why.into()))?);
        }
        let built = built.body(Full::new(request.body.clone()));
        built.map_err(|why| Failure::Unreachable(Source::from(why)))
    }
}

/// Why there is no client.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The connection string, or the endpoint, is of no use.
    Connection(ConnectionError),
    /// The certificates that the system trusts can't be read.
    Certificates(io::Error),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            Self::Certificates(error) => {
                write!(f, "the certificates that the system trusts can't be read: {error}")
            }
        }
    }
}

impl std::error::Error for ClientError {}

#[cfg(test)]
mod tests {
    use table_engine::asynchronous::BoxFuture;

    use super::super::credential::{AccessToken, CredentialError, TokenCredential};
    use super::*;

    struct Endless;

    impl TokenCredential for Endless {
        fn token(&self) -> BoxFuture<'_, Result<AccessToken, CredentialError>> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn a_token_is_waited_for_no_longer_than_an_answer() {
        let endpoint = Endpoint::parse("http://127.0.0.1:1/acme").unwrap();
        let timeout = Duration::from_millis(20);
        let client = Client::new(endpoint, Credential::sas("sig=a"), Retries::none(), timeout).unwrap();
        let client = Client { credential: Credential::Token(std::sync::Arc::new(Endless)), ..client };
        let request = Request::new(http::Method::GET, "Tables");
        let sent = tokio::time::timeout(Duration::from_secs(5), client.send(&request)).await.unwrap();
        assert!(matches!(sent, Err(Failure::Credential(_))), "{sent:?}");
    }
}
