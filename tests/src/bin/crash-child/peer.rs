//! Processes that share a store with others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::{DynamicEntity, DynamicTable, ErrorKind, Filter, IfMatch, Query, Store};

use crate::{hear, say};

fn open(path: &str) -> Store {
    integration_tests::relaxed().open(path).unwrap()
}

/// `increment STORE TIMES`: adds one to a number so many times, each time to the version that was read.
pub fn increment(arguments: &[&str]) {
    let [path, times] = arguments else { panic!("arguments") };
    let table = open(path).dynamic_table("Counter").unwrap();
    say("ready");
    hear();
    let (mut written, mut conflicts) = (Vec::new(), 0_u64);
    for _ in 0..times.parse().unwrap() {
        loop {
            let mut counter = table.get("counter", "counter").unwrap().unwrap();
            let value = counter.get("Value").and_then(|value| value.as_i64()).unwrap() + 1;
            counter.set("Value", value);
            match table.replace(&counter, counter.etag().unwrap()) {
                Ok(etag) => break written.push((value, etag.timestamp().get())),
                Err(error) if error.kind() == ErrorKind::ConditionNotMet => conflicts += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    for (value, ticks) in written {
        say(format!("{value} {ticks}"));
    }
    say(format!("conflicts {conflicts}"));
}

/// `old-handle STORE`: writes to a table for as long as its handle works, then gets a new one.
pub fn old_handle(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = open(path);
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let stop = stop.clone();
        move || {
            hear();
            stop.store(true, Ordering::Relaxed);
        }
    });
    let (mut written, mut refused) = (0_u64, 0_u64);
    say("ready");
    while !stop.load(Ordering::Relaxed) {
        let found = store.dynamic_table("Again").and_then(|table| Ok((table.get("mark", "mark")?, table)));
        let (mark, table) = match found {
            Ok((Some(mark), table)) => (mark, table),
            Ok((None, _)) => continue,
            Err(error) if error.kind() == ErrorKind::TableNotFound => continue,
            Err(error) => panic!("{error}"),
        };
        let incarnation = mark.get("Incarnation").and_then(|number| number.as_i64()).unwrap();
        while !stop.load(Ordering::Relaxed) {
            if !write_and_read(&table, incarnation, written) {
                refused += 1;
                break;
            }
            written += 1;
        }
    }
    say(format!("{written} {refused}"));
}

/// Writes a row and reads it back; whether the table was still there.
fn write_and_read(table: &DynamicTable, incarnation: i64, number: u64) -> bool {
    let gone = |error: table_core::Error| assert_eq!(error.kind(), ErrorKind::TableNotFound, "{error}");
    let key = format!("{} {}", std::process::id(), number % 50);
    let row = DynamicEntity::new("rows", &key)
        .with("Incarnation", incarnation)
        // Each incarnation numbers its names anew, and otherwise.
        .with(&format!("P{}", incarnation % 5), "x")
        .with("EntityType", format!("T{}", incarnation % 3));
    if let Err(error) = table.put(&row) {
        gone(error);
        table.get("mark", "mark").map(drop).map_err(gone).unwrap_err();
        table.query(&Query::new()).map(drop).map_err(gone).unwrap_err();
        table.batch("rows").insert_or_merge(row).commit().map(drop).map_err(gone).unwrap_err();
        return false;
    }
    match table.get("rows", &key) {
        Ok(found) => assert_eq!(found, Some(row)),
        Err(error) => {
            gone(error);
            return false;
        }
    }
    true
}

/// `echo STORE`: reads and writes as it is told.
pub fn echo(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = open(path);
    let table = store.dynamic_table("Names").unwrap();
    say("ready");
    while let Some(line) = hear() {
        let words: Vec<&str> = line.split(' ').collect();
        match *words {
            ["get", partition, row] => say(format!("{:?}", table.get(partition, row).unwrap())),
            ["find", name, kind] => {
                let filter = Filter::parse(&format!("{name} eq 1 and EntityType eq '{kind}'")).unwrap();
                let found = table.query(&Query::new().filter(filter)).unwrap();
                let keys: Vec<_> = found.map(|row| row.unwrap().row_key().to_owned()).collect();
                say(keys.join(" "));
            }
            ["put", row, name, kind] => {
                let row = DynamicEntity::new("child", row).with(name, 1).with("EntityType", kind);
                table.insert(&row).unwrap();
                say("done");
            }
            _ => panic!("{line}"),
        }
    }
}

/// `intern STORE NUMBER ROWS`: brings up names that others bring up too, then reads all that was written.
pub fn intern(arguments: &[&str]) {
    let [path, number, rows] = arguments else { panic!("arguments") };
    let (number, rows): (u64, u64) = (number.parse().unwrap(), rows.parse().unwrap());
    let table = open(path).dynamic_table("Names").unwrap();
    say("ready");
    hear();
    for row in 0..rows {
        let entity = DynamicEntity::new(format!("process {number}"), format!("row {row:05}"))
            .with(&format!("P{}", (row * 7 + number * 3) % rows), 1)
            .with(&format!("Q{}", (row + number) % rows), "q")
            .with("EntityType", format!("T{}", (row * 3 + number) % rows));
        table.insert(&entity).unwrap();
    }
    say("written");
    hear();
    for row in table.query(&Query::new()).unwrap() {
        say(format!("{:?}", row.unwrap()));
    }
}

/// `read-and-stay STORE SNAPSHOTS`: takes snapshots and keeps them.
pub fn read_and_stay(arguments: &[&str]) {
    let [path, snapshots] = arguments else { panic!("arguments") };
    let store = Store::options().max_readers(4).open(path).unwrap();
    let table = store.dynamic_table("Table").unwrap();
    let snapshots: Vec<_> = (0..snapshots.parse().unwrap()).map(|_| store.snapshot().unwrap()).collect();
    for snapshot in &snapshots {
        snapshot.get(&table, "p", "r").unwrap().unwrap();
    }
    say("ready");
    hear();
}

/// `load STORE`: is nearly always inside a large transaction.
pub fn load(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = open(path);
    let table = store.dynamic_table("Load").unwrap();
    say("ready");
    for round in 0_i64.. {
        let batches = (0..40).map(|partition| {
            let partition = format!("partition {partition:03}");
            (0..50).fold(table.batch(&partition), |batch, row| {
                let row = DynamicEntity::new(&partition, format!("row {row:03}"));
                batch.put(row.with("Round", round).with("Text", "x".repeat(200)))
            })
        });
        let report = store.bulk(batches).unwrap();
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        say(format!("round {round}"));
    }
}

/// `come-and-go STORE NUMBER ROUNDS`: makes, fills and drops a table of its own, whose keys are the same each time,
/// and meanwhile adds rows to one that stays. Nothing of that may be refused.
pub fn come_and_go(arguments: &[&str]) {
    let [path, number, rounds] = arguments else { panic!("arguments") };
    let store = open(path);
    let stays = store.dynamic_table("Stays").unwrap();
    say("ready");
    hear();
    let name = format!("Goes{number}");
    for round in 0..rounds.parse::<u32>().unwrap() {
        let goes = store.create_table(&name).unwrap();
        let batches = (0..20).map(|partition| {
            let partition = format!("partition {partition:02}");
            (0..50).fold(goes.batch(&partition), |batch, row| {
                // Another name each round, which the table's dictionary has to number.
                let row = DynamicEntity::new(&partition, format!("row {row:03}"));
                batch.insert(row.with(&format!("Round{round}"), "x".repeat(100)))
            })
        });
        let report = store.bulk(batches).unwrap();
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        store.drop_table(&name).unwrap();
        // The background frees the rows in every process, and now and then this does too.
        std::thread::scope(|scope| {
            let freeing = (round % 3 == 0).then(|| scope.spawn(|| store.reclaim().unwrap()));
            for row in 0..20 {
                let row = format!("row {number} {round:06} {row:03}");
                stays.insert(&DynamicEntity::new("stays", row)).unwrap();
            }
            freeing.map(|freeing| freeing.join().unwrap());
        });
        say(format!("round {round}"));
    }
}

/// `undeclared STORE TABLE`: writes rows by their properties, as it is told, by a handle from before they were declared.
pub fn undeclared(arguments: &[&str]) {
    let [path, table] = arguments else { panic!("arguments") };
    let mut table = open(path).dynamic_table(table).unwrap();
    say("ready");
    while let Some(line) = hear() {
        let row = |row: &str| DynamicEntity::new("night", row).with("Price", 6_i64);
        let done = match *line.split(' ').collect::<Vec<_>>() {
            ["put", key, kind] => table.insert(&row(key).with("EntityType", kind)).map(drop),
            ["merge", key] => table.merge(&row(key), IfMatch::Any).map(drop),
            ["delete", key] => table.delete("night", key),
            ["raw"] => {
                table = table.raw();
                Ok(())
            }
            _ => panic!("{line}"),
        };
        say(done.map_or_else(|error| format!("{:?}", error.kind()), |()| "done".to_owned()));
    }
}
