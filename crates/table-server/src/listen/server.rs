//! A server from its start to its end.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use super::answer::Shared;
use super::budget::Budget;
use super::connection::{self, Stopping};
use super::counters::Counters;
use super::{Handle, Limits, refusal};
use crate::exchange::Peer;
use crate::ids::RequestIds;

/// How many connections are refused with an answer at once. Others are closed without one.
const REFUSALS: usize = 64;
/// How long a client that is refused may take to read why.
const REFUSAL_TIME: Duration = Duration::from_secs(1);
/// How long no connection is accepted after the system had no more of something: of files, mostly.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server, which listens already.
#[derive(Debug)]
pub struct Server<H> {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared<H>>,
    #[cfg(feature = "tls")]
    tls: Option<super::Tls>,
}

/// What was left when a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// How many connections were given up since their answers were not ready, or not read, in time.
    pub abandoned: usize,
}

impl<H: Handle> Server<H> {
    /// Begins to listen; port 0 is any that is free.
    pub async fn bind(address: SocketAddr, limits: Limits, handler: H) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let counters = Arc::new(Counters::default());
        let bodies = Budget::new(limits.bodies_bytes.max(limits.body_bytes));
        Ok(Self {
            listener,
            address,
            shared: Arc::new(Shared { handler, limits, counters, bodies, ids: RequestIds::new() }),
            #[cfg(feature = "tls")]
            tls: None,
        })
    }

    /// Counts what it does with the numbers of another server of the process.
    #[must_use]
    pub fn counting_with(mut self, counters: Arc<Counters>) -> Self {
        // Nothing is served yet, so there is one holder.
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.counters = counters;
        }
        self
    }

    /// Makes all connections encrypted.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(mut self, tls: super::Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the numbers of what it does.
    pub fn counters(&self) -> Arc<Counters> {
        self.shared.counters.clone()
    }

    /// Serves until `stop` is ready. Then it accepts no more, answers what is under way, tells connections to close, and
    /// gives up those that are left after [`Limits::drain_time`].
    pub async fn run(self, stop: impl Future<Output = ()>) -> Drained {
        let mut stop = pin!(stop);
        let (stopping, _) = watch::channel(false);
        let open = Arc::new(Semaphore::new(self.shared.limits.connections));
        let refusals = Arc::new(Semaphore::new(REFUSALS));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
                accepted = self.listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else {
                self.shared.counters.accept_failed();
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            match open.clone().try_acquire_owned() {
                Ok(permit) => drop(connections.spawn(self.begin(stream, from, permit, stopping.subscribe()))),
                Err(_) => self.refuse(stream, &refusals),
            }
        }
        // A new server may listen here while this one ends.
        drop(self.listener);
        stopping.send_replace(true);
        let all = async { while connections.join_next().await.is_some() {} };
        let in_time = tokio::time::timeout(self.shared.limits.drain_time, all).await.is_ok();
        let abandoned = if in_time { 0 } else { connections.len() };
        connections.shutdown().await;
        Drained { abandoned }
    }

    /// Returns a connection to be awaited.
    fn begin(
        &self,
        stream: TcpStream,
        from: SocketAddr,
        permit: OwnedSemaphorePermit,
        stopping: Stopping,
    ) -> impl Future<Output = ()> + Send + use<H> {
        let shared = self.shared.clone();
        #[cfg(feature = "tls")]
        let tls = self.tls.clone();
        async move {
            let _permit = permit;
            let _open = shared.counters.connected();
            // Answers are written whole: to wait for more would delay them.
            drop(stream.set_nodelay(true));
            let address = from.ip().to_canonical();
            #[cfg(feature = "tls")]
            if let Some(tls) = tls {
                let peer = Peer { address, is_secure: true };
                // What fails is a client that speaks plain HTTP, trusts other certificates or takes too long.
                match tokio::time::timeout(shared.limits.handshake_time, tls.accept(stream)).await {
                    Ok(Ok(stream)) => connection::serve(stream, shared.clone(), peer, stopping).await,
                    Ok(Err(_)) => shared.counters.handshake_failed(),
                    Err(_) => shared.counters.timed_out(),
                }
                return;
            }
            let peer = Peer { address, is_secure: false };
            connection::serve(stream, shared.clone(), peer, stopping).await;
        }
    }

    /// Answers a connection beyond the limit.
    fn refuse(&self, mut stream: TcpStream, refusals: &Arc<Semaphore>) {
        self.shared.counters.refused();
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return;
        }
        let Ok(permit) = refusals.clone().try_acquire_owned() else { return };
        let refused = refusal::unasked(&refusal::busy(), &self.shared.ids.next());
        let answer = async move {
            let _permit = permit;
            stream.write_all(&refused).await?;
            stream.shutdown().await?;
            // A socket that is closed with bytes unread is reset, and its client does not see the answer.
            let mut unread = [0; 1_024];
            while stream.read(&mut unread).await? > 0 {}
            io::Result::Ok(())
        };
        drop(tokio::spawn(tokio::time::timeout(REFUSAL_TIME, answer)));
    }
}
