//! `was` and `rename`: the property has another name, or keeps it while the field has another.

use super::release::release;
use super::{Pair, store};

release! {
    mod before,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(size))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(size), eventual)]
    } reads away,
    item { pub size: i32, },
    part { pub size: i32, },
    held { pub size: i32, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), size: i32::try_from(number).unwrap() },
    field size,
    number |item| Some(item.size.into()),
    shared("size_{size:06}", size, i32),
    filtered |item| item.size.eq(20), named "Size",
}

release! {
    mod was,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(extent))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(extent), eventual)]
    } reads away,
    item { #[property(was = "Size")] pub extent: i32, },
    part { pub extent: i32, },
    held { #[property(was = "Size")] pub extent: i32, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), extent: i32::try_from(number).unwrap() },
    field extent,
    number |item| Some(item.extent.into()),
    shared("size_{extent:06}", extent, i32),
    filtered |item| item.extent.eq(20), named "Extent",
}

release! {
    mod rename,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(extent))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(extent), eventual)]
    } reads away,
    item { #[property(rename = "Size")] pub extent: i32, },
    part { pub extent: i32, },
    held { #[property(was = "Size")] pub extent: i32, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), extent: i32::try_from(number).unwrap() },
    field extent,
    number |item| Some(item.extent.into()),
    shared("size_{extent:06}", extent, i32),
    filtered |item| item.extent.eq(20), named "Size",
}

#[test]
fn a_property_with_a_former_name_is_read_under_both_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: before::RELEASE,
        now: was::RELEASE,
        properties: ["Size", "Extent"],
        reads: |_, number| Some(number),
        goes: Some("Size"),
        rebuilds: false,
        refused: &[],
        // Of the items two have been written, and of the orders one holds what has changed.
        renewed: 2 + 2,
    };
    pair.run(&store);
}

#[test]
fn a_field_with_another_name_keeps_its_property_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: before::RELEASE,
        now: rename::RELEASE,
        properties: ["Size", "Size"],
        reads: |_, number| Some(number),
        goes: None,
        rebuilds: false,
        refused: &[],
        // The orders name what they hold after the field.
        renewed: 2,
    };
    pair.run(&store);
}
