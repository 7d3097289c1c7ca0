//! A proxy that cuts a connection before or behind a message, so that either side misses what comes next.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread;

/// Where a connection is cut, of the messages that both sides send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The message is not passed on.
    Before,
    /// It is, and no other.
    Behind,
}

/// A proxy before the server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// How many messages may still pass; negative where nothing is cut.
    left: AtomicI64,
    cuts_behind: AtomicBool,
    /// One of so many messages is cut at random; 0 where none is.
    one_in: AtomicU64,
    random: AtomicU64,
    /// How many connections were cut.
    cuts: AtomicU64,
    /// Messages that the client has sent, and flushes of it that were seen apart.
    round_trips: AtomicU64,
}

impl State {
    /// Returns whether the connection is cut at this message, and where.
    fn cut(&self) -> Option<Cut> {
        let one_in = self.one_in.load(Ordering::Relaxed);
        let is_cut = if one_in > 0 {
            self.next_random().is_multiple_of(one_in)
        } else {
            self.left.load(Ordering::Relaxed) >= 0 && self.left.fetch_sub(1, Ordering::Relaxed) == 0
        };
        if !is_cut {
            return None;
        }
        self.cuts.fetch_add(1, Ordering::Relaxed);
        let behind =
            if one_in > 0 { self.next_random() & 1 == 0 } else { self.cuts_behind.load(Ordering::Relaxed) };
        Some(if behind { Cut::Behind } else { Cut::Before })
    }

    fn next_random(&self) -> u64 {
        let mut state = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^ (state >> 31)
    }
}

impl Proxy {
    /// Begins to listen; it ends with the process.
    pub(crate) fn begin(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State { left: AtomicI64::new(-1), ..State::default() });
        let shared = state.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                for (from, to, is_client) in [(&client, &server, true), (&server, &client, false)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let state = shared.clone();
                    thread::spawn(move || pass(&from, &to, is_client, &state));
                }
            }
        });
        Self { port, state }
    }

    /// Cuts the connection at the message of this number, counted from now, of whatever connection.
    pub(crate) fn cut_at(&self, message: i64, cut: Cut) {
        self.state.cuts_behind.store(cut == Cut::Behind, Ordering::Relaxed);
        self.state.left.store(message, Ordering::Relaxed);
    }

    /// Cuts one of so many messages, at random.
    pub(crate) fn cut_one_in(&self, messages: u64, seed: u64) {
        self.state.random.store(seed, Ordering::Relaxed);
        self.state.one_in.store(messages, Ordering::Relaxed);
    }

    /// Cuts nothing from now on; returns how often something was cut.
    pub(crate) fn stop(&self) -> u64 {
        self.state.one_in.store(0, Ordering::Relaxed);
        self.state.left.store(-1, Ordering::Relaxed);
        self.state.cuts.swap(0, Ordering::Relaxed)
    }

    /// Returns how often a client has sent something behind an answer, since it was asked last.
    pub(crate) fn round_trips(&self) -> u64 {
        self.state.round_trips.swap(0, Ordering::Relaxed)
    }
}

/// Passes messages on, until one is cut or a side ends.
fn pass(from: &TcpStream, to: &TcpStream, is_client: bool, state: &State) {
    let close = || {
        drop(from.shutdown(Shutdown::Both));
        drop(to.shutdown(Shutdown::Both));
    };
    let mut ahead = Vec::new();
    let mut is_first = is_client;
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let read = match (&*from).read(&mut bytes) {
            Ok(0) | Err(_) => return close(),
            Ok(read) => read,
        };
        if is_client && !is_first {
            state.round_trips.fetch_add(1, Ordering::Relaxed);
        }
        ahead.extend_from_slice(&bytes[..read]);
        let mut passed = 0;
        while let Some(length) = message(&ahead[passed..], is_first) {
            let cut = if is_first { None } else { state.cut() };
            is_first = false;
            if cut == Some(Cut::Before) {
                drop((&*to).write_all(&ahead[..passed]));
                return close();
            }
            passed += length;
            if cut == Some(Cut::Behind) {
                drop((&*to).write_all(&ahead[..passed]));
                return close();
            }
        }
        if (&*to).write_all(&ahead[..passed]).is_err() {
            return close();
        }
        ahead.drain(..passed);
    }
}

/// Returns how long the next message is, if it is there: the first of a client has no byte of its type.
fn message(bytes: &[u8], is_first: bool) -> Option<usize> {
    let start = usize::from(!is_first);
    let length: [u8; 4] = bytes.get(start..start + 4)?.try_into().ok()?;
    let whole = start + usize::try_from(u32::from_be_bytes(length)).ok()?;
    (bytes.len() >= whole).then_some(whole)
}
