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
