//! A write that waits for others is reported while it waits.

use std::thread;
use std::time::{Duration, Instant};

use table_engine::model::DynamicEntity;

use crate::Store;
use crate::tests_listener::Listener;

#[test]
fn a_write_that_waits_too_long_is_slow_before_it_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let options = Store::options().slow_after(Duration::from_millis(1));
    let store = options.open(dir.path().join("store")).unwrap();
    let company = store.create_table("Company").unwrap();
    let listener = Listener::default();
    let lead = store.shared().writer.lead().unwrap();
    let writer = thread::spawn({
        let (listener, company) = (listener.clone(), company.clone());
        move || listener.hear(|| company.insert(&DynamicEntity::new("p", "r")).map(drop))
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut told = Vec::new();
    while told.is_empty() && Instant::now() < deadline {
        told = listener.take("slow");
        thread::yield_now();
    }
    assert!(told.len() == 1 && told[0].contains("still_running=true "), "{told:?}");
    assert!(told[0].contains("db.operation.name=\"insert\" ") && !writer.is_finished(), "{told:?}");
    drop(lead);
    writer.join().unwrap().unwrap();
    let told = listener.take("slow");
    assert!(told.len() == 1 && told[0].contains("still_running=false "), "{told:?}");
    assert!(company.get("p", "r").unwrap().is_some());
}
