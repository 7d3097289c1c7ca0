//! A process that writes without end and says what was acknowledged.

use integration_tests::work::{self, TABLES, Writer};
use table_core::{DynamicEntity, ErrorKind, Store};

use crate::say;

/// `write STORE SEED PERIOD DONE...`: a writer for each number of batches done, and one that makes tables and drops them.
///
/// It says `batch WRITER NUMBER TICKS`, and `made`, `filled` and `dropped` with the number of the table.
pub fn write(arguments: &[&str]) {
    let [path, seed, period, done @ ..] = arguments else { panic!("arguments") };
    let seed: u64 = seed.parse().unwrap();
    let store = Store::open(path).unwrap();
    let resume =
        |(number, done): (usize, &&str)| Writer::resume(number, seed, done.parse().unwrap(), &store).unwrap();
    let writers: Vec<_> = done.iter().enumerate().map(resume).collect();
    say("ready");
    let mut threads = Vec::new();
    for (number, writer) in writers.into_iter().enumerate() {
        let store = store.clone();
        threads.push(std::thread::spawn(move || batches(number, writer, &store)));
    }
    let first: u64 = period.parse().unwrap();
    threads.push(std::thread::spawn(move || {
        // Until the process is killed.
        for period in first.. {
            make_and_drop(&store, period);
        }
    }));
    for thread in threads {
        thread.join().unwrap();
    }
}

fn batches(number: usize, mut writer: Writer, store: &Store) {
    let tables = TABLES.map(|name| store.dynamic_table(name).unwrap());
    loop {
        let etag = work::commit(&tables[writer.table()], writer.partition(), &writer.batch()).unwrap();
        writer.advance();
        say(format!("batch {number} {} {}", writer.done, etag.timestamp().get()));
    }
}

/// A table for each period: made, filled in several transactions, and dropped whole.
fn make_and_drop(store: &Store, period: u64) {
    let table = store.create_table(&work::period(period)).unwrap();
    say(format!("made {period}"));
    // Every few periods more than one step of reclaiming removes.
    for part in 0..if period.is_multiple_of(16) { 25 } else { 3 } {
        let rows = (0..100).map(|row| {
            DynamicEntity::new(format!("part {part:03}"), format!("row {row:03}"))
                .with("Period", i64::try_from(period).unwrap())
        });
        rows.fold(table.batch(format!("part {part:03}")), |batch, row| batch.insert(row)).commit().unwrap();
    }
    say(format!("filled {period}"));
    store.drop_table(&work::period(period)).unwrap();
    say(format!("dropped {period}"));
    let error = table.get("part 000", "row 000").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotFound);
}
