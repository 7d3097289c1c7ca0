//! Processes that keep a store's space from being used.

use table_core::Query;

use crate::{hear, say};

/// `hold STORE TABLE`: holds a snapshot until told to go on, and then an iterator. Then dies with it when told to.
pub fn hold(arguments: &[&str]) {
    let [path, table] = arguments else { panic!("arguments") };
    let store = integration_tests::relaxed().open(path).unwrap();
    let table = store.dynamic_table(table).unwrap();
    let snapshot = store.snapshot().unwrap();
    say("snapshot");
    hear();
    drop(snapshot);
    say("nothing");
    hear();
    let mut rows = table.query(&Query::new()).unwrap();
    rows.next().unwrap().unwrap();
    say("iterator");
    hear();
    std::process::abort();
}

/// `drop STORE TABLE`: drops the table and dies, mostly before its space is given back.
pub fn drop_and_die(arguments: &[&str]) {
    let [path, table] = arguments else { panic!("arguments") };
    let store = integration_tests::relaxed().open(path).unwrap();
    store.drop_table(table).unwrap();
    std::process::exit(0);
}

/// `read-only STORE`: opens the store for reading, and says how many rows it has and what a check finds, or the error.
pub fn read_only(arguments: &[&str]) {
    let [path] = arguments else { panic!("arguments") };
    let read = || -> table_core::Result<_> {
        let store = table_core::Store::options().read_only(true).verify_first(true).open(path)?;
        let report = store.check()?;
        let mut rows = 0;
        for name in store.tables()? {
            rows += store.dynamic_table(&name)?.query(&Query::new())?.count();
        }
        Ok((rows, report.problems.len()))
    };
    match read() {
        Ok((rows, problems)) => say(format!("{rows} {problems}")),
        Err(error) => say(format!("{:?} {error}", error.kind())),
    }
}

/// `overwrite STORE TABLE`: writes rows and then the same ones again, many times.
pub fn overwrite(arguments: &[&str]) {
    let [path, table] = arguments else { panic!("arguments") };
    let table = integration_tests::relaxed().open(path).unwrap().dynamic_table(table).unwrap();
    for round in 0..5 {
        for row in 0..100 {
            let row = table_core::DynamicEntity::new("written", format!("{row:03}"));
            table.put(&row.with("Round", round)).unwrap();
        }
    }
    say("done");
    hear();
}
