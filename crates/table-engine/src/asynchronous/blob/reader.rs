//! Reading a blob, awaited.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use blocking::Unblock;
use futures_io::{AsyncRead, AsyncSeek};

use crate::asynchronous::Reads;
use crate::blob::{BlobInfo, BlobReader};

/// So many bytes are read ahead on a thread of the pool.
const AHEAD: usize = 256 * 1024;

/// Reads a blob as it was when it was [opened](super::AsyncContainer::open), from any place, in constant memory.
///
/// It is an [`AsyncRead`] and an [`AsyncSeek`] of futures-io, and with the feature `tokio` of tokio too. It holds a snapshot of the
/// store, so while it lives no space is used again that has become free since: limit the time in which it is read.
///
/// ```
/// use std::pin::Pin;
///
/// use futures_io::AsyncRead;
/// use table_core::Store;
/// use table_core::asynchronous::block_on;
///
/// # block_on(async {
/// # let store = Store::temporary()?.to_async();
/// let films = store.container("films").await?;
/// films.put("holiday.mp4", vec![7; 1_000_000]).await?;
/// let mut film = films.open("holiday.mp4").await?;
/// assert_eq!(film.len(), 1_000_000);
/// // As `read` of futures' or tokio's extension traits does.
/// let mut first = [0; 10];
/// let read = std::future::poll_fn(|context| Pin::new(&mut film).poll_read(context, &mut first)).await;
/// assert_eq!((read.unwrap(), first), (10, [7; 10]));
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct AsyncBlobReader {
    reading: Reading,
    info: BlobInfo,
}

enum Reading {
    Inline(BlobReader),
    Spawned(Box<Unblock<BlobReader>>),
}

impl AsyncBlobReader {
    pub(super) fn new(reader: BlobReader, reads: Reads) -> Self {
        let info = reader.info().clone();
        let reading = match reads {
            Reads::Inline => Reading::Inline(reader),
            Reads::Spawned => Reading::Spawned(Box::new(Unblock::with_capacity(AHEAD, reader))),
        };
        Self { reading, info }
    }

    /// Returns what is known of the blob.
    pub fn info(&self) -> &BlobInfo {
        &self.info
    }

    /// Returns how many bytes the blob has.
    pub fn len(&self) -> u64 {
        self.info.length
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.info.length == 0
    }

    /// Returns the blob's content type.
    pub fn content_type(&self) -> &str {
        &self.info.content_type
    }
}

impl AsyncRead for AsyncBlobReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.reading {
            Reading::Inline(reader) => Poll::Ready(reader.read(into)),
            Reading::Spawned(reader) => Pin::new(&mut **reader).poll_read(context, into),
        }
    }
}

impl AsyncSeek for AsyncBlobReader {
    fn poll_seek(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
        match &mut self.reading {
            Reading::Inline(reader) => Poll::Ready(reader.seek(to)),
            Reading::Spawned(reader) => Pin::new(&mut **reader).poll_seek(context, to),
        }
    }
}

#[cfg(feature = "tokio")]
impl tokio::io::AsyncRead for AsyncBlobReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let unfilled = into.initialize_unfilled();
        let read = AsyncRead::poll_read(self, context, unfilled);
        read.map_ok(|read| into.advance(read))
    }
}

impl fmt::Debug for AsyncBlobReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncBlobReader").field("info", &self.info).finish_non_exhaustive()
    }
}
