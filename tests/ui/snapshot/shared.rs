use std::sync::Arc;
use std::thread;

use table_core::{Result, Store};

fn in_two_threads(store: &Store) -> Result<()> {
    let snapshot = Arc::new(store.snapshot()?);
    let other = snapshot.clone();
    thread::spawn(move || drop(other));
    Ok(())
}

fn main() {}
