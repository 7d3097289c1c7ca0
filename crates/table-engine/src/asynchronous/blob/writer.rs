//! Writing a blob, awaited.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

use crate::asynchronous::{BoxFuture, pool};
use crate::blob::upload::{Naming, StagedUpload, reader_failed};
use crate::blob::{Blob, Container};
use crate::contents::{BlobId, STAGE, name};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Blobs;
use crate::handle::tables::Tables;

/// So many bytes are read from a reader at a time.
const READ: usize = 64 * 1024;

/// Writes a blob, in constant memory, whose name leads to it when it is finished; [`AsyncContainer::writer`] gives it.
///
/// It is an [`AsyncWrite`] of futures-io, and with the feature `tokio` of tokio too. The bytes come into the store by stages of
/// 1 MiB on a thread of a pool. [`finish`](Self::finish) says how many there were; to close or shut down the writer finishes it,
/// too. Dropped before, it leaves the name as it is, and what has come into the store is removed.
///
/// [`AsyncContainer::writer`]: super::AsyncContainer::writer
///
/// ```
/// use table_core::Store;
/// use table_core::asynchronous::block_on;
///
/// # block_on(async {
/// # let store = Store::temporary()?.to_async();
/// let films = store.container("films").await?;
/// let mut film = films.writer("holiday.mp4", "video/mp4");
/// for _ in 0..100 {
///     film.write_all(&[7; 30_000]).await?;
/// }
/// assert!(films.find("holiday.mp4").await?.is_none());
/// assert_eq!(film.finish().await?, 3_000_000);
/// assert_eq!(films.find("holiday.mp4").await?.unwrap().length, 3_000_000);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct AsyncBlobWriter {
    of: Arc<Destination>,
    /// What is not in the store yet: less than a stage, unless one goes there.
    gathered: Vec<u8>,
    state: State,
}

/// Where the blob is to be.
struct Destination {
    place: Place,
    content_type: Box<str>,
}

enum Place {
    Named(Container, Box<str>),
    /// Held by an entity.
    ForRows(Tables),
}

enum State {
    /// With what of it is in the store, once there is some.
    Idle(Option<StagedUpload>),
    /// A stage goes to the store.
    Staging(BoxFuture<'static, Result<StagedUpload>>),
    Finishing(BoxFuture<'static, Result<(BlobId, u64)>>),
    Finished(BlobId, u64),
    /// It has failed, and is given up.
    Failed,
}

impl AsyncBlobWriter {
    pub(super) fn named(container: Container, name: &str, content_type: &str) -> Self {
        Self::new(Place::Named(container, name.into()), content_type)
    }

    pub(super) fn for_rows(tables: Tables, content_type: &str) -> Self {
        Self::new(Place::ForRows(tables), content_type)
    }

    fn new(place: Place, content_type: &str) -> Self {
        let of = Arc::new(Destination { place, content_type: content_type.into() });
        Self { of, gathered: Vec::new(), state: State::Idle(None) }
    }

    /// Writes all of these bytes.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let written = poll_fn(|context| self.poll_add(context, bytes)).await?;
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Has the name lead to the blob, and returns how many bytes it has.
    pub async fn finish(mut self) -> Result<u64> {
        poll_fn(|context| self.poll_finish(context)).await.map(|(_, length)| length)
    }

    pub(super) async fn finish_blob(mut self) -> Result<Blob> {
        poll_fn(|context| self.poll_finish(context)).await.map(|done| Blob(Some(done)))
    }

    /// Writes what a reader gives.
    pub(super) async fn add_all(&mut self, reader: impl AsyncRead) -> Result<()> {
        let (mut reader, mut buffer) = (pin!(reader), vec![0; READ]);
        loop {
            let read = poll_fn(|context| reader.as_mut().poll_read(context, &mut buffer)).await;
            let read = read.map_err(|error| self.of.named(reader_failed(error)))?;
            if read == 0 {
                return Ok(());
            }
            self.write_all(buffer.get(..read).unwrap_or_default()).await?;
        }
    }

    /// Takes some of these bytes.
    fn poll_add(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        ready!(self.poll_staged(context))?;
        if self.gathered.len() == STAGE {
            self.begin_stage();
            ready!(self.poll_staged(context))?;
        }
        let taken = bytes.len().min(STAGE - self.gathered.len());
        self.gathered.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Poll::Ready(Ok(taken))
    }

    /// Waits for a stage that goes to the store.
    fn poll_staged(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.state {
            State::Idle(_) => Poll::Ready(Ok(())),
            State::Staging(staging) => {
                let staged = ready!(staging.as_mut().poll(context));
                let (state, done) = match staged {
                    Ok(upload) => (State::Idle(Some(upload)), Ok(())),
                    Err(error) => (State::Failed, Err(error)),
                };
                self.state = state;
                Poll::Ready(done)
            }
            State::Finishing(_) | State::Finished(..) => {
                Poll::Ready(Err(self.of.named(over("the writer was finished"))))
            }
            State::Failed => Poll::Ready(Err(self.of.named(over("the writer has failed before")))),
        }
    }

    /// Has what was gathered go to the store, in a stage.
    fn begin_stage(&mut self) {
        let State::Idle(upload) = &mut self.state else { return };
        let (upload, stage, of) = (upload.take(), mem::take(&mut self.gathered), self.of.clone());
        self.state = State::Staging(Box::pin(pool::run(move || of.stage(upload, &stage))));
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(BlobId, u64)>> {
        if let State::Finished(id, length) = self.state {
            return Poll::Ready(Ok((id, length)));
        }
        if !matches!(self.state, State::Finishing(_)) {
            ready!(self.poll_staged(context))?;
            let State::Idle(upload) = &mut self.state else { return Poll::Pending };
            let (upload, stage, of) = (upload.take(), mem::take(&mut self.gathered), self.of.clone());
            self.state = State::Finishing(Box::pin(pool::run(move || of.finish(upload, &stage))));
        }
        let State::Finishing(finishing) = &mut self.state else { return Poll::Pending };
        let finished = ready!(finishing.as_mut().poll(context));
        self.state = match &finished {
            Ok((id, length)) => State::Finished(*id, *length),
            Err(_) => State::Failed,
        };
        Poll::Ready(finished)
    }
}

impl Destination {
    /// Brings a stage into the store: the first, if there is no upload yet.
    fn stage(&self, upload: Option<StagedUpload>, stage: &[u8]) -> Result<StagedUpload> {
        let staged = || {
            let mut upload = self.begun(upload)?;
            upload.add(stage)?;
            Ok(upload)
        };
        staged().map_err(|error| self.named(error))
    }

    /// Brings what is left into the store, and ends the upload.
    fn finish(&self, upload: Option<StagedUpload>, stage: &[u8]) -> Result<(BlobId, u64)> {
        let finished = || {
            let mut upload = self.begun(upload)?;
            if !stage.is_empty() {
                upload.add(stage)?;
            }
            match &self.place {
                Place::Named(container, name) => {
                    upload.end(Some(&Naming { container: container.id(), name, is_new: false }))
                }
                Place::ForRows(_) => upload.end(None),
            }
        };
        finished().map_err(|error| self.named(error))
    }

    fn begun(&self, upload: Option<StagedUpload>) -> Result<StagedUpload> {
        if let Some(upload) = upload {
            return Ok(upload);
        }
        name::check_type(&self.content_type)?;
        let blobs = |tables: &Tables| -> Result<Arc<dyn Blobs>> { tables.backend().clone().blobs() };
        match &self.place {
            Place::Named(container, name) => {
                name::check_blob(name)?;
                Ok(StagedUpload::to_name(blobs(container.store())?, &self.content_type))
            }
            Place::ForRows(tables) => Ok(StagedUpload::for_rows(blobs(tables)?, &self.content_type)),
        }
    }

    #[cold]
    fn named(&self, error: Error) -> Error {
        match &self.place {
            Place::Named(container, name) => container.named("upload", Some(name), error),
            Place::ForRows(_) => error.attempted("upload a blob"),
        }
    }
}

#[cold]
fn over(because: &'static str) -> Error {
    Error::new(ErrorKind::Io).because(because)
}

impl Drop for AsyncBlobWriter {
    fn drop(&mut self) {
        match mem::replace(&mut self.state, State::Failed) {
            State::Idle(None) | State::Finished(..) | State::Failed => {}
            // To give an upload up is a transaction.
            state => pool::drop_there(state),
        }
    }
}

/// Returns an error for those who know no other.
fn to_io<T>(done: Result<T>) -> io::Result<T> {
    done.map_err(|error| io::Error::other(error))
}

impl AsyncWrite for AsyncBlobWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_add(context, bytes).map(to_io)
    }

    /// Waits for the stage that goes to the store. What is less than a stage goes there with the rest.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if matches!(self.state, State::Finished(..)) {
            return Poll::Ready(Ok(()));
        }
        self.poll_staged(context).map(to_io)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_finish(context).map(|finished| to_io(finished.map(drop)))
    }
}

#[cfg(feature = "tokio")]
impl tokio::io::AsyncWrite for AsyncBlobWriter {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(self, context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(self, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_close(self, context)
    }
}

impl fmt::Debug for AsyncBlobWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AsyncBlobWriter");
        if let Place::Named(container, name) = &self.of.place {
            shown.field("container", &container.name()).field("name", name);
        }
        shown.finish_non_exhaustive()
    }
}
