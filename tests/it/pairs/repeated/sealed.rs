//! `encrypt`: a plain property is sealed, by way of `dual`.

use std::sync::Arc;

use table_core::crypt::MemoryKeys;
use table_core::{ErrorKind, Store};

use super::release::release;
use super::{FORMER, Pair, assert_refused_by_the_compiler};

macro_rules! sealed {
    ($release:ident, [$($encrypt:tt)*] $(, filtered $filtered:expr, named $named:literal)?) => {
        release! {
            mod $release,
            words(),
            indexes {
                #[index(some, row = "some_{id:06}", copy(size))]
            },
            item { $($encrypt)* pub size: i32, },
            part { pub size: i32, },
            held { },
            order(),
            make |id, number| {
                Item { shop: "a".into(), id, name: format!("n{id}"), size: i32::try_from(number).unwrap() }
            },
            field size,
            number |item| Some(item.size.into())
            $(, filtered $filtered, named $named)?
        }
    };
}

sealed!(plain, [], filtered |item| item.size.eq(20), named "Size");
sealed!(dual, [#[encrypt(dual)]]);
sealed!(closed, [#[encrypt]]);

#[test]
fn a_property_is_sealed_in_every_kind_of_row() {
    let scratch = integration_tests::Scratch::new();
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let store = integration_tests::relaxed().encryption(keys).open(scratch.path().join("store")).unwrap();
    let pair = |former, now| Pair {
        former,
        now,
        properties: ["Size", "Size"],
        reads: |_, number| Some(number),
        goes: None,
        rebuilds: false,
        refused: &[],
        renewed: 0,
    };
    let first = pair(plain::RELEASE, dual::RELEASE);
    first.begin(&store);
    // There is no way from plain to sealed at once.
    let error = store.table::<closed::Item>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(error.to_string().contains("say `#[encrypt(dual)]` of `Size`, which is stored plain"), "{error}");
    first.go_on(&store);

    // Those that were not written are plain still.
    let error = (closed::RELEASE.touch)(&store, 0).unwrap_err();
    assert_eq!(error, ErrorKind::LayoutChanged);
    store.table::<dual::Item>().unwrap().reencrypt().unwrap().run().unwrap();
    store.propagate().unwrap();
    let mut entities: Vec<_> = FORMER.iter().map(|(id, number)| (*id, Some(*number))).collect();
    entities[3].1 = Some(40);
    let last = pair(dual::RELEASE, closed::RELEASE);
    last.assert_cells(&store, "when all is sealed", &entities, &[]);
    (closed::RELEASE.touch)(&store, 1).unwrap();
    store.propagate().unwrap();
    last.assert_cells(&store, "when it has written", &entities, &[]);
    last.assert_falsified(&store);
    way_back(&store);
    for (case, words) in [
        ("index_list/kinds", "a list shows who shares a value, which is encrypted"),
        ("summary/fields", "is encrypted: a sum of it would tell of it"),
        ("copied/fields", "is encrypted: a value opens in its own row alone"),
        ("index/elsewhere", "an index elsewhere holds neither encrypted fields nor tokens yet"),
    ] {
        assert_refused_by_the_compiler(case, words);
    }
}

/// A release that takes it for `dual` again is told the way.
fn way_back(store: &Store) {
    let error = store.table::<dual::Item>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(error.to_string().contains("no row holds `Size` plain any more: leave `dual` out"), "{error}");
}
