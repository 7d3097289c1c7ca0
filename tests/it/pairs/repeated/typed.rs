//! `default`, `Option`, a wider integer and `json`: what a row may lack, and how it holds what it has.

use table_core::ErrorKind;

use super::release::release;
use super::{Pair, assert_refused_by_the_compiler, store};

release! {
    mod narrow,
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
    mod wide,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(size))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(size), eventual)]
    } reads away,
    item { pub size: i64, },
    part { pub size: i64, },
    held { pub size: i64, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), size: number },
    field size,
    number |item| Some(item.size),
    shared("size_{size:06}", size, i64),
    filtered |item| item.size.eq(20), named "Size",
}

#[test]
fn a_wider_integer_is_the_same_number_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: narrow::RELEASE,
        now: wide::RELEASE,
        properties: ["Size", "Size"],
        reads: |_, number| Some(number),
        goes: None,
        rebuilds: true,
        // The key has the number as its type prints it.
        refused: &[("list", ErrorKind::IndexBuilding)],
        renewed: 0,
    };
    pair.run(&store);
}

release! {
    mod with_default,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(size))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(size), eventual)]
    } reads away,
    item { #[property(default = 7)] pub size: i32, },
    part { #[property(default = 7)] pub size: i32, },
    held { #[property(default = 7)] pub size: i32, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), size: i32::try_from(number).unwrap() },
    field size,
    number |item| Some(item.size.into()),
    shared("size_{size:06}", size, i32),
    filtered |item| item.size.eq(20), named "Size",
}

#[test]
fn a_field_that_gets_a_default_says_what_it_said_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: narrow::RELEASE,
        now: with_default::RELEASE,
        properties: ["Size", "Size"],
        reads: |_, number| Some(number),
        goes: None,
        rebuilds: false,
        refused: &[],
        renewed: 0,
    };
    pair.run(&store);
}

release! {
    mod optional,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(size))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(size), eventual)]
    } reads away,
    item { pub size: Option<i32>, },
    part { pub size: Option<i32>, },
    held { pub size: Option<i32>, } reads order,
    order(),
    make |id, number| {
        Item { shop: "a".into(), id, name: format!("n{id}"), size: Some(i32::try_from(number).unwrap()) }
    },
    field size,
    number |item| item.size.map(Into::into),
    filtered |item| item.size.eq(20), named "Size",
}

release! {
    mod required,
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
    filtered |item| item.size.eq(20), named "Size",
}

#[test]
fn a_field_that_becomes_optional_is_read_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: required::RELEASE,
        now: optional::RELEASE,
        properties: ["Size", "Size"],
        reads: |_, number| Some(number),
        goes: None,
        rebuilds: false,
        refused: &[],
        renewed: 0,
    };
    pair.run(&store);
    assert_refused_by_the_compiler(
        "index_list/words",
        "an optional field in its key leaves out those without one",
    );
}

release! {
    mod listed_as_json,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(sizes))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(sizes), eventual)]
    } reads away,
    item { #[property(json)] pub sizes: Vec<i64>, },
    part { #[property(json)] pub sizes: Vec<i64>, },
    held { #[property(json)] pub sizes: Vec<i64>, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), sizes: vec![number] },
    field sizes,
    number |item| item.sizes.first().copied(),
}

release! {
    mod renamed_json,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(extents))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(extents), eventual)]
    } reads away,
    item { #[property(json, was = "Sizes", default)] pub extents: Vec<i64>, },
    part { #[property(json, default)] pub extents: Vec<i64>, },
    held { #[property(json, was = "Sizes", default)] pub extents: Vec<i64>, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), extents: vec![number] },
    field extents,
    number |item| item.extents.first().copied(),
}

#[test]
fn what_is_kept_as_json_is_read_under_both_names_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: listed_as_json::RELEASE,
        now: renamed_json::RELEASE,
        properties: ["Sizes", "Extents"],
        reads: |_, number| Some(number),
        goes: Some("Sizes"),
        rebuilds: false,
        refused: &[],
        renewed: 2 + 2,
    };
    pair.run(&store);
}

release! {
    mod bare,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(name))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(name), eventual)]
    } reads away,
    item { },
    part { },
    held { },
    order(),
    make |id, _| Item { shop: "a".into(), id, name: format!("n{id}") },
    field id,
    number |item| Some(item.id.into()),
}

release! {
    mod grown,
    words(),
    indexes {
        #[index(some, row = "some_{id:06}", copy(size))]
        #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", copy(size), eventual)]
    } reads away,
    item { #[property(default = 7)] pub size: i32, },
    part { #[property(default = 7)] pub size: i32, },
    held { #[property(default = 7)] pub size: i32, } reads order,
    order(),
    make |id, number| Item { shop: "a".into(), id, name: format!("n{id}"), size: i32::try_from(number).unwrap() },
    field size,
    number |item| Some(item.size.into()),
    filtered |item| item.size.eq(20), named "Size",
}

#[test]
fn a_new_field_with_a_default_says_that_in_every_kind_of_row() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: bare::RELEASE,
        now: grown::RELEASE,
        properties: ["Size", "Size"],
        reads: |_, number| Some(if number == 40 { 40 } else { 7 }),
        goes: None,
        // They copy the field from now on.
        refused: &[("some", ErrorKind::IndexBuilding), ("away", ErrorKind::IndexBuilding)],
        rebuilds: true,
        renewed: 0,
    };
    pair.run(&store);
}
