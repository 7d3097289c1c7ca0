//! `was` on a field of a key: the entity's own row never has the name, and its copies do.

use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, ErrorKind, Projection, Query};

macro_rules! release {
    ($release:ident, $field:ident, $row:literal, $order:literal $(, was $was:literal)?) => {
        mod $release {
            use super::*;

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Stock", kind = "item")]
            #[key(partition = "{shop}", row = $row)]
            #[index(by_name, row = "name_{name}", unique)]
            #[index(by_name_elsewhere, table = "Away", partition = "all", row = "{shop}_{name}", unique, atomic)]
            #[copied_into(Order)]
            pub(super) struct Item {
                pub shop: String,
                $(#[property(was = $was)])?
                pub $field: u32,
                pub name: String,
            }

            #[derive(Projection, Clone, Debug, PartialEq)]
            #[projection(of = Item)]
            pub(super) struct Shown {
                pub name: String,
            }

            /// Refers to its item by a field that has another name, too.
            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Stock", kind = "order")]
            #[key(partition = "{shop}", row = $order)]
            pub(super) struct Order {
                pub shop: String,
                $(#[property(was = $was)])?
                pub $field: u32,
                #[copy_of(Item, key(shop, $field))]
                pub item: Option<Shown>,
            }
        }
    };
}

release!(first, id, "item_{id:06}", "order_{id:06}");
release!(second, number, "item_{number:06}", "order_{number:06}", was "Id");
release!(third, place, "item_{place:06}", "order_{place:06}", was "Number");

#[test]
fn copies_of_a_key_with_another_name_are_found_and_written_anew() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let items = store.table::<first::Item>().unwrap();
    for id in 0..5 {
        items.insert(&first::Item { shop: "a".into(), id, name: format!("n{id}") }).unwrap();
        let order = first::Order { shop: "a".into(), id, item: None };
        store.table::<first::Order>().unwrap().insert(&order).unwrap();
    }
    let holding = |property: &str| {
        let tables = ["Stock", "Away"].map(|table| store.dynamic_table(table).unwrap());
        let rows = tables.iter().flat_map(|table| table.query(&Query::new()).unwrap());
        rows.filter(|row| row.as_ref().unwrap().get(property).is_some()).count()
    };
    assert_eq!(holding("Id"), 10);

    let items = store.table::<second::Item>().unwrap();
    let orders = store.table::<second::Order>().unwrap();
    let assert_read = || {
        for number in 0..5 {
            let by_name = items.get(second::Item::by_name("a", format!("n{number}"))).unwrap().unwrap();
            assert_eq!(by_name.number, number);
            let elsewhere = second::Item::by_name_elsewhere("a", format!("n{number}"));
            assert_eq!(items.get(elsewhere).unwrap().unwrap().number, number);
            let order = orders.get(second::Order::key("a", number)).unwrap().unwrap();
            assert_eq!(order.item.as_ref().unwrap().name, format!("n{number}"));
        }
        assert!(items.check().unwrap().is_sound());
        assert!(orders.check().unwrap().is_sound());
        assert_sound(&store);
    };
    assert_read();
    // A change that touches nothing of the copies writes them anew all the same.
    items.update(second::Item::key("a", 2), |_| {}).unwrap();
    assert_eq!((holding("Id"), holding("Number")), (8, 2));
    assert_read();
    assert_eq!(items.repair().unwrap().run().unwrap().mended, 0);
    assert_eq!(store.migration::<second::Item>().unwrap().run().unwrap().changed, 4);
    assert_eq!((holding("Id"), holding("Number")), (0, 10));
    assert_eq!(store.migration::<second::Item>().unwrap().run().unwrap().changed, 0);
    assert_eq!(store.migration::<second::Order>().unwrap().run().unwrap().changed, 0);
    assert_read();

    // Rows may be left that have the first name, so there is no third one.
    let refused = store.table::<third::Item>().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged);
    assert!(refused.to_string().contains("rows may still have `Number` as `Id`"), "{refused}");
    assert_read();
}
