//! Processes that have a store open while another compacts it, and one that does.

use table_core::{DynamicEntity, DynamicTable, ErrorKind, Query, Result, Store};

use crate::{hear, say};

fn open(path: &str) -> Store {
    integration_tests::relaxed().open(path).unwrap()
}

fn told<T>(what: &str, result: Result<T>) {
    match result {
        Ok(_) => say(format!("{what} done")),
        Err(error) => say(format!("{what} {:?}", error.kind())),
    }
}

/// `witness STORE TABLE COPY`: holds a snapshot, an iterator and a table, and tells what they give when the parent has
/// compacted the store; then opens it again. `-` for the copy leaves out what takes long.
pub fn witness(arguments: &[&str]) {
    let [path, name, copy] = arguments else { panic!("arguments") };
    let store = open(path);
    let table = store.dynamic_table(name).unwrap();
    let snapshot = store.snapshot().unwrap();
    let mut rows = table.query(&Query::new()).unwrap();
    rows.next().unwrap().unwrap();
    say("ready");
    hear();
    say(format!("snapshot {}", snapshot.query(&table, &Query::new()).unwrap().map(Result::unwrap).count()));
    say(format!("iterator {}", rows.map(Result::unwrap).count()));
    told("get", table.get("p", "000"));
    told("query", table.query(&Query::new()).map(|mut rows| rows.next()));
    told("insert", table.put(&DynamicEntity::new("p", "lost")));
    told("batch", table.batch("p").insert(DynamicEntity::new("p", "lost")).commit());
    told("open a table", store.dynamic_table(name));
    told("create", store.create_table("Lost"));
    told("drop", store.drop_table(name));
    told("tables", store.tables());
    told("reclaim", store.reclaim());
    told("check", store.check());
    told("stats", store.stats());
    if *copy != "-" {
        told("copy", store.copy_to(copy));
        // It is this handle's store that is gone.
        told("open", Store::open(path));
    }
    drop((snapshot, table, store));
    if hear().is_none() {
        return;
    }
    let store = open(path);
    let table = store.dynamic_table(name).unwrap();
    told("insert", table.insert(&DynamicEntity::new("p", "kept")));
    say(format!("rows {}", table.query(&Query::new()).unwrap().map(Result::unwrap).count()));
}

/// `go-on STORE TIMES`: adds one to a number so many times, and opens the store again whenever it has been compacted.
pub fn go_on(arguments: &[&str]) {
    let [path, times] = arguments else { panic!("arguments") };
    let (mut table, mut opened) = (counter(path), 0);
    say("ready");
    let mut left: u32 = times.parse().unwrap();
    while left > 0 {
        match add(&table) {
            Ok(()) => left -= 1,
            Err(error) if error.kind() == ErrorKind::ConditionNotMet => {}
            Err(error) if error.kind() == ErrorKind::Superseded => {
                // A process can't have both files open.
                drop(table);
                table = counter(path);
                opened += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    say(opened);
}

/// The table, which keeps its store open. It may be compacted once more between opening the store and the table.
fn counter(path: &str) -> DynamicTable {
    for _ in 0..100 {
        match open(path).dynamic_table("Counter") {
            Err(error) if error.kind() == ErrorKind::Superseded => {}
            table => return table.unwrap(),
        }
    }
    panic!("it is compacted without end");
}

fn add(table: &DynamicTable) -> Result<()> {
    let mut counter = table.get("counter", "counter")?.unwrap();
    let value = counter.get("Value").and_then(|value| value.as_i64()).unwrap() + 1;
    counter.set("Value", value);
    table.replace(&counter, counter.etag().unwrap())?;
    Ok(())
}

/// `compact STORE`: compacts the store.
pub fn compact(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    say("opened");
    told("compact", store.compact());
}
