//! How large a store transaction may be.

use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{Entity, ErrorKind, Query, Store};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parts", kind = "part")]
#[key(partition = "{shelf}", row = "part_{id:06}")]
#[index(by_label, row = "label_{label}_{id:06}", when = Part::is_labelled, copy = keys)]
struct Part {
    shelf: String,
    id: u32,
    label: String,
    content: Option<Vec<u8>>,
}

impl Part {
    fn is_labelled(&self) -> bool {
        !self.label.is_empty()
    }
}

fn part(id: u32, label: &str) -> Part {
    Part { shelf: format!("{:02}", id % 7), id, label: label.into(), content: None }
}

fn rows(store: &Store) -> usize {
    store.table::<Part>().unwrap().dynamic().query(&Query::new()).unwrap().count()
}

#[test]
fn a_transaction_touches_10_000_rows_and_not_one_more() {
    let scratch = Scratch::new();
    let store = relaxed().open(scratch.path().join("store")).unwrap();
    // 9,999 rows, and one or two more.
    let parts: Vec<_> = (0..9_999).map(|id| part(id, "")).collect();
    let (plain, labelled) = (part(9_999, ""), part(9_999, "a"));
    let all = || parts.iter().fold(store.transaction(), table_core::typed::StoreTransaction::insert);
    for refused in [all().insert(&labelled).commit().map(drop), all().insert(&labelled).explain().map(drop)] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BatchLength);
        assert_eq!(
            error.to_string(),
            "cannot commit a transaction: the change touches 10001 rows, the entities' own and their copies; a \
             transaction may touch 10000"
        );
    }
    let many = all().insert(&plain).insert(&labelled).commit().unwrap_err();
    assert_eq!(many.kind(), ErrorKind::BatchLength);
    assert_eq!(
        many.to_string(),
        "cannot commit a transaction: the transaction has 10001 operations; it may touch 10000 rows"
    );
    assert_eq!(rows(&store), 0);
    assert_eq!(all().insert(&plain).explain().unwrap().rows(), 10_000);
    all().insert(&plain).commit().unwrap();
    assert_eq!(rows(&store), 10_000);
    // As many are changed and deleted again; a batch of one partition has its own limit as before.
    let change = |part: &mut Part| part.content = Some(vec![1]);
    let key = |part: &Part| Part::key(part.shelf.as_str(), part.id);
    let transaction = parts.iter().fold(store.transaction(), |all, part| all.update(key(part), change));
    transaction.update(key(&plain), change).commit().unwrap();
    let transaction = parts.iter().fold(store.transaction(), |all, part| all.delete(key(part)));
    transaction.commit().unwrap();
    assert_eq!(rows(&store), 1);
    let table = store.table::<Part>().unwrap();
    let egt = parts.iter().filter(|part| part.shelf == "00");
    let error =
        egt.fold(table.egt(Part::partition("00")), |all, part| all.insert(part)).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BatchLength);
    assert_sound(&store);
}

#[test]
fn a_transaction_stays_below_64_mib() {
    let scratch = Scratch::new();
    let store = relaxed().open(scratch.path().join("store")).unwrap();
    // Bytes count as base64, four for three: 768 of such parts are 64 MiB and a little.
    let large = |id| Part { content: Some(vec![7; 65_536]), ..part(id, "") };
    let parts: Vec<_> = (0..768).map(large).collect();
    let some = |count: usize| {
        let parts = parts.iter().take(count);
        parts.fold(store.transaction(), table_core::typed::StoreTransaction::insert)
    };
    let error = some(768).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BatchTooLarge, "{error}");
    assert!(error.to_string().ends_with("it must stay below 67108864"), "{error}");
    assert_eq!(rows(&store), 0);
    some(760).commit().unwrap();
    assert_eq!(rows(&store), 760);
    assert_sound(&store);
}
