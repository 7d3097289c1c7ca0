//! Rows that are written as they are, while another process writes them signed.

use std::sync::Arc;

use table_core::DynamicEntity;
use table_core::crypt::MemoryKeys;

use super::between::{Between, Lost};
use super::*;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note", signed)]
#[key(partition = "{group}", row = "note_{id:06}")]
struct Note {
    group: String,
    id: u32,
    text: i64,
}

fn note(id: u32) -> Note {
    Note { group: "all".into(), id, text: 1 }
}

/// What is looked at first is no longer what is written over.
#[test]
fn a_row_that_comes_signed_meanwhile_is_not_written_over() {
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let between = Between::with(&AzureOptions::new().encryption(keys));
    let others = between.other.table::<Note>().unwrap();
    others.put(&note(1)).unwrap();
    let raw = between.tables.dynamic_table("Notes").unwrap().raw();
    let plain = |row: &str| DynamicEntity::new("all", row).with("Text", 7_i64);

    // What one costs that nothing comes between: the write is the last request of it.
    raw.put(&plain("plain")).unwrap();
    let before = between.proxy.done.requests.load(Ordering::Relaxed);
    raw.put(&plain("other")).unwrap();
    let looks = between.proxy.done.requests.load(Ordering::Relaxed) - before - 1;
    assert!(looks > 0);

    let told = between.change(
        Lost::RequestBehind(looks),
        || raw.put(&plain("note_000002")).map(drop),
        || _ = others.insert(&note(2)).unwrap(),
    );
    // The first try may have written it, for all that the second is told.
    assert_eq!(told.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    assert_eq!(*others.get(Note::key("all", 2)).unwrap().unwrap(), note(2));
    // And one that is there is seen by the look.
    assert_eq!(raw.put(&plain("note_000001")).unwrap_err().kind(), ErrorKind::SchemaMismatch);
}
