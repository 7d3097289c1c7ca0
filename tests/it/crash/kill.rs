//! A process that writes is killed, again and again; what it was told stands, and nothing stands by halves.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use integration_tests::Scratch;
use integration_tests::random::Random;
use integration_tests::work::{self, PERIOD_ROWS, TABLES, Writer};
use table_core::{DynamicEntity, ErrorKind, Query, Store};

use super::{child, seed, size};

const WRITERS: usize = 3;

#[test]
fn what_was_acknowledged_survives_kill_and_nothing_is_half_there() {
    let (seed, cycles) = (seed(), size("CRASH_KILLS", 200));
    let deadline = Instant::now() + Duration::from_secs(size("CRASH_KILL_SECONDS", 300));
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = Store::open(&path).unwrap();
    for name in TABLES {
        store.create_table(name).unwrap();
    }
    drop(store);

    let mut random = Random::new(seed);
    let mut after = After {
        writers: (0..WRITERS).map(|number| Writer::new(number, seed)).collect(),
        latest: 0,
        period: 0,
        unsure: 0,
    };
    let mut kills = 0;
    while kills < cycles && Instant::now() < deadline {
        let mut arguments =
            vec![path.to_str().unwrap().to_owned(), seed.to_string(), after.period.to_string()];
        arguments.extend(after.writers.iter().map(|writer| writer.done.to_string()));
        let mut child = child("write", &arguments);
        child.expect("ready");
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        let lines = child.kill();
        kills += 1;

        let store = Store::options().verify_first(true).open(&path).unwrap();
        after.check(&store, &lines);
    }
    let store = Store::open(&path).unwrap();
    store.reclaim().unwrap();
    let (stats, report) = (store.stats().unwrap(), store.check().unwrap());
    assert_eq!(stats.dropped, 0);
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    let batches: u64 = after.writers.iter().map(|writer| writer.done).sum();
    println!(
        "{kills} kills, {batches} batches ({} done and not acknowledged), {} tables dropped, file of {} KiB",
        after.unsure,
        after.period,
        stats.file_bytes / 1_024
    );
    assert!(kills == cycles || cfg!(debug_assertions) || kills >= 100, "only {kills} kills in time");
}

/// What must be in the store.
struct After {
    writers: Vec<Writer>,
    /// The latest time given to anything.
    latest: u64,
    /// The period whose table comes next.
    period: u64,
    /// Batches that were done, though the process died before it could say so.
    unsure: u64,
}

impl After {
    fn check(&mut self, store: &Store, lines: &[String]) {
        let times = self.take_in(lines);
        for writer in &mut self.writers {
            // At most one batch was on its way.
            if found(store, writer) != writer.rows {
                writer.advance();
                self.unsure += 1;
                let found = found(store, writer);
                assert_eq!(found, writer.rows, "{} after batch {}", writer.partition(), writer.done);
            }
        }
        self.check_periods(store, lines);
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        let stats = store.stats().unwrap();
        for (index, name) in TABLES.iter().enumerate() {
            let rows: usize = self.writers.iter().map(|writer| writer.rows[index].len()).sum();
            let table = stats.tables.iter().find(|table| table.name == *name).unwrap();
            assert_eq!(usize::try_from(table.entities).unwrap(), rows, "{name}");
        }
        // Whatever is written now is later than all that was written before, acknowledged or not.
        let first = store.dynamic_table(TABLES[0]).unwrap();
        let mark = first.insert(&DynamicEntity::new("mark", "mark")).unwrap();
        let seen =
            TABLES.iter().flat_map(|name| store.dynamic_table(name).unwrap().query(&Query::new()).unwrap());
        let seen = seen.map(|entity| entity.unwrap().timestamp().unwrap().get());
        let latest = seen.chain(times).filter(|time| *time != mark.timestamp().get()).max().unwrap_or(0);
        assert!(mark.timestamp().get() > latest.max(self.latest), "a time came twice");
        self.latest = mark.timestamp().get();
        first.delete_if("mark", "mark", mark).unwrap();
    }

    /// Takes in what the child said; returns the times that it was given.
    fn take_in(&mut self, lines: &[String]) -> BTreeSet<u64> {
        let mut times = BTreeSet::new();
        let mut last = vec![self.latest; self.writers.len()];
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["batch", writer, number, ticks] = *words {
                let at: usize = writer.parse().unwrap();
                let (number, ticks): (u64, u64) = (number.parse().unwrap(), ticks.parse().unwrap());
                let writer = &mut self.writers[at];
                writer.advance();
                assert_eq!(writer.done, number);
                assert!(ticks > last[at], "a writer's times rise, over restarts too");
                last[at] = ticks;
                assert!(times.insert(ticks), "two batches have one time");
            }
        }
        times
    }

    /// At most one period's table is there, as far as it was made.
    fn check_periods(&mut self, store: &Store, lines: &[String]) {
        let mut said = [None; 3];
        for line in lines {
            for (word, said) in ["made ", "filled ", "dropped "].iter().zip(&mut said) {
                if let Some(period) = line.strip_prefix(word) {
                    *said = Some(period.parse::<u64>().unwrap());
                }
            }
        }
        let [made, filled, dropped] = said;
        let begun = dropped.map_or(self.period, |dropped| dropped + 1);
        let there: Vec<_> =
            store.tables().unwrap().into_iter().filter(|name| name.starts_with("Period")).collect();
        match &*there {
            [] => assert!(made != Some(begun) || filled == Some(begun), "table {begun} was made and is gone"),
            [name] => {
                assert_eq!(*name, work::period(begun));
                let table = store.dynamic_table(name).unwrap();
                let parts: BTreeSet<_> = table
                    .query(&Query::new())
                    .unwrap()
                    .map(|row| row.unwrap().partition_key().to_owned())
                    .collect();
                // Parts were written one after another, each whole.
                assert!(parts.iter().enumerate().all(|(at, part)| *part == format!("part {at:03}")));
                for part in &parts {
                    let rows = table.query(&Query::new().partition(part)).unwrap();
                    let right = rows.map(Result::unwrap).filter(|row| {
                        row.get("Period").and_then(|period| period.as_i64())
                            == Some(i64::try_from(begun).unwrap())
                    });
                    assert_eq!(right.count(), PERIOD_ROWS, "{name}, {part}");
                }
                let most = if begun % 16 == 0 { 25 } else { 3 };
                assert!(parts.len() <= most && (filled != Some(begun) || parts.len() == most));
                store.drop_table(name).unwrap();
                assert_eq!(table.get("part 000", "row 000").unwrap_err().kind(), ErrorKind::TableNotFound);
            }
            several => panic!("{several:?}"),
        }
        self.period = begun + 1;
    }
}

type Rows = [std::collections::BTreeMap<String, DynamicEntity>; 2];

fn found(store: &Store, writer: &Writer) -> Rows {
    TABLES.map(|name| {
        let rows =
            store.dynamic_table(name).unwrap().query(&Query::new().partition(writer.partition())).unwrap();
        rows.map(|row| row.map(|row| (row.row_key().to_owned(), row)).unwrap()).collect()
    })
}
