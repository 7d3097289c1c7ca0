//! This project's own server, for tests to run against.

use std::sync::Arc;
use std::thread;

use table_core::Store;
use table_server::account::{Given, KeyKeeper};
use table_server::listen::{Limits, Server};
use table_server::service::{Service, Settings};
use tokio::sync::oneshot;

const ACCOUNT: &str = "acme";
const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";

/// The project's own server, over a temporary store, until it is dropped.
pub(crate) struct Own {
    pub(crate) address: std::net::SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Own {
    pub(crate) fn start() -> Self {
        let (ready, address) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async move {
                let store = Store::temporary().unwrap();
                let given = Given { key1: Some(KEY.to_owned().into()), key2: None };
                let account = KeyKeeper::open(store.to_async(), ACCOUNT, given).await.unwrap();
                let service = Service::new(store.to_async(), Arc::new(account), Settings::default());
                let limits = Limits::default();
                let server =
                    Server::bind(([127, 0, 0, 1], 0).into(), limits, Arc::new(service)).await.unwrap();
                ready.send(server.address()).unwrap();
                server.run(async { drop(stopped.await) }).await;
            });
        });
        let address = address.recv().unwrap();
        Self { address, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Returns the connection string of the account at an address.
pub(crate) fn connection(address: std::net::SocketAddr) -> String {
    format!("AccountName={ACCOUNT};AccountKey={KEY};TableEndpoint=http://{address}/{ACCOUNT}")
}
