//! Servers of the protocol that tests run against: this project's own, and an emulator where one is said to listen.

use std::sync::{Arc, OnceLock};
use std::thread;

use table_azure::{AzureOptions, AzureTables};
use table_core::Store;
use table_server::account::{Given, KeyKeeper};
use table_server::listen::{Limits, Server};
use table_server::service::{Service, Settings};
use tokio::sync::oneshot;

const ACCOUNT: &str = "acme";
const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";

/// The project's own server, over a temporary store, until it is dropped.
pub(crate) struct Own {
    pub(crate) connection: String,
    /// The address, as a connection string has it.
    #[allow(dead_code, reason = "proxies stand before it")]
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
        let connection = connection(address);
        Self { connection, address, stop: Some(stop), thread: Some(thread) }
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

/// Returns tables of a name's own on the project's own server, of which a program has one.
pub(crate) fn on_own() -> AzureTables {
    static SERVER: OnceLock<Own> = OnceLock::new();
    prefixed(&SERVER.get_or_init(Own::start).connection)
}

/// Returns tables of a name's own on the emulator that `TABLE_AZURE_EMULATOR` is the connection string of; `None` without it.
pub(crate) fn on_emulator() -> Option<AzureTables> {
    std::env::var("TABLE_AZURE_EMULATOR").ok().map(|connection| prefixed(&connection))
}

/// Returns tables whose names begin as no others do: many tests share one server.
fn prefixed(connection: &str) -> AzureTables {
    use std::hash::BuildHasher;
    let chance = std::collections::hash_map::RandomState::new().hash_one(0);
    AzureOptions::new().prefix(&format!("T{:010x}", chance >> 24)).connect(connection).unwrap()
}
