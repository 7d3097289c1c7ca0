//! Typed writes, one by one: what each refuses and how, and cases that random operations once found.

use integration_tests::Scratch;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store};

/// Every row of a store's tables, with its version.
fn seen(store: &Store) -> Vec<(DynamicEntity, Option<table_core::ETag>)> {
    let rows = |name: String| {
        let rows = store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap();
        rows.map(|row| row.map(|row| (row.clone(), row.etag())).unwrap()).collect::<Vec<_>>()
    };
    store.tables().unwrap().into_iter().flat_map(rows).collect()
}

fn keys(store: &Store) -> Vec<String> {
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

/// A price of four digits is in no key while the seat is not for sale, and must be in nobody's way.
#[test]
fn a_value_that_its_sparse_index_could_not_hold_can_be_stored_changed_and_deleted() {
    let scratch = Scratch::new();
    let store = scratch.store();
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
    seats.delete(key(), IfMatch::Any).unwrap();
    assert_eq!(keys(&store), [""; 0]);
}

/// The elements of a set, too, are looked up one by one.
#[test]
fn a_row_for_each_element_is_found_by_the_element_whatever_the_collection() {
    let scratch = Scratch::new();
    let seats = scratch.store().table::<Seat>().unwrap();
    seats.insert(&Seat { tags: [4, 9].into(), ..seat(3, "") }).unwrap();
    let found = seats.by_tag().train("night").tag(9).number(3).into_iter();
    assert_eq!(found.map(|row| row.unwrap().number).collect::<Vec<_>>(), [3]);
    assert!(seats.get(Seat::by_tag("night", 4, 3)).unwrap().is_some());
    assert!(seats.get(Seat::by_tag("night", 5, 3)).unwrap().is_none());
    assert_eq!(seats.by_tag().train("night").tag(5..).count().unwrap(), 1);
}
