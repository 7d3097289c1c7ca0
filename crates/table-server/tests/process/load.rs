//! Clients that insert entities, and the look at what is there afterwards.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use table_core::{Query, Store};

use crate::client::{Client, KEY};
use crate::running::{PATIENCE, Running};

/// Clients that insert until the server is gone. Each has a partition of its own.
pub(crate) struct Load {
    clients: Vec<JoinHandle<u64>>,
    acknowledged: Arc<AtomicU64>,
    name: String,
}

impl Load {
    /// Starts clients. The table must be there.
    pub(crate) fn start(address: SocketAddr, name: &str, count: u64) -> Self {
        let acknowledged = Arc::new(AtomicU64::new(0));
        let clients = (0..count).map(|client| {
            let (partition, acknowledged) = (format!("{name}-{client}"), acknowledged.clone());
            std::thread::spawn(move || {
                let Ok(mut client) = Client::connect(address, KEY) else { return 0 };
                let mut rows = 0;
                while let Ok(status) = client.insert(&partition, rows) {
                    assert_eq!(status, 204, "row {rows} of {partition}");
                    rows += 1;
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                rows
            })
        });
        Self { clients: clients.collect(), acknowledged, name: name.to_owned() }
    }

    /// Waits until so many inserts are acknowledged.
    pub(crate) fn wait_for(&self, count: u64) {
        let began = Instant::now();
        while self.acknowledged.load(Ordering::SeqCst) < count {
            assert!(began.elapsed() < PATIENCE, "the load does not go on");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the clients, whose server has ended, and returns each partition and how many of its first rows are
    /// acknowledged.
    pub(crate) fn end(self) -> Vec<(String, u64)> {
        let rows = self.clients.into_iter().map(|client| client.join().unwrap());
        rows.enumerate().map(|(client, rows)| (format!("{}-{client}", self.name), rows)).collect()
    }
}

/// Makes the table that loads are put into.
pub(crate) fn create_table(server: &Running) {
    let status = server.client().send("POST", "Tables", r#"{"TableName":"Load"}"#).unwrap().status;
    assert_eq!(status, 204);
}

/// Looks for each row that was acknowledged in the store itself, where no server is. Of each client one row more may be
/// there, whose answer was lost. Returns how many rows there are.
pub(crate) fn check(directory: &Path, acknowledged: &[(String, u64)]) -> u64 {
    let store = Store::open(directory).unwrap();
    let table = store.dynamic_table("Load").unwrap();
    let mut all = 0;
    for (partition, rows) in acknowledged {
        let found = table
            .query(&Query::new().partition(partition))
            .unwrap()
            .map(|row| row.unwrap().row_key().to_owned());
        let found: Vec<String> = found.collect();
        let count = u64::try_from(found.len()).unwrap();
        assert!((*rows..=rows + 1).contains(&count), "{partition}: {rows} acknowledged, {count} there");
        assert!(
            found.iter().enumerate().all(|(at, row)| *row == format!("{at:08}")),
            "{partition}: {found:?}"
        );
        all += count;
    }
    store.close().unwrap();
    all
}
