//! A socket whose bytes are counted, and whose stillness is noted.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
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
}

impl<I> Watched<I> {
    pub(super) fn new(inner: I, pace: Arc<Pace>, counters: Arc<Counters>) -> Self {
        Self { inner, pace, counters, unread: Bytes::new() }
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

    fn wrote(&self, written: &Poll<Result<usize>>) {
        self.pace.wrote(written.is_pending());
        if let Poll::Ready(Ok(bytes)) = written {
            self.counters.sent(*bytes);
        }
    }
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
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
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
