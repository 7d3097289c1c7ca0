//! Bodies: those of requests are read whole, within limits; those of answers say when they are handed over.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::budget::Room;
use super::pace::Pace;

/// How many bytes are made room for before they have come, whatever a client says is to come.
const FORESEEN: u64 = 64 * 1024;
/// How long, and for how many bytes, a body is read that is refused already.
///
/// Clients write the whole of a request before they read the answer. A socket that is closed with bytes unread is reset,
/// and then they never see the answer.
pub(super) const LINGER_TIME: Duration = Duration::from_secs(5);
pub(super) const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// Why a body can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It has more bytes than it may have.
    TooLarge,
    /// The bodies of all requests have as many bytes as they may have.
    NoRoom,
    /// The client went away, or sent what is no body.
    Broken,
}

/// Reads a body that may have this many bytes, each of which takes room when it has come: what a client says is to come
/// takes none, or a few clients that send nothing would take all.
pub(super) async fn read(body: &mut Incoming, limit: usize, room: &mut Room<'_>) -> Result<Bytes, Unread> {
    let announced = body.size_hint().lower();
    if announced > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(Unread::TooLarge);
    }
    let Some(first) = next(body).await? else { return Ok(Bytes::new()) };
    if first.len() > limit {
        return Err(Unread::TooLarge);
    }
    if !room.grow(first.len()) {
        return Err(Unread::NoRoom);
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let foreseen = usize::try_from(announced.min(FORESEEN)).unwrap_or_default();
    let mut whole = BytesMut::with_capacity(foreseen.max(first.len()));
    whole.extend_from_slice(&first);
    while let Some(bytes) = next(body).await? {
        if bytes.len() > limit.saturating_sub(whole.len()) {
            return Err(Unread::TooLarge);
        }
        if !room.grow(bytes.len()) {
            return Err(Unread::NoRoom);
        }
        whole.extend_from_slice(&bytes);
    }
    Ok(whole.freeze())
}

/// Reads what comes next of a body, but trailers.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, Unread> {
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        if let Ok(bytes) = frame.map_err(|_| Unread::Broken)?.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Reads what is left of a refused body, so that its client comes to read the answer.
pub(super) fn linger(mut body: Incoming) {
    let rest = async move {
        let mut left = LINGER_BYTES;
        while let Ok(Some(bytes)) = next(&mut body).await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                return;
            }
        }
    };
    drop(tokio::spawn(tokio::time::timeout(LINGER_TIME, rest)));
}

/// The body of an answer.
#[derive(Debug)]
pub(super) struct Outgoing {
    bytes: Option<Bytes>,
    pace: Arc<Pace>,
}

impl Outgoing {
    pub(super) fn new(bytes: Bytes, pace: Arc<Pace>) -> Self {
        Self { bytes: Some(bytes).filter(|b| !b.is_empty()), pace }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let bytes = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Drop for Outgoing {
    /// Notes that the answer is handed over; an answer whose body is not sent, to `HEAD`, is dropped as it is.
    fn drop(&mut self) {
        self.pace.answered();
    }
}
