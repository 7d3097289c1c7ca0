//! A proxy between a store and its server, which loses requests and answers, doubles requests, and holds them up.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// How many of a thousand requests the proxy treats so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// The request does not reach the server.
    pub(crate) requests_lost: u64,
    /// The server carries it out, and the answer does not come back.
    pub(crate) answers_lost: u64,
    /// The answer comes in part.
    pub(crate) answers_cut: u64,
    /// The request reaches the server once more, after some time.
    pub(crate) doubled: u64,
    /// The request is held up for some milliseconds.
    pub(crate) delayed: u64,
    /// The request is kept, and reaches the server once more when the test [says so](Proxy::send_kept).
    pub(crate) kept: u64,
}

/// What the proxy has done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) requests: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) doubled: AtomicU64,
    /// From this request on nothing passes, if it is not 0.
    ends: AtomicU64,
    /// Whether the answer to the request before that does not come back.
    loses_last_answer: AtomicBool,
}

impl Done {
    fn is_over(&self, number: u64) -> bool {
        let ends = self.ends.load(Ordering::Relaxed);
        ends > 0 && number >= ends
    }

    fn is_last_and_lost(&self, number: u64) -> bool {
        self.loses_last_answer.load(Ordering::Relaxed) && number + 1 == self.ends.load(Ordering::Relaxed)
    }
}

/// A proxy, until it is dropped.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) done: Arc<Done>,
    server: SocketAddr,
    kept: Arc<Mutex<Vec<Vec<u8>>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Proxy {
    pub(crate) fn start(server: SocketAddr, faults: Faults, seed: u64) -> Self {
        let (ready, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let done = Arc::<Done>::default();
        let counts = done.clone();
        let kept = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let keeps = kept.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
                ready.send(listener.local_addr().unwrap()).unwrap();
                let random = Arc::new(AtomicU64::new(seed.max(1)));
                let serve = async {
                    while let Ok((client, _)) = listener.accept().await {
                        let (random, done) = (random.clone(), counts.clone());
                        let way = Way { server, faults, random, done, kept: keeps.clone() };
                        tokio::spawn(way.serve(client));
                    }
                };
                tokio::select! {
                    () = serve => {}
                    _ = stopped => {}
                }
            });
        });
        let address = address.recv().unwrap();
        Self { address, done, server, kept, stop: Some(stop), thread: Some(thread) }
    }

    /// Lets so many requests pass and none behind them; the answer to the last of them is lost if it is so said.
    pub(crate) fn die_after(&self, requests: u64, is_last_answer_lost: bool) {
        self.done.loses_last_answer.store(is_last_answer_lost, Ordering::Relaxed);
        self.done.ends.store(requests + 1, Ordering::Relaxed);
    }

    /// Lets requests pass again.
    pub(crate) fn recover(&self) {
        self.done.ends.store(0, Ordering::Relaxed);
    }

    /// Sends the requests once more that were kept, one after another, and waits for each to be answered. Returns how many of
    /// them were writes.
    pub(crate) fn send_kept(&self) -> usize {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap());
        let writes = kept.iter().filter(|request| !request.starts_with(b"GET "));
        let count = writes.clone().count();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for request in writes {
            runtime.block_on(repeat(self.server, request.clone(), Duration::ZERO));
        }
        self.done.doubled.fetch_add(u64::try_from(count).unwrap(), Ordering::Relaxed);
        count
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What a connection goes through.
struct Way {
    server: SocketAddr,
    faults: Faults,
    random: Arc<AtomicU64>,
    done: Arc<Done>,
    kept: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Way {
    /// Returns a number below this one.
    fn below(&self, end: u64) -> u64 {
        // splitmix64: every connection takes the next number.
        let mut next = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        next = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        next = (next ^ (next >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (next ^ (next >> 31)) % end
    }

    /// Passes requests on, one after another, until one is lost with its connection.
    async fn serve(self, mut client: TcpStream) {
        let Ok(mut server) = TcpStream::connect(self.server).await else { return };
        while let Some(request) = message(&mut client).await {
            let number = self.done.requests.fetch_add(1, Ordering::Relaxed) + 1;
            if self.done.is_over(number) {
                return;
            }
            let (chance, mut limit) = (self.below(1_000), 0);
            let mut is = |share: u64| {
                limit += share;
                (limit - share..limit).contains(&chance)
            };
            if is(self.faults.requests_lost) {
                self.done.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let (is_answer_lost, is_cut) = (is(self.faults.answers_lost), is(self.faults.answers_cut));
            if is(self.faults.doubled) {
                self.done.doubled.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(repeat(self.server, request.clone(), Duration::from_millis(1 + self.below(30))));
            }
            if is(self.faults.kept) {
                self.kept.lock().unwrap().push(request.clone());
            }
            if is(self.faults.delayed) {
                tokio::time::sleep(Duration::from_millis(1 + self.below(20))).await;
            }
            if server.write_all(&request).await.is_err() {
                return;
            }
            let Some(answer) = message(&mut server).await else { return };
            if is_answer_lost || is_cut || self.done.is_last_and_lost(number) {
                self.done.lost.fetch_add(1, Ordering::Relaxed);
                if is_cut {
                    drop(client.write_all(&answer[..answer.len() / 2]).await);
                }
                return;
            }
            if client.write_all(&answer).await.is_err() {
                return;
            }
        }
    }
}

/// Sends a request once more, and throws the answer away.
async fn repeat(server: SocketAddr, request: Vec<u8>, wait: Duration) {
    tokio::time::sleep(wait).await;
    if let Ok(mut server) = TcpStream::connect(server).await {
        drop(server.write_all(&request).await);
        drop(message(&mut server).await);
    }
}

/// Reads a request or an answer, whose length is said; `None` where the connection ends.
async fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&read).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let start = read.len();
    read.resize(start + length.unwrap_or(0_usize), 0);
    stream.read_exact(&mut read[start..]).await.ok()?;
    Some(read)
}
