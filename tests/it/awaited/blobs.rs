//! Blobs and logs, awaited.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use integration_tests::{MapStore, Scratch, assert_sound};
use table_core::asynchronous::{AsyncContainer, AsyncLog, Reads, block_on};
use table_core::{ErrorKind, Store};

use super::steps::{dropped_everywhere, is_send};

/// Longer than two stages, and no multiple of anything.
const LONG: usize = 2_500_001;

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

/// A reader that gives few bytes at a time, is pending now and then, and may fail at its end.
struct Slow {
    bytes: Vec<u8>,
    at: usize,
    is_pending: bool,
    fails: bool,
}

impl Slow {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0, is_pending: false, fails: false }
    }
}

impl tokio::io::AsyncRead for Slow {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        unreachable!("futures-io's is read")
    }
}

impl futures_io::AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.is_pending = !self.is_pending;
        if self.is_pending {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let given = (self.bytes.len() - self.at).min(into.len()).min(50_000);
        if given == 0 && self.fails {
            return Poll::Ready(Err(io::Error::other("the line is dead")));
        }
        into[..given].copy_from_slice(&self.bytes[self.at..self.at + given]);
        self.at += given;
        Poll::Ready(Ok(given))
    }
}

fn films(store: &Store) -> AsyncContainer {
    block_on(store.to_async().container("films")).unwrap()
}

/// Waits until nothing of uploads is left in the store but what names lead to.
fn settled(store: &Store) {
    let until = Instant::now() + Duration::from_secs(60);
    while store.stats().unwrap().blobs.waiting != 0 {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(1));
    }
    assert_sound(store);
}

#[test]
fn every_call_does_what_the_one_that_blocks_does() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for reads in [Reads::Inline, Reads::Spawned] {
        let tables = store.to_async().reads(reads);
        block_on(async {
            let films = tables.container("films").await?;
            assert_eq!((films.name(), tables.containers().await?), ("films", vec!["films".to_owned()]));
            films.put("a", b"one".as_slice()).await?;
            films.put_as("b", "text/plain", "two").await?;
            let exists = films.put_new("b", "text/plain", "three").await.unwrap_err();
            assert_eq!(exists.kind(), ErrorKind::BlobAlreadyExists);
            assert_eq!(films.append("b", " and more").await?, 12);
            assert_eq!(films.get("b").await?.unwrap(), b"two and more");
            assert_eq!(films.get("c").await?, None);
            assert_eq!(films.find("b").await?.unwrap().content_type, "text/plain");
            let names = films.list("").try_collect().await?;
            assert_eq!(names.iter().map(|blob| &*blob.name).collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(films.open("c").await.unwrap_err().kind(), ErrorKind::BlobNotFound);
            assert!(films.delete("a").await? && !films.delete("a").await?);
            tables.drop_container("films").await?;
            assert_eq!(films.get("b").await.unwrap_err().kind(), ErrorKind::ContainerNotFound);
            Ok::<_, table_core::Error>(())
        })
        .unwrap();
    }
    let unable = block_on(MapStore::new().tables().to_async().container("films")).unwrap_err();
    assert_eq!(unable.kind(), ErrorKind::Unsupported);
}

#[test]
fn a_blob_is_uploaded_and_read_by_the_traits_of_both() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for length in [0, 1, 1 << 20, LONG] {
        let films = films(&store);
        let uploaded = block_on(films.upload("film", "video/mp4", Slow::new(bytes(length)))).unwrap();
        assert_eq!(uploaded, length as u64);
        assert_eq!(films.blocking().get("film").unwrap().unwrap(), bytes(length));
        for reads in [Reads::Inline, Reads::Spawned] {
            block_on(async {
                let films = films.clone().reads(reads);
                let mut film = films.open("film").await.unwrap();
                assert_eq!((film.len(), film.content_type()), (length as u64, "video/mp4"));
                let (mut read, mut buffer) = (Vec::new(), vec![0; 70_000]);
                loop {
                    let some = poll_fn(|context| {
                        futures_io::AsyncRead::poll_read(Pin::new(&mut film), context, &mut buffer)
                    });
                    let some = some.await.unwrap();
                    if some == 0 {
                        break;
                    }
                    read.extend_from_slice(&buffer[..some]);
                }
                assert_eq!(read, bytes(length));
                let half = (length / 2) as u64;
                let to = io::SeekFrom::Start(half);
                let at =
                    poll_fn(|context| futures_io::AsyncSeek::poll_seek(Pin::new(&mut film), context, to));
                assert_eq!(at.await.unwrap(), half);
                let mut some = tokio::io::ReadBuf::new(&mut buffer);
                let tokio_read = poll_fn(|context| {
                    tokio::io::AsyncRead::poll_read(Pin::new(&mut film), context, &mut some)
                });
                tokio_read.await.unwrap();
                let filled = some.filled();
                assert_eq!(filled, &bytes(length)[length / 2..][..filled.len()]);
                assert!(!filled.is_empty() || length == 0);
            });
        }
    }
}

#[test]
fn a_writer_is_finished_by_each_of_its_ends() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let films = films(&store);
    block_on(async {
        let mut futures = films.writer("futures", "video/mp4");
        let mut tokios = films.writer("tokio", "video/mp4");
        let (mut left, all) = (LONG, bytes(LONG));
        while left > 0 {
            let rest = &all[LONG - left..];
            let written =
                poll_fn(|context| futures_io::AsyncWrite::poll_write(Pin::new(&mut futures), context, rest));
            let written = written.await.unwrap();
            assert!(written > 0);
            tokios.write_all(&rest[..written]).await.unwrap();
            left -= written;
        }
        poll_fn(|context| futures_io::AsyncWrite::poll_flush(Pin::new(&mut futures), context)).await.unwrap();
        poll_fn(|context| tokio::io::AsyncWrite::poll_flush(Pin::new(&mut tokios), context)).await.unwrap();
        assert!(films.list("").try_collect().await.unwrap().is_empty());
        poll_fn(|context| futures_io::AsyncWrite::poll_close(Pin::new(&mut futures), context)).await.unwrap();
        poll_fn(|context| tokio::io::AsyncWrite::poll_shutdown(Pin::new(&mut tokios), context))
            .await
            .unwrap();
        // Once more does nothing, and nothing more is taken.
        poll_fn(|context| futures_io::AsyncWrite::poll_close(Pin::new(&mut futures), context)).await.unwrap();
        assert_eq!(futures.write_all(b"more").await.unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(tokios.finish().await.unwrap(), LONG as u64);
        for name in ["futures", "tokio"] {
            assert_eq!(films.get(name).await.unwrap().unwrap(), all);
        }
    });
    settled(&store);
}

#[test]
fn what_is_not_finished_leaves_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let films = films(&store);
    block_on(films.put("film", "before")).unwrap();
    let before = || films.blocking().get("film").unwrap().unwrap() == b"before";
    let mut failing = Slow::new(bytes(LONG));
    failing.fails = true;
    let failed = block_on(films.upload("film", "video/mp4", failing)).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Io);
    assert!(failed.to_string().contains("the line is dead"), "{failed}");
    let named = block_on(films.upload("", "video/mp4", Slow::new(bytes(LONG)))).unwrap_err();
    assert_eq!(named.kind(), ErrorKind::InvalidBlobName);
    let mut writer = films.writer("film", "video/mp4");
    block_on(writer.write_all(&bytes(LONG))).unwrap();
    drop(writer);
    settled(&store);
    assert!(before());
    dropped_everywhere(
        || films.upload("film", "video/mp4", Slow::new(bytes(1_100_000))),
        |done| {
            let found = films.blocking().get("film").unwrap().unwrap();
            match done {
                Some(done) => {
                    assert_eq!((done.unwrap(), found), (1_100_000, bytes(1_100_000)));
                    films.blocking().put("film", b"before").unwrap();
                }
                // The last step of one that was dropped may still run.
                None => assert!(found == b"before" || found == bytes(1_100_000)),
            }
        },
    );
    settled(&store);
}

#[test]
fn logs_are_written_and_read() {
    let scratch = Scratch::new();
    let store = scratch.store().to_async();
    block_on(async {
        let numbers: AsyncLog<u32> = store.log("numbers").await?;
        for number in 0..100 {
            numbers.append(&number).await?;
        }
        numbers.flush().await?;
        let entries = numbers.entries().try_collect().await?;
        assert!(entries.iter().map(|entry| entry.value).eq(0..100));
        let half = entries[50].at;
        let some = numbers.during(half..).try_collect().await?;
        assert!(some.iter().all(|entry| entry.at >= half) && some.len() >= 50);
        assert_eq!(numbers.drop_before(half).await?, 0);
        assert_eq!(store.log::<u32>("No").await.unwrap_err().kind(), ErrorKind::InvalidLogName);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn every_future_may_go_to_another_thread() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (tables, films) = (store.to_async(), films(&store));
    drop(is_send(tables.container("films")));
    drop(is_send(tables.upload("a/b", &b""[..])));
    drop(is_send(films.put("a", "b")));
    drop(is_send(films.append("a", "b")));
    drop(is_send(films.upload("a", "a/b", &b""[..])));
    drop(is_send(films.get("a")));
    drop(is_send(films.open("a")));
    drop(is_send(films.delete("a")));
    let mut list = is_send(films.list(""));
    drop(is_send(list.try_next()));
    let mut writer = is_send(films.writer("a", "a/b"));
    drop(is_send(writer.write_all(b"a")));
    drop(is_send(writer.finish()));
    let log = store.log::<u32>("numbers").unwrap().to_async();
    drop(is_send(log.append(&1)));
    drop(is_send(log.flush()));
    drop(is_send(log.entries()));
    drop(is_send(tables.log::<u32>("numbers")));
}
