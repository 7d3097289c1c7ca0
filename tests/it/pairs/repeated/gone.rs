//! `gone`: the property goes, and no row is wrong while some have it still.

use table_core::ErrorKind;

use super::release::release;
use super::{Pair, store};

macro_rules! releases {
    ($before:ident, [$($copied:ident),*], $now:ident, [$($left:ident),*]) => {
        release! {
            mod $before,
            words(),
            indexes {
                #[index(some, row = "some_{id:06}", copy($($copied),*))]
                #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", eventual)]
            } reads away,
            item { pub size: i32, },
            part { },
            held { pub size: i32, },
            order(),
            make |id, number| {
                Item { shop: "a".into(), id, name: format!("n{id}"), size: i32::try_from(number).unwrap() }
            },
            field id,
            number |item| Some(item.id.into()),
        }

        release! {
            mod $now,
            words(, gone("Size")),
            indexes {
                #[index(some, row = "some_{id:06}", copy($($left),*))]
                #[index(away, table = "Away", partition = "all", row = "{shop}_{id:06}", eventual)]
            } reads away,
            item { },
            part { },
            held { },
            order(, gone("ItemSize")),
            make |id, _| Item { shop: "a".into(), id, name: format!("n{id}") },
            field id,
            number |item| Some(item.id.into()),
        }
    };
}

releases!(before, [name], now, [name]);
releases!(copied_before, [size], copied_no_more, [name]);

const NOW: Pair = Pair {
    former: before::RELEASE,
    now: now::RELEASE,
    properties: ["Name", "Name"],
    reads: |id, _| Some(i64::from(id)),
    refused: &[],
    goes: Some("Size"),
    rebuilds: false,
    // Those whose name has changed are written, and the orders that show it.
    renewed: 2 + 3,
};

#[test]
fn a_property_goes_from_every_kind_of_row() {
    let (_scratch, store) = store();
    NOW.run(&store);
}

#[test]
fn an_index_that_copied_a_property_that_goes_is_made_anew() {
    let (_scratch, store) = store();
    let pair = Pair {
        former: copied_before::RELEASE,
        now: copied_no_more::RELEASE,
        refused: &[("some", ErrorKind::IndexBuilding)],
        rebuilds: true,
        ..NOW
    };
    pair.run(&store);
}
