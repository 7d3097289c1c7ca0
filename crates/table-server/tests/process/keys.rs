//! Keys that are exchanged while clients use them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Client, KEY};
use crate::load::create_table;
use crate::running::Running;

/// Replaces a key and returns the new one.
fn rotate(server: &Running, which: u8) -> String {
    let answer = server.ask_admin("POST", &format!("/keys/{which}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body.trim().to_owned()
}

fn status(server: &Running, key: &str) -> u16 {
    Client::connect(server.address, key).unwrap().send("GET", "Tables", "").unwrap().status
}

#[test]
fn keys_are_exchanged_under_load_and_stay_exchanged() {
    let directory = tempfile::tempdir().unwrap();
    let server = Running::start(directory.path(), &["--durability=relaxed"]);
    create_table(&server);
    let (mut first, mut second) = (KEY.to_owned(), rotate(&server, 2));
    for round in 0..3 {
        // Clients with the one key go on while the other is exchanged.
        for (which, kept) in [(1, second.clone()), (2, String::new())] {
            let kept = if which == 1 { kept } else { first.clone() };
            let stop = Arc::new(AtomicBool::new(false));
            let clients: Vec<_> = (0..3)
                .map(|client| {
                    let (stop, kept, address) = (stop.clone(), kept.clone(), server.address);
                    std::thread::spawn(move || {
                        let mut connection = Client::connect(address, &kept).unwrap();
                        let partition = format!("{round}-{which}-{client}");
                        let mut rows = 0;
                        while !stop.load(Ordering::Relaxed) {
                            assert_eq!(connection.insert(&partition, rows).unwrap(), 204);
                            rows += 1;
                        }
                        rows
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_millis(100));
            let former = if which == 1 { first.clone() } else { second.clone() };
            let renewed = rotate(&server, which);
            let began = Instant::now();
            while status(&server, &former) != 403 {
                assert!(began.elapsed() < Duration::from_secs(1), "the former key is still good");
            }
            assert_eq!((status(&server, &renewed), status(&server, &kept)), (200, 200));
            *(if which == 1 { &mut first } else { &mut second }) = renewed;
            std::thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
            assert!(clients.into_iter().all(|client| client.join().unwrap() > 0));
        }
    }
    drop(server);
    // It was killed. What is given at the start is not what the store has.
    let server = Running::start(directory.path(), &[]);
    assert_eq!([&first, &second].map(|key| status(&server, key)), [200, 200]);
    assert_eq!(status(&server, KEY), 403);
    // The key that all know is not good any more, so clients are not told it.
    assert!(!server.connection_string.contains("AccountKey="), "{}", server.connection_string);
}
