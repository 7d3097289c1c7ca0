//! The service from its start to its end.

use std::error::Error;
use std::future::{self, Future, IntoFuture};
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use table_core::Store;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task;

use crate::{Config, employees};

/// The service, which listens already.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    store: Store,
    routes: Router,
    grace: Duration,
}

impl Server {
    /// Opens the store and begins to listen.
    pub async fn bind(config: Config) -> Result<Self, Box<dyn Error + Send + Sync>> {
        // To open a store reads and checks files: not on a thread that serves.
        let store = task::spawn_blocking(move || Store::open(config.directory)).await??;
        let routes = employees::routes(store.to_async(), config.held_for).await?;
        let listener = TcpListener::bind(config.address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, store, routes, grace: config.grace })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `told_to_stop` is ready. Then it accepts no more, answers what is under way, and closes the store once all
    /// that it was given is written.
    pub async fn run(
        self,
        told_to_stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (stopping, stopped) = oneshot::channel();
        let serving = axum::serve(self.listener, self.routes).with_graceful_shutdown(async move {
            told_to_stop.await;
            // There is a receiver for as long as this is polled.
            let _ = stopping.send(());
        });
        let grace = self.grace;
        let too_late = async {
            match stopped.await {
                Ok(()) => tokio::time::sleep(grace).await,
                Err(_) => future::pending().await,
            }
        };
        tokio::select! {
            done = serving.into_future() => done?,
            // A client that does not read its answer: the connection ends with the program.
            () = too_late => eprintln!("some answers were not read in time"),
        }
        task::spawn_blocking(|| self.store.close()).await??;
        Ok(())
    }
}
