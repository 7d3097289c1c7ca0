//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use super::Handle;
use super::answer::{Shared, answer};
use super::body::Outgoing;
use super::pace::{Pace, Phase};
use super::watched::Watched;
use crate::exchange::Peer;

/// Less than this hyper does not take.
const LEAST_HEADER_BYTES: usize = 8 * 1024;

/// Turns true when the server is to stop.
pub(super) type Stopping = watch::Receiver<bool>;

type Answering = Pin<Box<dyn Future<Output = Result<http::Response<Outgoing>, Infallible>> + Send>>;

/// Answers the requests of a connection until it ends.
pub(super) async fn serve<I, H>(io: I, shared: Arc<Shared<H>>, peer: Peer, mut stopping: Stopping)
where
    I: AsyncRead + AsyncWrite + Unpin,
    H: Handle,
{
    let pace = Arc::new(Pace::new());
    let io = TokioIo::new(Watched::new(io, pace.clone(), shared.counters.clone()));
    let of_service = (shared.clone(), pace.clone());
    let service = service_fn(move |request: hyper::Request<Incoming>| -> Answering {
        let (shared, pace) = of_service.clone();
        // In a box of its own, so that a connection on which nothing is asked keeps no room for it.
        Box::pin(async move { Ok(answer(shared, peer, pace, request).await) })
    });
    let mut connection = http1::Builder::new()
        // A client that has sent its last request may close its half, and is answered.
        .half_close(true)
        // Its own timer begins with a connection's first moment: idle connections and slow headers have limits apart here.
        .header_read_timeout(None)
        // The size of the buffer alone does not bound headers: it is compared where they are not complete yet.
        .max_header_size(shared.limits.header_bytes)
        .max_buf_size(shared.limits.header_bytes.max(LEAST_HEADER_BYTES))
        .serve_connection(io, service);
    let mut stop = pin!(async { stopping.wait_for(|is_stopping| *is_stopping).await.is_ok() });
    let mut timer = pin!(tokio::time::sleep(shared.limits.idle_time));
    let mut is_stopping = false;
    let timed_out = poll_fn(|cx| {
        if !is_stopping && stop.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        loop {
            // An error is the client's: it went away, or sent what is no HTTP and has been told so.
            if Pin::new(&mut connection).poll(cx).is_ready() {
                return Poll::Ready(false);
            }
            // Whatever changed the deadline did so in the line above.
            let Some(deadline) = pace.deadline(&shared.limits) else { return Poll::Pending };
            ready!(passed(timer.as_mut(), deadline, cx));
            if pace.phase() != Phase::Idle {
                return Poll::Ready(true);
            }
            pace.closing();
            Pin::new(&mut connection).graceful_shutdown();
        }
    })
    .await;
    if timed_out {
        shared.counters.timed_out();
    }
}

/// Waits until a moment that may be another one each time.
fn passed(mut timer: Pin<&mut Sleep>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
    if timer.deadline() != deadline {
        timer.as_mut().reset(deadline);
    }
    timer.poll(cx)
}
