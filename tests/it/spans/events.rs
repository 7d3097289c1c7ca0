//! Events: what is slow, reads too much, or is wrong.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use integration_tests::{Scratch, relaxed};
use table_core::schema::KeyElements;
use table_core::store::Propagate;
use table_core::{DynamicEntity, Entity, ErrorKind, Filter, IfMatch, Query, Store};
use tracing::Level;

use super::listener::{Listener, Told};

#[track_caller]
fn assert_event(told: &Told, level: Level) {
    assert_eq!((told.level, told.target), (level, &*format!("table_core::{}", told.name)));
    let of = (told.field("db.system.name"), told.field("db.namespace"));
    assert_eq!(of, (Some("table-core"), Some("store")), "{told:?}");
    assert!(told.field("message").is_some_and(|message| !message.is_empty()));
}

#[test]
fn what_takes_longer_than_it_may_is_slow() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::WARN));
    let slow_after = |time| Store::options().slow_after(time).open(scratch.path().join("store")).unwrap();
    let store = listener.hear(|| slow_after(Duration::ZERO));
    let told = listener.one("slow");
    assert_event(&told, Level::WARN);
    assert_eq!((told.field("span"), told.field("db.operation.name")), (Some("open"), Some("open")));
    let company = store.create_table("Company").unwrap();
    let rows = |from: u32| (from..from + 2_000).map(|id| DynamicEntity::new("p", format!("{id:06}")));
    listener.hear(|| {
        company.put(&DynamicEntity::new("p", "r")).unwrap();
        let told = listener.one("slow");
        assert_event(&told, Level::WARN);
        assert_eq!((told.field("span"), told.field("db.operation.name")), (Some("commit"), Some("put")));
        assert_eq!(told.field("db.collection.name"), Some("Company"));
        assert_eq!((told.field("still_running"), told.parent), (Some("false"), None));
        told.number("elapsed_ms");
        company.get("p", "r").unwrap();
        assert_eq!(listener.one("slow").field("db.operation.name"), Some("get"));
        assert!(store.check().unwrap().problems.is_empty());
        assert!(listener.take("slow").is_empty(), "jobs are never slow");
    });
    let batches = rows(0).map(|row| company.batch("p").insert(row));
    store.bulk(batches).unwrap().into_result().unwrap();
    // A query that finds nothing on many pages comes by, and is told of while it runs; and once more at its end.
    let none = Query::new().partition("p").filter("Age eq 7".parse::<Filter>().unwrap());
    listener.hear(|| assert_eq!(company.query(&none).unwrap().count(), 0));
    let told = listener.take("slow");
    let said: Vec<_> = told.iter().map(|told| told.field("still_running").unwrap()).collect();
    assert_eq!(said, ["true", "false"]);
    assert_eq!((told[1].number("rows_read"), told[1].number("rows_returned")), (2_001, 0));
    // With spans, it is in the span.
    let spans = Listener::new(Level::DEBUG);
    spans.hear(|| assert_eq!(company.query(&none).unwrap().count(), 0));
    let query = spans.one("query");
    assert!(spans.take("slow").iter().all(|told| told.parent == Some(query.number)));

    // The same options open it again in this process.
    let error = Store::options().slow_after(Duration::from_secs(1)).open(store.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OptionsConflict, "{error}");
    assert!(error.to_string().contains("slow_after"), "{error}");
    drop((company, store));
    let store = slow_after(Duration::from_secs(3_600));
    listener.forget();
    let company = store.dynamic_table("Company").unwrap();
    listener.hear(|| company.put(&DynamicEntity::new("p", "r")).unwrap());
    assert!(listener.take("slow").is_empty());
}

#[test]
fn a_query_without_bounds_is_a_full_scan() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::WARN));
    let company = scratch.store().create_table("Company").unwrap();
    for row in ["1", "2", "3"] {
        company.insert(&DynamicEntity::new("p", row).with("Age", 40)).unwrap();
    }
    let query = |query: Query| {
        listener.hear(|| assert_eq!(company.query(&query).unwrap().count(), 3));
        listener.take("full_scan")
    };
    let told = query(Query::new());
    assert_eq!(told.len(), 1);
    assert_event(&told[0], Level::WARN);
    assert_eq!((told[0].field("class"), told[0].number("rows_read")), (Some("table scan"), 3));
    assert_eq!(told[0].field("db.collection.name"), Some("Company"));
    let filter = || "Age ge 40".parse::<Filter>().unwrap();
    let told = query(Query::new().partition("p").filter(filter()));
    assert_eq!((told.len(), told[0].field("class")), (1, Some("partition scan")));
    // A partition that is wanted as a whole, and a range.
    assert!(query(Query::new().partition("p")).is_empty());
    assert!(
        query(Query::new().partition("p").filter(filter() & "RowKey ge '1'".parse::<Filter>().unwrap()))
            .is_empty()
    );
    // One that is given up has read what it has read.
    listener.hear(|| company.query(&Query::new()).unwrap().next().unwrap().unwrap());
    assert_eq!(listener.one("full_scan").number("rows_returned"), 1);
}

#[test]
fn damage_is_told_with_its_table_even_to_those_who_hear_errors_alone() {
    const MARKER: &[u8] = b"a marker that is once in the file";
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let marker = String::from_utf8(MARKER.into()).unwrap();
    let row = DynamicEntity::new("p", "r").with("Text", marker);
    store.create_table("Company").unwrap().insert(&row).unwrap();
    drop(store);
    let file = path.join("data.mdb");
    let mut bytes = std::fs::read(&file).unwrap();
    let places: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(MARKER)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| bytes[*at] ^= 1);
    std::fs::write(&file, bytes).unwrap();

    let listener = Listener::new(Level::ERROR);
    let store = relaxed().open(&path).unwrap();
    let company = store.dynamic_table("Company").unwrap();
    let told = |run: &dyn Fn()| {
        listener.hear(run);
        let told = listener.one("damage");
        assert_event(&told, Level::ERROR);
        let of = (told.field("db.collection.name"), told.field("error.type"));
        assert_eq!(of, (Some("Company"), Some("Corrupt")));
        assert!(listener.all().is_empty());
    };
    told(&|| assert_eq!(company.get("p", "r").unwrap_err().kind(), ErrorKind::Corrupt));
    told(&|| assert!(company.query(&Query::new().partition("p")).unwrap().any(|row| row.is_err())));
    told(&|| assert!(!store.check().unwrap().problems.is_empty()));
    told(&|| assert_eq!(company.insert(&row).unwrap_err().kind(), ErrorKind::Corrupt));
    // Other errors are none.
    let other = Store::temporary().unwrap().create_table("Company").unwrap();
    listener.hear(|| other.replace(&DynamicEntity::new("p", "x"), IfMatch::Any).unwrap_err());
    assert!(listener.all().is_empty());
}

#[test]
fn a_map_that_is_nearly_full_is_told_of() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::WARN));
    let store = relaxed().map_size(1 << 20).open(scratch.path().join("store")).unwrap();
    let company = store.create_table("Company").unwrap();
    listener.hear(|| {
        let row = |row: u32| DynamicEntity::new("p", format!("{row:06}")).with("Text", "x".repeat(10_000));
        let refused = (0..200).find_map(|number| company.insert(&row(number)).err()).unwrap();
        assert_eq!(refused.kind(), ErrorKind::MapFull);
    });
    // At each hundredth of the map from the ninetieth on.
    let told = listener.take("map_nearly_full");
    assert!((1..=10).contains(&told.len()), "{told:?}");
    for told in told {
        assert_event(&told, Level::WARN);
        assert_eq!(told.number("map_bytes"), 1 << 20);
        let used = told.number("used_bytes");
        assert!(((1 << 20) / 100 * 90..=1 << 20).contains(&used), "{told:?}");
    }
}

static PANICS: AtomicBool = AtomicBool::new(false);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Texts", kind = "text")]
#[key(partition = "{book}", row = "text_{id:06}")]
#[index(by_word, table = "Words", partition = "{book}", row = "{words[]}_{id:06}", copy = keys, as = word, eventual)]
struct Text {
    book: String,
    id: u32,
    #[property(json)]
    words: Words,
}

/// Words that can't always be had.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Words(Vec<String>);

impl KeyElements for Words {
    type Element = String;

    fn elements(&self) -> impl Iterator<Item = &String> {
        assert!(!PANICS.load(Ordering::Relaxed), "these words are not to be read");
        self.0.iter()
    }
}

#[test]
fn copies_that_cannot_follow_are_told_of() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::WARN));
    let store = Store::options().propagate(Propagate::Manual).open(scratch.path().join("store")).unwrap();
    let texts = store.table::<Text>().unwrap();
    texts.insert(&Text { book: "b".into(), id: 1, words: Words(vec!["good".into()]) }).unwrap();
    PANICS.store(true, Ordering::Relaxed);
    for tries in 1..=2 {
        listener.hear(|| store.propagate().unwrap());
        let told = listener.one("outbox_failing");
        assert_event(&told, Level::WARN);
        let of = (told.field("db.collection.name"), told.field("kind"), told.field("error.type"));
        assert_eq!(of, (Some("Texts"), Some("text"), Some("SchemaMismatch")));
        assert_eq!(told.number("tries"), tries);
    }
    PANICS.store(false, Ordering::Relaxed);
    listener.hear(|| store.propagate().unwrap());
    assert!(listener.take("outbox_failing").is_empty());
}
