//! A socket whose bytes are counted, and whose stillness is noted.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::counters::Counters;
use super::pace::Pace;

/// A socket that tells of what it reads and writes.
#[derive(Debug)]
pub(super) struct Watched<I> {
    inner: I,
    pace: Arc<Pace>,
    counters: Arc<Counters>,
    /// What was read already, and is read again before all else.
    unread: Bytes,
    /// The status that hyper has refused with what is no request. Its own answer, which says no more, is kept back.
    refused: Option<StatusCode>,
}

impl<I> Watched<I> {
    pub(super) fn new(inner: I, pace: Arc<Pace>, counters: Arc<Counters>) -> Self {
        Self { inner, pace, counters, unread: Bytes::new(), refused: None }
    }

    /// Has bytes that were read come again.
    pub(super) fn put_back(&mut self, bytes: Bytes) {
        // What is empty may still hold on to the buffer that it was read into.
        self.unread = if bytes.is_empty() { Bytes::new() } else { bytes };
    }

    /// Returns whether bytes that were put back are still to be read.
    pub(super) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Returns the status of an answer of hyper's own that was kept back, for another in its place.
    pub(super) fn take_refused(&mut self) -> Option<StatusCode> {
        self.refused.take()
    }

    /// Returns whether what is to be written is kept back.
    fn keeps_back(&mut self, bytes: &[u8]) -> bool {
        let refused = own_refusal(bytes);
        self.refused = refused.or(self.refused);
        refused.is_some()
    }

    fn wrote(&self, written: &Poll<Result<usize>>) {
        self.pace.wrote(written.is_pending());
        if let Poll::Ready(Ok(bytes)) = written {
            self.counters.sent(*bytes);
        }
    }
}

/// Returns the status of an answer with which hyper refuses what is no request: it has no header but these, where the answers
/// to requests have an id.
fn own_refusal(bytes: &[u8]) -> Option<StatusCode> {
    const OWN: [&str; 3] = ["content-length", "connection", "date"];
    let head = bytes.strip_prefix(b"HTTP/1.1 4")?.strip_suffix(b"\r\n\r\n")?;
    let mut lines = str::from_utf8(head).ok()?.split("\r\n");
    let status = match lines.next()?.get(..2)? {
        "00" => StatusCode::BAD_REQUEST,
        "14" => StatusCode::URI_TOO_LONG,
        "31" => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        _ => return None,
    };
    let is_own = |line: &str| line.split_once(':').is_some_and(|(name, _)| OWN.contains(&name));
    lines.all(is_own).then_some(status)
}

impl<I: AsyncRead + Unpin> AsyncRead for Watched<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if !self.unread.is_empty() {
            let length = self.unread.len().min(buf.remaining());
            // Its own room is given up with the last of it.
            let again = self.unread.split_to(length);
            buf.put_slice(&again);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let bytes = buf.filled().len().saturating_sub(before);
        if bytes > 0 {
            self.pace.received();
            self.counters.received(bytes);
        }
        read
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        if self.keeps_back(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        // hyper writes heads in one piece, and those of its own have no body.
        if let [head] = bufs
            && self.keeps_back(head)
        {
            return Poll::Ready(Ok(head.len()));
        }
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        // What TLS has sealed already is written here.
        self.pace.wrote(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
