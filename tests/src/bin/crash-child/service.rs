//! Processes that share the service records of a store.

use table_core::__executor::{Expected, RecordOwner};
use table_core::Store;

use crate::{hear, say};

/// `service STORE TIMES`: adds one to the number in a record of the store, and puts it into one of the table `Company`, so many
/// times, each time from what was read. Says each number once it is acknowledged.
pub fn count(arguments: &[&str]) {
    let [path, times] = arguments else { panic!("arguments") };
    let store = Store::open(path).unwrap();
    let records = store.service_records().unwrap();
    say("ready");
    hear();
    for _ in 0..times.parse().unwrap() {
        loop {
            let found = records.get(RecordOwner::Store, "count").unwrap().unwrap();
            let next = std::str::from_utf8(&found).unwrap().parse::<u64>().unwrap() + 1;
            let value = next.to_string();
            let expected = Expected::Value(&found);
            if records.replace(RecordOwner::Store, "count", expected, Some(value.as_bytes())).unwrap() {
                say(format!("store {next}"));
                let company = RecordOwner::Table("company");
                assert!(records.replace(company, "count", Expected::Any, Some(value.as_bytes())).unwrap());
                say(format!("table {next}"));
                break;
            }
        }
    }
}
