//! Rows that are written without a new time: who has read one before must not put it back.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use std::sync::Arc;

use table_core::__executor::{
    self as seam, Act, Backend, Condition, Content, Group, OneOrMore, Plan, Refused, RowWrite, SealedAt,
    Version,
};
use table_core::{DynamicEntity, ErrorKind, ValueRef};
use table_engine::model::EntityKeys;
use table_engine::row::version::version_of;

/// Carries out what becomes of the row `a`, and returns the error if it is refused.
fn write(store: &Arc<dyn Backend>, keeps_times: bool, condition: Condition, text: &str) -> Option<ErrorKind> {
    let properties = [("Text", ValueRef::String(text))];
    let row =
        RowWrite { key: "a", condition, act: Act::Put(Content::Properties(&properties)), kind: None, of: 0 };
    commit(store, keeps_times, row)
}

fn commit(store: &Arc<dyn Backend>, keeps_times: bool, row: RowWrite<'_>) -> Option<ErrorKind> {
    let table = store.clone().open("Company").unwrap();
    let groups = OneOrMore::from(Group::new("p", vec![row]));
    let plan = Plan { groups, keeps_times, ..Plan::default() };
    let done = store.commit(&[&*table], &plan, &SealedAt::NOTHING);
    done.err().map(|Refused { error, .. }| error.kind())
}

/// Reads the row `a`: its version and its text.
fn read(store: &Arc<dyn Backend>) -> (Version, String) {
    let table = store.clone().open("Company").unwrap();
    let mut found = None;
    table
        .get(EntityKeys::new("p", "a"), &mut |row, state| {
            let text = row.get("Text")?.and_then(|text| text.as_str().map(str::to_owned));
            found = Some((version_of(row, state), text.unwrap()));
            Ok(())
        })
        .unwrap();
    found.unwrap()
}

#[test]
fn a_row_that_was_written_again_is_another_and_has_its_time() {
    let store = support::backend();
    let table = seam::tables(store.clone()).create_table("Company").unwrap();
    table.insert(&DynamicEntity::new("p", "a").with("Text", "first")).unwrap();
    let (first, _) = read(&store);
    let tag = Condition::Tag(first.etag);
    // Twice: the second time it is known that the row has been written so before.
    for (text, next) in [("first", "second"), ("second", "third")] {
        let (before, found) = read(&store);
        assert_eq!(found, text);
        assert_eq!(write(&store, true, Condition::Is(before), next), None);
        let (after, found) = read(&store);
        assert_eq!((after.etag, &*found), (first.etag, next));
        // Who has read the row before puts nothing back, removes nothing, and relies on nothing.
        let stale = Condition::Is(before);
        assert_eq!(write(&store, false, stale, "stale"), Some(ErrorKind::ConditionNotMet));
        assert_eq!(write(&store, true, stale, "stale"), Some(ErrorKind::ConditionNotMet));
        for act in [Act::Keep, Act::Remove] {
            let row = RowWrite { key: "a", condition: stale, act, kind: None, of: 0 };
            assert_eq!(commit(&store, false, row), Some(ErrorKind::ConditionNotMet));
        }
        let keep = RowWrite { key: "a", condition: Condition::Is(after), act: Act::Keep, kind: None, of: 0 };
        assert_eq!(commit(&store, false, keep), None);
        assert_eq!(read(&store), (after, next.to_owned()));
    }
    // The time alone tells what a user has seen.
    assert_eq!(write(&store, false, tag, "fourth"), None);
    let (last, found) = read(&store);
    assert_eq!(found, "fourth");
    assert_ne!(last.etag, first.etag);
    assert_eq!(write(&store, false, Condition::Is(last), "fifth"), None);
}

#[test]
fn a_row_that_is_not_there_gets_a_time() {
    let store = support::backend();
    seam::tables(store.clone()).create_table("Company").unwrap();
    assert_eq!(write(&store, true, Condition::Any, "first"), None);
    let (first, _) = read(&store);
    assert_eq!(write(&store, true, Condition::Any, "second"), None);
    let (second, text) = read(&store);
    assert_eq!((second.etag, &*text), (first.etag, "second"));
    assert_ne!(second, first);
}
