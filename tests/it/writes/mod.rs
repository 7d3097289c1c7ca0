//! Typed writes, one by one: what each refuses and how, and cases that random operations once found.

use integration_tests::Scratch;
use table_core::Entity;

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
