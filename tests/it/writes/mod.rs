//! Typed writes, one by one: what each refuses and how, and cases that random operations once found.

mod bulk;
mod declared;
mod faults;
mod former;
mod forms;
mod unnumbered;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Tables};

/// Every row of a store's tables, with its version.
fn seen(store: &Tables) -> Vec<(DynamicEntity, Option<table_core::ETag>)> {
    let rows = |name: String| {
        let rows = store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap();
        rows.map(|row| row.map(|row| (row.clone(), row.etag())).unwrap()).collect::<Vec<_>>()
    };
    store.tables().unwrap().into_iter().flat_map(rows).collect()
}

fn keys(store: &Tables) -> Vec<String> {
    seen(store).into_iter().map(|(row, _)| row.row_key().to_owned()).collect()
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Seats", kind = "seat")]
#[key(partition = "{train}", row = "seat_{number:02}")]
#[index(by_guest, row = "guest_{guest}", unique, copy = keys)]
#[index(by_price, row = "price_{price:03}_{number:02}", when = Seat::is_for_sale, copy = keys)]
#[index(by_tag, row = "tag_{tags[]}_{number:02}", copy = keys, as = tag)]
struct Seat {
    train: String,
    number: u8,
    guest: Option<String>,
    price: u32,
    for_sale: bool,
    #[property(json)]
    tags: std::collections::BTreeSet<u32>,
}

impl Seat {
    fn is_for_sale(&self) -> bool {
        self.for_sale
    }
}

fn seat(number: u8, guest: &str) -> Seat {
    let guest = (!guest.is_empty()).then(|| guest.to_owned());
    Seat { train: "night".to_owned(), number, guest, price: 20, for_sale: false, tags: [].into() }
}

/// The copy of the first stays as it is, so the plan doesn't touch it; all the same the second can't have it.
#[test]
fn what_one_entity_of_a_batch_keeps_another_cannot_take() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let seats = store.table::<Seat>().unwrap();
    let (ann, bob) = (seat(1, "ann"), seat(2, "bob"));
    seats.egt(Seat::partition("night")).insert(&ann).insert(&bob).commit().unwrap();
    let before = seen(&store);
    let key = |number| Seat::key("night", number);
    let take = |seat: &mut Seat| seat.guest = Some("ann".to_owned());
    for is_first in [true, false] {
        let egt = seats.egt(Seat::partition("night"));
        let egt = if is_first { egt.update(key(2), take) } else { egt };
        let egt = egt.update(key(1), |seat| seat.price = 30);
        let egt = if is_first { egt } else { egt.update(key(2), take) };
        let error = egt.commit().unwrap_err();
        assert_eq!((error.kind(), error.index()), (ErrorKind::UniqueConflict, Some(1)), "{error}");
        assert_eq!(seen(&store), before);
    }
    assert_eq!(seats.get(Seat::by_guest("night", "ann")).unwrap().unwrap().number, 1);
}

/// A price of four digits is in no key while the seat is not for sale, and must be in nobody's way.
#[test]
fn a_value_that_its_sparse_index_could_not_hold_can_be_stored_changed_and_deleted() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let seats = store.table::<Seat>().unwrap();
    seats.insert(&Seat { price: 1_000, ..seat(1, "") }).unwrap();
    let key = || Seat::key("night", 1);
    let error = seats.update(key(), |seat| seat.for_sale = true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    seats.update(key(), |seat| seat.price += 1).unwrap();
    seats.merge(key(), Seat::patch().guest(Some("ann".to_owned())), IfMatch::Any).unwrap();
    assert_eq!(keys(&store), ["guest_ann", "seat_01"]);
    seats.update(key(), |seat| (seat.price, seat.for_sale) = (999, true)).unwrap();
    assert_eq!(keys(&store), ["guest_ann", "price_999_01", "seat_01"]);
    seats.update(key(), |seat| (seat.price, seat.for_sale) = (1_000, false)).unwrap();
    assert_eq!(keys(&store), ["guest_ann", "seat_01"]);
    seats.delete(key()).unwrap();
    assert_eq!(keys(&store), [""; 0]);
}

/// A copy that stays is not touched, so an entity could grow beyond what any transaction can remove.
#[test]
fn an_entity_never_has_more_rows_than_a_transaction_can_remove() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let seats = store.table::<Seat>().unwrap();
    let full = Seat { tags: (0..98).collect(), ..seat(1, "ann") };
    let key = || Seat::key("night", 1);
    seats.insert(&full).unwrap();
    assert_eq!(keys(&store).len(), 100);
    let error = seats.update(key(), |seat| seat.tags.extend([98])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BatchLength);
    let (other, more) = (seat(2, ""), Seat { for_sale: true, ..full });
    let error = seats.egt(Seat::partition("night")).put(&other).put(&more).commit().unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::BatchLength, Some(1)));
    assert_eq!(
        error.to_string(),
        "cannot put into table `Seats`, partition `night`, row `seat_01`, operation 1: \
         the entity and its copies would be 101 rows; they may be 100, as many as a transaction may touch"
    );
    seats.delete(key()).unwrap();
    assert_eq!(keys(&store), [""; 0]);
}

/// The elements of a set, too, are looked up one by one.
#[test]
fn a_row_for_each_element_is_found_by_the_element_whatever_the_collection() {
    let scratch = Scratch::new();
    let seats = scratch.tables().table::<Seat>().unwrap();
    seats.insert(&Seat { tags: [4, 9].into(), ..seat(3, "") }).unwrap();
    let found = seats.by_tag().train("night").tag(9).number(3).into_iter();
    assert_eq!(found.map(|row| row.unwrap().number).collect::<Vec<_>>(), [3]);
    assert!(seats.get(Seat::by_tag("night", 4, 3)).unwrap().is_some());
    assert!(seats.get(Seat::by_tag("night", 5, 3)).unwrap().is_none());
    assert_eq!(seats.by_tag().train("night").tag(5..).count().unwrap(), 1);
}

/// It runs outside any transaction, so it may do as it likes; what it did to the entity itself counts as another's.
#[test]
fn a_change_may_itself_read_and_write_the_store() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let seats = store.table::<Seat>().unwrap();
    for number in [1, 2] {
        seats.insert(&seat(number, "")).unwrap();
    }
    let key = |number| Seat::key("night", number);
    let mut runs = 0;
    let mut once = |first: &mut Seat| {
        runs += 1;
        first.price += seats.get(key(2)).unwrap().unwrap().price;
        seats.put(&seat(10 + runs, "")).unwrap();
        if runs % 2 == 1 {
            seats.merge(key(1), Seat::patch().guest(Some(format!("guest {runs}"))), IfMatch::Any).unwrap();
        }
    };
    let stored = seats.update(key(1), &mut once).unwrap();
    assert_eq!((stored.price, stored.guest.as_deref()), (40, Some("guest 1")));
    let second = |seat: &mut Seat| seat.price = 7;
    seats.egt(Seat::partition("night")).update(key(2), second).update(key(1), &mut once).commit().unwrap();
    let stored = seats.get(key(1)).unwrap().unwrap();
    assert_eq!((stored.price, stored.guest.as_deref()), (60, Some("guest 3")));
    assert_eq!(seats.get(key(2)).unwrap().unwrap().price, 7);
    assert_eq!(runs, 4);
    assert_eq!(keys(&store).iter().filter(|key| key.starts_with("seat_")).count(), 6);
}

/// So it is with a panic in it.
#[test]
fn a_change_that_panics_leaves_the_store_in_use() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let seats = store.table::<Seat>().unwrap();
    seats.insert(&seat(1, "ann")).unwrap();
    let before = seen(&store);
    let panics = |_: &mut Seat| panic!("a change of the user's");
    let run = || drop(seats.update(Seat::key("night", 1), panics));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert_eq!(seen(&store), before);
    seats.update(Seat::key("night", 1), |seat| seat.price = 1).unwrap();
    assert_sound(&store);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Clocks", kind = "clock")]
#[key(partition = "{wall}", row = "clock_{number}")]
struct Clock {
    wall: String,
    number: u8,
    time: SystemTime,
    #[property(skip)]
    looks: u32,
    #[property(json)]
    drift: Vec<f64>,
}

/// Not as it was given: times are floored to the tick, and what is not stored is not there.
#[test]
fn a_change_gives_back_the_entity_as_it_is_stored() {
    let scratch = Scratch::new();
    let clocks = scratch.tables().table::<Clock>().unwrap();
    let key = |number| Clock::key("west", number);
    let clock = Clock { wall: "west".to_owned(), number: 1, time: UNIX_EPOCH, looks: 1, drift: vec![] };
    clocks.insert(&clock).unwrap();
    let later = |clock: &mut Clock| (clock.time, clock.looks) = (clock.time + Duration::from_nanos(150), 7);
    let updated = clocks.update(key(1), later).unwrap();
    assert_eq!((updated.time, updated.looks), (UNIX_EPOCH + Duration::from_nanos(100), 0));
    assert_eq!(clocks.get(key(1)).unwrap().unwrap(), updated);
    let patch = Clock::patch().time(UNIX_EPOCH + Duration::from_nanos(299));
    let merged = clocks.merge(key(1), patch, IfMatch::Any).unwrap();
    assert_eq!(clocks.get(key(1)).unwrap().unwrap(), merged);
    let moved = clocks.move_to(key(1), |clock| (clock.number, clock.looks) = (2, 1)).unwrap();
    assert_eq!(clocks.get(key(2)).unwrap().unwrap(), moved);
}

/// JSON has no such number, and what is written for it is not read as one.
#[test]
fn a_change_to_what_can_not_be_written_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let clocks = store.table::<Clock>().unwrap();
    let clock = Clock { wall: "west".to_owned(), number: 1, time: UNIX_EPOCH, looks: 0, drift: vec![0.5] };
    clocks.insert(&clock).unwrap();
    let before = seen(&store);
    let error = clocks.update(Clock::key("west", 1), |clock| clock.drift.push(f64::NAN)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    assert_eq!(
        error.to_string(),
        "cannot update in table `Clocks`, partition `west`, row `clock_001`: field `drift`: a float in it is NaN or \
         infinite, which JSON can't say; use an `Option` for a number that may be missing"
    );
    assert_eq!(seen(&store), before);
}

integration_tests::on_other_executors! {
    what_one_entity_of_a_batch_keeps_another_cannot_take
    a_value_that_its_sparse_index_could_not_hold_can_be_stored_changed_and_deleted
    an_entity_never_has_more_rows_than_a_transaction_can_remove
    a_row_for_each_element_is_found_by_the_element_whatever_the_collection
    a_change_may_itself_read_and_write_the_store
    a_change_that_panics_leaves_the_store_in_use
    a_change_gives_back_the_entity_as_it_is_stored
    a_change_to_what_can_not_be_written_is_refused
}
