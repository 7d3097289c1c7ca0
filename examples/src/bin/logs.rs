//! Logs: entries that are read by time, in blobs that are named by time.
//!
//! In a table, keys that begin with the time send all writes to one partition (see `prepend_append`). The guide has such
//! entries in append-only blobs: `requests/2014/07/31/1800/000001.log`.

use std::io::Write;
use std::time::Duration;

use examples::Scratch;
use serde::{Deserialize, Serialize};
use table_core::blob::Log;
use table_core::{Result, Store, Ticks};

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Request {
    path: String,
    status: u16,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = examples::stdout();
    let scratch = Scratch::new("logs");
    let store = Store::open(scratch.path())?;

    // Two writers, as two servers would be: each has blobs of its own.
    let begun = Ticks::now();
    let serve = |path: &str| -> Result<()> {
        let log = store.log("requests")?;
        for number in 0..500_u16 {
            let status = if number % 100 == 99 { 500 } else { 200 };
            log.append(&Request { path: path.into(), status })?;
        }
        log.flush()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| serve("/cart"));
        serve("/")?;
        other.join().unwrap()
    })?;

    let requests: Log<Request> = store.log("requests")?;
    writeln!(out, "The blobs of the last hours:\n")?;
    for blob in requests.blobs(begun..)? {
        writeln!(out, "  {}  {} bytes", blob.name, blob.length)?;
    }

    writeln!(out, "\nThose that failed, in the order of their times:\n")?;
    let (mut failed, mut last) = (0, begun);
    for entry in requests.during(begun..)? {
        let entry = entry?;
        assert!(entry.at >= last);
        last = entry.at;
        if entry.value.status == 500 {
            failed += 1;
            writeln!(out, "  {}  {}", entry.at, entry.value.path)?;
        }
    }
    assert_eq!(failed, 10);
    assert_eq!(requests.during(..begun)?.count(), 0);

    // For programs that read files.
    let exported = Scratch::new("logs_exported");
    let files = requests.export(.., exported.path())?;
    assert!(files >= 2);

    // Old hours go by whole blobs.
    assert_eq!(requests.drop_before(begun.checked_sub(Duration::from_secs(86_400)).ok_or("in range")?)?, 0);
    let later = Ticks::now().checked_add(Duration::from_secs(86_400)).ok_or("in range")?;
    let dropped = requests.drop_before(later)?;
    assert_eq!(dropped, files);
    assert_eq!(requests.entries()?.count(), 0);
    writeln!(out, "\nDropped: {dropped} blobs.")?;
    Ok(())
}
