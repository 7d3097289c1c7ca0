//! Rows that structs declare, and writes by their properties: refused, unless the handle says that they are meant.

use std::sync::Arc;

use integration_tests::Scratch;
use integration_tests::child::Child;
use table_core::crypt::MemoryKeys;
use table_core::store::EncryptingTable;
use table_core::{DynamicEntity, DynamicTable, EntitySet, Error, ErrorKind, IfMatch, Store, Table};

use super::{Seat, seat, seen};

#[derive(EntitySet)]
enum Train {
    #[allow(dead_code, reason = "read by nothing here")]
    Seat(Seat),
}

/// A train with one seat: its own row, and a copy for its guest.
fn train(scratch: &Scratch) -> (Store, Table<Seat>) {
    let store = integration_tests::relaxed();
    let store =
        store.encryption(Arc::new(MemoryKeys::new().unwrap())).open(scratch.path().join("s")).unwrap();
    let seats = store.table::<Seat>().unwrap();
    seats.insert(&seat(1, "ann")).unwrap();
    (store, seats)
}

/// Rows of the declared kinds: one that is new, the entity's own, and its copy.
fn declared() -> [DynamicEntity; 2] {
    [("seat_02", "seat"), ("guest_bob", "seat.by_guest")].map(|(row, kind)| {
        DynamicEntity::new("night", row).with("EntityType", kind).with("Price", 5_i64).with("Number", 2)
    })
}

/// One way to write: what it is, whether it seals what goes into a copy, and how it is done.
type Attempt = (&'static str, bool, Box<dyn Fn(&DynamicTable) -> Result<(), Error>>);

/// Every way to write rows of declared kinds by their properties, and to change or remove those that are there.
fn attempts() -> Vec<Attempt> {
    let mut attempts: Vec<Attempt> = Vec::new();
    macro_rules! attempt {
        ($what:literal, $seals_copy:expr, |$table:ident| $attempt:expr) => {
            attempts.push(($what, $seals_copy, Box::new(move |$table: &DynamicTable| $attempt.map(drop))));
        };
    }
    for is_copy in [false, true] {
        let new = move || declared()[usize::from(is_copy)].clone();
        let free = || DynamicEntity::new("night", "free");
        attempt!("insert", false, |table| table.insert(&new()));
        attempt!("insert or replace", false, |table| table.put(&new()));
        attempt!("insert or merge", false, |table| table.insert_or_merge(&new()));
        attempt!("a batch", false, |table| table.batch("night").insert(free()).insert(new()).commit());
        attempt!("a sealing insert", is_copy, |table| plain(table).insert(&new()));

        let key = if is_copy { "guest_ann" } else { "seat_01" };
        let old = move || DynamicEntity::new("night", key).with("Price", 7_i64);
        attempt!("replace", false, |table| table.replace(&old(), IfMatch::Any));
        attempt!("merge", false, |table| table.merge(&old(), IfMatch::Any));
        attempt!("insert or replace what is there", false, |table| table.put(&old()));
        attempt!("insert or merge what is there", false, |table| table.insert_or_merge(&old()));
        attempt!("delete", false, |table| table.delete("night", key));
        attempt!("a batch's merge", false, |table| table.batch("night").merge(old(), IfMatch::Any).commit());
        attempt!("a batch's delete", false, |table| table.batch("night").delete(key).commit());
        attempt!("a sealing merge", is_copy, |table| plain(table).merge(&old(), IfMatch::Any));
        attempt!("a sealing delete", false, |table| plain(table).delete("night", key));
        attempt!("a sealing batch", false, |table| plain(table).batch("night").delete(key).commit());
        // A row of another kind takes no place of one that is declared.
        let other = move || old().with("EntityType", "guest");
        attempt!("another kind", false, |table| table.put(&other()));
    }
    attempts
}

/// The table with no more sealed than its structs have sealed.
fn plain(table: &DynamicTable) -> EncryptingTable {
    table.encrypting(|_, _, _| false)
}

#[test]
fn no_write_by_properties_touches_what_a_struct_declares() {
    let scratch = Scratch::new();
    let (store, seats) = train(&scratch);
    let before = seen(&store);
    assert_eq!(before.len(), 2);
    for (what, _, attempt) in attempts() {
        let error = attempt(seats.dynamic()).expect_err(what);
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{what}: {error}");
        assert_eq!((error.table_name(), error.partition_key()), (Some("Seats"), Some("night")), "{what}");
        assert!(error.row_key().is_some(), "{what}: {error:?}");
        assert_eq!(seen(&store), before, "{what}");
    }
    // Each batch of a load fails by itself.
    let [new, _] = declared();
    let free = DynamicEntity::new("night", "free");
    let table = seats.dynamic();
    let batches = [table.batch("night").insert(new), table.batch("night").insert(free)];
    let report = store.bulk(batches).unwrap();
    assert_eq!((report.committed, report.failures.len()), (1, 1));
    assert_eq!((report.failures[0].index, report.failures[0].error.kind()), (0, ErrorKind::DeclaredKind));
    assert_eq!(seen(&store).len(), 3);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn the_refusal_says_what_to_use() {
    let scratch = Scratch::new();
    let (_store, seats) = train(&scratch);
    let change = DynamicEntity::new("night", "seat_01").with("Price", 7_i64);
    let error = seats.dynamic().merge(&change, IfMatch::Any).unwrap_err();
    assert_eq!((error.code(), error.status()), ("InvalidInput", 400));
    assert_eq!(
        error.to_string(),
        "cannot merge into table `Seats`, partition `night`, row `seat_01`: the row is an entity of the kind `seat`, \
         which a struct declares, and what is noted of that is not enough to write it by its properties: \
         `index by_price row \"price_\" Price:u32:\"03\" \"_\" Number:u8:\"02\" when copy keys`: whether an entity has a copy \
         there only a function of its struct says; change the entity by `Store::table`, or by `SetTable::merge_any` and the like, which \
         make its copies follow; a handle by `DynamicTable::raw` writes the row all the same, and its copies stay as they are"
    );
    let error = seats.dynamic().delete("night", "guest_ann").unwrap_err().to_string();
    assert!(
        error.contains("the row is a copy, in the index `by_guest`, of an entity of the kind `seat`: change"),
        "{error}"
    );
}

/// `raw` is of the handle: what is made of it has it too, and nothing else.
#[test]
fn a_raw_handle_writes_each_of_them() {
    for (what, seals_copy, attempt) in attempts() {
        let scratch = Scratch::new();
        let (store, seats) = train(&scratch);
        let before = seen(&store);
        match attempt(&seats.dynamic().raw().clone()) {
            // What is sealed for its entity's own row is never sealed for a copy.
            Err(error) if seals_copy => {
                assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{what}: {error}")
            }
            done => {
                assert!(!seals_copy, "{what}");
                done.expect(what);
                assert_ne!(seen(&store), before, "{what}");
            }
        }
        // The handle that it was made of is as it was.
        let [new, _] = declared();
        let error = seats.dynamic().insert(&new).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{what}");
    }
}

#[test]
fn rows_of_no_declared_kind_are_everybodys() {
    let scratch = Scratch::new();
    let (store, seats) = train(&scratch);
    let table = seats.dynamic();
    for kind in ["guest", "seat.", "seat.by_nothing", "Seat", ".by_guest", ""] {
        let row =
            DynamicEntity::new("night", format!("row {kind}")).with("EntityType", kind).with("Price", 1_i64);
        table.insert(&row).unwrap();
        table.merge(&row, IfMatch::Any).unwrap();
        table.put(&row).unwrap();
        table.delete("night", row.row_key()).unwrap();
    }
    // What has a seat's key and says no kind is no seat.
    let row = DynamicEntity::new("night", "seat_09").with("Price", 1_i64);
    table.insert(&row).unwrap();
    table.replace(&row, IfMatch::Any).unwrap();
    table.insert_or_merge(&row.clone().with("Other", 2)).unwrap();
    // It can't become one.
    let becomes = row.with("EntityType", "seat");
    for error in
        [table.merge(&becomes, IfMatch::Any).unwrap_err(), table.replace(&becomes, IfMatch::Any).unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::DeclaredKind);
    }
    table.delete("night", "seat_09").unwrap();
    // In another table the same kind is nobody's.
    let other = store.create_table("Other").unwrap();
    for row in declared() {
        other.insert(&row).unwrap();
    }
    assert_eq!(seen(&store).len(), 2 + 2);
}

#[test]
fn sets_change_entities_by_their_properties_with_their_copies() {
    let scratch = Scratch::new();
    let (store, seats) = train(&scratch);
    let set = store.set::<Train>().unwrap();
    let change = DynamicEntity::new("night", "seat_01").with("Guest", "bob");
    set.merge_any(&change, IfMatch::Any).unwrap();
    assert!(seats.get(Seat::by_guest("night", "ann")).unwrap().is_none());
    assert!(seats.get(Seat::by_guest("night", "bob")).unwrap().is_some());
    set.delete_any("night", "seat_01").unwrap();
    assert_eq!(seen(&store), []);
}

/// A handle from before the declaration, in this process and in another.
#[test]
fn who_had_the_table_open_before_it_was_declared_is_refused_too() {
    let scratch = Scratch::new();
    let path = scratch.path().join("shared");
    let store = integration_tests::relaxed().open(&path).unwrap();
    let table = store.create_table("Seats").unwrap();
    let row = |row: &str| DynamicEntity::new("night", row).with("EntityType", "seat").with("Price", 5_i64);
    let program = env!("CARGO_BIN_EXE_crash-child");
    let mut child = Child::start(program, "undeclared", &[path.to_str().unwrap(), "Seats"]);
    child.expect("ready");
    table.insert(&row("seat_07")).unwrap();
    child.say("put seat_08 seat");
    child.expect("done");
    child.say("put guest_eve seat.by_guest");
    child.expect("done");

    // Declared it is by the first write, and not by opening.
    let seats = store.table::<Seat>().unwrap();
    table.insert(&row("seat_06")).unwrap();
    seats.insert(&seat(1, "ann")).unwrap();
    assert_eq!(table.insert(&row("seat_09")).unwrap_err().kind(), ErrorKind::DeclaredKind);
    for (line, answer) in [
        ("put seat_09 seat", "DeclaredKind"),
        ("put guest_mia seat.by_guest", "DeclaredKind"),
        ("merge seat_07", "DeclaredKind"),
        ("delete seat_08", "DeclaredKind"),
        ("delete guest_eve", "DeclaredKind"),
        ("put seat_10 guest", "done"),
        ("delete seat_10", "done"),
    ] {
        child.say(line);
        assert_eq!(child.line(), answer, "{line}");
    }
    assert_eq!(seen(&store).len(), 6);
    child.say("raw");
    child.expect("done");
    child.say("delete guest_eve");
    child.expect("done");
    child.finish();
    assert_eq!(seen(&store).len(), 5);
    assert!(store.check().unwrap().problems.is_empty());
}
