//! Iterators and snapshots: what they see, and how long they last.

use integration_tests::Scratch;
use integration_tests::executors::snapshot;
use table_core::{DynamicEntity, ErrorKind, Query, Result, Value};

use super::numbered;

#[test]
fn an_iterator_keeps_its_snapshot_whatever_becomes_of_the_table() {
    let scratch = Scratch::new();
    let store = scratch.store();
    // More than it reads at once at first, or at any time.
    let count = 1_000;
    let table = numbered(&store, "Kept", count);
    let mut ascending = table.query(&Query::new()).unwrap();
    let mut descending = table.query(&Query::new().partition("p").rev()).unwrap();
    let first = ascending.next().unwrap().unwrap();
    assert_eq!(descending.next().unwrap().unwrap().row_key(), "000999");
    let number = |entity: &DynamicEntity| entity.get("Number").and_then(Value::as_i64).unwrap();

    let changes = (0..count).map(|number| {
        let entity = DynamicEntity::new("p", format!("{number:06}")).with("Number", -1_i64).with("New", "x");
        let batch = table.batch("p");
        if number % 3 == 0 { batch.delete(entity.row_key()) } else { batch.put(entity) }
    });
    assert_eq!(store.bulk(changes).unwrap().committed as usize, count);
    assert_eq!(number(&ascending.next().unwrap().unwrap()), number(&first) + 1);
    store.drop_table("Kept").unwrap();
    store.reclaim().unwrap();
    numbered(&store, "Kept", 3);

    let rest: Vec<_> = ascending.map(|entity| number(&entity.unwrap())).collect();
    assert_eq!(rest, (2..count as i64).collect::<Vec<_>>());
    let rest: Vec<_> = descending.map(|entity| number(&entity.unwrap())).collect();
    assert_eq!(rest, (0..count as i64 - 1).rev().collect::<Vec<_>>());
    assert!(store.snapshots().is_empty());
}

#[test]
fn an_iterator_may_move_to_another_thread_and_outlive_every_handle() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = numbered(&store, "Moved", 500);
    let mut found = table.query(&Query::new().partition("p")).unwrap();
    assert_eq!(found.next().unwrap().unwrap().row_key(), "000000");
    let snapshot = snapshot(&store);
    let other = table.clone();
    drop((store, table));
    let counting = std::thread::spawn(move || found.map(Result::unwrap).count());
    assert_eq!(counting.join().unwrap(), 499);
    if let Some(snapshot) = snapshot {
        let reading = std::thread::spawn(move || snapshot.query(&other, &Query::new()).unwrap().count());
        assert_eq!(reading.join().unwrap(), 500);
    }
}

#[test]
fn an_ended_iterator_stays_ended() {
    let scratch = Scratch::new();
    let table = numbered(&scratch.tables(), "Ended", 5);
    let mut found = table.query(&Query::new().top(2)).unwrap();
    assert_eq!(found.by_ref().count(), 2);
    table.insert(&DynamicEntity::new("z", "z")).unwrap();
    assert!(found.next().is_none() && found.next().is_none());
}

#[test]
fn a_snapshot_reads_its_own_stores_tables_alone() {
    let (scratch, other) = (Scratch::new(), Scratch::new());
    let (store, other) = (scratch.tables(), other.tables());
    let (table, foreign) = (numbered(&store, "Mine", 3), numbered(&other, "Mine", 3));
    let Some(snapshot) = snapshot(&store) else { return };
    assert_eq!(snapshot.query(&table, &Query::new()).unwrap().count(), 3);
    let kind = |error: table_core::Error| error.kind();
    assert_eq!(kind(snapshot.query(&foreign, &Query::new()).unwrap_err()), ErrorKind::InvalidQuery);
    assert_eq!(kind(snapshot.get(&foreign, "p", "000000").unwrap_err()), ErrorKind::InvalidQuery);
    assert_eq!(kind(snapshot.page(&foreign, &Query::new(), 1, None).unwrap_err()), ErrorKind::InvalidQuery);
    let lent = [
        snapshot.get_with(&foreign, "p", "000000", |_| ()).map(drop),
        snapshot.query_with(&foreign, &Query::new(), |_| ()),
        snapshot.page_with(&foreign, &Query::new(), 1, None, |_| ()).map(drop),
    ];
    for refused in lent {
        assert_eq!(kind(refused.unwrap_err()), ErrorKind::InvalidQuery);
    }
}

integration_tests::on_other_executors! {
    an_iterator_may_move_to_another_thread_and_outlive_every_handle
    an_ended_iterator_stays_ended
    a_snapshot_reads_its_own_stores_tables_alone
}
