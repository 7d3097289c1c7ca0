//! One connection, from its first byte to its last.
//!
//! A connection on which nothing is asked keeps no buffers: hyper's own, some 16 KiB, are there from the first byte of a
//! request on, until the connection has rested for a while.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io::Result;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, timeout};

use super::Handle;
use super::answer::{Shared, answer};
use super::body::{LINGER_BYTES, LINGER_TIME, Outgoing};
use super::pace::{Pace, Phase};
use super::refusal;
use super::watched::Watched;
use crate::exchange::Peer;

/// Less than this hyper does not take.
const LEAST_HEADER_BYTES: usize = 8 * 1024;
/// How long a connection keeps its buffers after an answer: a client that asks on does so sooner. The allocator gives little
/// back to the system, so what counts is how many connections have buffers at once.
const REST_AFTER: Duration = Duration::from_millis(50);
/// How many bytes are read at most before hyper has buffers of its own: most requests without a body are shorter.
const FIRST_BYTES: usize = 1024;

/// Turns true when the server is to stop.
pub(super) type Stopping = watch::Receiver<bool>;

type Answering =
    Pin<Box<dyn Future<Output = std::result::Result<http::Response<Outgoing>, Infallible>> + Send>>;

/// How the requests of a connection came to an end.
enum Ended<I> {
    /// Nothing is asked for a while.
    Resting(Watched<I>),
    /// All is answered, and the connection is to be closed.
    Done(Watched<I>),
    /// What came is no request, or a too long one. The client may still be sending.
    Refused(Watched<I>),
    /// The client went away.
    Gone,
    /// The client took longer than it may.
    TimedOut,
}

/// Answers the requests of a connection until it ends.
pub(super) async fn serve<I, H>(io: I, shared: Arc<Shared<H>>, peer: Peer, mut stopping: Stopping)
where
    I: AsyncRead + AsyncWrite + Unpin,
    H: Handle,
{
    let pace = Arc::new(Pace::new());
    let mut io = Watched::new(io, pace.clone(), shared.counters.clone());
    let write_time = shared.limits.write_time;
    loop {
        // An error of a socket that is closed anyway is nothing to tell.
        match rest(&mut io, &pace, &shared, &mut stopping).await {
            Ok(true) => {}
            Ok(false) => return drop(timeout(write_time, io.shutdown()).await),
            Err(_) => return,
        }
        // In a box, so that a connection that rests keeps no room for it.
        match Box::pin(converse(io, &pace, &shared, peer, &mut stopping)).await {
            Ended::Resting(left) => io = left,
            Ended::Done(mut io) => return drop(timeout(write_time, io.shutdown()).await),
            Ended::Refused(mut io) => {
                if let Some(status) = io.take_refused() {
                    let answer = refusal::unasked(&refusal::no_request(status), &shared.ids.next());
                    if !matches!(timeout(write_time, io.write_all(&answer)).await, Ok(Ok(()))) {
                        return;
                    }
                }
                return linger(io, write_time).await;
            }
            Ended::Gone => return,
            Ended::TimedOut => return shared.counters.timed_out(),
        }
    }
}

/// Waits until something is asked, and returns whether that is so: not if the connection is to be closed.
async fn rest<I, H>(
    io: &mut Watched<I>,
    pace: &Pace,
    shared: &Shared<H>,
    stopping: &mut Stopping,
) -> Result<bool>
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    if io.has_unread() {
        return Ok(true);
    }
    let Some(deadline) = pace.deadline(&shared.limits) else { return Ok(true) };
    let first = poll_fn(|cx| {
        let mut bytes = [0; FIRST_BYTES];
        let mut read = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut *io).poll_read(cx, &mut read))?;
        Poll::Ready(Result::Ok(Bytes::copy_from_slice(read.filled())))
    });
    let first = tokio::select! {
        biased;
        // Who is to stop does so even if more is asked. An error says that the server is gone.
        _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(false),
        first = first => first?,
        () = tokio::time::sleep_until(deadline) => return Ok(false),
    };
    let is_asked = !first.is_empty();
    io.put_back(first);
    Ok(is_asked)
}

/// Answers requests until there are none for a while, or the connection is at its end.
async fn converse<I, H>(
    io: Watched<I>,
    pace: &Arc<Pace>,
    shared: &Arc<Shared<H>>,
    peer: Peer,
    stopping: &mut Stopping,
) -> Ended<I>
where
    I: AsyncRead + AsyncWrite + Unpin,
    H: Handle,
{
    let of_service = (shared.clone(), pace.clone());
    let service = service_fn(move |request: hyper::Request<Incoming>| -> Answering {
        let (shared, pace) = of_service.clone();
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
        // An answer to what is no request would never be flushed: some of it is still in the buffer.
        .pipeline_flush(false)
        .serve_connection(TokioIo::new(io), service);
    let mut stop = pin!(async { stopping.wait_for(|is_stopping| *is_stopping).await.is_ok() });
    let mut timer = pin!(tokio::time::sleep(shared.limits.idle_time));
    let (mut is_stopping, mut is_resting) = (false, false);
    let ended = poll_fn(|cx| {
        if !is_stopping && stop.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        loop {
            if let Poll::Ready(ended) = connection.poll_without_shutdown(cx) {
                return Poll::Ready(Some(ended));
            }
            // Whatever changed the deadline did so in the line above.
            let Some(deadline) = pace.deadline(&shared.limits) else { return Poll::Pending };
            let rests = pace.resting_since().and_then(|since| since.checked_add(REST_AFTER));
            let deadline = rests.map_or(deadline, |rests| rests.min(deadline));
            ready!(passed(timer.as_mut(), deadline, cx));
            if pace.phase() != Phase::Idle {
                return Poll::Ready(None);
            }
            // Where nothing is under way, hyper ends at once and writes nothing.
            is_resting = rests.is_some() && !is_stopping;
            if !is_resting {
                pace.closing();
            }
            Pin::new(&mut connection).graceful_shutdown();
            if is_resting && connection.poll_without_shutdown(cx).is_ready() {
                return Poll::Ready(Some(Ok(())));
            }
            if is_resting {
                is_resting = false;
                pace.closing();
            }
        }
    })
    .await;
    let Some(ended) = ended else { return Ended::TimedOut };
    let parts = connection.into_parts();
    let mut io = parts.io.into_inner();
    match ended {
        Ok(()) if is_resting => {
            io.put_back(parts.read_buf);
            Ended::Resting(io)
        }
        Ok(()) => Ended::Done(io),
        Err(error) if error.is_parse() => Ended::Refused(io),
        Err(_) => Ended::Gone,
    }
}

/// Closes this half of a connection, and reads what its client is still sending. A socket that is closed with bytes unread
/// is reset, and its client does not see the answer.
async fn linger<I: AsyncRead + AsyncWrite + Unpin>(mut io: Watched<I>, write_time: Duration) {
    if !matches!(timeout(write_time, io.shutdown()).await, Ok(Ok(()))) {
        return;
    }
    let unread = async {
        let (mut left, mut bytes) = (LINGER_BYTES, [0; FIRST_BYTES]);
        while let Ok(read @ 1..) = io.read(&mut bytes).await
            && left > read
        {
            left = left.saturating_sub(read);
        }
    };
    drop(timeout(LINGER_TIME, unread).await);
}

/// Waits until a moment that may be another one each time.
fn passed(mut timer: Pin<&mut Sleep>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
    if timer.deadline() != deadline {
        timer.as_mut().reset(deadline);
    }
    timer.poll(cx)
}
