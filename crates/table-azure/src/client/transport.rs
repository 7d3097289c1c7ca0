//! Connections, kept and used again, and one exchange by one of them.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::answer::Answer;
use super::failure::Failure;

/// The most bytes of an answer: a page has 1,000 entities at most, which the service ends far below that.
const ANSWER_BYTES: usize = 64 << 20;
/// How long a connection may take to be made.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How long a connection is kept that nobody uses: the service closes those that are older.
const IDLE_TIME: Duration = Duration::from_secs(20);

/// The body of a request.
pub(super) type Body = Full<Bytes>;

/// What sends requests of HTTP.
pub(super) struct Transport {
    http: Http,
    timeout: Duration,
}

enum Http {
    Plain(Client<HttpConnector, Body>),
    #[cfg(feature = "tls")]
    Tls(Client<hyper_rustls::HttpsConnector<HttpConnector>, Body>),
}

impl Transport {
    /// Makes what reaches an endpoint, which is encrypted or is not. The certificates are those that the system trusts.
    pub(super) fn new(is_secure: bool, timeout: Duration) -> io::Result<Self> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIME));
        connector.enforce_http(!is_secure);
        let http = if is_secure { tls(connector)? } else { Http::Plain(builder().build(connector)) };
        Ok(Self { http, timeout })
    }

    /// Returns how long a request may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends a request once, and waits for the whole answer.
    pub(super) async fn send(&self, request: http::Request<Body>) -> Result<Answer, Failure> {
        let exchange = async {
            let answer = match &self.http {
                Http::Plain(client) => client.request(request).await,
                #[cfg(feature = "tls")]
                Http::Tls(client) => client.request(request).await,
            };
            let (head, body) = answer.map_err(lost)?.into_parts();
            let body = Limited::new(body, ANSWER_BYTES).collect().await.map_err(Failure::NoAnswer)?;
            Ok(Answer { status: head.status.as_u16(), headers: head.headers, body: body.to_bytes() })
        };
        let answer = tokio::time::timeout(self.timeout, exchange).await;
        answer.unwrap_or_else(|_| {
            let why = format!("it took longer than {:?}", self.timeout);
            Err(Failure::NoAnswer(io::Error::new(io::ErrorKind::TimedOut, why).into()))
        })
    }
}

/// Returns how connections are kept. None sends a request again by itself: a write might be carried out twice.
fn builder() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.retry_canceled_requests(false).pool_idle_timeout(IDLE_TIME).pool_timer(TokioTimer::new());
    builder
}

#[cfg(feature = "tls")]
fn tls(connector: HttpConnector) -> io::Result<Http> {
    // Named, since a program that links another provider too has no default.
    let provider = tokio_rustls::rustls::crypto::ring::default_provider();
    let tls = hyper_rustls::HttpsConnectorBuilder::new().with_provider_and_native_roots(provider)?;
    Ok(Http::Tls(builder().build(tls.https_only().enable_http1().wrap_connector(connector))))
}

#[cfg(not(feature = "tls"))]
fn tls(_: HttpConnector) -> io::Result<Http> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "https takes the feature `tls` of table-azure"))
}

fn lost(error: Error) -> Failure {
    if error.is_connect() { Failure::Unreachable(error.into()) } else { Failure::NoAnswer(error.into()) }
}
